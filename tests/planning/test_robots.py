"""Plans of a robot from a file: six articulated legs, whose base has a quaternion."""

import pathlib

import numpy as np
import pytest

import bouligand as bd

mj = pytest.importorskip("bouligand.bridges.mujoco")
P = bd.planning
FILE = pathlib.Path(__file__).parents[2] / "examples" / "six_legs.xml"
STAND = np.tile([0.0, 0.5, -1.8], 6)


@pytest.fixture(scope="module")
def six():
    return mj.load(
        str(FILE), contacts="*_foot", law=mj.Spring(4000.0, 40.0), friction=mj.Coulomb(0.8, 0.1), control=mj.Hold()
    )


def landing(six, **options):
    """Dropped from 5 mm, turned a little: its feet land one after the other."""
    x0 = six.neutral("stand")
    x0[2] += 0.005
    x0[3:7] = [np.cos(0.05), np.sin(0.05) * 0.6, np.sin(0.05) * 0.8, 0.0]
    target = six.neutral("stand")
    plan = P.Plan(
        six,
        np.linspace(0.0, 0.08, 5),
        P.Quadratic(target, x=1.0, u=0.01, rest=STAND),
        P.Quadratic(target, x=1.0),
        limits=(STAND - 0.5, STAND + 0.5),
        **options,
    )
    return plan, x0


def test_gradient_against_differences(six):
    plan, x0 = landing(six, rtol=1e-11, atol=1e-13)
    U = np.tile(STAND, (4, 1))
    assert len(plan.rollout(x0, U).solution.events) >= 6
    d, e = np.random.default_rng(0).standard_normal(U.shape), 1e-5
    cost, gradient = plan.gradient(x0, U)
    sides = [plan.cost(plan.rollout(x0, U + s * d)) for s in (e, -e)]
    assert (gradient * d).sum() == pytest.approx((sides[0] - sides[1]) / (2 * e), rel=1e-6)
    assert cost > 0.0


def test_coordinates_are_the_bridges(six):
    X = np.random.default_rng(0).standard_normal((3, six.n))
    X[:, 3:7] /= np.linalg.norm(X[:, 3:7], axis=1)[:, None]
    for x, G, R in zip(X, landing(six)[0].coordinates.lift(X), landing(six)[0].coordinates.project(X), strict=True):
        assert np.allclose(G, six.lift(x), atol=1e-15)
        assert np.allclose(R, six.project(x), atol=1e-15)
    flipped = X[0].copy()
    flipped[3:7] *= -1.0  # (the same rotation)
    assert np.array_equal(landing(six)[0].coordinates.near(flipped, X[0]), X[0])


def test_quick_plan_lands(six):
    plan, x0 = landing(six, quick=True, rtol=1e-3, atol=1e-5)
    found = plan.solve(x0, STAND, iterations=5)
    assert found.success
    assert found.cost < 0.9 * found.costs[0]
    assert found.K.shape == (4, 18, 48)
    run = plan.rollout(x0, found.u)
    exact, near = run.linearise(rtol=1e-8), run.linearise(quick=True)
    assert np.abs(exact[1] - near[1]).max() < 0.05 * np.abs(exact[1]).max()


def test_weights_by_name(six):
    cost = P.Quadratic(x={"turn x": 2.0, six.states[2]: 3.0})
    cost.prepare(six, six.inputs)
    assert cost.W[3] == 2.0
    assert cost.W[2] == 3.0
    with pytest.raises(ValueError, match="no 'roll' to be weighted"):
        P.Quadratic(x={"roll": 1.0}).prepare(six, six.inputs)
    with pytest.raises(ValueError, match="quaternions"):
        landing(six)[0].multiple_shooting(six.neutral())
