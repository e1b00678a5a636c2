"""Fields that are sums over contacts, for the tests of spanning steps."""

import math

import numpy as np

import bouligand as bd


# --- thresholds: y' = a + sum of d_k over the c_k that y has passed, z' = y. Every crossing changes its own guard's rate, and
# everything is piecewise polynomial. p = a, then the c_k, then the d_k
def _drift(t, x, p, dx):
    dx[0] = p[0]
    dx[1] = x[0]


def _push(t, x, k, p, dx):
    m = (p.size - 1) // 2
    dx[0] += p[1 + m + k]


def _levels(t, x, p, out):
    for k in range(out.size):
        out[k] = x[0] - p[1 + k]


def thresholds(levels, jumps, a=1.0):
    m = len(levels)
    return bd.System(None, _levels, n=2, m=m, params=np.r_[a, levels, jumps], f0=_drift, g=_push)


def thresholds_exact(tf, y, levels, jumps, a=1.0):
    """State at tf from (y, 0) below all levels, and the crossing times in order of the levels."""
    t, z, rate, times = 0.0, 0.0, a, []
    for k in np.argsort(levels, kind="stable"):
        s = (levels[k] - y) / rate
        if t + s > tf:
            break
        z += s * (y + 0.5 * s * rate)
        t, y, rate = t + s, levels[k], rate + jumps[k]
        times.append(t)
    s = tf - t
    return np.array([y + s * rate, z + s * (y + 0.5 * s * rate)]), np.array(times)


# --- a body that falls onto legs of different lengths, stiffness, damping and preload
# p = gravity, then lengths, stiffnesses, dampings, preloads
def _falling(t, x, p, dx):
    dx[0] = x[1]
    dx[1] = -p[0]


def _leg(t, x, k, p, dx):
    m = (p.size - 1) // 4
    dx[1] += p[1 + m + k] * (p[1 + k] - x[0]) - p[1 + 2 * m + k] * x[1] + p[1 + 3 * m + k]


def _compressed(t, x, p, out):
    for k in range(out.size):
        out[k] = p[1 + k] - x[0]


def legs(lengths, stiffness, damping=0.0, preload=0.0, gravity=9.81):
    m = len(lengths)
    shared = [np.broadcast_to(np.asarray(v, dtype=float), m) for v in (lengths, stiffness, damping, preload)]
    return bd.System(None, _compressed, n=2, m=m, params=np.r_[gravity, np.concatenate(shared)], f0=_falling, g=_leg)


# --- a nonlinear sum in four dimensions with curved guards, some of which move: p = seed numbers, one row of 4 for each contact
def _swing(t, x, p, dx):
    dx[0] = x[1]
    dx[1] = -math.sin(x[0]) - 0.1 * x[1] + 0.5 * math.cos(1.3 * t)
    dx[2] = x[3]
    dx[3] = -2.0 * x[2] + 0.3 * x[0] * x[1]


def _pull(t, x, k, p, dx):
    a, c = p[4 * k], p[4 * k + 2]
    dx[1] += a * math.cos(x[2]) - abs(a) * x[1]
    dx[3] += c * (1.0 + 0.3 * x[0])


def _curved(t, x, p, out):
    for k in range(out.size):
        out[k] = x[0] + 0.3 * p[4 * k + 1] * x[2] * x[2] - p[4 * k + 3] - 0.05 * p[4 * k + 1] * t


def swing(m, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.0, 1.0, (m, 4))
    rows[:, [0, 2]] *= size / m
    return bd.System(None, _curved, n=4, m=m, params=rows.ravel(), f0=_swing, g=_pull)


# --- relays: x_k' = 1 - 2 strength [x_k > 0]: with strength > 1/2 all slide
def _towards(t, x, p, dx):
    for k in range(x.size):
        dx[k] = 1.0


def _reverse(t, x, k, p, dx):
    dx[k] -= 2.0 * p[0]


def _zero(t, x, p, out):
    for k in range(out.size):
        out[k] = x[k]


def relays(m, strength):
    return bd.System(None, _zero, n=m, m=m, params=[strength], f0=_towards, g=_reverse)


# --- crossing guard 0 reverses the approach to all others
def _turn_away(t, x, k, p, dx):
    if k == 0:
        for i in range(1, x.size):
            dx[i] -= 2.0


def turning(m):
    return bd.System(None, _zero, n=m, m=m, f0=_towards, g=_turn_away)


# --- a wave against many levels near its crest: each is passed for a short time, or not at all; x[2] adds up the time beyond
def _wave(t, x, p, dx):
    dx[0] = x[1]
    dx[1] = -x[0]
    dx[2] = 0.0


def _beyond(t, x, k, p, dx):
    dx[2] += p[0]


def _crest(t, x, p, out):
    for k in range(out.size):
        out[k] = x[0] - p[1 + k]


def crests(levels, rate):
    return bd.System(None, _crest, n=3, m=len(levels), params=np.r_[rate, levels], f0=_wave, g=_beyond)
