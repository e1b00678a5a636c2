"""A step that an explicit method cannot take because of stiffness is named as such."""

import numpy as np
import pytest

import bouligand as bd


def foot(damping):
    """A foot that slides to rest on smoothed Coulomb friction once it has touched."""

    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[2], x[3]
        push = 1e3 * -x[1] - 20.0 * x[3] if b[0] > 0.0 else 0.0
        dx[2] = -p[0] * push * x[2] if b[0] > 0.0 else 0.0
        dx[3] = push - 9.81

    return bd.System(
        f, lambda t, x, p: (-x[1],), states=("x", "z", "vx", "vz"), guards=("foot",), params={"damping": damping}
    )


def test_stiffness_is_named_with_its_rate_and_states():
    with pytest.raises(bd.StiffnessError, match="a component in vx decays") as caught:
        bd.solve(foot(1e7), (0.0, 3.0), [0.0, 0.1, 1.0, 0.0], max_steps=2000, method="dopri5")
    error = caught.value
    assert error.states == ("vx",)
    z, vz = error.x[1], error.x[3]
    assert error.rate == pytest.approx(1e7 * (-1e3 * z - 20.0 * vz), rel=1e-3)
    assert error.solution.t[-1] == error.t > 0.1


def test_stiff_steps_get_through():
    sol = bd.solve(foot(1e7), (0.0, 3.0), [0.0, 0.1, 1.0, 0.0], max_steps=2000)
    assert sol.success
    assert abs(sol.x[-1, 2]) < 1e-6  # it has come to rest
    assert sol.x[-1, 1] == pytest.approx(-9.81 / 1e3, abs=1e-6)  # on its spring


def test_too_few_steps_are_not_called_stiff():
    with pytest.raises(bd.TooManyStepsError) as caught:
        bd.solve(foot(1.0), (0.0, 3.0), [0.0, 0.1, 1.0, 0.0], rtol=1e-10, max_steps=20)
    assert not isinstance(caught.value, bd.StiffnessError)


def test_a_fast_swing_is_not_called_stiff():
    with pytest.raises(bd.TooManyStepsError) as caught:
        bd.solve(
            bd.System(lambda t, x, b, p: (x[1], -1e10 * x[0]), n=2), (0.0, 10.0), np.array([1.0, 0.0]), max_steps=500
        )
    assert not isinstance(caught.value, bd.StiffnessError)
