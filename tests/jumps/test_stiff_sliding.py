"""Stiff steps where the trajectory slides or rests: a fast state beside motions that are known."""

import numpy as np
import pytest

import bouligand as bd

FAST = 1e4


def follower():
    """A spring and dry friction, and a state that follows the position fast."""
    return bd.System(
        lambda t, x, b, p: (x[1], -x[0] - p[0] * b[0], -p[1] * (x[2] - x[0])),
        lambda t, x, p: (x[1],),
        states=("x", "v", "y"),
        guards=("reversal",),
        params={"mu": 0.4, "rate": FAST},
        sliding="filippov",
    )


@pytest.mark.parametrize("method", ["auto", "stiff"])
def test_friction_with_a_fast_state(method):
    sol = bd.solve(follower(), (0.0, 20.0), [3.0, 0.0, 2.0], b0=[-1], rtol=1e-6, method=method)
    assert sol.events.t == pytest.approx(np.pi * np.arange(1, 5), abs=1e-4)
    assert sol.b[-1, 0] == 0
    assert sol.x[-1] == pytest.approx([-0.2, 0.0, -0.2], abs=1e-4)
    assert np.ptp(sol(np.linspace(13.0, 20.0, 20))[:, :2], axis=0).max() < 1e-13  # it sticks, and does not creep
    assert sol.counts.steps < 3000  # (explicit steps: 60,000)


def test_its_derivative():
    B = bd.solve(follower(), (0.0, 14.0), [3.0, 0.0, 2.0], b0=[-1], rtol=1e-7, method="stiff").bderivative().matrix()
    assert np.allclose(B, [[1, 0, 0], [0, 0, 0], [1, 0, 0]], atol=1e-4)


def test_rest_with_a_fast_state():
    ball = bd.System(
        lambda t, x, b, p: (x[1], -9.81, -FAST * (x[2] - x[0])),
        lambda t, x, p: (x[0],),
        n=3,
        guards=("floor",),
        jumps={"floor": lambda t, x, b, p: (x[0], -0.5 * x[1], x[2])},
        rest="floor",
    )
    sol = bd.solve(ball, (0.0, 3.0), [1.0, 0.0, 1.0], rtol=1e-6, method="stiff")
    assert sol.b[-1, 0] == 0
    assert sol.x[-1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    assert sol.events.t[0] == pytest.approx(np.sqrt(2.0 / 9.81), abs=1e-6)
