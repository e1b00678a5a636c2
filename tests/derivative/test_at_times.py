"""Derivatives at many times in one pass: against closed forms, trajectories by hand, tight solves, and each time on its own."""

import pickle

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.hopper import field as hopper_field
from bouligand.models.hopper import guard as hopper_guard
from bouligand.models.plate import START
from tests.helpers.piecewise_constant import by_hand, parameters, system
from tests.integration.test_unit import START as SPINNING
from tests.integration.test_unit import TOP

from ..helpers import systems
from ..helpers.flow import end
from ..helpers.systems import close

HOPPER = bd.models.hopper()
PLAIN = {  # the hopper without given Jacobians
    source: bd.System(
        hopper_field,
        hopper_guard,
        states=HOPPER.states,
        guards=HOPPER.guards,
        params=dict(zip(HOPPER.params, HOPPER.defaults, strict=True)),
        jacobians=source,
    )
    for source in ("exact", "differences")
}


def hopping(theta, t):
    """The hopper's state by formulas, for complex arguments too: flights, and springs that are left at the speed of the touch."""
    z, v, g, k, rest = theta
    w, offset = np.sqrt(k), g / k
    while True:
        touch = (v + np.sqrt(v * v + 2.0 * g * (z - rest))) / g
        if t < touch.real:
            return np.array([z + v * t - 0.5 * g * t * t, v - g * t])
        t, v = t - touch, v - g * touch
        leave = 2.0 * (np.pi + np.arctan(v / w / offset)) / w
        if t.real < leave.real:
            c, s = np.cos(w * t), np.sin(w * t)
            return np.array([rest - offset + offset * c + v / w * s, -w * offset * s + v * c])
        t, z, v = t - leave, rest, -v


def slopes_of_hopping(t):
    """Its derivative in start and parameters at each time, (times, 2, 5), by complex steps."""
    theta, step = np.array([2.0, 0.3, *HOPPER.defaults], dtype=complex), 1e-30j
    return np.array([[hopping(theta + step * unit, s).imag / 1e-30 for unit in np.eye(5)] for s in t]).transpose(
        0, 2, 1
    )


@pytest.mark.parametrize("jacobians", ["given", "exact", "differences"])
@pytest.mark.parametrize("method", ["dopri5", "dop853", "bosh3"])
def test_the_hopper_by_formulas(jacobians, method):
    model, rtol = HOPPER if jacobians == "given" else PLAIN[jacobians], 1e-7 if method == "bosh3" else 1e-10
    sol = bd.solve(model, (0.0, 2.0), [2.0, 0.3], rtol=rtol, atol=1e-2 * rtol, method=method)
    assert len(sol.events) == 4
    t = np.linspace(0.01, 1.99, 67)
    known = slopes_of_hopping(t)
    close(sol(t), [hopping(np.array([2.0, 0.3, *HOPPER.defaults], dtype=complex), s).real for s in t], 1e4 * rtol)
    B, tolerance = sol.bderivative(t, params=True), 3e3 * rtol * np.abs(known).max()
    close(B.matrix(), known[:, :, :2], tolerance)
    close(B.matrix(wrt="p"), known[:, :, 2:], tolerance)
    close(B.matrix(wrt=("k", "z")), known[:, :, [3, 0]], tolerance)
    close(sol.sensitivity("p", t), known[:, :, 2:], tolerance)
    w = np.sin(np.arange(2.0 * len(t))).reshape(-1, 2)
    close(np.concatenate(B.vjp(w)), np.einsum("kij,ki->j", known, w), 10.0 * tolerance)
    close(B([0.2, -1.0], {"g": 0.5}), known @ [0.2, -1.0, 0.5, 0.0, 0.0], tolerance)
    assert B.is_linear
    assert not B.corners


def test_a_plate_against_tight_solves():
    plate, t = bd.models.plate(4), np.array([0.7, 0.45, 0.62, 0.45])  # (in any order, one of them twice)
    p, step = np.array(plate.defaults), 1e-5

    def differences(varied, other):
        columns = []
        for q in range(len(varied)):
            h = step * max(abs(varied[q]), 0.1) * np.eye(len(varied))[q]
            sides = [other(varied + sign * h) for sign in (2.0, 1.0, -1.0, -2.0)]
            columns.append((-sides[0] + 8.0 * sides[1] - 8.0 * sides[2] + sides[3]) / (12.0 * h[q]))
        return np.array(columns).T

    sol = bd.solve(plate, (0.0, 0.7), START, rtol=1e-12, atol=1e-14)
    B = sol.bderivative(t, params=True)
    for by_x, by_p, moment in zip(B.matrix(), B.matrix(wrt="p"), t, strict=True):
        known = differences(np.array(START), lambda x, moment=moment: end(plate, (0.0, moment), x))
        close(by_x, known, 1e-6 * np.abs(known).max())
        known = differences(p, lambda q, moment=moment: end(plate, (0.0, moment), START, q))
        close(by_p, known, 1e-6 * np.abs(known).max())


