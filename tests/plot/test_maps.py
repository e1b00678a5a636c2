"""Pictures of ensembles."""

import numpy as np
import pytest

import bouligand as bd

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

HOPPER = bd.models.hopper()
GRID = bd.grid(k=np.linspace(200.0, 2000.0, 6), g=[9.81], z=np.linspace(1.1, 3.0, 5))


def ensemble(**options):
    return bd.solve_many(HOPPER, (0.0, 2.0), [2.0, 0.0], GRID, **options)


@pytest.mark.parametrize("values", ["events", "z", "t", "status"])
def test_a_map_shows_the_values_where_they_belong(values):
    ens = ensemble()
    ax = bd.plot.map(ens, values, ax=Figure().subplots())
    shown: np.ma.MaskedArray = np.ma.asarray(ax.collections[0].get_array()).reshape(6, 5)
    if values == "z":
        assert np.array_equal(shown, ens.x[:, 0].reshape(6, 5))
    if values == "events":
        kinds = np.unique(ens.counts["events"])
        assert np.array_equal(kinds[shown], ens.counts["events"].reshape(6, 5))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("z", "k")
    assert ax.get_xlim()[1] > 3.0 > 2.9 > ax.get_xlim()[0]


def test_failures_are_grey():
    ens = ensemble(max_steps=15)
    assert 0 < len(ens.failed) < 30
    ax = bd.plot.map(ens, "z", ax=Figure().subplots())
    shown: np.ma.MaskedArray = np.ma.asarray(ax.collections[0].get_array()).reshape(-1)
    assert np.array_equal(np.ma.getmaskarray(shown), ~ens.success)
    assert f"failed ({len(ens.failed)} of 30)" in ax.get_title(loc="right")
    labels = [
        text.get_text() for text in bd.plot.map(ens, "status", ax=Figure().subplots()).figure.axes[1].get_yticklabels()
    ]
    assert labels == ["finished", "TooManyStepsError"]


def test_a_fan():
    ens = bd.solve_many(HOPPER, (0.0, 1.0), [2.0, 0.0], {"vz": np.linspace(-1.0, 1.0, 21)}, t_eval=[0.0, 0.1, 0.2])
    ax = bd.plot.fan(ens, state="z", ax=Figure().subplots())
    median = ax.lines[0].get_ydata()
    assert median == pytest.approx(2.0 - 0.5 * 9.81 * np.array([0.0, 0.1, 0.2]) ** 2, abs=1e-9)
    assert len(ax.collections) == 3


def test_what_is_refused():
    flat = bd.solve_many(HOPPER, (0.0, 1.0), [[2.0, 0.0], [1.5, 0.0]])
    for call, message in (
        (lambda: bd.plot.map(flat), "over a grid of two names"),
        (lambda: bd.plot.map(ensemble(), "speed"), "values must be"),
        (lambda: bd.plot.map(ensemble(), np.ones(3)), "each of the 30"),
        (lambda: bd.plot.fan(flat), "needs states at times"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="radius"):
        bd.plot.fan(flat[0].bderivative())
