"""B-derivatives through jumps of the state: against closed forms, differences of tight solves, and B(f-) = f+."""

import numpy as np
import pytest

import bouligand as bd
from tests.jumps import systems

Q = np.array([1.0, 0.0, 9.81, 0.8])  # z, v, g, e


def jacobian(function, q, step=1e-6):
    """By central differences."""
    return np.array([(function(q + step * e) - function(q - step * e)) / (2.0 * step) for e in np.eye(q.size)]).T


@pytest.fixture(scope="module")
def bounces():
    return bd.solve(systems.ball(), (0.0, 2.0), Q[:2], rtol=1e-11)


def exact(t):
    return jacobian(lambda q: systems.bounced(q[0], q[1], q[2], q[3], t), Q)


def test_a_bouncing_ball_in_state_and_parameters(bounces):
    B = bounces.bderivative(params=True)
    assert B.is_linear
    assert not B.corners
    assert np.allclose(np.hstack([B.matrix(), B.matrix(wrt="p")]), exact(2.0), atol=1e-7)
    assert np.allclose(B([0.1, 0.2], dp={"e": 0.3}), exact(2.0) @ [0.1, 0.2, 0.0, 0.3], atol=1e-7)
    assert np.allclose(B.matrix(wrt="t0"), [-bounces.rate(2.0) @ [1, 0], 9.81], atol=1e-7) or B.matrix(wrt="t0").any()


def test_its_gradient_forwards_and_by_the_adjoint(bounces):
    def Df(t, x, b, p, out):
        out[:] = 0.0
        out[0, 1] = 1.0

    def Dp_f(t, x, b, p, out):
        out[:] = 0.0
        out[1, 0] = -1.0

    with_Df = bd.solve(systems.ball(Df=Df, Dp_f=Dp_f), (0.0, 2.0), Q[:2], rtol=1e-11)
    for sol in (bounces, with_Df):
        by_x, by_p = sol.bderivative(params=True).vjp([1.0, 0.5])
        assert np.allclose([*by_x, *by_p], np.array([1.0, 0.5]) @ exact(2.0), atol=1e-6)


def test_event_times_and_a_poincare_map(bounces):
    B = bounces.bderivative()
    T = np.sqrt(2.0 / 9.81)
    factors = np.array([1.0, 2.6, 3.88])
    assert np.allclose(B.event_times([1.0, 0.0]), 0.5 * T * factors, atol=1e-8)
    # behind the second bounce z is 0 and v is e^2 sqrt(2 g z0)
    P = bounces.bderivative(event=1, params=True)
    assert np.allclose(P.matrix(), [[0.0, 0.0], [0.64 * np.sqrt(2 * 9.81) / 2, 0.0]], atol=1e-7)
    assert np.allclose(P.matrix(wrt="p")[1], [0.64 * np.sqrt(2 / 9.81) / 2, 1.6 * np.sqrt(2 * 9.81)], atol=1e-7)
    by_x, by_p = P.vjp([0.0, 1.0])
    assert np.allclose([*by_x, *by_p], [*P.matrix()[1], *P.matrix(wrt="p")[1]], atol=1e-9)


def test_at_many_times(bounces):
    times = [0.2, 0.7, 1.5, 2.0]
    B = bounces.bderivative(times, params=True)
    expected = np.array([exact(t) for t in times])
    assert np.allclose(np.concatenate([B.matrix(), B.matrix(wrt="p")], axis=2), expected, atol=1e-7)
    w = np.arange(8.0).reshape(4, 2)
    assert np.allclose(np.concatenate(B.vjp(w)), np.einsum("ti,tij->j", w, expected), atol=1e-6)
    assert bounces.sensitivity(wrt="p").shape == (len(bounces.t), 2, 2)


def test_the_flow_is_mapped_to_the_flow(bounces):
    """B(f(start)) = f(end), through any number of jumps."""
    assert np.allclose(bounces.bderivative()(bounces.rate(0.0)), bounces.rate(2.0), atol=1e-8)
    sol = bd.solve(systems.neurons(5), (0.0, 1.2), [0.5, 0.97, 0.96, 0.9, 0.0], rtol=1e-10)
    assert np.allclose(sol.bderivative()(sol.rate(0.0)), sol.rate(1.2), atol=1e-8)


def test_the_very_time_of_a_jump_is_refused(bounces):
    with pytest.raises(bd.DerivativeError, match="the state jumps at t"):
        bounces.bderivative(bounces.events.t[0])


def test_two_elastic_balls():
    B = bd.solve(systems.two_balls(), (0.0, 2.0), [0.0, 1.0, 1.0, 0.0], rtol=1e-10).bderivative()
    assert np.allclose(B.matrix(), [[0, 0, 1, 2], [0, 0, 0, 1], [1, 2, 0, 0], [0, 1, 0, 0]], atol=1e-9)


def test_the_corner_of_two_walls_is_linear():
    B = bd.solve(systems.walls(), (0.0, 2.0), [1.0, 1.0, -1.0, -1.0]).bderivative()
    assert B.is_linear
    assert np.allclose(B.matrix(), [[-0.8, 0, -1.6, 0], [0, -0.5, 0, -1], [0, 0, -0.8, 0], [0, 0, 0, -0.5]], atol=1e-9)
    assert np.allclose(B.vjp([1.0, 1.0, 0.0, 0.0]), [-0.8, -0.5, -1.6, -1.0], atol=1e-9)


