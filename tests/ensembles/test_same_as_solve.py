"""Every trajectory of an ensemble is that of a single solve to the last bit, for any number of threads and any order."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START

RNG = np.random.default_rng(7)


def plate_starts(count):
    x = np.tile(START, (count, 1))
    x[:, 1] += 0.5 * RNG.random(count)
    x[:, 2] += 0.1 * RNG.standard_normal(count)
    x[:, 3:] += 0.2 * RNG.standard_normal((count, 3))
    return x


def hopper_starts(count):
    return np.column_stack([1.5 + RNG.random(count), RNG.standard_normal(count)])


def observed():
    """A hopper with an observer and a one-sided guard."""

    def f(t, x, b, p, dx):
        dx[0] = x[1]
        dx[1] = (p[1] * (1.0 - x[0]) if b[0] > 0 else 0.0) - p[0]

    def h(t, x, p, out):
        out[0], out[1], out[2] = 1.0 - x[0], x[1], x[0] - 1.4

    params = {"g": 9.81, "k": 1000.0}
    return bd.System(
        f,
        h,
        states=("z", "vz"),
        guards=("foot", "top", "low"),
        params=params,
        observers=("top",),
        direction={"low": -1},
    )


CASES = {
    "hopper": (bd.models.hopper, lambda: hopper_starts(60), {}),
    "tight": (bd.models.hopper, lambda: hopper_starts(20), {"rtol": 1e-10}),
    "times and terminal": (
        bd.models.hopper,
        lambda: hopper_starts(40),
        {"t_eval": np.linspace(0.0, 2.0, 7), "terminal": {"foot": 3}},
    ),
    "breakpoints, tolerances of each": (
        bd.models.hopper,
        lambda: hopper_starts(20),
        {"breakpoints": [0.3, 1.1], "atol": [1e-8, 1e-7]},
    ),
    "bands": (bd.models.hopper, lambda: hopper_starts(20), {"eps": 1e-3, "projection": 3}),
    "a given word": (
        bd.models.hopper,
        lambda: np.column_stack([np.ones(6), -RNG.random(6)]),
        {"b0": [1]},
    ),
    "starts on the guard": (bd.models.hopper, lambda: [[1.0, -1.0], [1.0, 2.0], [2.0, 0.0], [1.0, -0.5]], {}),
    "many steps": (bd.models.hopper, lambda: hopper_starts(5), {"max_step": 0.002}),
    "observers": (observed, lambda: hopper_starts(30), {}),
    "a plate": (lambda: bd.models.plate(8), lambda: plate_starts(40), {}),
    "spanning steps": (lambda: bd.models.plate(100), lambda: plate_starts(12), {"rtol": 1e-4}),
    "three legs": (bd.models.three_legs, lambda: three_legs_starts(10), {}),
}


def three_legs_starts(count):
    system, x0 = bd.models.available()["three_legs"].build()
    return np.asarray(x0) + 0.02 * RNG.standard_normal((count, system.n))


def differences(ens, i, sol):
    """What differs between trajectory i and a solution."""
    events, counts = ens.events[i], sol.counts
    same = {
        "status": ens.status[i] == sol.status,
        "error": ens.error[i] == (type(sol.error).__name__ if sol.error is not None else ""),
        "t": not len(sol.record) or ens.t[i] == sol.record.t[-1],
        "x": not len(sol.record) or np.array_equal(ens.x[i], sol.record.states[-1]),
        "b": np.array_equal(ens.b[i], sol.record.word_end),
        "events": np.array_equal(events.t, sol.events.t)
        and np.array_equal(events.guard, sol.events.guard)
        and np.array_equal(events.direction, sol.events.direction),
        "counts": all(getattr(counts, name) == values[i] for name, values in ens.counts.items()),
    }
    if ens.t_eval.size:
        reached = len(sol.t)
        same["states"] = np.array_equal(ens.states[i, :reached], sol.x) and np.isnan(ens.states[i, reached:]).all()
    return [name for name, is_same in same.items() if not is_same]


@pytest.mark.parametrize("name", CASES)
def test_as_single_solves(name):
    build, starts, options = CASES[name]
    system, x0 = build(), np.array(starts(), dtype=float)
    ens = bd.solve_many(system, (0.0, 2.0), x0, threads=1, **options)
    for i, start in enumerate(x0):
        sol = bd.solve(system, (0.0, 2.0), start, on_failure="return", **options)
        assert not differences(ens, i, sol), (name, i)
        assert not differences(ens, i, ens[i]), (name, i)
    order = RNG.permutation(len(x0))
    mixed = bd.solve_many(system, (0.0, 2.0), x0[order], threads=3, **options)
    for one, other in ((ens.x, mixed.x), (ens.t, mixed.t), (ens.b, mixed.b), (ens.guard, mixed.guard)):
        assert np.array_equal(one[order], other, equal_nan=one.dtype == float)
    assert np.array_equal(np.diff(ens.events.offsets)[order], np.diff(mixed.events.offsets))


def test_the_cases_span_and_fail():
    ens = bd.solve_many(bd.models.plate(100), (0.0, 2.0), plate_starts(12), rtol=1e-4)
    assert ens.counts["spans"].sum() > 0
    wild = plate_starts(60)
    wild[:, 2] *= 5.0
    ens = bd.solve_many(bd.models.plate(8), (0.0, 2.0), wild)
    assert 0 < len(ens.failed) < 60


def test_known_first_contacts():
    """Drop heights 1 + (i + 1/2) / N: the mean time of first contact has a closed form."""
    count, g = 20_000, 9.81
    heights = 1.0 + (np.arange(count) + 0.5) / count
    x0 = np.column_stack([1.0 + heights, np.zeros(count)])
    ens = bd.solve_many(bd.models.hopper(), (0.0, 1.0), x0, terminal="foot", rtol=1e-9)
    assert (ens.status == "terminated").all()
    assert abs(ens.t - np.sqrt(2.0 * heights / g)).max() < 1e-8
    assert abs(ens.t.mean() - 0.550385381761647) < 1e-9


@pytest.mark.parametrize("threads", [1, 2])
def test_functions_in_python(threads):
    system = bd.System(lambda t, x, b, p: (-p[0] * x[0],), n=1, params={"rate": 1.0}, compile=False)
    ens = bd.solve_many(system, (0.0, 1.0), [1.0], {"rate": [0.5, 1.0, 2.0]}, threads=threads, rtol=1e-9)
    assert ens.x[:, 0] == pytest.approx(np.exp(-np.array([0.5, 1.0, 2.0])), rel=1e-8)
    assert all(np.array_equal(ens[i].x[-1], ens.x[i]) for i in range(3))
