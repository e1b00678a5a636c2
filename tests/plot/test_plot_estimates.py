"""Figures of cycles, branches, fits and filters show what they are given."""

import numpy as np
from matplotlib.figure import Figure

import bouligand as bd
from bouligand.models.rimless_wheel import START


def test_a_cycle_and_a_branch():
    found = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
    motion, circle = bd.plot.cycle(found, ["omega"], axes=Figure().subplots(1, 2))
    assert "1.03455" in motion.get_title()
    (point,) = [line for line in circle.lines if line.get_marker() == "o"]
    assert np.allclose(point.get_xydata(), [[0.5, 0.0]], atol=1e-6)
    branch = bd.continue_cycle(found, "gamma", stop=0.1, step=0.1)
    ax = bd.plot.branch(branch, ax=Figure().subplots())
    assert ax.get_ylabel() == "period"
    assert len(ax.lines) == len(branch) - 1


def test_residuals_of_several_experiments_and_of_functions():
    hopper, t = bd.models.hopper(), np.linspace(0.1, 0.4, 8)

    def energy(x):
        return [9.81 * x[0] + 0.5 * x[1] ** 2], [[9.81, x[1]]]

    found = bd.fit(
        hopper,
        [{"t": t, "E": np.full(8, 9.81 * z)} for z in (1.9, 2.0)],
        [1.95, 0.0],
        free="z",
        observe=energy,
        sigma=0.01,
    )
    left, right = bd.plot.residuals(found, 1, axes=Figure().subplots(1, 2))
    assert np.allclose(right.lines[-1].get_ydata(), 0.0, atol=1e-3)
    assert [line.get_label() for line in left.lines][-1] == "E"


def test_a_track_has_truth_and_data():
    hopper = bd.models.hopper()
    data = {"t": [0.1, 0.2], "z": [1.95, 1.80]}
    track = bd.Filter(hopper, [2.0, 0.0], [0.01, 0.04], R=1e-4).run(data)
    ax = bd.plot.track(track, "z", truth={"t": [0.0, 0.2], "z": 2.0}, data=data, ax=Figure().subplots())
    assert [line.get_label() for line in ax.lines] == ["estimate, 2 standard deviations", "truth", "measured"]
