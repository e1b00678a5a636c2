"""A trajectory that fails has a status with the error's name, its guard and its time; the others are as without it."""

import numpy as np
import pytest

import bouligand as bd


def fragile():
    """x' = v; slides on the guard where v points towards it from both sides; f fails beyond x = 10."""

    def f(t, x, b, p, dx):
        if x[0] > 10.0:
            raise ValueError("too far")
        dx[0] = p[0] if p[1] == 0.0 else -b[0]
        if p[2] > 0.0:
            dx[0] = np.sqrt(0.5 - t)

    def h(t, x, p, out):
        out[0] = x[0]

    return bd.System(f, h, states=("x",), guards=("wall",), params={"v": 1.0, "slides": 0.0, "ends": 0.0})


def test_each_has_its_error_its_guard_and_its_time():
    p = {"slides": [0.0, 1.0, 0.0, 0.0], "v": [1.0, 1.0, 20.0, 1.0], "ends": [0.0, 0.0, 0.0, 1.0]}
    ens = bd.solve_many(fragile(), (0.0, 2.0), [0.75], p)
    assert ens.status.tolist() == ["finished", "failed", "failed", "failed"]
    assert ens.error.tolist() == ["", "SlidingError", "ValueError", "NotFiniteError"]
    assert ens.failed.tolist() == [1, 2, 3]
    assert ens.guard.tolist() == [-1, 0, -1, -1]
    assert ens.t[[0, 1]] == pytest.approx([2.0, 0.75])
    assert ens.message[1] == "SlidingError at t = 0.75, guard 'wall'"
    assert isinstance(ens[1].error, bd.SlidingError)
    assert "too far" in str(ens[2].error)
    for i, sol in enumerate(ens):
        assert sol.status == ens.status[i]
        assert sol.record.t[-1] == ens.t[i]
    text = repr(ens)
    assert "SlidingError" in text
    assert "finished        1\n" in text


def test_one_per_cent_of_failures_changes_nothing_else():
    count, rng = 1000, np.random.default_rng(3)
    x0 = 0.5 + rng.random((count, 1))
    wrong = rng.permutation(count)[:10]
    clean = bd.solve_many(fragile(), (0.0, 2.0), x0)
    p = {"slides": np.isin(np.arange(count), wrong).astype(float)}
    mixed = bd.solve_many(fragile(), (0.0, 2.0), x0, p, threads=2)
    assert clean.success.all()
    assert set(mixed.failed) == set(wrong)
    assert set(mixed.error[wrong]) == {"SlidingError"}
    rest = mixed.success
    assert np.array_equal(mixed.x[rest], clean.x[rest])
    assert np.array_equal(mixed.counts["f"][rest], clean.counts["f"][rest])


def test_starts_that_are_not_finite_or_ambiguous():
    relay = bd.System(lambda t, x, b, p: (b[0],), lambda t, x, p: (x[0],), n=1, guards=("switch",))
    ens = bd.solve_many(relay, (0.0, 1.0), [[1.0], [0.0], [np.nan], [-1.0]])
    assert ens.error.tolist() == ["", "StartError", "NotFiniteError", ""]
    assert ens.guard.tolist() == [-1, 0, -1, -1]


def test_raise_names_the_first():
    with pytest.raises(bd.SlidingError) as caught:
        bd.solve_many(fragile(), (0.0, 2.0), [0.75], {"slides": [0.0, 0.0, 1.0, 1.0]}, on_failure="raise")
    assert caught.value.__notes__[1:] == ["trajectory 2 of the ensemble (2 of 4 failed)"]
    assert caught.value.t == pytest.approx(0.75)
