"""The B-derivative against one-sided differences of the flow, what always holds for it, and ties."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bouligand as bd
from bouligand.models.hopper import crossings
from bouligand.models.order_test import END as ORDER_TEST_END
from bouligand.models.order_test import START as ORDER_TEST_START
from bouligand.models.oscillators import exact as oscillators_exact
from bouligand.models.plate import START as PLATE_START

from ..helpers import systems
from ..helpers.flow import end, falls_like_squares, piece_of, richardson
from ..helpers.systems import close

LEVEL = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])


# --------------------------------------------------------------------------------- against the flow itself


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_f22_every_order_of_crossing(order):
    x0, span = np.array([-1.0, -1.0, -1.0]), (0.0, 2.0)
    B = bd.solve(systems.six, span, x0, rtol=1e-12).bderivative()
    names = tuple(f"h{k}" for k in order)
    dx = piece_of(B.pieces(), *names).dx
    assert B.orders(dx) == [names]
    for s in 10.0 ** -np.arange(1, 9):
        close(end(systems.six, span, x0 + s * dx) - end(systems.six, span, x0), B(s * dx), 1e-12)  # it is linear there


def test_f22_the_chair():
    span, x0 = (0.0, 0.6), np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    B = bd.solve(systems.chair, span, x0, rtol=1e-12).bderivative()
    assert B.corners
    for dx in ((0.3, 1.0, 0.5, -0.2, 0.1, 0.4), (-0.1, -0.4, -1.0, 0.3, 0.2, -0.5)):
        falls_like_squares(systems.chair, span, x0, dx, B)


@pytest.mark.parametrize("contacts", [2, 3, 10])
@pytest.mark.parametrize("start", [PLATE_START, LEVEL], ids=["tilted", "level"])
def test_f22_the_plate(contacts, start):
    # (long enough to land and to leave again; the amplification stays moderate, so that the reference is good to 1e-11)
    plate, span = bd.models.plate(contacts), (0.0, 0.8)
    B = bd.solve(plate, span, start, rtol=1e-12).bderivative()
    assert bool(B.corners) == (start is LEVEL)
    for seed in (1, 2):
        dx = np.random.default_rng(seed).uniform(-1, 1, 6) * (0.3, 1.0, 0.1, 0.3, 1.0, 0.1)
        falls_like_squares(plate, span, start, dx, B, start=1e-3, floor=2e-10)


@settings(max_examples=15, deadline=None)
@given(
    phases=st.lists(st.floats(0.0, 6.0), min_size=4, max_size=4),
    jumps=st.lists(st.floats(-0.15, 0.15), min_size=16, max_size=16),
    seed=st.integers(0, 1000),
)
def test_f22_random_sums(phases, jumps, seed):
    # back from the corner at the origin to a start, then through it
    p = np.array(phases + jumps)
    x0, span = _start_before_corner(p), (0.0, 1.0)
    B = bd.solve(systems.sums, span, x0, p, rtol=1e-12).bderivative()
    dx = np.random.default_rng(seed).uniform(-1, 1, 4)
    here = end(systems.sums, span, x0, p)
    left = [
        np.abs(end(systems.sums, span, x0 + s * dx, p) - here - B(s * dx)).max() for s in 10.0 ** -np.arange(2.0, 9.0)
    ]
    for q, error in enumerate(left):
        assert error <= max(0.1 * 100.0**-q * 1e-2, 1e-11), left
    # and the gradient on that piece
    w = np.array([1.0, -2.0, 0.5, 0.3])
    close(B.vjp(w, dx), B.matrix(dx).T @ w, 1e-10)


def _start_before_corner(p):
    """Half a unit of time before the origin, by the field of the word (-, -, -, -), backwards."""
    from scipy.integrate import solve_ivp

    return solve_ivp(
        lambda t, x: -(1.0 + 0.2 * np.sin(p[:4] + np.roll(x, -1))),
        (0, 0.5),
        np.zeros(4),
        rtol=1e-13,
        atol=1e-14,
        method="DOP853",
    ).y[:, -1]


# --------------------------------------------------------------------------------------------- what always holds


@settings(max_examples=30, deadline=None)
@given(
    a=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    b=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    scale=st.floats(1e-6, 1e6),
)
def test_continuous_and_positively_homogeneous(a, b, scale):
    B = _six()
    a, b = np.array(a), np.array(b)
    close(B(scale * a) / scale, B(a), 1e-12)
    # Lipschitz with the largest of its pieces: no jump between two of them
    largest = max(np.linalg.norm(piece.matrix, np.inf) for piece in _six_pieces())
    close(B(a), B(b), largest * np.abs(a - b).max() + 1e-12)


_kept: dict = {}


def _six():
    if "B" not in _kept:
        _kept["B"] = bd.solve(systems.six, (0.0, 2.0), [-1.0, -1.0, -1.0], rtol=1e-12).bderivative()
    return _kept["B"]


def _six_pieces():
    if "pieces" not in _kept:
        _kept["pieces"] = _six().pieces()
    return _kept["pieces"]


@pytest.mark.parametrize("start", [PLATE_START, LEVEL], ids=["tilted", "level"])
def test_along_the_flow(start):
    plate = bd.models.plate(5)
    sol = bd.solve(plate, (0.0, 0.8), start, rtol=1e-12)
    B = sol.bderivative()
    size = np.abs(B.matrix(np.ones(6))).max()
    close(B(sol.rate(0.0), dt0=1.0), np.zeros(6), 1e-8 * size)
    close(B(sol.rate(0.0)), sol.rate(0.8), 1e-8 * size)  # autonomous: B(f-) = f+


def test_permuting_guards_changes_nothing():
    rows = np.array([[1.0, 0.2, 0.0], [0.0, 1.0, 0.3], [0.1, 0.0, 1.0]])
    jump = np.array([[0, 0.5, -0.25], [-0.25, 0, 0.5], [0.5, -0.25, 0]])

    def field(word):
        return np.ones(3) + (word > 0) @ jump

    corner = bd.Corner(field, rows)
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(3)
        back = np.argsort(order)
        other = bd.Corner(partial(lambda back, word: field(word[back]), back), rows[order])
        dx = np.random.default_rng(100 + seed).normal(size=3)
        close(other(dx), corner(dx), 1e-14)
        assert tuple(order[list(other.order(dx))]) == corner.order(dx)


def test_from_and_to_any_time():
    plate = bd.models.plate(4)
    sol = bd.solve(plate, (0.0, 1.0), PLATE_START, rtol=1e-11)
    whole = sol.bderivative().matrix()
    for middle in (0.31, float(sol.t[len(sol.t) // 2]), 0.77):
        first, second = sol.bderivative(middle).matrix(), sol.bderivative(since=middle).matrix()
        close(second @ first, whole, 1e-7 * np.abs(whole).max())
    with pytest.raises(ValueError, match="since"):
        sol.bderivative(0.2, since=0.5)
    with pytest.raises(ValueError, match=r"within the trajectory, \[0, 1\]"):
        sol.bderivative(1.5)


# ---------------------------------------------------------------------------------------------------------- ties


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7, 1e-9])
def test_a_tie_is_never_one_arbitrarypiece(rtol):
    # four guards that are crossed at once, apart only by the errors of the integration: still one corner
    p = np.array([0.3, 1.1, 2.0, 4.5, *(0.15 * np.sin(np.arange(16) * 1.7))])
    sol = bd.solve(systems.sums, (0.0, 1.0), _start_before_corner(p), p, rtol=rtol)
    B = sol.bderivative()
    assert [corner.units for corner in B.corners] == [4]
    assert B.is_linear is False


def test_crossings_that_do_not_know_of_each_other_need_no_corner():
    # two balls whose landings coincide, though they come from different heights, after a bounce of one of them
    touch = crossings(2.0, 0.5, rest=0.0)[2]
    x0 = np.array([0.5, 1.0, 0.0, (-1.0 + 4.905 * touch**2) / touch])
    for rtol in (1e-4, 1e-9):
        B = bd.solve(systems.balls(2), (0.0, touch + 0.03), x0, rtol=rtol).bderivative()
        assert B.is_linear is True
    dx = np.array([0.3, -0.2, 0.1, 0.5])
    falls_like_squares(systems.balls(2), (0.0, touch + 0.03), x0, dx, B, start=1e-3, floor=1e-8)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_across_a_spanning_step(rtol):
    plate = bd.models.plate(100)
    sol = bd.solve(plate, (0.0, 0.8), PLATE_START, rtol=rtol)
    assert sol.counts.spans > 0
    B, tight = sol.bderivative(), bd.solve(plate, (0.0, 0.8), PLATE_START, rtol=1e-11).bderivative()
    close(B.matrix(), tight.matrix(), 30 * rtol * np.abs(tight.matrix()).max())
    close(B.event_times(np.ones(6)), tight.event_times(np.ones(6)), 30 * rtol)
    close(B.vjp(np.ones(6)), B.matrix().T @ np.ones(6), 1e-11 * np.abs(B.matrix()).max())


@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-4])
def test_near_ties_with_their_offsets(gap):
    span, x0 = (0.0, 2.0), np.array([-1.0, -1.0 - gap])
    sol = bd.solve(systems.corner, span, x0, rtol=1e-10)
    assert not sol.bderivative().corners
    B = sol.bderivative(merge=2 * gap)
    assert len(B.corners) == 1
    close(B((0.0, 0.0)), (0.0, 0.0), 1e-14)
    for scale in (10.0, 1.0, 0.1):
        for dx in ((1.0, -0.5), (-0.4, 1.0), (-1.0, -1.0)):
            dx = scale * gap * np.array(dx)
            close(B(dx), end(systems.corner, span, x0 + dx) - end(systems.corner, span, x0), 1e-10)
            close(B.matrix(dx) @ dx + B.offset(dx), B(dx), 1e-12)
    far = np.array([0.0, 10.0 * gap])
    assert np.abs(B.offset(far)).max() > 0.01 * gap


def test_error_of_merging_is_of_the_order_of_merge_times_dx():
    balls = systems.balls(2)
    for gap in (1e-2, 1e-3):
        x0, span = np.array([0.5, 0.5 + gap, 0.0, 0.0]), (0.0, 0.36)
        sol = bd.solve(balls, span, x0, rtol=1e-11)
        merge = 1.01 * (sol.events.t[1] - sol.events.t[0])
        dx = np.array([2.0 * gap, 0.0, 0.0, 0.0])
        true = end(balls, span, x0 + dx) - end(balls, span, x0)
        # (Df is as large as the stiffness, 1000)
        assert np.abs(sol.bderivative(merge=merge)(dx) - true).max() < 1e3 * merge * np.abs(dx).max()


# -------------------------------------------------------------------------------------------------- large corners


def test_a_corner_of_a_thousand_guards(monkeypatch):
    m = 1000
    sol = bd.solve(bd.models.oscillators(m), (0.0, 1.0), np.concatenate([np.full(m, -0.3), np.full(m, 0.6)]), rtol=1e-9)
    B = sol.bderivative()
    dx = np.sin(np.arange(2.0 * m))
    known = [
        richardson(lambda s: np.array(oscillators_exact(1.0, *s)[:2]), (-0.3, 0.6), along, 1e-3) for along in np.eye(2)
    ]
    image = B(dx)
    close(image[:m], known[0][0] * dx[:m] + known[1][0] * dx[m:], 1e-6)
    close(image[m:], known[0][1] * dx[:m] + known[1][1] * dx[m:], 1e-6)
    assert B.is_linear is True
    with pytest.raises(bd.TooManyPiecesError, match="1000 guards"):
        B.corners[0].pieces()
    # one evaluation of f for each guard crossed, and no more
    corner = B.corners[0]
    memory, fn = corner._borrow()
    monkeypatch.setattr(corner, "_borrow", lambda: (memory, fn))
    corner(dx)
    assert memory.s.counts.f_calls == m + 1


# ---------------------------------------------------------------------------------------- one-sided guards, the rest


def test_band_mode_has_the_order_of_its_projection():
    known = np.array([[3.19063043970345, 0.0487986211243774], [0.326416705062284, 1.60418537899235]])
    for projection, order in (("tangent", 2), ("midpoint", 3)):
        errors = []
        for eps in (1e-2, 1e-3):
            sol = bd.solve(
                bd.models.order_test(),
                (0.0, ORDER_TEST_END),
                ORDER_TEST_START,
                rtol=1e-12,
                eps=eps,
                projection=projection,
            )
            errors.append(np.abs(sol.bderivative().matrix()[:2, :2] - known).max())
        assert np.log10(errors[0] / errors[1]) > order - 0.3, (projection, errors)


def test_bad_use_is_named():
    failed = bd.solve(systems.relay, (0.0, 2.0), [1.0, 0.0], on_failure="return")
    with pytest.raises(bd.DerivativeError, match="sliding"):
        failed.bderivative()
    sol = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0])
    B = sol.bderivative()
    with pytest.raises(ValueError, match="dx must have 2 finite values, one for each state; got 3 values"):
        B([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not all finite"):
        B([1.0, np.nan])
    with pytest.raises(ValueError, match="needs dx"):
        B.matrix()
    with pytest.raises(ValueError, match="params=True"):
        B([1.0, 0.0], dp=[1.0])
    with pytest.raises(ValueError, match="merge"):
        sol.bderivative(merge=-1.0)
    with pytest.raises(ValueError, match="w must have 2"):
        B.vjp([1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="2 events"):
        sol.bderivative(event=5)
    with pytest.raises(ValueError, match="wrt"):
        B.matrix([1.0, 0.0], wrt="y")
    turned = bd.Corner({(-1, -1): (1, 1), (1, -1): (1, -1), (-1, 1): (1, 1), (1, 1): (1, 1)}, np.eye(2))
    with pytest.raises(bd.NotEventSelectedError, match="guard 1"):
        turned([1.0, 0.0])
    with pytest.raises(bd.NotEventSelectedError, match="sliding"):
        bd.saltation([1.0], [-1.0], [1.0])
    with pytest.raises(KeyError, match=r"\(1, -1\)"):
        bd.Corner({(-1, -1): (1, 1)}, np.eye(2))([1.0, 0.0])
    with pytest.raises(bd.TooManyPiecesError, match="limit = 3"):
        _six().pieces(limit=3)


def test_batches_and_pickles():
    sol = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0])
    B = pickle.loads(pickle.dumps(sol)).bderivative()
    batch = np.array([[0.25, 0.0], [-0.25, 0.0], [0.1, -0.2]])
    close(B(batch), [[0.125, 0.0], [-0.25, 0.0625], [-0.05, -0.1]], 1e-9)
