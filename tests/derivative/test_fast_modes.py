"""Modes that the trajectory does not excite, at random: the B-derivative against products of matrix exponentials."""

import numpy as np
import pytest
from scipy.linalg import expm

import bouligand as bd

N, GUARDS, END = 4, 3, 3.0


def _f(t, x, b, p, dx):
    """A clock x0, and a linear system whose matrix (in p) is another one behind each time that the clock passes."""
    at = b.size
    for k in range(b.size):
        at += N * N if b[k] > 0.0 else 0
    dx[0] = 1.0
    for i in range(N):
        dx[1 + i] = 0.0
        for j in range(N):
            dx[1 + i] += p[at + i * N + j] * x[1 + j]


def _Df(t, x, b, p, out):
    at = b.size
    for k in range(b.size):
        at += N * N if b[k] > 0.0 else 0
    for i in range(N + 1):
        for j in range(N + 1):
            out[i, j] = p[at + (i - 1) * N + j - 1] if i > 0 and j > 0 else 0.0


def _h(t, x, p, out):
    for k in range(out.size):
        out[k] = x[0] - p[k]


def _modes(rng):
    """Swings, decays in any directions, something in between, or nothing that moves at all."""
    kind = rng.integers(4)
    if kind == 0:
        return np.zeros((N, N))
    if kind == 1:
        half = np.eye(N // 2)
        return np.block([[0.0 * half, half], [-half * 10.0 ** rng.uniform(-1.0, 4.0, N // 2), 0.0 * half]])
    if kind == 2:
        turned = np.linalg.qr(rng.normal(size=(N, N)))[0]
        return -(turned * 10.0 ** rng.uniform(-1.0, 3.0, N)) @ turned.T
    A = 10.0 ** rng.uniform(-1.0, 1.2) * rng.normal(size=(N, N))
    return A - max(0.0, np.linalg.eigvals(A).real.max()) * np.eye(N)


@pytest.mark.parametrize("given", [False, True])
def test_modes_at_rest(given):
    """All is at rest but the clock, so that steps and hops are long; each word may have fast modes of its own."""
    rng = np.random.default_rng(7)
    params = np.zeros(GUARDS + (GUARDS + 1) * N * N)
    system = bd.System(_f, _h, n=N + 1, m=GUARDS, params=params, Df=_Df if given else None)
    for _ in range(25):
        # anywhere, or one soon after the other
        times = np.sort(rng.uniform(0.1, 2.9, GUARDS))
        if rng.random() < 0.5:
            times = 1.0 + np.cumsum(rng.uniform(1e-3, 0.3, GUARDS))
        fields = [_modes(rng) for _ in range(GUARDS + 1)]
        rtol = 10.0 ** -rng.integers(4, 10)
        p = np.concatenate([times, *(A.ravel() for A in fields)])
        B = bd.solve(system, (0.0, END), np.zeros(N + 1), p=p, rtol=rtol).bderivative()
        parts = [expm(A * s) for A, s in zip(fields, np.diff([0.0, *times, END]), strict=True)]
        exact, kappa = np.eye(N), 1.0
        for k, part in enumerate(parts):
            exact = part @ exact
            rest = np.linalg.multi_dot([*parts[:k:-1], np.eye(N), np.eye(N)])
            kappa = max(kappa, float(np.linalg.norm(rest, 2) * np.linalg.norm(exact, 2)))
        d = rng.normal(size=N)
        tolerance = 200.0 * kappa * rtol
        assert np.abs(B.vjp([0.0, *d])[1:] - d @ exact).max() < tolerance * np.linalg.norm(d)
        assert np.abs(B([0.0, *d])[1:] - exact @ d).max() < tolerance * np.linalg.norm(d)
        assert np.abs(B.matrix()[1:, 1:] - exact).max() < tolerance


def _pulse(t, x, b, p, dx):
    """A swing at rest that is stiff only while the clock is near p[0]."""
    dx[0], dx[1] = 1.0, x[2]
    dx[2] = -(1.0 + 400.0 * np.exp(-(((x[0] - p[0]) / p[1]) ** 2))) * x[1]


def _pulse_Df(t, x, b, p, out):
    near = 400.0 * np.exp(-(((x[0] - p[0]) / p[1]) ** 2))
    out[:] = 0.0
    out[1, 2], out[2, 1] = 1.0, -1.0 - near
    out[2, 0] = 2.0 * near * (x[0] - p[0]) / p[1] ** 2 * x[1]


@pytest.mark.parametrize("given", [False, True])
def test_a_pulse_in_any_step(given):
    """Wherever it is: in long steps one after the other, and in a long hop."""
    jacobian = _pulse_Df if given else None
    smooth = bd.System(_pulse, n=3, params=[0.0, 0.2], Df=jacobian)
    hops = bd.System(_pulse, lambda t, x, p: (x[0] - 0.5, x[0] - 2.5), n=3, m=2, params=[0.0, 0.2], Df=jacobian)
    for middle in np.linspace(0.2, 2.8, 7):
        # (the field is linear in the swing: a trajectory is a column)
        p, columns = [middle, 0.2], ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
        exact = np.array([bd.solve(smooth, (0.0, 3.0), x0, p=p, rtol=1e-11).x[-1, 1:] for x0 in columns]).T
        for system in (smooth, hops):
            sol = bd.solve(system, (0.0, 3.0), np.zeros(3), p=p, rtol=1e-7)
            assert len(sol.t) < 12  # (or there would be nothing to show)
            assert np.abs(sol.bderivative().matrix()[1:, 1:] - exact).max() < 1e-3


def _stiff(t, x, b, p, dx):
    """A swing that drags a fast damped follower behind it, which pushes back."""
    dx[0] = x[1]
    dx[1] = -4.0 * x[0] - 0.3 * x[2] + (1.0 if b[0] > 0 else 0.0)
    dx[2] = -p[0] * (x[2] - x[0] * x[1])


def test_damped_modes_do_not_divide_steps_that_are_stable():
    """The steps are as long as the follower's stability allows. Behind its transients, perturbations need no shorter ones, and B
    is as accurate as the trajectory."""
    system = bd.System(_stiff, lambda t, x, p: (x[0] - 0.3,), n=3, m=1, params=[3000.0])
    explicit = {"method": "dop853"}
    sol, tight = (bd.solve(system, (0.0, 2.0), [1.0, 0.0, 0.5], rtol=rtol, **explicit) for rtol in (1e-6, 1e-12))
    B, known = sol.bderivative(), tight.bderivative()
    assert B.matrix() == pytest.approx(known.matrix(), abs=3e-6)
    assert B.vjp([1.0, -1.0, 2.0]) == pytest.approx(known.vjp([1.0, -1.0, 2.0]), abs=1e-5)
    rows, steps = len(B._map.chain.stretch.t), sol.counts.steps
    assert steps > 500  # (stiff: 6,000 times of the follower at a stability limit of 6)
    assert rows < 2.0 * steps
    # soon behind an event its transients count: there steps are accurate
    soon = float(sol.events.t[0]) + 3e-4
    assert sol.bderivative(soon).matrix() == pytest.approx(tight.bderivative(soon).matrix(), abs=3e-6)
    # and so, to the accuracy of order 3, with stiff steps, which are not limited at all
    stiff = bd.solve(system, (0.0, 2.0), [1.0, 0.0, 0.5], rtol=1e-6)
    assert stiff.counts.f < 0.3 * sol.counts.f
    assert stiff.bderivative().matrix() == pytest.approx(known.matrix(), abs=1e-4)


def _follower(t, x, b, p, dx):
    dx[0] = 1.0
    dx[1] = -p[0] * (x[1] - x[2]) + (b[0] + 1.0) * x[2]
    dx[2] = -x[1]


FOLLOWER = bd.System(_follower, lambda t, x, p: (x[0] - 0.5,), n=3, m=1, params=[1000.0])


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_steps_grow_as_a_damped_mode_decays(rtol):
    """At rest the trajectory takes a few long steps. The mode must be resolved behind the start and behind the crossing only."""
    sol = bd.solve(FOLLOWER, (0.0, 1.0), [0.0, 0.0, 0.0], rtol=rtol)
    exact = np.eye(2)
    for more in (0.0, 2.0):
        exact = expm(0.5 * np.array([[-1000.0, 1000.0 + more], [-1.0, 0.0]])) @ exact
    B = sol.bderivative()
    assert len(sol.t) < 40
    assert np.abs(B.matrix()[1:, 1:] - exact).max() < 20.0 * rtol
    assert np.abs(B.vjp([0.0, 1.0, -2.0])[1:] - [1.0, -2.0] @ exact).max() < 60.0 * rtol
    # (accurate steps all along would be 1,000 / longest, from 1,500 to 7,000; stable ones about 300)
    assert len(B._map.chain.stretch.t) < 800
