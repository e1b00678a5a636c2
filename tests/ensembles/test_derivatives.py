"""Derivatives of all trajectories: those of single solutions, closed forms, and gradients against differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bouligand as bd

HOPPER = bd.models.hopper()
X0 = np.column_stack([1.6 + 0.1 * np.arange(8), np.zeros(8)])


def test_matrices_are_those_of_single_solutions():
    ens = bd.solve_many(HOPPER, (0.0, 2.0), X0, derivative="matrix", rtol=1e-8, threads=2)
    assert ens.B.shape == (8, 2, 2)
    for i in range(8):
        assert np.array_equal(ens.B[i], ens[i].bderivative().matrix())
    ens = bd.solve_many(HOPPER, (0.0, 2.0), X0, derivative="matrix", wrt=("k", "z"), rtol=1e-8)
    B = ens[3].bderivative(params=True)
    assert np.array_equal(ens.B[3], np.column_stack([B.matrix(wrt="p")[:, 1], B.matrix()[:, 0]]))


def test_falling():
    """Before the first contact: z = z0 + v0 t - g t^2 / 2."""
    ens = bd.solve_many(HOPPER, (0.0, 0.2), X0, derivative="matrix", wrt=("z", "vz", "g"))
    assert np.abs(ens.B - [[1.0, 0.2, -0.02], [0.0, 1.0, -0.2]]).max() < 1e-9


def cost(x):
    return 0.5 * (x[0] - 1.5) ** 2 + x[1], [x[0] - 1.5, 1.0]


def test_the_gradient_of_a_sum_of_costs():
    options = {"rtol": 1e-11, "derivative": "vjp", "cost": cost}
    ens = bd.solve_many(HOPPER, (0.0, 2.0), X0, wrt="p", **options)
    assert ens.gradient.shape == (8, 3)
    assert ens.cost == pytest.approx([cost(x)[0] for x in ens.x], rel=1e-14)

    def total(k):
        return bd.solve_many(HOPPER, (0.0, 2.0), X0, {"k": k}, wrt="p", **options).cost.sum()

    slope = (total(1000.5) - total(999.5)) / 1.0
    assert ens.total_gradient[1] == pytest.approx(slope, rel=1e-4)
    assert np.array_equal(ens.total_gradient, ens.gradient.sum(axis=0))


def test_what_has_no_derivative_is_nan():
    """One that slides, and one that passes a corner of two guards at once."""

    def f(t, x, b, p):
        return (-b[0] if p[0] > 0.0 else 1.0, 1.0 if b[0] * b[1] < 0.0 else 0.5)

    system = bd.System(f, lambda t, x, p: (x[0], x[1]), n=2, m=2, params={"slides": 0.0})
    starts = [[0.5, -3.0], [-0.5, -0.25], [-0.5, -0.4]]
    ens = bd.solve_many(system, (0.0, 1.0), starts, {"slides": [1.0, 0.0, 0.0]}, derivative="matrix")
    assert ens.error.tolist() == ["SlidingError", "", ""]
    assert np.isnan(ens.B).any(axis=(1, 2)).tolist() == [True, True, False]


def test_in_a_store(tmp_path):
    pytest.importorskip("zarr")
    options = {"derivative": "vjp", "cost": cost, "wrt": ("k", "g")}
    ens = bd.solve_many(HOPPER, (0.0, 2.0), X0, store=tmp_path / "a.zarr", block=3, **options)
    assert np.array_equal(ens.gradient, bd.solve_many(HOPPER, (0.0, 2.0), X0, **options).gradient)
    assert ens.verify() == []


WRONG: dict = {
    "kind": ({"derivative": "jacobian"}, "derivative must be"),
    "cost": ({"derivative": "vjp"}, "needs cost"),
    "no vjp": ({"cost": cost}, "needs cost"),
    "wrt": ({"derivative": "matrix", "wrt": "mass"}, "neither a state nor a parameter"),
    "gradient": ({"derivative": "vjp", "cost": lambda x: (0.0, [1.0])}, "the gradient with 2 values"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name):
    options, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        bd.solve_many(HOPPER, (0.0, 2.0), X0, **options)


def test_contacts_at_one_instant_whose_derivative_is_a_matrix():
    """Legs that touch together, in whatever order: only where the order matters there is no matrix."""
    legs = bd.models.three_legs()
    starts = np.array([[0.7, 0, 0, 0, 0, 0, 0], [0.71, 0, 0, 0, 0, 0, 0]])
    weights = np.arange(1.0, 8.0)
    matrices = bd.solve_many(legs, (0, 0.5), starts, derivative="matrix").B
    gradients = bd.solve_many(
        legs, (0, 0.5), starts, derivative="vjp", cost=lambda x: (float(weights @ x), weights)
    ).gradient
    for i, x0 in enumerate(starts):
        B = bd.solve(legs, (0, 0.5), x0).bderivative()
        assert B.corners
        assert_array_equal(matrices[i], B.matrix())
        assert_allclose(gradients[i], weights @ B.matrix(), rtol=1e-9, atol=1e-12)