def as_on_its_own(sol, t, dx=None, dp=None, params=True, tolerance=1e-11, **options):
    """B at all times against B at each time, which has its own tests."""
    B = sol.bderivative(t, params=params, **options)
    w = np.cos(np.arange(float(len(t) * sol.system.n))).reshape(len(t), -1)
    M = B.matrix(dx, dp)
    gradient = np.zeros(B.n + B.np)
    for k, moment in enumerate(t):
        if moment == B.since:
            close(M[k], np.eye(sol.system.n), 0.0)
            gradient[: B.n] += w[k]
        else:
            one = sol.bderivative(float(moment), params=params, **options)
            scale = max(1.0, np.abs(M[k]).max())
            close(M[k], one.matrix(dx, dp), tolerance * scale)
            if params and B.np:
                close(B.matrix(dx, dp, wrt="p")[k], one.matrix(dx, dp, wrt="p"), tolerance * scale)
            if dx is not None:
                close(B(dx, dp)[k], one(dx, dp), tolerance * scale)
            gradient += np.concatenate(one.vjp(w[k], dx, dp)) if params else one.vjp(w[k], dx, dp)
    ours = B.vjp(w, dx, dp)
    close(np.concatenate(ours) if params else ours, gradient, 10.0 * tolerance * max(1.0, np.abs(gradient).max()))
    return B


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_every_time_as_on_its_own(rtol):
    t, rng = np.linspace(0.0, 0.8, 14), np.random.default_rng(3)
    as_on_its_own(bd.solve(bd.models.plate(8), (0.0, 0.8), START, rtol=rtol), t, tolerance=100.0 * rtol)
    spanning = bd.solve(bd.models.plate(100), (0.0, 0.8), START, rtol=rtol)
    assert spanning.counts.spans > 0 or rtol < 1e-6
    as_on_its_own(spanning, t, rng.normal(size=6), tolerance=100.0 * rtol)
    level = bd.solve(bd.models.three_legs(), (0.0, 0.8), [0.7, 0, 0, 0, 0, 0, 0], rtol=rtol)
    as_on_its_own(level, t, rng.normal(size=7), tolerance=100.0 * rtol)
    many = bd.models.oscillators(40)  # (more states than Df is formed for)
    x0 = np.concatenate([np.linspace(-0.5, -0.4, 40), np.ones(40)])
    as_on_its_own(bd.solve(many, (0.0, 0.8), x0, rtol=rtol), t[::4], rng.normal(size=80), tolerance=100.0 * rtol)


def test_at_the_very_time_of_a_crossing_only_what_is_crossed_in_time_counts():
    sol = bd.solve(systems.slope, (0.0, 1.0), [1.0, 0.0], rtol=1e-9)  # x = 0 at t = 0.5
    touch = float(sol.events.t[0])
    t = [0.25, np.nextafter(touch, 0.0), touch, np.nextafter(touch, 1.0), touch + 1e-12, 0.75]
    for dx in ([1.0, 0.0], [-1.0, 0.0]):  # (later, sooner)
        B = as_on_its_own(sol, t, dx)
        there = min(0.5 * dx[0], 0.0)  # y' is 1 until the guard is reached, and 0 from there on
        close(B(dx)[:, 1], [0.0, there, there, there, there, 0.5 * dx[0]], 1e-7)
    assert {corner.kind for corner in B.corners} == {"end"}
    assert B.is_linear is False
    with pytest.raises(ValueError, match="matrix needs dx: the derivative is not a single matrix"):
        B.matrix()
    with pytest.raises(ValueError, match="vjp needs dx"):
        B.vjp(np.ones((6, 2)))