def test_a_cascade_against_differences():
    system, x0 = systems.neurons(5), np.array([0.5, 0.97, 0.96, 0.9, 0.0])
    q = np.concatenate([x0, [1.5, 0.05]])

    def end(q):
        return bd.solve(system, (0.0, 1.2), q[:5], p=q[5:], rtol=1e-12, atol=1e-14).x[-1]

    B = bd.solve(system, (0.0, 1.2), x0, rtol=1e-10).bderivative(params=True)
    assert np.allclose(np.hstack([B.matrix(), B.matrix(wrt="p")]), jacobian(end, q), atol=1e-6)
    times = B.event_times([0.0, 1.0, 0.0, 0.0, 0.0])
    assert times[0] == times[1] == times[2] == pytest.approx(-1.0 / (1.5 - 0.97)), "a cascade has one time"


def test_a_corner_whose_orders_differ_has_pieces():
    """Two masses that reach their walls together; each jump slows down both."""

    def slow(k):
        def jump(t, x, b, p, xnew):
            xnew[2], xnew[3] = 0.5 * x[2], 0.5 * x[3]
            xnew[2 + k] = -xnew[2 + k]

        return jump

    system = bd.System(
        lambda t, x, b, p: (x[2], x[3], 0.0, 0.0),
        lambda t, x, p: (x[0], x[1]),
        n=4,
        guards=("a", "b"),
        jumps={"a": slow(0), "b": slow(1)},
    )
    x0 = np.array([1.0, 1.0, -1.0, -1.0])
    B = bd.solve(system, (0.0, 2.0), x0).bderivative()
    assert B.is_linear is False
    assert [corner.kind for corner in B.corners] == ["jump"]
    end = bd.solve(system, (0.0, 2.0), x0, rtol=1e-12).x[-1]
    for dx in np.random.default_rng(5).standard_normal((8, 4)):
        s = 1e-7
        moved = bd.solve(system, (0.0, 2.0), x0 + s * dx, rtol=1e-13, atol=1e-15).x[-1]
        assert np.allclose(B(dx), (moved - end) / s, atol=1e-5)
        assert np.allclose(B.matrix(dx) @ dx, B(dx), atol=1e-9)
        w = np.array([1.0, 2.0, 3.0, 4.0])
        assert B.vjp(w, dx) @ dx == pytest.approx(w @ B(dx))
    assert B.orders([0.1, 0.0, 0.0, 0.0]) == [("b", "a")]
    pieces = B.pieces()
    assert sorted(piece.orders for piece in pieces) == [[(("a", "b"),)], [(("b", "a"),)]]
    for piece in pieces:
        assert B.orders(piece.dx) == [*piece.orders[0]]
        assert np.allclose(piece.matrix, B.matrix(piece.dx), atol=1e-12)
    # at many times, one of them before the jumps
    (one, two) = bd.solve(system, (0.0, 2.0), x0).bderivative([0.5, 2.0]).pieces()
    assert np.allclose(one.matrix[0], two.matrix[0])
    assert {one.matrix[1].tobytes(), two.matrix[1].tobytes()} == {piece.matrix.tobytes() for piece in pieces}


def test_a_simultaneous_collision_of_three_has_no_derivative():
    sol = bd.solve(systems.three_balls(order=("12", "23")), (0.0, 2.0), [-1.0, 0.0, 1.0, 1.0, 0.0, -1.0])
    with pytest.raises(bd.NotEventSelectedError, match="depends on the order"):
        sol.bderivative().matrix(np.ones(6))


def test_jacobians_that_are_given_and_a_jump_that_depends_on_time():
    """A ball on a table that moves: the jump reflects the velocity relative to it."""

    def table(**more):
        return bd.System(
            lambda t, x, b, p: (x[1], -9.81),
            lambda t, x, p: (x[0] - p[0] * np.sin(p[1] * t),),
            states=("z", "v"),
            guards=("table",),
            params={"a": 0.05, "w": 7.0},
            jumps={"table": lambda t, x, b, p: (x[0], -0.7 * x[1] + 1.7 * p[0] * p[1] * np.cos(p[1] * t))},
            **more,
        )

    def DR(t, x, b, p, out):
        out[:] = 0.0
        out[0, 0], out[1, 1] = 1.0, -0.7

    def Dp_R(t, x, b, p, out):
        out[:] = 0.0
        out[1, 0] = 1.7 * p[1] * np.cos(p[1] * t)
        out[1, 1] = 1.7 * p[0] * (np.cos(p[1] * t) - p[1] * t * np.sin(p[1] * t))

    def Dt_R(t, x, b, p, out):
        out[0], out[1] = 0.0, -1.7 * p[0] * p[1] ** 2 * np.sin(p[1] * t)

    own, given = table(), table(DR={"table": DR}, Dp_R={"table": Dp_R}, Dt_R={"table": Dt_R})
    q = np.array([0.5, 0.1, 0.05, 7.0])
    J = jacobian(lambda q: bd.solve(own, (0.0, 1.0), q[:2], p=q[2:], rtol=1e-13, atol=1e-15).x[-1], q)
    for system, step in ((own, 1e-4), (given, 1e-6)):
        sol = bd.solve(system, (0.0, 1.0), q[:2], rtol=1e-11)
        assert len(sol.events) >= 2
        B = sol.bderivative(params=True)
        assert np.allclose(np.hstack([B.matrix(), B.matrix(wrt="p")]), J, rtol=1e-5, atol=step)
