"""Rest on contacts: where bounces accumulate, after inelastic impacts, on a moving table, on several contacts; derivatives."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import bouligand as bd
from bouligand.models.shaking_table import START, lands_at, leaves_at

G = 9.81


def ball(e, **options):
    return bd.System(
        lambda t, x, b, p: (x[1], -G),
        lambda t, x, p: (x[0],),
        states=("z", "v"),
        guards=("floor",),
        jumps={"floor": lambda t, x, b, p: (x[0], -p[0] * x[1])},
        params={"e": e},
        **options,
    )


@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_a_ball_comes_to_rest_when_its_bounces_end(e):
    sol = bd.solve(ball(e, rest="floor"), (0.0, 5.0), [1.0, 0.0], rtol=1e-8, atol=1e-10)
    ends = np.sqrt(2.0 / G) * (1.0 + e) / (1.0 - e)
    assert sol.events.t[-1] == pytest.approx(ends, abs=1e-9)
    assert sol.b[-1, 0] == 0
    np.testing.assert_allclose(sol(np.linspace(ends + 1e-6, 5.0, 20)), 0.0, atol=1e-12)


def test_when_a_table_throws_the_ball():
    """Rest ends where the table falls away faster than the ball: the time of that, its derivatives, and the next impact."""
    system = bd.System(
        lambda t, x, b, p: (x[1], -p[2]),
        lambda t, x, p: (x[0] - p[0] * np.sin(p[1] * t),),
        n=2,
        guards=("table",),
        params={"A": 0.05, "w": 20.0, "g": G},
        jumps={"table": lambda t, x, b, p: (x[0], p[0] * p[1] * np.cos(p[1] * t))},
        rest="table",
    )

    def run(p):
        return bd.solve(system, (0.0, 0.3), [0.0, p[0] * p[1]], p, rtol=1e-10, atol=1e-12)

    p = np.array([0.05, 20.0, G])
    sol, root = run(p), np.sqrt(1.0 - (G / 20.0) ** 2)  # A w^2 = 20
    known = np.array([-G / 20.0 / root / 20.0 / p[0], 0.0, 1.0 / (20.0 * 20.0 * root)])
    known[1] = -2.0 * G / 20.0 / root / 20.0**2 - np.arcsin(G / 20.0) / 20.0**2
    B, at_exit = sol.bderivative(params=True), sol.bderivative(event=0, params=True)
    for k, dx in enumerate(([0.0, p[1]], [0.0, p[0]], [0.0, 0.0])):  # (it starts with the table)
        dp = np.eye(3)[k]
        high, low = run(p + 1e-6 * p[k] * dp), run(p - 1e-6 * p[k] * dp)
        later = B.event_times(dx, dp)
        assert later[0] == pytest.approx(known[k], rel=1e-7)
        assert later[1] == pytest.approx((high.events.t - low.events.t)[1] / (2e-6 * p[k]), rel=1e-4, abs=1e-6)
        moved = (high.events.x[0] - low.events.x[0]) / (2e-6 * p[k])
        np.testing.assert_allclose(at_exit(dx, dp), moved, rtol=1e-4, atol=2e-6)


def test_without_rest_the_end_of_bounces_is_an_error():
    with pytest.raises(bd.ZenoError):
        bd.solve(ball(0.5), (0.0, 5.0), [1.0, 0.0])


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10, 1e-11])
def test_a_table_throws_the_ball_once_a_period(rtol):
    sol = bd.solve(bd.models.shaking_table(), (0.0, 2.0), START, rtol=rtol, atol=1e-2 * rtol)
    period = 2.0 * np.pi / 15.0
    known = [t + q * period for q in range(5) for t in (leaves_at(), lands_at())]
    known = [t for t in known if t < 2.0]
    np.testing.assert_allclose(sol.events.t, known, atol=30.0 * rtol)
    assert list(sol.events.direction) == [1, -1] * (len(known) // 2) + [1] * (len(known) % 2)
    times = np.linspace(0.0, leaves_at(), 30)
    np.testing.assert_allclose(sol(times)[:, 0], 0.05 * np.sin(15.0 * times), atol=10.0 * rtol)


def test_a_gait_diagram_has_bars_at_rest():
    sol = bd.solve(bd.models.shaking_table(), (0.0, 0.3), START)
    ax = bd.plot.contacts(sol, ax=Figure().subplots())
    (bars,) = bd.plot.stretches(sol, 0)
    np.testing.assert_allclose(bars, [(0.0, leaves_at()), (lands_at(), 0.3)], atol=1e-5)
    assert len(ax.collections) > 1


def two_balls(e, order):
    """A ball on the floor, and another on it."""

    def hit(t, x, b, p):
        impulse = (1.0 + p[0]) * (x[3] - x[2]) * p[1] / (1.0 + p[1])
        return x[0], x[1], x[2] + impulse, x[3] - impulse / p[1]

    return bd.System(
        lambda t, x, b, p: (x[2], x[3], -G, -G),
        lambda t, x, p: (x[0], x[1] - x[0]),
        states=("z", "y", "v", "w"),
        guards=("floor", "ball"),
        params={"e": e, "m": 2.0},
        jumps={"floor": lambda t, x, b, p: (x[0], x[1], -p[0] * x[2], x[3]), "ball": hit},
        order=order,
        rest=("floor", "ball"),
    )


@pytest.mark.parametrize("order", [("floor", "ball"), ("ball", "floor")])
@pytest.mark.parametrize("e", [0.0, 0.3, 0.5])
def test_two_balls_come_to_rest_on_each_other(e, order):
    rng = np.random.default_rng(1)
    system = two_balls(e, order)
    starts = [[0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    for _ in range(20):
        z = rng.uniform(0.0, 1.0)
        starts.append([z, z + rng.uniform(0.0, 1.0) * rng.integers(2), *rng.uniform(-1.0, 1.0, 2)])
    for start in starts:
        rtol = 10.0 ** -rng.integers(4, 10)
        sol = bd.solve(system, (0.0, 12.0), start, p={"m": rng.choice([0.5, 1.0, 2.0])}, rtol=rtol, atol=1e-2 * rtol)
        assert (sol.b[-1] == 0).all()
        np.testing.assert_allclose(sol.x[-1], 0.0, atol=1e-9)
        assert sol.x[:, 0].min() > -100.0 * rtol


def test_many_solves_at_once_are_the_same():
    system = two_balls(0.3, ("floor", "ball"))
    starts = np.array([[0.5, 1.0, 0.0, -1.0], [0.2, 0.9, 0.3, 0.0], [0.0, 0.0, 0.0, 0.0]])
    runs = bd.solve_many(system, (0.0, 3.0), starts)
    for start, end in zip(starts, runs.x, strict=True):
        np.testing.assert_array_equal(bd.solve(system, (0.0, 3.0), start).x[-1], end)


def test_bounces_and_friction_that_sticks():
    """Horizontally a block with dry friction, vertically a ball."""
    system = bd.System(
        lambda t, x, b, p: (x[2], x[3], -p[0] * b[1], -G),
        lambda t, x, p: (x[1], x[2]),
        states=("y", "z", "vy", "vz"),
        guards=("floor", "stop"),
        params={"mu": 1.0},
        jumps={"floor": lambda t, x, b, p: (x[0], x[1], x[2], -0.5 * x[3])},
        rest="floor",
        sliding="filippov",
    )
    for speed in (0.3, 1.0, 5.0):
        sol = bd.solve(system, (0.0, 3.0), [0.0, 1.0, speed, 0.0], rtol=1e-9, atol=1e-11)
        moving = min(speed, 3.0)
        assert sol.x[-1, 0] == pytest.approx(speed * moving - 0.5 * moving**2, abs=1e-8)
        assert list(sol.b[-1]) == [0, 0 if speed < 3.0 else 1]


def rough_slope():
    """A ball on a slope, under a force that depends on its place: the impulse has two components."""

    def impact(t, x, b, p):
        impulse = -(1.0 + p[1]) * (x[3] - p[2] * x[2]) / (1.0 + p[2] ** 2)
        return x[0], x[1], x[2] - p[2] * impulse, x[3] + impulse

    return bd.System(
        lambda t, x, b, p: (x[2], x[3], -0.3 * x[0], -p[0] - 0.2 * x[0]),
        lambda t, x, p: (x[1] - p[2] * x[0],),
        states=("y", "z", "vy", "vz"),
        guards=("slope",),
        params={"g": G, "e": 0.0, "s": 0.2},
        jumps={"slope": impact},
        rest="slope",
    )


@pytest.mark.parametrize("e", [0.0, 0.4])
def test_derivatives_to_rest_are_those_of_differences(e):
    system, start, p = rough_slope(), np.array([0.1, 1.0, 0.5, 0.0]), np.array([G, e, 0.2])
    options = {"rtol": 1e-11, "atol": 1e-13}
    B = bd.solve(system, (0.0, 3.0), start, p=p, **options).bderivative(params=True)
    rng = np.random.default_rng(0)
    for _ in range(2):
        dx, dp = rng.normal(size=4), rng.normal(size=3) * [1.0, 0.1 * (e > 0.0), 0.1]
        ends = [bd.solve(system, (0.0, 3.0), start + s * dx, p=p + s * dp, **options).x[-1] for s in (1e-5, -1e-5)]
        np.testing.assert_allclose(B(dx, dp), (ends[0] - ends[1]) / 2e-5, atol=1e-5)
        w = rng.normal(size=4)
        by_start, by_parameters = B.vjp(w)
        assert by_start @ dx + by_parameters @ dp == pytest.approx(w @ B(dx, dp), abs=1e-6)


def test_derivatives_from_rest():
    """What is perturbed off the slope, or has a rate away from it, comes back to rest. (One-sided: it cannot be below.)"""
    system, start = rough_slope(), np.array([0.5, 0.1, 0.0, 0.0])
    options = {"rtol": 1e-11, "atol": 1e-13}
    sol = bd.solve(system, (0.0, 3.0), start, **options)
    assert sol.b[0, 0] == 0
    B = sol.bderivative()
    for dx in ([0.0, 0.0, 0.0, 1.0], [1.0, 0.2, 0.0, 0.0], [0.0, 0.0, 1.0, 0.2]):
        moved = bd.solve(system, (0.0, 3.0), start + 1e-6 * np.array(dx), **options).x[-1]
        np.testing.assert_allclose(B(dx), (moved - sol.x[-1]) / 1e-6, atol=1e-5)


@pytest.mark.filterwarnings("ignore::bouligand.DerivativeWarning")  # (by differences, good to 1e-8)
def test_derivative_through_a_throw():
    """Where the ball leaves the table and where it lands depend on amplitude and frequency only, not on the start."""
    system = bd.models.shaking_table()
    options = {"rtol": 1e-11, "atol": 1e-13}
    until = lands_at() - 0.01
    B = bd.solve(system, (0.0, until), START, **options).bderivative(params=True)
    np.testing.assert_allclose(B([0.0, 1.0]), 0.0, atol=1e-6)

    def flight(g, A, w):
        begin = leaves_at(g, A, w)
        z, v, since = A * np.sin(w * begin), A * w * np.cos(w * begin), until - begin
        return np.array([z + v * since - 0.5 * g * since**2, v - g * since])

    p, step = np.array([G, 0.05, 15.0]), 1e-5
    for i in range(3):
        off = step * np.eye(3)[i]
        known = (flight(*(p + off)) - flight(*(p - off))) / (2.0 * step)
        np.testing.assert_allclose(B([0.0, 0.0], np.eye(3)[i]), known, atol=1e-4 * np.abs(known).max())


def test_bad_rest():
    with pytest.raises(ValueError, match="no guard"):
        ball(0.5, rest="ceiling")
    with pytest.raises(ValueError, match="has no jump"):
        bd.System(lambda t, x, b, p: (1.0,), lambda t, x, p: (x[0],), n=1, guards=("a",), rest="a")


def put_below(t, x, b, p):
    return -0.1, -0.8 * x[1]


def not_turned(t, x, b, p):
    return x[0], 0.8 * x[1]


@pytest.mark.parametrize("jump", [put_below, not_turned])
def test_a_jump_through_a_contact_is_refused(jump):
    def ball(rest):
        return bd.System(lambda t, x, b, p: (x[1], -9.81), lambda t, x, p: (x[0],), n=2, m=1, jumps=jump, rest=rest)

    with pytest.raises(bd.FunctionError, match="leads through it, to h < 0"):
        bd.solve(ball(0), (0.0, 1.0), [1.0, 0.0])
    assert bd.solve(ball(None), (0.0, 1.0), [1.0, 0.0]).b[-1, 0] == -1  # (without rest it is taken as meant)