def test_through_a_corner():
    sol = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0], rtol=1e-9)
    t = [0.5, 1.0 - 1e-15, 1.0, 1.0 + 1e-12, 1.5, 2.0]
    for dx, behind in (([-0.25, 0.0], [-0.25, 0.0625]), ([0.25, 0.0], [0.125, 0.0])):
        B = as_on_its_own(sol, t, dx)
        close(B(dx)[[0, 4, 5]], [dx, behind, behind], 1e-7)
        close(B.matrix(dx)[4] @ dx, behind, 1e-7)
    assert B.is_linear is False


def test_from_a_start_on_a_guard_and_from_a_later_start():
    t = np.array([0.0, 1e-16, 1e-9, 0.3, 1.0])
    sol = bd.solve(systems.corner, (0.0, 1.0), [0.0, -0.5], rtol=1e-9, b0=[-1, -1])
    for dx in ([0.1, 0.0], [-0.1, 0.3]):
        as_on_its_own(sol, t, dx)
    sol = bd.solve(bd.models.plate(8), (0.0, 0.8), START, rtol=1e-9)
    as_on_its_own(sol, [0.5, 0.55, 0.7], since=0.5, tolerance=1e-7)
    as_on_its_own(sol, [0.6, 0.7], since=float(sol.events.t[3]), dx=np.ones(6), tolerance=1e-7)


LEGS = {m: system(m, 2) for m in (1, 2)}


def test_breakpoints_at_which_guards_are_crossed():
    rng, compared = np.random.default_rng(8), 0
    for _ in range(40):
        m = int(rng.integers(1, 3))
        normals = np.linalg.qr(rng.normal(size=(m, m)))[0]
        tables = rng.uniform(0.6, 2.0, (2, 2**m, m)) @ normals
        moment, there = rng.uniform(0.3, 1.0), rng.normal(size=m)
        stop, x0, speeds = moment + rng.uniform(0.3, 1.0), there - moment * tables[0, 0], rng.uniform(-0.2, 0.2, (2, m))
        levels = normals @ there - speeds * moment
        levels[:, 0] += rng.choice([0.0, 0.1])  # (reached at the breakpoint, or behind it)
        legs = list(zip(levels, speeds, strict=True))
        sol = bd.solve(
            LEGS[m], (0.0, stop), x0, parameters(tables, normals, legs, [moment]), rtol=1e-10, breakpoints=[moment]
        )
        dx = rng.normal(size=m)
        t = np.array([0.5 * moment, moment, 0.7 * moment + 0.3 * stop, stop])
        B = as_on_its_own(sol, t, dx, params=False, tolerance=1e-9)

        def state(s, e, dx=dx, tables=tables, normals=normals, legs=legs, moment=moment, x0=x0):
            if s <= moment:
                return by_hand(tables[:1], normals, legs[:1], [], x0 + e * dx, 0.0, s)[0]
            return by_hand(tables, normals, legs, [moment], x0 + e * dx, 0.0, s)[0]

        for s, ours in zip(t, B(dx), strict=True):
            one, two = ((state(s, e) - state(s, 0.0)) / e for e in (1e-5, 2e-5))
            if np.abs(one - two).max() < 1e-5:
                np.testing.assert_allclose(ours, one, atol=1e-4)
                compared += 1
    assert compared > 120


def test_parameters_that_were_changed_on_the_way():
    stepper = bd.Stepper(HOPPER, (0.0, 1.0), [2.0, 0.0], rtol=1e-9, max_step=0.05)
    while stepper.t < 0.5:
        stepper.step()
    stepper.p = {"g": 5.0}
    sol = stepper.finish()
    changed = float(sol.record.t[np.flatnonzero(sol.record.t >= 0.5)[0]])
    as_on_its_own(sol, [0.2, changed, 0.8], params=False, tolerance=1e-6)
    with pytest.raises(bd.DerivativeError, match="the parameters were changed on the way"):
        sol.bderivative([0.2, 0.8], params=True)


def _apex(t, x, p):
    return (p[2] - x[0], x[1])


WATCHED = bd.System(
    lambda t, x, b, p: np.array([x[1], -p[0] + (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0)]),
    _apex,
    states=("z", "vz"),
    guards=("foot", "apex"),
    params={"g": 9.81, "k": 1000.0, "rest": 1.0},
    observers=("apex",),
    direction={"apex": -1},
)


def test_observers_and_one_sided_guards_need_no_piece():
    sol = bd.solve(WATCHED, (0.0, 2.0), [2.0, 0.3], rtol=1e-10)
    seen = sol.events.t[sol.events.guard == 1]
    B = sol.bderivative([0.5, *seen, 1.9], params=True)
    assert not B.corners
    close(np.concatenate([B.matrix(), B.matrix(wrt="p")], axis=2), slopes_of_hopping(B.t), 1e-5)


