"""Parameters from data: recovered to the Cramer-Rao bound, with weights, bounds, gaps and several experiments."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START

HOPPER = bd.models.hopper()
T = np.linspace(0.05, 2.0, 50)
TRUE = {"k": 900.0, "z": 1.9}


def heights(noise, rng):
    z = bd.solve(HOPPER, (0.0, 2.0), [TRUE["z"], 0.0], {"k": TRUE["k"]}, rtol=1e-9)(T)[:, 0]
    return {"t": T, "z": z + rng.normal(0.0, noise, T.size)}


def test_the_cramer_rao_bound():
    """Over many data sets the covariance of the estimates is the inverse of the Fisher information, which is J^T J /
    sigma^2 with J by
    differences of solves at 1e-11; so is what each fit says of itself."""
    rng, sigma, runs = np.random.default_rng(0), 0.002, 150

    def curve(k, z):
        return bd.solve(HOPPER, (0.0, 2.0), [z, 0.0], {"k": k}, rtol=1e-11, t_eval=T).x[:, 0]

    J = np.column_stack(
        [(curve(900.5, 1.9) - curve(899.5, 1.9)) / 1.0, (curve(900.0, 1.9001) - curve(900.0, 1.8999)) / 2e-4]
    )
    bound = np.linalg.inv(J.T @ J) * sigma**2
    found = [
        bd.fit(HOPPER, heights(sigma, rng), [2.0, 0.0], {"k": 1000.0}, free=("k", "z"), sigma=sigma)
        for _ in range(runs)
    ]
    assert all(one.success for one in found)
    assert found[0].covariance == pytest.approx(bound, rel=0.02)
    errors = np.array([one.x - [900.0, 1.9] for one in found])
    white = errors @ np.linalg.inv(np.linalg.cholesky(bound)).T
    # squared errors in units of the bound: their mean is 2, with a standard deviation of 2 / sqrt(runs)
    assert (white**2).sum(axis=1).mean() == pytest.approx(2.0, abs=5.0 * 2.0 / np.sqrt(runs))
    assert np.mean([one.chi2 for one in found]) == pytest.approx(48.0, abs=5.0 * np.sqrt(2 * 48 / runs))


def test_an_unknown_sigma_is_estimated():
    found = bd.fit(HOPPER, heights(0.004, np.random.default_rng(1)), [2.0, 0.0], {"k": 1000.0}, free=("k", "z"))
    assert found.sigma == pytest.approx([0.004], rel=0.3)
    assert np.abs(found.x - [900.0, 1.9]).max() / found.std.max() < 4.0
    assert "+-" in repr(found)
    few = bd.fit(HOPPER, {"t": [0.1], "z": [1.95]}, [2.0, 0.0], free="g")  # (one value says nothing of its error)
    assert np.isinf(few.std).all()
    assert np.diag(found.correlation) == pytest.approx([1.0, 1.0])


def test_several_experiments_share_parameters():
    rng = np.random.default_rng(2)
    data, starts = [], np.array([[1.5, 0.0], [1.8, 0.0], [2.1, 0.0]])
    for x0 in starts:
        z = bd.solve(HOPPER, (0.0, 2.0), x0, {"k": 900.0}, rtol=1e-9)(T)[:, 0] + rng.normal(0.0, 0.001, T.size)
        z[::7] = np.nan  # gaps
        data.append({"t": T, "z": z})
    found = bd.fit(HOPPER, data, starts + [0.05, 0.0], free=("z", "k"), sigma={"z": 0.001})
    assert found.names == ("k", "z[0]", "z[1]", "z[2]")
    assert (np.abs(found.x - [900.0, 1.5, 1.8, 2.1]) < 4.5 * found.std).all()
    assert found.dof == 3 * (50 - 8) - 4
    assert len(found.solutions) == 3
    assert np.isnan(found.residuals[0][0, 0])


def test_ten_parameters_of_a_plate():
    """Six states are measured at 30 times; ten parameters, two of which only their ratio is seen of: they are told to be open."""
    plate = bd.models.plate(8)
    free = ("inertia", "L0", "k", "c", "s0", "s2")
    t = np.linspace(0.02, 0.8, 30)
    x = bd.solve(plate, (0.0, 0.8), START, rtol=1e-9)(t)
    data = {"t": t, **{name: x[:, i] for i, name in enumerate(plate.states)}}
    true = np.array([plate.defaults[plate.params.index(name)] for name in free])
    changed = {name: value * 1.03 if value else 0.01 for name, value in zip(free, true, strict=True)}
    found = bd.fit(plate, data, START, changed, free=free, sigma=1e-3)
    assert found.x == pytest.approx(true, abs=2e-4 * max(abs(true)), rel=1e-3)
    # mass, stiffness and damping appear as ratios only
    open_ = bd.fit(plate, data, START, free=("mass", "inertia", "k", "c"), sigma=1e-3)
    assert np.isinf(open_.std).sum() >= 2


def test_a_function_of_the_state_bounds_and_priors():
    def energy(x):
        return [9.81 * x[0] + 0.5 * x[1] ** 2], [[9.81, x[1]]]

    data = {"t": T[:10], "energy": np.full(10, 9.81 * 1.9)}
    found = bd.fit(HOPPER, data, [2.0, 0.0], free="z", observe=energy, sigma=0.1)
    assert found.values["z"] == pytest.approx(1.9, abs=1e-6)
    held = bd.fit(HOPPER, heights(0.002, np.random.default_rng(3)), [2.0, 0.0], {"k": 1100.0}, free=("k", "z"), sigma=0.002,
                  bounds={"k": (1000.0, 2000.0)})  # fmt: skip
    assert held.values["k"] == pytest.approx(1000.0, rel=1e-3)
    known = bd.fit(
        HOPPER, {"t": [0.1], "z": [1.85]}, [1.9, 0.0], free=("z", "vz"), sigma=0.01, prior={"vz": (0.0, 1e-6)}
    )
    assert known.values["vz"] == pytest.approx(0.0, abs=1e-5)
    assert known.std == pytest.approx([0.01, 1e-6], rel=1e-3)


def test_values_that_cannot_be_integrated_are_avoided():
    """Beyond a bound of its parameter the system has a pole; steps that lead there are taken back."""
    system = bd.System(
        lambda t, x, b, p: (p[0] * x[0] ** 2,), lambda t, x, p: (x[0] + 1e9,), n=1, m=1, params={"a": 0.1}
    )
    t = np.linspace(0.1, 1.0, 10)
    data = {"t": t, "x0": 1.0 / (1.0 - 0.9 * t)}
    found = bd.fit(system, data, [1.0], {"a": 0.1}, free="a")
    assert found.values["a"] == pytest.approx(0.9, abs=1e-6)
    with pytest.raises(bd.EstimationError, match="first guess"):
        bd.fit(system, data, [1.0], {"a": 3.0}, free="a")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"free": "mass"}, "mass"),
        ({"free": ()}, "at least one"),
        ({"data": {"t": [0.1], "y": [1.0]}}, "'y'"),
        ({"data": {"z": [1.0]}}, "'t'"),
        ({"data": {"t": [0.1, 0.2], "z": [1.0]}}, "each of the 2 times"),
        ({"data": {"t": [0.1], "z": [np.nan]}}, "nothing was measured"),
        ({"sigma": -1.0}, "positive"),
        ({"sigma": {"vz": 1.0}}, "sigma"),
        ({"bounds": {"g": (1.0, 2.0)}}, "not free"),
        ({"bounds": {"k": (2000.0, 3000.0)}}, "between its bounds"),
        ({"prior": {"k": (1.0, 0.0)}}, "positive"),
        ({"t0": 1.0}, "before t0"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    given = {"data": {"t": [0.1, 0.2], "z": [1.9, 1.8]}, "free": "k", **change}
    with pytest.raises((ValueError, TypeError), match=message):
        bd.fit(HOPPER, given.pop("data"), [2.0, 0.0], **given)
