"""Stiff steps: right where fast modes decay, not taken where nothing is stiff, and the same in all ways to use a solution."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.linalg
from scipy.integrate import solve_ivp

import bouligand as bd
from bouligand.core.schemes import STIFF

FAST = 1e4


def tracking(jacobians="auto", **others):
    """x follows cos t at the rate p[0]; y swings, and its guard makes x follow 2 cos t from then on. x = cos t exactly before."""

    def f(t, x, b, p):
        size = 2.0 if b[0] > 0 else 1.0
        return np.array([-p[0] * (x[0] - size * np.cos(t)) - size * np.sin(t), -np.sin(t)])

    def h(t, x, p):
        return np.array([0.5 - x[1]])

    return bd.System(f, h, states=("x", "y"), guards=("half",), params={"rate": FAST}, jacobians=jacobians, **others)


def tracked(t, rate=FAST):
    """Its closed form, from (1, 1) on: behind the guard, at pi/3, x jumps at the fast rate from cos t to 2 cos t."""
    t = np.asarray(t, dtype=float)
    at = np.pi / 3.0
    behind = 2.0 * np.cos(t) - np.cos(at) * np.exp(-rate * np.maximum(t - at, 0.0))
    return np.stack([np.where(t < at, np.cos(t), behind), np.cos(t)], axis=-1)


@pytest.mark.parametrize("jacobians", ["auto", "differences"])
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
def test_a_fast_mode_does_not_limit_the_steps(jacobians, rtol):
    system = tracking(jacobians)
    sol = bd.solve(system, (0.0, 1.5), [1.0, 1.0], rtol=rtol)
    explicit = bd.solve(system, (0.0, 1.5), [1.0, 1.0], rtol=rtol, method="dopri5")
    assert (sol.record.kind == STIFF).any()
    assert sol.counts.f < 0.3 * explicit.counts.f
    # (just behind the guard x moves at the fast rate: an error of the time of the event is one of x there)
    settled = np.abs(sol.t - np.pi / 3.0) > 30.0 / FAST
    assert np.abs(sol.x - tracked(sol.t))[settled].max() < 20.0 * rtol
    assert np.abs(sol.x - tracked(sol.t)).max() < 20.0 * rtol + FAST * np.abs(sol.events.t[0] - np.pi / 3.0)
    assert sol.events.t == pytest.approx([np.pi / 3.0], abs=5.0 * rtol)


def test_dense_output_and_requested_times():
    system, times = tracking(), np.linspace(0.0, 1.5, 301)
    sol = bd.solve(system, (0.0, 1.5), [1.0, 1.0], rtol=1e-5, method="stiff")
    requested = bd.solve(system, (0.0, 1.5), [1.0, 1.0], rtol=1e-5, method="stiff", t_eval=times)
    assert np.abs(sol(times) - tracked(times)).max() < 1e-3
    assert np.abs(sol(times) - requested.x).max() < 1e-14


def test_order_three():
    """With steps of fixed length, on a nonlinear problem with a closed form."""

    def f(t, x, b, p):
        return np.array([-3.0 * (x[0] ** 2 - np.cos(t) ** 2) - np.sin(t), x[0]])

    system = bd.System(f, n=2)
    errors = []
    for step in (0.02, 0.01, 0.005, 0.0025):
        sol = bd.solve(system, (0.0, 1.0), [1.0, 0.0], rtol=0.9, atol=1e3, method="stiff", max_step=step)
        errors.append(np.abs(sol.x[-1] - [np.cos(1.0), np.sin(1.0)]).max())
    assert errors[-1] < 1e-7
    assert errors[0] / errors[-1] > 6.0**3


def van_der_pol(mu):
    def f(t, x, b, p):
        return np.array([x[1], p[0] * (1.0 - x[0] ** 2) * x[1] - x[0]])

    def h(t, x, p):
        return np.array([x[0] - 1.5])

    return bd.System(f, h, n=2, m=1, params={"mu": mu})


@pytest.mark.parametrize(("mu", "tf"), [(100.0, 300.0), (1000.0, 3000.0)])
def test_van_der_pol(mu, tf):
    """The guard does nothing to f: SciPy's Radau is the reference, and its evaluations of f at 1e-4 the measure."""

    def f(t, x):
        return [x[1], mu * (1.0 - x[0] ** 2) * x[1] - x[0]]

    reference = solve_ivp(f, (0.0, tf), [2.0, 0.0], method="Radau", rtol=1e-9, atol=1e-11)
    radau = solve_ivp(f, (0.0, tf), [2.0, 0.0], method="Radau", rtol=1e-4, atol=1e-6)
    for rtol in (1e-4, 1e-6):
        sol = bd.solve(van_der_pol(mu), (0.0, tf), [2.0, 0.0], rtol=rtol)
        assert np.abs(sol.x[-1] - reference.y[:, -1]).max() < 10.0 * rtol
        assert len(sol.events) == 3
        if rtol == 1e-4:
            assert sol.counts.f < 2 * radau.nfev