def test_parts_of_unit_length():
    sol = bd.solve(TOP, (0.0, 1.2), SPINNING, rtol=1e-9)
    assert len(sol.events) > 0
    as_on_its_own(sol, np.linspace(0.1, 1.2, 6), tolerance=1e-6)


def test_terminal_events_and_near_crossings():
    sol = bd.solve(HOPPER, (0.0, 2.0), [2.0, 0.0], rtol=1e-9, terminal="foot")
    as_on_its_own(sol, [0.2, float(sol.t[-1])], [1.0, 0.0])
    near = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.001], rtol=1e-9)
    as_on_its_own(near, [0.5, 1.0005, 1.5], [-0.01, 0.0], merge=0.01)


def test_t_eval_is_the_default():
    sol = bd.solve(HOPPER, (0.0, 1.0), [2.0, 0.0], t_eval=[0.0, 0.3, 0.9])
    assert sol.sensitivity().shape == (3, 2, 2)
    close(sol.sensitivity(), sol.bderivative(sol.t).matrix(), 0.0)
    close(sol.sensitivity("vz", 0.3), sol.bderivative(0.3).matrix()[None, :, 1:], 1e-6)
    assert sol.sensitivity(()).shape == (3, 2, 0)


def test_many_times_cost_as_much_as_one():
    calls = []

    def f(t, x, b, p):
        calls.append(t)
        return np.array([x[1], -p[0] + (p[1] * (1.0 - x[0]) if b[0] > 0 else 0.0)])

    counted = bd.System(f, lambda t, x, p: np.array([1.0 - x[0]]), n=2, m=1, params=[9.81, 300.0], compile=False)
    sol = bd.solve(counted, (0.0, 2.0), [2.0, 0.0], rtol=1e-6)

    def cost(work):
        del calls[:]
        work()
        return len(calls)

    w = np.ones((200, 2))
    for few, many in (
        (lambda: sol.bderivative(2.0).matrix(), lambda: sol.sensitivity("x", np.linspace(0.01, 2.0, 200))),
        (lambda: sol.bderivative(2.0).vjp(w[0]), lambda: sol.bderivative(np.linspace(0.01, 2.0, 200)).vjp(w)),
    ):
        few()  # (finds the fast modes)
        assert cost(many) < 1.6 * cost(few)


def test_it_can_be_pickled():
    B = bd.solve(HOPPER, (0.0, 1.0), [2.0, 0.0]).bderivative([0.2, 0.9], params=True)
    close(pickle.loads(pickle.dumps(B)).matrix(wrt="p"), B.matrix(wrt="p"), 1e-12)
    assert repr(B) == (
        "B-derivatives of the state at 2 times, t = 0.2 to 0.9, in that at t = 0 and the parameters: matrices, all crossings "
        "are isolated"
    )


