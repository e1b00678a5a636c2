"""Fits to measurements at many times, and optimisers that try values for which an integration fails."""

import math

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize

import bouligand as bd
from bouligand.models.plate import START

from ..helpers.flow import richardson
from ..helpers.systems import close

T = np.linspace(0.05, 0.7, 14)


def polar(x):
    """Distance from the origin and height, with their Jacobian."""
    r = math.hypot(x[0], x[1])
    slope = np.zeros((2, 6))
    slope[0, 0], slope[0, 1], slope[1, 1] = x[0] / r, x[1] / r, 1.0
    return (r, x[1]), slope


def fitted(observe, columns, **options):
    shot = bd.Shooting(bd.models.plate(3), (0.0, 0.7), START, free=("z", "k", "theta"), rtol=1e-11, atol=1e-13)
    data = np.cos(np.arange(float(len(T) * columns))).reshape(len(T), columns)
    return shot.fit(T, data, observe=observe, **options)


@pytest.mark.parametrize(
    ("observe", "columns"),
    [(None, 6), ("z", 1), (("omega", "z"), 2), (polar, 2)],
    ids=["all", "one", "two", "function"],
)
def test_jacobian_and_gradient(observe, columns):
    weights = 1.0 + np.arange(len(T))
    fit = fitted(observe, columns, weights=weights, rtol=1e-11)
    theta = fit.shot.start
    known = np.array([richardson(fit, theta, np.eye(3)[q] * theta[q], 1e-4) / theta[q] for q in range(3)]).T
    solves = fit.shot.solves
    residuals, J = fit(theta), fit.jacobian(theta)
    close(J, known, 1e-6 * np.abs(known).max())
    value, gradient = fit.cost_and_gradient(theta)
    assert fit.shot.solves == solves + 1
    close(value, 0.5 * residuals @ residuals, 1e-12 * value)
    close(gradient, J.T @ residuals, 1e-9 * np.abs(gradient).max())
    x = fit.shot.solution(theta)(T)
    places = {None: range(6), "z": [1], ("omega", "z"): [5, 1], polar: None}[observe]
    seen = np.array([polar(state)[0] for state in x]) if places is None else x[:, places]
    close(residuals.reshape(len(T), -1), weights[:, None] * (seen - fit.data), 1e-9)


def test_times_in_any_order_and_twice():
    t = np.array([0.6, 0.2, 0.6, 0.4])
    shot = bd.Shooting(bd.models.hopper(), (0.0, 0.8), [2.0, 0.0], free=("k", "g"), rtol=1e-9)
    fit, alone = shot.fit(t, np.zeros((4, 2))), [shot.fit([s], np.zeros((1, 2))) for s in t]
    close(fit(shot.start), np.concatenate([one(shot.start) for one in alone]), 1e-8)
    close(fit.jacobian(shot.start), np.vstack([one.jacobian(shot.start) for one in alone]), 1e-6)
    gradients = [one.cost_and_gradient(shot.start)[1] for one in alone]
    close(fit.cost_and_gradient(shot.start)[1], np.sum(gradients, axis=0), 1e-6)


def test_a_fit_finds_what_was_put_in():
    plate, t = bd.models.plate(5), np.linspace(0.02, 1.2, 60)
    shot = bd.Shooting(plate, (0.0, 1.2), START, free=("k", "c", "mass", "s1", "z"), rtol=1e-9, failed=math.inf)
    true = shot.start * [1.1, 0.9, 1.05, 0.97, 1.02]
    data = shot.solution(true)(t)
    fit = shot.fit(t, data[:, [1, 2]], observe=("z", "theta"))
    found = least_squares(fit, shot.start, jac=fit.jacobian, x_scale=np.abs(shot.start), xtol=1e-14)
    close(found.x / true, np.ones(5), 1e-5)
    assert found.nfev < 20


# ------------------------------------------------------------------------------------------------ integrations that fail

SINGULAR = bd.System(  # x' = a x^2: x is infinite at t = 1 / (a x0)
    lambda t, x, b, p: (p[0] * x[0] ** 2 if b[0] < 0 else 0.0,),
    lambda t, x, p: (t - 3.0,),
    states=("x",),
    guards=("late",),
    params={"a": 0.2},
)


def test_failed_integrations_are_a_value():
    t = np.linspace(0.1, 2.0, 20)
    data = 1.0 / (1.0 - 0.45 * t)
    shot = bd.Shooting(SINGULAR, (0.0, 2.0), [1.0], free="a", failed=math.inf, max_steps=300)
    assert np.isinf(shot([0.9])).all()
    assert isinstance(shot.error, bd.SolveError)
    assert not shot.jacobian([0.9]).any()
    assert shot.value_and_gradient(lambda x: (x[0], [1.0]))([0.9]) == (math.inf, [0.0])
    fit = shot.fit(t, data)
    assert np.isinf(fit([0.9])).all()
    assert isinstance(fit.shot.error, bd.SolveError)
    value, gradient = fit.cost_and_gradient([0.9])
    assert value == math.inf
    assert not gradient.any()
    assert not fit.jacobian([0.9]).any()
    assert np.isfinite(fit([0.4])).all()
    assert fit.shot.error is None
    # the first Gauss-Newton step from here leads to where the solution does not exist
    far = least_squares(fit, [0.05], jac=fit.jacobian)
    close(far.x, [0.45], 1e-4)
    down = minimize(fit.cost_and_gradient, [0.3], jac=True, method="BFGS")
    close(down.x, [0.45], 1e-3)
    raising = bd.Shooting(SINGULAR, (0.0, 2.0), [1.0], free="a", max_steps=300)
    with pytest.raises(bd.SolveError):
        raising([0.9])
    with pytest.raises(bd.SolveError):
        raising.fit(t, data)([0.9])
    assert raising.solves == 1


def test_a_trajectory_that_ends_before_the_last_measurement():
    shot = bd.Shooting(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], terminal="foot", free="g")
    with pytest.raises(bd.DerivativeError, match=r"ended at t = 0.45\d* .*before the last measurement, t = 0.6"):
        shot.fit([0.2, 0.6], [1.0, 1.0], observe="z")([9.81])
    lenient = bd.Shooting(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], terminal="foot", free="g", failed=1e6)
    close(lenient.fit([0.2, 0.6], [1.0, 1.0], observe="z")([9.81]), [1e6, 1e6], 0.0)


def test_bad_arguments():
    shot = bd.Shooting(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], free="g")
    for call, message in (
        (lambda: shot.fit([0.1, 0.2], [1.0]), r"data must have a row for each of the 2 times; got shape \(1,\)"),
        (lambda: shot.fit([0.1], [1.0]), r"data must have a column for each observed state \(z, vz\); got 1"),
        (lambda: shot.fit([0.1], [1.0], observe="y"), "observe: no state is called 'y'; states: z, vz"),
        (
            lambda: shot.fit([0.1], [1.0], observe="z", weights=[1.0, 2.0]),
            "weights must be a number, one for each time",
        ),
        (lambda: shot.fit([0.1], [np.nan], observe="z"), "data must be finite"),
        (lambda: shot.fit([], []), "t must be a list of times"),
        (lambda: shot.fit([0.1], [1.0], observe=lambda x: (x, np.eye(2)))([9.81]), "observe must give 1 values"),
        (lambda: shot.fit([0.1, 1.5], [1.0, 1.0], observe="z"), "t must lie within t_span"),
        (lambda: bd.Shooting(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], failed=math.nan), "failed must be a number"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="observe must be names of states, or a function"):
        shot.fit([0.1], [1.0], observe=5)
