"""The B-derivative against closed forms."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.circle import END as CIRCLE_END
from bouligand.models.circle import START as CIRCLE_START
from bouligand.models.order_test import END as ORDER_TEST_END
from bouligand.models.order_test import START as ORDER_TEST_START
from bouligand.models.oscillators import exact as oscillators_exact

from ..helpers import systems
from ..helpers.flow import piece_of, richardson
from ..helpers.systems import close


def test_c1_order_test():
    sol = bd.solve(bd.models.order_test(), (0.0, ORDER_TEST_END), ORDER_TEST_START, rtol=1e-12)
    known = [
        [3.19063043970345, 0.0487986211243774, 0],
        [0.326416705062284, 1.60418537899235, 0],
        [0, 0, 1.56916391944892],
    ]
    close(sol.bderivative().matrix(), known, 3e-9)  # 1e-9 relative: the field is affine


@pytest.mark.parametrize(
    ("dx", "image"), [((-0.25, 0.0), (-0.25, 0.0625)), ((0.25, 0.0), (0.125, 0.0)), ((0.1, -0.2), (-0.05, -0.1))]
)
def test_c2_two_guards_at_once(dx, image):
    sol = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0])
    B = sol.bderivative()
    close(B(dx), image, 1e-9)
    close(B.matrix((0.25, 0.0)), [[0.5, 0.5], [0, 0.5]], 1e-9)
    close(B.matrix((-0.25, 0.0)), [[1, 0], [-0.25, 0.75]], 1e-9)
    assert B.is_linear is False
    assert len(B.pieces()) == 2
    close(B((1.0, 1.0)), (1.0, 0.5), 1e-9)  # B(F--) = F++
    assert np.abs(B((-0.25, 0.0)) + B((0.25, 0.0))).max() > 0.1


def test_c2_contract_and_phase_oscillators():
    table = {(-1, -1): (1, 1), (-1, 1): (1, 0.5), (1, -1): (0.5, 1), (1, 1): (0.5, 0.5)}
    corner = bd.Corner(table, np.eye(2))
    assert corner.is_linear is True
    close(corner.matrix((1.0, -3.0)), 0.5 * np.eye(2), 1e-15)
    nu, delta = 1.0, 0.3
    for d in (2, 5, 50):
        corner = bd.Corner(lambda word: nu - delta * word, np.eye(d))
        dx = np.sin(np.arange(d) * 2.3)
        close(corner(dx), (nu - delta) / (nu + delta) * dx, 1e-14)


ORDER_123 = np.array([[53 / 60, -1 / 30, 2 / 5], [31 / 60, 14 / 15, -1 / 5], [-1 / 12, 1 / 3, 1]])
ORDER_321 = np.array([[1, -1 / 3, 7 / 12], [2 / 5, 13 / 15, -1 / 60], [-1 / 5, 11 / 15, 43 / 60]])


def test_c2b_six_pieces():
    B = bd.solve(systems.six, (0.0, 2.0), [-1.0, -1.0, -1.0]).bderivative()
    close(B.matrix((3.0, 2.0, 1.0)), ORDER_123, 1e-9)
    pieces = B.pieces()
    close(piece_of(pieces, "h2", "h1", "h0").matrix, ORDER_321, 1e-9)
    assert len(pieces) == 6
    for piece in pieces:
        close(piece.matrix @ (1, 1, 1), (1.25, 1.25, 1.25), 1e-9)
        close(B(piece.dx), piece.matrix @ piece.dx, 1e-9)
        assert piece.orders == [tuple(B.orders(piece.dx))]


def test_c2c_a_moving_guard():
    B = bd.solve(systems.moving, (0.0, 2.0), [0.0]).bderivative()
    close(B.matrix(), [[2 / 15]], 1e-10)
    close(B((2.0,), dt0=1.0), [0.0], 1e-10)
    close(B.event_times((1.0,)), [-1 / 1.5], 1e-10)
    close(bd.saltation([2.0], [0.7], [1.0], Dt_h=-0.5), [[2 / 15]], 1e-15)


def test_c3_the_chair():
    fall = 2.116517530196281 / 9.8
    start = [0.0, 0.2285533905932738 + 4.9 * fall**2, 0.0, 0.0, 0.0, 0.0]
    sol = bd.solve(systems.chair, (0.0, fall + 0.1), start, rtol=1e-12)
    B = sol.bderivative()
    corner = B.corners[0]
    assert set(corner.guards) == {"left", "right"}
    known = np.eye(6)
    a, c = 0.853553390593, 0.728553390593
    known[3:, :3] = np.array([[-1, 0, -a], [0, -2, 0], [-a, 0, -c]])
    for dx in ((1, 0, 2, 0, 0, 0), (0, 0, -1, 0, 0, 0)):
        close(corner.matrix(np.array(dx, dtype=float)), known, 1e-9)
    assert B.is_linear is True


def test_c4_a_curved_guard():
    sol = bd.solve(bd.models.circle(), (0.0, CIRCLE_END), CIRCLE_START, rtol=1e-12)
    known = np.array([[21.6694650132395, -2.06995427138081], [56.6375024901038, -4.34234751570756]])
    close(sol.bderivative().matrix(), known, 1e-9 * 57)
    across = sol.bderivative(t=1.0 + 1e-9, since=1.0 - 1e-9).matrix((1.0, 0.0))
    close(across, [[1, 0], [-4 * np.pi, 1]], 1e-6)  # (and 2e-9 of flow)


def test_c5_saltation_of_an_oscillator():
    # from q = 0 with speed 0.4, just before: the entry is -2.5
    close(bd.saltation([0.4, 1.34], [0.4, 0.34], [1.0, 0.0])[1, 0], -2.5, 1e-14)
    q0, v0 = -0.3, 0.6
    sol = bd.solve(bd.models.oscillators(3), (0.0, 1.5), [q0] * 3 + [v0] * 3, rtol=1e-12)
    assert len(sol.events) >= 3
    B = sol.bderivative()
    assert B.is_linear is True  # they are independent
    for along, column in (((1.0, 0.0), 0), ((0.0, 1.0), 3)):
        known = richardson(lambda s: np.array(oscillators_exact(1.5, *s)[:2]), (q0, v0), along, 1e-3)
        close(B.matrix()[[0, 3], column], known, 1e-8)


def test_c6_one_slope():
    B = bd.solve(systems.slope, (0.0, 1.0), [1.0, 0.0], rtol=1e-12).bderivative(params=True)
    close(B.matrix(wrt="p")[1], (-0.25, 0.5), 1e-9)
    close(B.matrix()[1, 0], 0.5, 1e-9)
    x0, p = B.vjp((0.0, 1.0))
    close(np.concatenate([x0, p]), (0.5, 1.0, -0.25, 0.5), 1e-9)