def test_bad_arguments():
    sol = bd.solve(HOPPER, (0.0, 1.0), [2.0, 0.0])
    B = sol.bderivative([0.5, 0.9])
    for call, message in (
        (lambda: sol.bderivative([0.5, 1.5]), r"t must lie within the trajectory, \[0, 1\]; got \[0.5, 1.5\]"),
        (lambda: sol.bderivative([]), "t must be a time or a list of times; got shape"),
        (lambda: sol.bderivative(np.ones((1, 1))), "t must be a time or a list of times; got shape"),
        (lambda: sol.bderivative([0.0]), "t must be after since"),
        (lambda: sol.bderivative([0.2, 0.9], since=0.5), "t must not be before since"),
        (lambda: sol.bderivative([0.5], event=0), "give t or event, not both"),  # type: ignore[call-overload]
        (lambda: sol.bderivative(rtol=0.0), "rtol must be between 0 and 1"),
        (lambda: sol.bderivative([0.5], rtol=-1.0), "rtol must be between 0 and 1"),
        (lambda: B.matrix(wrt="p"), "parameters in wrt need a derivative with parameters"),
        (
            lambda: B.matrix(wrt="y"),
            "wrt: 'y' is neither a state nor a parameter; states: z, vz; parameters: g, k, rest",
        ),
        (lambda: B.vjp([1.0, 0.0]), r"w must be a finite \(times, states\) array, here \(2, 2\)"),
        (lambda: B(dp={"g": 1.0}), "dp needs a derivative with parameters"),
        (lambda: sol.sensitivity("p", [2.0]), "t must lie within the trajectory"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# ------------------------------------------------------------------------------------------------ steps that are divided


def _resting_field(t, x, b, p, dx):
    dx[0], dx[1], dx[2] = 1.0, x[2], -p[0] * x[1]


RESTING = bd.System(_resting_field, lambda t, x, p: (x[0] - 0.3,), n=3, m=1, params=[1e4])  # x[1] and x[2] are at rest


def test_a_tolerance_of_its_own():
    sol, exact = (
        bd.solve(RESTING, (0.0, 1.0), [0.0, 0.0, 0.0], rtol=1e-9),
        np.array([np.cos(100.0), 0.01 * np.sin(100.0)]),
    )
    errors, rows = [], []
    for rtol in (1e-2, 1e-5, None, 1e-12):
        B = sol.bderivative(rtol=rtol)
        errors.append(np.abs(B.matrix()[1, 1:] - exact).max())
        rows.append(len(B._map.chain.stretch.steps))
    assert rows == sorted(rows)
    assert rows[0] < 0.5 * rows[2]
    assert errors[0] > 10.0 * errors[2] > 10.0 * errors[3]
    assert errors[3] < 1e-9
    t = np.array([0.11, 0.5, 0.93])
    known = np.array([np.cos(100.0 * t), 0.01 * np.sin(100.0 * t)]).T
    close(sol.bderivative(t, rtol=1e-10).matrix()[:, 1, 1:], known, 1e-7)


# ------------------------------------------------------------------------------- start time, events, orders, pieces, batches


def test_the_start_time_of_the_hopper_by_formulas():
    """Started later by dt0 it is where it was dt0 ago: -x'."""
    sol = bd.solve(HOPPER, (0.0, 2.0), [2.0, 0.3], rtol=1e-10, atol=1e-12)
    theta, t = np.array([2.0, 0.3, *HOPPER.defaults], dtype=complex), np.array([0.0, 0.3, 1.1, 1.99])
    known = -np.array([hopping(theta, s + 1e-30j).imag / 1e-30 for s in t[1:]])
    B = sol.bderivative(t, params=True)
    close(B.matrix(wrt="t0")[1:], known, 1e-5)
    close(B.matrix(wrt="t0")[0], [-0.3, 9.81], 1e-12)
    close(B(dt0=0.1), 0.1 * B.matrix(wrt="t0"), 1e-12)
    together = B([0.2, -1.0], {"g": 0.5}, 0.1)
    close(together, B([0.2, -1.0]) + B(dp={"g": 0.5}) + B(dt0=0.1), 1e-9)
    close(B.offset([0.2, -1.0], {"g": 0.5}, 0.1), np.zeros((4, 2)), 1e-9)


def test_batches_have_the_times_first():
    sol = bd.solve(HOPPER, (0.0, 2.0), [2.0, 0.3], rtol=1e-8)
    B, batch = sol.bderivative([0.7, 0.2]), np.array([[1.0, 0.0], [0.3, -2.0], [0.0, 0.0]])
    assert B(batch).shape == (2, 3, 2)
    close(B(batch), np.stack([B(dx) for dx in batch], axis=1), 1e-12)
    close(B(batch[0], dt0=[0.0, 0.1]), np.stack([B(batch[0]), B(batch[0], dt0=0.1)], axis=1), 1e-12)
    assert B(np.empty((0, 2))).shape == (2, 0, 2)
    corner = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0], rtol=1e-9).bderivative([0.5, 1.0, 1.5])
    both = np.array([[-0.25, 0.0], [0.25, 0.0]])
    close(corner(both), np.stack([corner(dx) for dx in both], axis=1), 0.0)


def test_event_times_against_solves_nearby():
    span, t, step = (0.0, 1.2), [0.3, 1.2], 1e-6
    dx, dk, dt0 = np.array([0.7, -0.4]), 30.0, 0.2
    sol = bd.solve(HOPPER, span, [2.0, 0.0], rtol=1e-12, atol=1e-14)
    later = [
        bd.solve(
            HOPPER, (e * dt0, 1.2), [2.0 + e * dx[0], e * dx[1]], {"k": 1000.0 + e * dk}, rtol=1e-12, atol=1e-14
        ).events.t
        for e in (step, -step)
    ]
    B = sol.bderivative(t, params=True)
    assert B.events.tolist() == [0, 1]
    close(B.event_times(dx, {"k": dk}, dt0), (later[0] - later[1]) / (2.0 * step), 1e-6)