def test_robertson():
    """Three rates eleven orders apart, and an observer of the second state, which passes it upwards and downwards."""

    def f(t, x, b, p):
        one, two = 0.04 * x[0] - 1e4 * x[1] * x[2], 3e7 * x[1] ** 2
        return np.array([-one, one - two, two])

    def h(t, x, p):
        return np.array([1e5 * (x[1] - 1e-5)])

    system = bd.System(f, h, n=3, m=1, observers=[0])
    times = np.array([0.4, 40.0, 4000.0])
    plain = lambda t, x: f(t, x, None, None)  # noqa: E731
    reference = solve_ivp(plain, (0.0, 4e3), [1.0, 0.0, 0.0], method="Radau", rtol=1e-11, atol=1e-15, t_eval=times)
    radau = solve_ivp(plain, (0.0, 4e3), [1.0, 0.0, 0.0], method="Radau", rtol=1e-4, atol=1e-10)
    sol = bd.solve(system, (0.0, 4e3), [1.0, 0.0, 0.0], rtol=1e-4, atol=1e-10, t_eval=times)
    assert np.abs(sol.x / reference.y.T - 1.0).max() < 5e-3
    assert len(sol.events) == 2
    assert sol.counts.f < 2 * radau.nfev


def test_tangents_and_adjoint_of_linear_modes():
    """Between events B is a matrix exponential; a slow mode that is driven by a fast one has both in it."""
    A = np.array([[-1.0, 1.0, 0.0], [3e3, -3e3, 1.0], [0.0, 0.5, -0.2]])

    def f(t, x, b, p):
        return p[0] * (A @ x) + p[1]

    for jacobians in ("auto", "differences"):
        system = bd.System(f, n=3, params={"scale": 1.0, "drive": 0.3}, jacobians=jacobians)
        sol = bd.solve(system, (0.0, 2.0), [1.0, 0.0, 0.5], rtol=1e-6, method="stiff")
        assert (sol.record.kind[1:] == STIFF).all()
        B = sol.bderivative(params=True)
        exact = scipy.linalg.expm(2.0 * A)
        assert np.abs(B.matrix() - exact).max() < 2e-5
        # with respect to the scale: x'(scale t) A, plus what the drive makes of it
        inverse, end = np.linalg.inv(A), sol.x[-1]
        drive = inverse @ (exact - np.eye(3)) @ np.ones(3)
        scale = 2.0 * A @ end + 2.0 * 0.3 - drive * 0.3
        assert np.abs(B.matrix(wrt="p")[:, 1] - drive).max() < 2e-5
        assert np.abs(B.matrix(wrt="p")[:, 0] - (scale + 0.0)).max() < 1e-4 * max(np.abs(scale).max(), 1.0)
        by_x, by_p = B.vjp([1.0, -2.0, 0.5])
        assert np.abs(by_x - [1.0, -2.0, 0.5] @ B.matrix()).max() < 1e-10
        assert np.abs(by_p - [1.0, -2.0, 0.5] @ B.matrix(wrt="p")).max() < 1e-9
        times = [0.013, 0.5, 1.31]
        for matrix, t in zip(sol.bderivative(times).matrix(), times, strict=True):
            assert np.abs(matrix - scipy.linalg.expm(t * A)).max() < 1e-4


def test_derivative_across_a_stiff_contact():
    """A mass falls onto a spring with a damper so strong that the contact is stiff: B against differences of tight solves."""

    def f(t, x, b, p):
        push = p[0] * (0.2 - x[0]) - p[1] * x[1] if b[0] > 0 else 0.0
        return np.array([x[1], push - 9.81])

    def h(t, x, p):
        return np.array([0.2 - x[0]])

    system = bd.System(f, h, n=2, m=1, params={"k": 2e5, "c": 2e4})
    x0, step = np.array([0.5, 0.0]), 1e-6
    sol = bd.solve(system, (0.0, 0.6), x0, rtol=1e-6)
    assert (sol.record.kind == STIFF).any()
    ends = [bd.solve(system, (0.0, 0.6), x0 + [d, 0.0], rtol=1e-12, method="dop853").x[-1] for d in (step, -step)]
    column = (ends[0] - ends[1]) / (2.0 * step)
    assert np.abs(sol.bderivative().matrix()[:, 0] - column).max() < 1e-3 * np.abs(column).max()


