"""Starts and parameters: broadcast, named, over grids; and what is refused before anything runs."""

import numpy as np
import pytest

import bouligand as bd

HOPPER = bd.models.hopper()
SPAN = (0.0, 0.5)


def ends(*arguments, **options):
    return bd.solve_many(HOPPER, SPAN, *arguments, **options).x


def one(x0, p=None):
    return bd.solve(HOPPER, SPAN, x0, p).x[-1]


def test_broadcasting():
    assert np.array_equal(ends([2.0, 0.0]), [one([2.0, 0.0])])
    p = np.array([[9.81, 500.0, 1.0], [1.62, 1000.0, 1.0]])
    assert np.array_equal(ends([2.0, 0.0], p), [one([2.0, 0.0], row) for row in p])
    x0 = [[2.0, 0.0], [1.2, -1.0]]
    assert np.array_equal(ends(x0, p[1]), [one(row, p[1]) for row in x0])
    assert np.array_equal(ends(x0, p), [one(*rows) for rows in zip(x0, p, strict=True)])
    assert np.array_equal(
        ends(x0, {"g": [1.0, 2.0], "k": 900}),
        [one(x, {"g": g, "k": 900.0}) for x, g in zip(x0, (1.0, 2.0), strict=True)],
    )
    assert np.array_equal(ends([2.0, 0.0], {"vz": [0.0, 1.0]}), [one([2.0, 0.0]), one([2.0, 1.0])])


def test_a_grid():
    ens = bd.solve_many(HOPPER, SPAN, [2.0, 0.0], bd.grid(k=[500.0, 800.0], z=[1.1, 1.2, 1.3]))
    assert (len(ens), ens.dims, ens.shape) == (6, ("k", "z"), (2, 3))
    assert np.array_equal(ens.on_grid(ens.x)[1, 2], one([1.3, 0.0], {"k": 800.0}))
    assert np.array_equal(ens.x0[:, 0].reshape(2, 3)[0], [1.1, 1.2, 1.3])
    assert np.array_equal(ens.p[:, 1], [500.0] * 3 + [800.0] * 3)
    assert "over k (2) x z (3)" in repr(ens)


def test_a_large_grid_takes_no_memory():
    huge = bd.grid(k=np.linspace(1.0, 2.0, 100_000), z=np.linspace(1.0, 2.0, 100_000))
    assert len(huge) == 10**10
    assert huge.values(10**10 - 1) == {"k": 2.0, "z": 2.0}


def test_what_is_kept():
    ens = bd.solve_many(HOPPER, SPAN, [2.0, 0.0], keep=("x",), t_eval=[0.1, 0.2])
    assert ens.states.shape == (1, 2, 2)
    with pytest.raises(AttributeError, match="'events' was not among keep"):
        ens.events  # noqa: B018
    with pytest.raises(AttributeError, match="'counts' was not among keep"):
        ens.counts  # noqa: B018
    assert repr(ens) == "Ensemble: 1 trajectories of hopper\n  finished    1"


WRONG: dict = {
    "rows": (([[2.0, 0.0]] * 3, np.ones((2, 3))), {}, "x0 has 3, p has 2"),
    "grid": (([[2.0, 0.0]] * 4, bd.grid(k=[1.0, 2.0])), {}, "the grid has 2"),
    "width of x0": (([2.0, 0.0, 1.0],), {}, r"x0 must have 2 values \(z, vz\)"),
    "width of p": (([2.0, 0.0], [1.0]), {}, r"p must have 3 values"),
    "nothing": ((np.empty((0, 2)),), {}, "x0 has no rows"),
    "name": (([2.0, 0.0], {"stiffness": 1.0}), {}, "no parameter or state is called 'stiffness'"),
    "name in a grid": (([2.0, 0.0], bd.grid(q=[1.0])), {}, "no parameter or state is called 'q'"),
    "not finite": (([2.0, 0.0], [[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]]), {}, "row 1 is"),
    "times": (([2.0, 0.0],), {"t_eval": [0.1, 3.0]}, "t_eval must lie within t_span"),
    "interval": (([2.0, 0.0],), {"t_span": (1.0, 0.0)}, "runs backwards"),
    "keep": (([2.0, 0.0],), {"keep": ("x", "everything")}, "keep"),
    "threads": (([2.0, 0.0],), {"threads": 0}, "threads must be a whole number"),
    "on_failure": (([2.0, 0.0],), {"on_failure": "return"}, "on_failure must be"),
    "option": (([2.0, 0.0],), {"tolerance": 1.0}, "does not know tolerance"),
    "rtol": (([2.0, 0.0],), {"rtol": 2.0}, "rtol must be between"),
    "terminal": (([2.0, 0.0],), {"terminal": "hand"}, "no guard is called 'hand'"),
    "empty axis": (([2.0, 0.0],), {"p": {"k": []}}, "k must be a finite number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name):
    arguments, options, message = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=message):
        bd.solve_many(HOPPER, options.pop("t_span", SPAN), *arguments, **options)


def test_other_things_that_are_refused():
    with pytest.raises(TypeError, match="system must be a System"):
        bd.solve_many("hopper", SPAN, [2.0, 0.0])
    with pytest.raises(TypeError, match="at least one"):
        bd.grid()
    with pytest.raises(ValueError, match="vector"):
        bd.grid(k=[[1.0]])
    with pytest.raises(IndexError, match="there is no trajectory i = 1"):
        bd.solve_many(HOPPER, SPAN, [2.0, 0.0])[1]
