"""Regressions of the B-derivative: near-ties at the end, at an event, at a start, and other cases from adversarial tests."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import bouligand as bd

from ..helpers import systems
from ..helpers.systems import close

# an observer tied with a contact that speeds its guard up
watching = bd.System(
    lambda t, x, b, p: np.array([1.0, 3.0 if b[0] > 0 else 1.0]),
    lambda t, x, p: (x[0], x[1]),
    n=2,
    m=2,
    observers=(1,),
)


def test_independent_crossings_near_the_end_are_all_there():
    oscillators = bd.models.oscillators(3)
    x0 = np.array([-0.3, -0.3 - 1e-9, -0.3 + 1e-9, 0.6, 0.6, 0.6])
    last = float(bd.solve(oscillators, (0, 1.5), x0, rtol=1e-12).events.t[:3].max())
    image = bd.solve(oscillators, (0, last), x0, rtol=1e-6).bderivative()(np.ones(6))
    tight = (
        bd.solve(oscillators, (0, last), x0 + 1e-4, rtol=1e-12).x[-1]
        - bd.solve(oscillators, (0, last), x0, rtol=1e-12).x[-1]
    )
    close(image, tight * 1e4, 1e-2)
    sol = bd.solve(oscillators, (0, 1.5), x0, rtol=1e-6)
    first = int(sol.events.guard[1])
    B = sol.bderivative(event=1)
    assert abs(B(np.eye(6)[0])[first]) < 1e-6 or first != 0  # on its guard, whatever the perturbation
    close(B(np.eye(6)[first])[first], 0.0, 1e-6)


def test_near_ties_at_an_event():
    sol = bd.solve(systems.corner, (0, 2.0), [-1, -1 - 1e-9], rtol=1e-6)
    close(sol.bderivative(event=0)([-0.1, 0]), (0, 0.075), 1e-6)
    sol = bd.solve(systems.corner, (0, 2.0), [-1, -1.01], rtol=1e-10)
    close(sol.bderivative(event=0, merge=0.05)([-0.03, 0]), (0, 0.025), 1e-6)
    close(sol.bderivative(merge=0.05).event_times([0, 0]), (0, 0), 1e-12)


def test_to_and_from_a_time_inside_a_tie():
    sol = bd.solve(systems.corner, (0, 2.0), [-1, -1 - 2e-9], rtol=1e-6)
    first, second = (float(t) for t in sol.events.t)
    close(sol.bderivative(t=first)([0, 0.1]), (0, 0.075), 1e-6)
    close(sol.bderivative(since=first)([0, 0.1]), (0, 0.1), 1e-6)
    close(sol.bderivative(since=second)([-0.1, 0]), (-0.1, 0.025), 1e-6)
    exact = bd.solve(systems.corner, (0, 2.0), [-1, -1])
    assert exact.bderivative(t=1 - 1e-12).corners[0].kind == "end"


def test_an_observer_tied_with_a_contact():
    sol = bd.solve(watching, (0, 2.0), [-1, -1 + 1e-9], rtol=1e-6)
    B = sol.bderivative(event=0)
    close(B([0.1, 0]), (0.1 / 3, 0), 1e-6)
    close(B.event_times([0.1, 0])[0], -0.2 / 3, 1e-6)
    # and an exact tie is seen at all
    sol = bd.solve(watching, (0, 2.0), [-1, -1])
    assert sorted(sol.events.guard) == [0, 1]
    assert list(sol.b[-1]) == [1, 1]


def test_a_terminal_corner_of_a_sum_is_not_linear():
    system = bd.System(
        f0=lambda t, x, p: np.array([1.0, 1.0, 0.0]),
        g=lambda t, x, k, p: np.array([0.0, 0.0, 1.0 + k]),
        h=lambda t, x, p: (x[0], x[1]),
        n=3,
        m=2,
    )
    B = bd.solve(system, (0, 2.0), [-1, -1, 0], terminal="h0").bderivative()
    assert B.is_linear is False
    with pytest.raises(ValueError, match="needs dx"):
        B.vjp([0, 0, 1.0])
    close(B.vjp([0, 0, 1.0], [-1, 0, 0]), (-2, 2, 1), 1e-9)


def _reset_field(t, x, b, p):
    return np.array([1.0, 1 + (b[0] > 0) * 1.0 + (b[1] > 0) * 0.5 + (b[2] > 0) * 0.25 + (b[3] > 0) * 0.125])


def _reset_guards(t, x, p):
    s = np.sin(6 * x[0])
    return np.array([x[0] - 0.8, s - 0.1, s - 0.2, s - 0.3])


def test_one_crossing_that_arms_several_guards():
    system = bd.System(_reset_field, _reset_guards, n=2, m=4, direction=1, reset=[[0, 1, 1, 1]] + [[0] * 4] * 3)
    B = bd.solve(system, (0, 1.0), [0, 0.0], rtol=1e-6).bderivative()
    close(B.vjp([1, 2.0]), B.matrix().T @ [1, 2.0], 1e-9)


def test_a_guard_that_has_long_been_left_is_armed():
    system = bd.System(
        lambda t, x, b, p: np.array([1.0]),
        lambda t, x, p: (x[0] - 0.8, np.sin(6 * x[0]) - 0.2),
        n=1,
        m=2,
        direction=1,
        reset=[[0, 1], [0, 0]],
    )
    for options in ({}, {"max_step": 0.02}):
        assert list(bd.solve(system, (0, 1.5), [0.0], rtol=1e-8, **options).events.guard) == [1, 0, 1]


def test_since_a_change_of_parameters():
    system = bd.System(
        lambda t, x, b, p: np.array([p[0], 0.0 if b[0] < 0 else p[1]]),
        lambda t, x, p: (x[0],),
        n=2,
        m=1,
        params=[1.0, 1.0],
    )
    stepper = bd.Stepper(system, (0, 3.0), [-2.0, 0.0], rtol=1e-8, breakpoints=[0.5])
    while stepper.t < 0.5:
        stepper.step()
    stepper.p = [1.0, 7.0]
    while stepper.status == "running":
        stepper.step()
    sol = stepper.solution
    close(sol.bderivative(since=float(sol.events.t[0]))([-0.1, 0]), (-0.1, -0.7), 1e-7)
    close(sol.bderivative(since=2.5)(sol.rate(2.5), dt0=1.0), (0, 0), 1e-9)


def test_a_crossing_at_a_jump_of_f_has_a_piece_for_either_side():
    system = bd.System(
        lambda t, x, b, p: np.array([1.0 if t < 1 else 2.0, (3.0 if b[0] > 0 else 1.0) * (1.0 if t < 1 else 5.0)]),
        lambda t, x, p: (x[0],),
        n=2,
        m=1,
        breakpoints=[1.0],
    )
    sol = bd.solve(system, (0, 2), [-1.0, 0], rtol=1e-10)
    B = sol.bderivative()
    # crossed at 1 - e, y grows by 3 e more than e before the break; at 1 + e/2, by 5 (e/2) less than 15 (e/2) behind it
    np.testing.assert_allclose(B([1.0, 0.0]), [1.0, 2.0], atol=1e-8)
    np.testing.assert_allclose(B([-1.0, 0.0]), [-1.0, -5.0], atol=1e-8)


def test_pieces_of_a_start_without_a_jump():
    B = bd.solve(bd.models.hopper(), (0, 0.2), [1.0, 0.0], rtol=1e-10, b0=[1]).bderivative()
    assert B.is_linear is True
    assert np.isfinite(B.pieces()[0].matrix).all()


def test_a_failed_solution_has_a_derivative_up_to_there():
    failed = bd.solve(systems.relay, (0.0, 2.0), [1.0, 0.0], on_failure="return")
    close(failed.bderivative(t=0.5).matrix(), np.eye(2), 1e-9)


def test_batches_must_agree():
    B = bd.solve(systems.corner, (0, 2), [-1.0, -1.0]).bderivative()
    with pytest.raises(ValueError, match="same length"):
        B(np.ones((3, 2)), dt0=[0.0, 1.0])
    assert B(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_a_mode_that_the_trajectory_does_not_excite(rtol):
    """At rest steps grow beyond the time of a swing; its perturbations are still taken along it to the tolerance."""
    A = np.array([[0.0, 1.0], [-400.0, -2.0]])
    swing = bd.System(lambda t, x, b, p: (x[1], -400.0 * x[0] - 2.0 * x[1]), n=2)
    sol = bd.solve(swing, (0.0, 1.0), [0.0, 0.0], rtol=rtol)
    assert len(sol.t) < 12  # (or there would be nothing to show)
    B, exact = sol.bderivative(), expm(A)
    scale = np.abs(exact).max()
    close(B([1.0, 0.0]), exact[:, 0], 30.0 * rtol * scale)
    close(B.matrix(), exact, 30.0 * rtol * scale)
    close(B.vjp([1.0, 2.0]), np.array([1.0, 2.0]) @ exact, 30.0 * rtol * scale)


def test_a_stiff_contact_that_is_not_excited():
    """A mass at rest on a spring and damper that would settle in a millisecond, kicked: then B is what differences say."""

    def f(t, x, b, p, dx):
        dx[0] = x[1]
        dx[1] = -9.81 - ((1e4 * x[0] + 4e3 * x[1]) if b[0] > 0.0 else 0.0)

    foot = bd.System(f, lambda t, x, p: (-x[0],), n=2, guards=("foot",))
    rest = [-9.81e-4, 0.0]
    sol = bd.solve(foot, (0.0, 0.5), rest, rtol=1e-8)
    A = np.array([[0.0, 1.0], [-1e4, -4e3]])
    exact = expm(np.pad(0.5 * A, (0, 1)))[:2, :2]  # (padded: SciPy 1.12 gives NaN for two by two)
    close(sol.bderivative().matrix(), exact, 1e-6)


def test_perturbations_that_would_take_forever_are_refused():
    still = bd.System(lambda t, x, b, p: (-1e9 * x[0],), n=1)
    sol = bd.solve(still, (0.0, 1.0), [0.0])
    with pytest.raises(bd.DerivativeError, match="stiff: perturbations would need"):
        sol.bderivative()


def _swing(w2, duration):
    """The flow of x'' = -w2 x."""
    if w2 == 0.0:
        return np.array([[1.0, duration], [0.0, 1.0]])
    w = np.sqrt(w2)
    c, s = np.cos(w * duration), np.sin(w * duration)
    return np.array([[c, s / w], [-w * s, c]])


def test_since_a_time_inside_a_divided_step():
    """Times before ``since`` at which a step is divided do not belong to the record."""

    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -100.0 * x[0]

    sol = bd.solve(bd.System(f, n=2), (0.0, 3.0), [0.0, 0.0], rtol=1e-8)
    B = sol.bderivative(2.2, since=0.7)
    assert_allclose(B.matrix(), _swing(100.0, 1.5), atol=1e-5)
    assert_allclose(B.vjp([1.0, 2.0]), [1.0, 2.0] @ _swing(100.0, 1.5), atol=1e-5)


def test_another_mode_is_the_fastest_after_an_event():
    """Two swings at rest: one is stiff before the event, the other after it."""

    def f(t, x, b, p, dx):
        dx[0], dx[1], dx[3] = 1.0, x[2], x[4]
        dx[2] = -(1600.0 if b[0] < 0.0 else 0.01) * x[1]
        dx[4] = -(1600.0 if b[0] > 0.0 else 0.01) * x[3]

    system = bd.System(f, lambda t, x, p: [x[0] - 1.5], n=5, m=1)
    M = bd.solve(system, (0.0, 3.0), np.zeros(5), rtol=1e-7).bderivative().matrix()
    first, second = (_swing(w2, 1.5) for w2 in (1600.0, 0.01))
    assert_allclose(M[1:3, 1:3], second @ first, atol=1e-4)
    assert_allclose(M[3:, 3:], first @ second, atol=1e-3)


@pytest.mark.parametrize("behind", [1.1, 1.3, 2.0])
def test_a_mode_that_is_fast_only_during_a_hop(behind):
    """A swing at rest that is stiff only between two guards, which one hop takes; before it, nothing has any rate at all."""

    def f(t, x, b, p, dx):
        dx[0], dx[1] = 1.0, x[2]
        dx[2] = -1600.0 * x[1] if b[0] > 0.0 and b[1] < 0.0 else 0.0

    system = bd.System(f, lambda t, x, p: [x[0] - 1.0, x[0] - p[0]], n=3, m=2, params=[behind])
    B = bd.solve(system, (0.0, 3.0), np.zeros(3), rtol=1e-7).bderivative()
    exact = _swing(0.0, 3.0 - behind) @ _swing(1600.0, behind - 1.0) @ _swing(0.0, 1.0)
    scale = np.abs(exact).max()
    assert_allclose(B.matrix()[1:, 1:], exact, atol=1e-5 * scale)
    assert_allclose(B([0.0, 1.0, 2.0])[1:], exact @ [1.0, 2.0], atol=2e-5 * scale)
    assert_allclose(B.vjp([0.0, 1.0, 2.0])[1:], [1.0, 2.0] @ exact, atol=2e-5 * scale)


def test_a_mode_that_is_fast_from_a_breakpoint_on():
    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -(1600.0 if t >= 1.5 else 1.0) * x[0]

    sol = bd.solve(bd.System(f, n=2, breakpoints=[1.5]), (0.0, 3.0), [0.0, 0.0], rtol=1e-7)
    assert_allclose(sol.bderivative().matrix(), _swing(1600.0, 1.5) @ _swing(1.0, 1.5), atol=1e-4)


def test_a_mode_that_is_fast_only_inside_a_long_step():
    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -(1.0 + 400.0 * np.exp(-(((t - p[0]) / 0.2) ** 2))) * x[0]

    system = bd.System(f, n=2, params=[0.0])
    for middle in (0.5, 1.5, 2.2):
        M = bd.solve(system, (0.0, 3.0), [0.0, 0.0], p=[middle], rtol=1e-7).bderivative().matrix()
        for i in range(2):  # the field is linear: a trajectory is a column
            column = bd.solve(system, (0.0, 3.0), np.eye(2)[i], p=[middle], rtol=1e-11).x[-1]
            assert_allclose(M[:, i], column, atol=1e-4)


def test_the_rate_before_and_after_a_change_of_parameters():
    stepper = bd.Stepper(bd.models.hopper(), (0.0, 0.4), [2.0, 0.0], max_step=0.1)
    stepper.step()
    changed = stepper.t
    stepper.p = {"g": 1.0}
    sol = stepper.finish()
    assert sol.rate(0.5 * changed)[1] == sol.rate(changed, "left")[1] == -9.81
    assert sol.rate(changed)[1] == sol.rate(0.4)[1] == -1.0


def test_the_function_that_fails_is_named():
    """A compiled function only reports that it failed: the code of the core says which one it was."""

    def Df(t, x, b, p, out):
        if x[0] < 1.8:
            raise ValueError
        out[:] = 0.0
        out[0, 1] = 1.0

    def Dp_f(t, x, b, p, out):  # (at the start, where it is first tried from Python, it does not fail)
        if x[0] < 1.8:
            raise ValueError
        out[0, 0], out[1, 0] = 0.0, -1.0

    def falling(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -p[0]

    options = {"n": 2, "params": {"g": 9.81}, "compile": True}
    sol = bd.solve(bd.System(falling, Df=Df, **options), (0.0, 0.4), [2.0, 0.0], max_step=0.01)
    with pytest.raises(bd.FunctionError, match=r"a Jacobian of f failed at t = 0\.2") as caught:
        sol.bderivative()
    error = caught.value
    assert error.x[0] < 1.8
    assert error.x[0] == pytest.approx(2.0 - 0.5 * 9.81 * error.t**2, rel=1e-6)
    sol = bd.solve(bd.System(falling, Dp_f=Dp_f, **options), (0.0, 0.4), [2.0, 0.0])
    with pytest.raises(bd.FunctionError, match="a Jacobian of f failed"):
        sol.bderivative(params=True).vjp([1.0, 0.0])


def test_a_corner_of_a_derivative_in_parameters_is_that_of_the_state():
    """Its rows have entries of the parameters, which a perturbation of the state alone does not have."""
    sol = bd.solve(bd.models.three_legs(), (0.0, 0.3), [0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    of_state, of_both = (sol.bderivative(params=params).corners[0] for params in (False, True))
    dx = 1e-3 * np.arange(7)
    assert of_both(dx).tolist() == of_state(dx).tolist()
    assert of_both.matrix(dx).tolist() == of_state.matrix(dx).tolist()
    assert of_both.order(dx) == of_state.order(dx)
    assert np.allclose(of_both.pieces()[0].matrix[:, :7], of_state.pieces()[0].matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize("level", [0.1, 0.25, 0.49, 0.499999])
def test_a_tie_and_an_observer_that_is_crossed_later(level):
    """The observer belongs to no corner, and does not move the end of one."""

    def f(t, x, b, p):
        return np.array([0.5 if b[0] > 0 and b[1] < 0 else 1.0, (0.5 if b[0] > 0 else 0.75) if b[1] > 0 else 1.0])

    observed = bd.System(f, lambda t, x, p: (x[0], x[1], x[1] - p[0]), n=2, m=3, params=[level], observers=(2,))
    start, times = np.array([-1.0, -1.0]), np.array([1.0 + level, 1.55, 1.99, 2.0])
    sol = bd.solve(observed, (0.0, 2.0), start, rtol=1e-9)
    assert sol.events.guard.tolist() == [0, 1, 2]
    for dx in np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [-1.0, -0.5]]):
        one, two = (bd.solve(observed, (0.0, 2.0), x, rtol=1e-12, t_eval=times).x for x in (start, start + 1e-4 * dx))
        images = np.array([sol.bderivative(t)(dx) for t in times])
        assert_allclose(images, (two - one) / 1e-4, atol=1e-6)
        assert_allclose(np.asarray(sol.bderivative(times)(dx)), images, atol=1e-9)
        assert_allclose(sol.bderivative().vjp([1.0, 2.0], dx=dx) @ dx, images[-1] @ [1.0, 2.0], atol=1e-9)


def test_equal_blocks_that_stick_together_and_slip_later():
    def f(t, x, b, p):
        pull = 0.5 * (x[0] - x[1])
        return np.array([x[2], x[3], -x[0] - pull - 0.4 * b[0], -x[1] + pull - 0.4 * b[1]])

    blocks = bd.System(f, lambda t, x, p: (x[2] - 0.5, x[3] - 0.5), n=4, m=2, sliding="filippov")
    start = np.array([-0.3, -0.3, 0.2, 0.2])
    B = bd.solve(blocks, (0.0, 3.0), start, rtol=1e-9).bderivative()
    end = bd.solve(blocks, (0.0, 3.0), start, rtol=1e-12, atol=1e-13).x[-1]
    for dx in np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.3, -0.2, 0.5, 0.1]]):
        moved = bd.solve(blocks, (0.0, 3.0), start + 1e-6 * dx, rtol=1e-12, atol=1e-13).x[-1]
        assert_allclose(B(dx), (moved - end) / 1e-6, atol=1e-5)


@pytest.mark.parametrize("height", [0.08, 0.12, 0.2])
def test_a_ball_that_rests_on_a_moving_table_and_is_thrown(height):
    """Where it flies then does not depend on where it came from: the guard was at rest (0) before its sign became +1."""
    sol = bd.solve(systems.moving_table, (0.0, 0.6), [height, 0.0], rtol=1e-9)
    thrown = np.flatnonzero((sol.b[:-1, 0] == 0) & (sol.b[1:, 0] == 1))
    assert thrown.size
    after = 0.5 * (sol.t[thrown[0] + 1] + min([t for t in sol.events.t if t > sol.t[thrown[0] + 1]], default=0.6))
    assert_allclose(sol.bderivative(after).matrix(), 0.0, atol=1e-9)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-8, 1e-7])
@pytest.mark.parametrize(("contacts", "needed"), [(3, 3), (4, 3), (5, 3), (7, 7), (8, 5)])
def test_a_relay_that_needs_several_contacts_at_once(contacts, needed, gap):
    """Any two of the crossings commute at the start; the jump of f belongs to the one that is the last of those needed."""

    def f(t, x, b, p):
        slope = np.ones(contacts + 1)
        slope[contacts] = 1.0 if (b > 0).sum() >= needed else 0.0
        return slope

    relay = bd.System(f, lambda t, x, p: x[:contacts].copy(), n=contacts + 1, m=contacts)
    start = np.append(-1.0 - gap * np.arange(contacts), 0.0)
    B = bd.solve(relay, (0.0, 2.0), start, rtol=1e-6).bderivative()
    rng = np.random.default_rng(contacts)
    for dx in rng.standard_normal((8, contacts + 1)):
        closes = np.sort(-dx[:contacts])[needed - 1]  # x[-1] = 2 - (the time at which it closes)
        assert_allclose(B(dx)[-1], dx[-1] - closes, atol=1e-9)


def test_near_contacts_that_only_add_forces_are_no_corner():
    """Feet that touch by position and push on velocities: no order matters, whether f is declared as a sum or not."""
    feet = 5

    def f(t, x, b, p):
        return np.concatenate((x[feet:], -9.81 - 50.0 * np.where(b[:feet] < 0, x[:feet] + x[feet:], 0.0)))

    standing = bd.System(f, lambda t, x, p: x[:feet].copy(), n=2 * feet, m=feet)
    start = np.concatenate((0.1 + 1e-10 * np.arange(feet), np.zeros(feet)))
    B = bd.solve(standing, (0.0, 0.2), start, rtol=1e-6).bderivative()
    assert len(B.corners) == 0
    assert B.is_linear


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-8])
def test_orders_that_rounding_errors_would_make_are_not_listed(rtol):
    """Six feet of a rigid body land at once: of 720 orders, those that random perturbations take are all that are listed."""
    level = np.append([0.0, 0.0, 0.175], np.zeros(9))
    sol = bd.solve(bd.models.hexapod(period=1e9, phase=np.pi / 2), (0.0, 0.1), level, rtol=rtol)
    (corner,) = sol.bderivative().corners
    listed = {order for piece in corner.pieces() for (order,) in piece.orders}
    taken = {tuple(corner.order(dx)) for dx in np.random.default_rng(0).standard_normal((2000, 12))}
    assert listed == taken
    assert len(listed) == 18