def test_stepping_and_pickling_change_nothing():
    system = tracking()
    whole = bd.solve(system, (0.0, 1.5), [1.0, 1.0], rtol=1e-5)
    stepper = bd.Stepper(system, (0.0, 1.5), [1.0, 1.0], rtol=1e-5)
    while stepper.status == "running":
        stepper.step()
        if stepper.t > 0.6:
            stepper = pickle.loads(pickle.dumps(stepper))
    assert np.array_equal(stepper.solution.x, whole.x)


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_a_change_of_scheme_keeps_the_slope(rtol):
    """The first stiff step begins with x' at the end of the last explicit one (of another scheme, with other stages)."""
    for system, x0, tf in ((tracking(), [1.0, 1.0], 1.5), (van_der_pol(100.0), [2.0, 0.0], 100.0)):
        f = system.function("f")
        stepper = bd.Stepper(system, (0.0, tf), x0, rtol=rtol)
        kinds = set()
        while stepper.status == "running":
            stepper.step()
            kinds.add(int(stepper._memory.s.step.kind) % 10)
            here = f(stepper.t, stepper.x, stepper.b.astype(float), stepper.p)
            assert stepper._memory.v.f == pytest.approx(here, rel=1e-9, abs=1e-9)
        assert len(kinds) > 1


def test_breakpoints_and_changed_parameters():
    """At a breakpoint the rate falls by a hundred, at the next step of a Stepper the parameter."""

    def f(t, x, b, p):
        return np.array([-(p[0] if t < 1.0 else 0.01 * p[0]) * (x[0] - 1.0)])

    system = bd.System(f, n=1, params={"rate": 1e4})
    sol = bd.solve(system, (0.0, 2.0), [3.0], rtol=1e-6, breakpoints=[1.0], method="stiff")
    assert 1.0 in sol.t
    assert abs(sol.x[-1, 0] - 1.0) < 1e-6
    stepper = bd.Stepper(system, (0.0, 2.0), [3.0], rtol=1e-6, method="stiff")
    while stepper.t < 0.5:
        stepper.step()
    stepper.p = {"rate": 1.0}
    start, x = stepper.t, stepper.x[0]
    end = stepper.finish()
    tail = np.exp(-(1.0 - start)) * np.exp(-0.01) if start < 1.0 else np.exp(-0.01 * (2.0 - start))
    assert end.x[-1, 0] == pytest.approx(1.0 + (x - 1.0) * tail, abs=1e-6)


def test_what_is_not_stiff_is_not_changed():
    """Orbits, the hopper, the plate: the same steps as without any stiff ones."""
    hopper = bd.models.hopper()
    for method in ("auto", "dopri5"):
        sol = bd.solve(hopper, (0.0, 50.0), [2.0, 0.0], rtol=1e-4, method=method)
        assert not (sol.record.kind == STIFF).any()

    def f(t, x, b, p):
        r = np.hypot(x[0], x[1]) ** 3
        return np.array([x[2], x[3], -x[0] / r, -x[1] / r])

    orbit = bd.System(f, n=4)
    one, other = (bd.solve(orbit, (0.0, 100.0), [1.0, 0.0, 0.0, 0.8], rtol=1e-4, method=m) for m in ("auto", "dopri5"))
    assert np.array_equal(one.x, other.x)
    assert one.counts.f <= 1.03 * other.counts.f


def test_stiff_only_for_a_moment():
    """The rate is high while |t - 1| < 0.1: stiff steps there, others elsewhere."""

    def f(t, x, b, p):
        rate = 1.0 + 1e5 * np.exp(-(((t - 1.0) / 0.05) ** 2))
        return np.array([-rate * (x[0] - np.cos(20.0 * t)) - 20.0 * np.sin(20.0 * t)])

    sol = bd.solve(bd.System(f, n=1), (0.0, 2.0), [1.0], rtol=1e-5)
    stiff = sol.t[sol.record.kind == STIFF]
    assert stiff.size
    assert np.abs(stiff - 1.0).max() < 0.5
    assert np.abs(sol.x[:, 0] - np.cos(20.0 * sol.t)).max() < 1e-3


