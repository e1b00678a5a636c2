"""``solve_ivp`` from event to event: compiled f and h, terminal events that fire on leaving the side of the current word.

``each``: one event function for each guard, as SciPy's manual shows, and the guard that SciPy reports is flipped. Otherwise one
function, the smallest of all signed guards, which with many guards is much faster; the guard that is smallest is flipped.
A restart begins with a guard at zero to round-off. SciPy looks at signs at the ends of a step, so that the smallest guard
would hide the next event there if it began below zero: guards count from -1e-12.
"""

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp

from . import Arm

GIVEN = "compiled f and h; one terminal event (the smallest signed guard), restart after each, steps capped at 50 ms"
SLACK = 1e-12


@njit
def _smallest(h, b):
    """The signed guard nearest to its end, and which."""
    which, least = 0, np.inf
    for k in range(h.size):
        if h[k] * b[k] < least:
            which, least = k, h[k] * b[k]
    return which, least


def build(problem, rtol, method, each):
    f, h = problem.compiled
    p, b = problem.p, np.empty(problem.m)
    dx, out = np.empty(problem.n), np.empty(problem.m)
    counted, seen = [0], [np.nan]

    def fun(t, x):
        f(t, x, b, p, dx)
        return dx.copy()

    def nearest(t, x):
        h(t, x, p, out)
        return _smallest(out, b)[1] + SLACK

    def single(k):
        def guard(t, x):
            if seen[0] != t:  # all guards at once for the first that is asked
                h(t, x, p, out)
                seen[0] = t
            return b[k] * out[k]

        return guard

    guards = [single(k) for k in range(problem.m)] if each else [nearest]
    for guard in guards:
        guard.terminal, guard.direction = True, -1

    def flip(sol):
        x = sol.y[:, -1]
        if each:
            for k, found in enumerate(sol.t_events):
                if len(found):
                    b[k] = -b[k]
                    counted[0] += 1
        else:
            h(sol.t[-1], x, p, out)
            k = _smallest(out, b)[0]
            b[k] = -b[k]
            counted[0] += 1
        return sol.t[-1], x

    def segments(dense):
        t, x = 0.0, problem.x0
        b[:] = problem.word0()
        counted[0] = 0
        for _ in range(problem.most_restarts):
            sol = solve_ivp(
                fun,
                (t, problem.tf),
                x,
                method=method,
                rtol=rtol,
                atol=0.01 * rtol,
                events=guards,
                first_step=min(1e-3, problem.tf - t),
                max_step=problem.max_step,
                dense_output=dense,
            )
            yield sol
            if sol.status != 1:
                return
            t, x = flip(sol)
            if t >= problem.tf:
                return
        raise RuntimeError(f"no end after {problem.most_restarts} restarts")

    def run():
        for sol in segments(False):
            end = sol.y[:, -1]
        return end

    def sample():
        states = np.empty((len(problem.times), problem.n))
        for sol in segments(True):
            inside = (problem.times >= sol.t[0]) & (problem.times <= sol.t[-1])
            if inside.any():
                states[inside] = sol.sol(problem.times[inside]).T
        return states

    return Arm(f"rtol={rtol:.0e}", run, sample, lambda: counted[0])