def flown(dx, dt0, t, step=1e-7):
    """The perturbation of the corner's flow at some times, by one-sided differences."""
    out = []
    for e in (0.0, step):
        sol = bd.solve(systems.corner, (e * dt0, 2.0), np.array([-1.0, -1.0]) + e * np.asarray(dx), rtol=1e-12)
        out.append(sol(np.maximum(t, e * dt0)))
    return (out[1] - out[0]) / step


def test_pieces_and_orders_at_many_times():
    """A corner at t = 1, and a time there, at which only crossings in time count: pieces of both, together."""
    sol = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0], rtol=1e-9)
    t, rng = np.array([1.5, 0.5, 1.0, 2.0]), np.random.default_rng(2)
    B = sol.bderivative(t)
    assert [corner.kind for corner in B.corners] == ["tie", "end"]
    found = B.pieces()
    assert len(found) > 2  # (at t = 1 it matters which guards are crossed already)
    for piece in found:
        assert piece.matrix.shape == (4, 2, 2)
        close(piece.matrix, B.matrix(piece.dx), 1e-9)
        assert tuple(B.orders(piece.dx)) in piece.orders
        close(piece.matrix @ piece.dx, flown(piece.dx, 0.0, t), 1e-5)
    for _ in range(20):
        dx, dt0 = rng.normal(size=2), rng.normal()
        close(B(dx), flown(dx, 0.0, t), 1e-5)
        assert min(np.abs(piece.matrix @ dx - B(dx)).max() for piece in found) < 1e-9
        close(B(dx, dt0=dt0), flown(dx, dt0, t), 1e-5)
    assert sol.bderivative([0.2, 0.4]).orders() == []
    assert len(sol.bderivative([0.2, 0.4]).pieces()) == 1
    # (clear of the crossings: one piece for each order)
    assert sorted(len(piece.orders) for piece in sol.bderivative([0.5, 1.5]).pieces()) == [1, 1]


def test_pieces_with_parameters_and_several_corners():
    level = bd.solve(bd.models.three_legs(), (0.0, 0.9), [0.7, 0, 0, 0, 0, 0, 0], rtol=1e-8)
    B = level.bderivative([0.25, 0.6], params=True)
    assert len(B.corners) >= 1
    pieces = B.pieces()
    for piece in pieces:
        both = np.concatenate(
            [B.matrix(piece.dx[:7], piece.dx[7:]), B.matrix(piece.dx[:7], piece.dx[7:], wrt="p")], axis=2
        )
        close(piece.matrix, both, 1e-8 * np.abs(both).max())


def test_what_the_start_cannot_tell():
    sol = bd.solve(systems.corner, (0.0, 1.0), [0.0, -0.5], rtol=1e-9, b0=[-1, -1])
    with pytest.raises(bd.DerivativeError, match="t has the time of the start, 0, where the trajectory is on a guard"):
        sol.bderivative([0.0, 0.5])([0.1, 0.0], dt0=0.1)
    close(sol.bderivative([0.3, 0.9])([0.1, 0.0], dt0=0.1)[1], sol.bderivative(0.9)([0.1, 0.0], dt0=0.1), 1e-9)


def test_a_selecting_direction_that_is_a_sum_of_the_columns():
    """Two columns and a direction in their span take two tangents, not three: the same piece and the same columns."""
    legs = bd.models.three_legs()
    B = bd.solve(legs, (0.0, 0.3), [0.7, 0, 0, 0, 0, 0, 0]).bderivative([0.1, 0.3])
    assert len(B.corners) == 1
    pair = (legs.states[1], legs.states[2])
    for a, b in [(0.3, 1.0), (-1.0, 0.2), (0.0, -1.0)]:
        direction = np.array([0.0, a, b, 0.0, 0.0, 0.0, 0.0])
        assert B._replaced(direction, [1, 2]) == (0 if abs(a) > abs(b) else 1)
        both = B.matrix(direction, wrt=pair)
        assert np.allclose(both, B.matrix(direction)[:, :, 1:3], rtol=1e-9, atol=1e-12)
        assert np.allclose(both @ [a, b], B(direction), rtol=1e-9, atol=1e-12)
        assert B._replaced(direction + np.eye(7)[4], [1, 2]) is None