def test_a_wrong_Df_is_named_and_not_used():
    def f(t, x, b, p):
        return np.array([-FAST * (x[0] - x[1]), -x[1]])

    def Df(t, x, b, p):
        return np.array([[-FAST, FAST], [1.0, -1.0]])

    system = bd.System(f, n=2, states=("x", "y"), Df=Df)
    with pytest.warns(bd.errors.FunctionWarning, match=r"Df is wrong .* y' with respect to x is 1, but .* say -?0"):
        sol = bd.solve(system, (0.0, 1.0), [0.0, 1.0], rtol=1e-5)
    assert sol.x[-1, 1] == pytest.approx(np.exp(-1.0), abs=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bd.solve(system, (0.0, 1.0), [0.0, 1.0], rtol=1e-5)


@pytest.mark.parametrize("method", ["auto", "stiff"])
def test_a_jacobian_with_nan_is_named_and_not_used(method):
    """By method="stiff" f or h were blamed for it: NotFiniteError."""

    def f(t, x, b, p):
        return np.array([-FAST * (x[0] - 1.0)])

    def Df(t, x, b, p):
        return np.array([[np.nan]])

    with pytest.warns(bd.errors.FunctionWarning, match="with respect to x0 is nan, but"):
        sol = bd.solve(bd.System(f, n=1, Df=Df), (0.0, 0.1), [0.0], rtol=1e-5, method=method)
    assert sol.x[-1, 0] == pytest.approx(1.0, abs=1e-4)
    assert (sol.record.kind == STIFF).any()


def test_a_hertz_contact_keeps_its_order():
    """A force of the power 3/2 of the depth, with strong damping: its second derivative is infinite where the contact begins."""

    def f(t, x, b, p):
        depth = max(-x[0], 0.0)
        push = 1e7 * depth**1.5 * (1.0 - 0.5 * x[1]) - 4e2 * x[1] if b[0] > 0 else 0.0
        return np.array([x[1], push - 9.81, x[0]])

    def h(t, x, p):
        return np.array([-x[0]])

    system = bd.System(f, h, n=3, m=1)
    exact = bd.solve(system, (0.0, 0.8), [0.3, 0.0, 0.0], rtol=1e-12, method="dop853").x[-1]
    errors = [
        np.abs(bd.solve(system, (0.0, 0.8), [0.3, 0.0, 0.0], rtol=rtol, method="stiff").x[-1] - exact).max()
        for rtol in (1e-3, 1e-4, 1e-5, 1e-6)
    ]
    assert all(error < 30.0 * rtol for error, rtol in zip(errors, (1e-3, 1e-4, 1e-5, 1e-6), strict=True))


def heated_rod(n):
    """Diffusion along a rod between cold ends; a heater in it is on while its middle is below 0.4."""

    def f(t, x, b, p):
        out, k = np.empty_like(x), float(x.size) ** 2
        for i in range(x.size):
            left = x[i - 1] if i > 0 else 0.0
            right = x[i + 1] if i < x.size - 1 else 0.0
            out[i] = k * (left - 2.0 * x[i] + right) + (5.0 if b[0] < 0 else 0.0)
        return out

    def h(t, x, p):
        return np.array([x[x.size // 2] - 0.4])

    return bd.System(f, h, n=n, m=1)


def test_many_states():
    """Up to 256 states stiff steps are taken unasked; beyond, the error says that method="stiff" would help, and it does."""
    small, large = heated_rod(64), heated_rod(300)
    exact = bd.solve(small, (0.0, 0.05), np.zeros(64), rtol=1e-9, method="dop853").x[-1]
    sol = bd.solve(small, (0.0, 0.05), np.zeros(64), rtol=1e-4)
    assert (sol.record.kind == STIFF).any()
    assert np.abs(sol.x[-1] - exact).max() < 1e-4
    with pytest.raises(bd.StiffnessError, match="Give method='stiff'"):
        bd.solve(large, (0.0, 0.05), np.zeros(300), rtol=1e-4, max_steps=1_000)
    sol = bd.solve(large, (0.0, 0.05), np.zeros(300), rtol=1e-4, method="stiff", max_steps=1_000)
    assert (
        np.abs(sol.x[-1, ::150] - np.interp((np.arange(1, 301) / 301)[::150], np.arange(1, 65) / 65, exact)).max()
        < 0.02
    )


def test_bad_options():
    with pytest.raises(ValueError, match="method"):
        bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], method="implicit")
    with pytest.raises(ValueError, match=r"stiff.*eps"):
        bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], method="stiff", eps=0.01)
