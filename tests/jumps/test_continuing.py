"""``b0=sol.b[-1]`` continues a trajectory that stays on guards, as if there had been no stop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bouligand as bd

from ..attacks.fuzz import made
from ..helpers.systems import moving_table

TIGHT = {"rtol": 1e-9, "atol": 1e-11}
friction = bd.System(
    lambda t, x, b, p: (x[1], np.sin(t) - x[0] - 0.4 * b[0]),
    lambda t, x, p: (x[1],),
    guards=("reversal",),
    n=2,
    sliding="filippov",
)


def block(t, x, b, p):
    return x[2], x[3], 5.0 * np.sin(2.0 * t) - p[0] * p[1] * b[1], -9.81


lands_and_sticks = bd.System(
    block,
    lambda t, x, p: (x[1], x[2]),
    states=("x", "z", "vx", "vz"),
    guards=("floor", "slips"),
    params={"mu": 0.45, "N": 0.0},
    jumps={"floor": lambda t, x, b, p: (x[0], x[1], x[2], 0.0)},
    rest={"floor": "N"},
    sliding="filippov",
    active_while={"slips": "floor"},
)


@pytest.mark.parametrize(
    ("system", "x0", "tf"),
    [(moving_table, [0.12, 0.0], 1.0), (friction, [1.0, 0.3], 12.0), (lands_and_sticks, [0.0, 0.2, 0.0, 0.0], 5.0)],
)
def test_in_parts_as_at_once(system, x0, tf):
    once = bd.solve(system, (0.0, tf), x0, **TIGHT)
    stays = 0
    for share in np.linspace(0.03, 0.97, 40):
        first = bd.solve(system, (0.0, share * tf), x0, **TIGHT)
        rest = bd.solve(system, (share * tf, tf), first.x[-1], b0=first.b[-1], **TIGHT)
        stays += (first.b[-1] == 0).any()
        assert (rest.b[0] == first.b[-1]).all()
        assert_allclose(rest.x[-1], once.x[-1], atol=3e-6)
        assert (rest.b[-1] == once.b[-1]).all()
        after = once.events.t > share * tf + 1e-9
        assert rest.events.name.tolist() == once.events.name[after].tolist()
    assert stays > 3


def test_the_derivative_of_the_parts():
    once = bd.solve(friction, (0.0, 12.0), [1.0, 0.3], **TIGHT)
    sticks = np.flatnonzero(once.b[:-1, 0] == 0)[0]
    until = 0.5 * (once.t[sticks] + once.t[sticks + 1])
    first = bd.solve(friction, (0.0, until), [1.0, 0.3], **TIGHT)
    assert first.b[-1, 0] == 0
    rest = bd.solve(friction, (until, 12.0), first.x[-1], b0=first.b[-1], **TIGHT)
    whole = rest.bderivative().matrix() @ first.bderivative().matrix()
    assert_allclose(whole, once.bderivative().matrix(), atol=1e-6)


def test_what_is_refused():
    with pytest.raises(ValueError, match="b0 must have 1 signs, -1 or \\+1, one for each guard"):
        bd.solve(bd.models.hopper(), (0.0, 1.0), [1.0, 0.0], b0=[0])
    with pytest.raises(bd.StartError, match="b0 says \\+0 for guard 'table', but h = "):
        bd.solve(moving_table, (0.0, 1.0), [0.12, 0.0], b0=[0])
    mixed = bd.System(
        lambda t, x, b, p: (x[1], -9.81),
        lambda t, x, p: (x[0], x[0] - 1.0),
        n=2,
        guards=("floor", "line"),
        jumps={"floor": lambda t, x, b, p: (x[0], 0.0)},
        rest="floor",
    )
    with pytest.raises(ValueError, match="b0 is 0 for guard 'line', on which no trajectory stays"):
        bd.solve(mixed, (0.0, 1.0), [1.0, 0.0], b0=[1, 0])


@pytest.mark.parametrize("seed", [23, *range(1, 9)])
def test_a_moving_table_on_which_a_ball_comes_to_rest(seed):
    """h is known to the digits of t there, where the table moves fast, not only to those of the state."""
    thrown = made("departures", seed)
    for rtol in (1e-4, 1e-7, 1e-10):
        end = bd.solve(thrown.system, thrown.span, thrown.x0, thrown.p, rtol=rtol, atol=0.01 * rtol).x[-1]
        assert_allclose(end, thrown.tight(thrown.x0), atol=300 * rtol)
