"""What the functions that draw refuse: by name, and before anything is drawn."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import bouligand as bd

NO_AXES: list[Any] = ["ax", 5, object(), [], Figure()]


@pytest.fixture(scope="module")
def sol():
    return bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0])


@pytest.fixture
def ax():
    return Figure().subplots()


def refused(function, good, wrong):
    """Each wrong value of an argument is refused by its name, and nothing was drawn meanwhile."""
    for name, values in wrong.items():
        for value in values:
            with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
                function(**(good | {name: value}))
    if isinstance(good.get("ax"), np.ndarray):
        assert not any(ax.lines or ax.collections for ax in good["ax"])
    elif "ax" in good:
        assert not good["ax"].lines
        assert not good["ax"].collections


def test_trajectories(sol, ax):
    wrong = {"solution": [None, "sol", sol.record], "states": ["z", [], ["q"], [2], [-1], [0.5], 5], "ax": NO_AXES}
    refused(bd.plot.trajectory, {"solution": sol, "ax": ax}, wrong | {"points": [0, 1, 1e30, "a"], "mark": [1, "yes"]})


def test_contacts(sol, ax):
    wrong = {
        "solution": [None, sol.record],
        "guards": ["toe", 7, [], [None], {}],
        "ax": NO_AXES,
        "sign": [0, 2, "1", True],
    }
    refused(
        bd.plot.contacts, {"solution": sol, "ax": ax}, wrong | {"ties": [np.nan, "a"], "colour": ["nobody", 5, None]}
    )
    refused(bd.plot.stretches, {"solution": sol}, {"solution": [None], "sign": [2, "1", 0.5]})


def test_derivatives_and_ensembles(sol, ax):
    B, both = sol.bderivative(), Figure().subplots(1, 2)
    planes = [(0, 0), (0,), ("z", "q"), "zv", None, 5]
    wrong: dict[str, list[Any]] = {"B": [None, sol], "plane": planes, "count": [0, 0.5], "radius": [0.0, -1.0, "a"]}
    more = {"image": planes[:3], "flow": [1], "ax": [*NO_AXES, both[0], [both[0]]]}
    refused(bd.plot.perturbations, {"B": B, "ax": both}, wrong | more)
    refused(bd.plot.fan, {"B": B, "radius": 0.1, "ax": ax}, wrong | {"state": [1], "levels": [(0.5,)], "ax": NO_AXES})
    ens = bd.solve_many(
        bd.models.hopper(), (0.0, 0.5), [2.0, 0.0], bd.grid(g=[8.0, 9.0], k=[500.0, 900.0]), t_eval=[0.5]
    )
    wrong = {"state": ["q", 2, -1], "levels": [[0.0], [1.5], "a"], "radius": [0.1], "plane": [(1, 0)], "count": [3]}
    refused(bd.plot.fan, {"B": ens, "ax": ax}, wrong)
    wrong = {
        "ens": [None, sol],
        "values": ["nobody", [1.0], None],
        "cmap": ["nobody", 5],
        "label": [5],
        "bar": [1],
        "ax": NO_AXES,
    }
    refused(bd.plot.map, {"ens": ens, "ax": ax}, wrong)


def test_cycles_and_branches(ax):
    from bouligand.models.rimless_wheel import START

    wheel = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
    refused(
        bd.plot.cycle, {"cycle": wheel}, {"cycle": [None, wheel.solution], "states": ["theta", [7], 5], "axes": NO_AXES}
    )
    family = bd.continue_cycle(wheel, "gamma", stop=0.09)
    refused(
        bd.plot.branch, {"branch": family, "ax": ax}, {"branch": [None, wheel], "value": ["q", 0, None], "ax": NO_AXES}
    )


def test_estimates(ax):
    t = np.linspace(0.1, 0.4, 4)
    data = {"t": t, "z": 2.0 - 5.0 * t**2}
    found = bd.fit(bd.models.hopper(), data, [2.0, 0.0], free="g", sigma=0.01)
    refused(bd.plot.residuals, {"found": found}, {"found": [None], "experiment": [1, -1, 0.5, "a"], "axes": NO_AXES})
    track = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4).run(data)
    tables: list[Any] = [5, "t", [1.0], {"z": [1.0]}, {"t": [0.1], "z": [1.0, 2.0]}, {"t": ["a"], "z": [1.0]}]
    wrong = {
        "track": [None, found],
        "name": ["q", None],
        "truth": tables,
        "data": tables,
        "label": [5],
        "color": ["nobody"],
    }
    refused(bd.plot.track, {"track": track, "name": "z", "ax": ax}, wrong | {"ax": NO_AXES})


def test_films(sol, tmp_path):
    good = {"solution": sol, "draw": bd.plot.mechanisms.hopper, "path": tmp_path / "a.gif"}
    wrong: dict[str, list[Any]] = {
        "solution": [None], "draw": [None, "hopper", lambda ax: None, int], "path": [None, "", tmp_path / "a.avi"],
        "fps": [0, 101], "speed": [0.0, -1.0, "a", 1e-9], "gait": [["toe"], [None]], "size": [(0, 1), 5, (1, 2, 3), (1e9, 1)],
        "dpi": [0.0, 1e9, "a", 0.01], "progress": [5],
    }  # fmt: skip
    refused(bd.plot.animate, good, wrong)
    with pytest.raises(FileNotFoundError, match="no folder"):
        bd.plot.animate(**(good | {"path": tmp_path / "nowhere" / "a.gif"}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["hopper", "hand", "hexapod", "three_blocks"])
def test_drawings_look_at_their_arguments(name, ax):
    system, start = bd.models.available()[name].build()
    good = {"ax": ax, "t": 0.0, "x": start, "b": np.ones(system.m), "p": system.defaults}
    wrong: dict[str, list[Any]] = {
        "ax": [None, *NO_AXES],
        "t": ["a", np.nan],
        "x": [None, "a", [1.0], 5.0, np.ones((2, 2))],
    }
    refused(getattr(bd.plot.mechanisms, name), good, wrong | {"b": [None, "a", []], "p": [None, [], ["a"]]})


def test_parts_of_drawings_look_at_their_arguments(ax):
    draw = bd.plot.mechanisms
    refused(draw.frame, {"ax": ax, "t": 0.0, "across": (0.0, 1.0), "up": (0.0, 1.0)}, {
        "ax": [None, *NO_AXES], "t": ["a", None], "across": [(0.0,), None, ("a", "b")], "up": [5, (1.0, np.nan)], "floor": [1],
    })  # fmt: skip
    refused(draw.spring, {"start": (0, 0), "stop": (1, 1)}, {"start": [(0,), None], "coils": [0, 0.5], "width": ["a"]})
    refused(draw.project, {"points": np.ones((2, 3)), "azimuth": 0.0, "elevation": 0.0}, {
        "points": [None, [1.0, 2.0], np.ones((2, 2))], "azimuth": ["a", np.nan], "elevation": [None],
    })  # fmt: skip
