"""The look of figures: one style file, colours that differ, no text over a frame or over another."""

import itertools

import numpy as np
import pytest

import bouligand as bd
from bouligand.cli.figures import grouped
from bouligand.reporting.figures import COLOURS, MARKERS

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.figure")  # (and that attribute is there)


def far_apart(colours, least):
    rgb = [np.array(matplotlib.colors.to_rgb(colour)) for colour in colours]
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(rgb, 2)) > least


def test_colours_differ():
    style = matplotlib.rc_params_from_file(bd.plot.STYLE, use_default_template=False)
    assert far_apart([entry["color"] for entry in style["axes.prop_cycle"]], 0.25)
    assert far_apart(COLOURS.values(), 0.2)
    looks = {name: (COLOURS[name], MARKERS[name]) for name in COLOURS}
    assert len(set(looks.values())) == len(looks)


@pytest.mark.parametrize("count", [3, 13, 30])
def test_many_states_have_colours_and_a_legend_of_their_own(count):
    system = bd.System(lambda t, x, b, p: -x * np.arange(1.0, x.size + 1.0), n=count)
    sol = bd.solve(system, (0.0, 1.0), np.ones(count))
    figure = matplotlib.figure.Figure(layout="constrained")
    ax = bd.plot.trajectory(sol, ax=figure.subplots())
    assert len({matplotlib.colors.to_hex(line.get_color()) for line in ax.lines}) == count
    figure.draw_without_rendering()
    beside = ax.get_legend()
    assert beside is not None
    legend = beside.get_window_extent()
    if count > 6:
        assert legend.x0 >= ax.get_window_extent().x1 - 1.0  # (beside the curves)
    assert legend.x1 <= figure.bbox.x1 + 1.0


def test_states_of_one_unit_share_axes():
    names = ("x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "vz")
    units = {"x": "m", "y": "m", "z": "m", "roll": "rad", "pitch": "rad", "yaw": "rad"}
    groups = grouped(names, lambda name: units.get(name, "m/s"))
    assert [tuple(group) for group in groups] == [names[:3], names[3:6], names[6:]]
    assert grouped(names[:4]) == [(name,) for name in names[:4]]
