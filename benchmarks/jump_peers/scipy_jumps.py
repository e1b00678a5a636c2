"""SciPy's ``solve_ivp`` from event to event: compiled functions, one terminal event, the jump, a new start."""

from types import SimpleNamespace

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.peers import decades

from . import arm

SLACK = 1e-12  # margins count from -1e-12: one that has just been zero must not hide the next event


def builder(method):
    def build(problem, rtol):
        f, margin, land = problem.functions
        b, dx = np.empty(1), np.empty(problem.n)

        def fun(t, x):
            f(t, x, b, dx)
            return dx.copy()

        def event(t, x):
            return margin(t, x, b) + SLACK

        event.terminal, event.direction = True, -1

        def solve():
            t, x, times = 0.0, problem.x0.copy(), []
            b[0] = problem.b0
            while True:
                run = solve_ivp(
                    fun,
                    (t, problem.tf),
                    x,
                    method=method,
                    rtol=rtol,
                    atol=0.01 * rtol,
                    events=event,
                    max_step=problem.grid if method == "RK45" and problem.key == "friction" else np.inf,
                )
                t, x = float(run.t[-1]), run.y[:, -1].copy()
                if run.status != 1:
                    return times, x
                times += [t] * land(t, x, b)

        return arm(problem, f"rtol={rtol:.0e}", solve)

    return build


PEERS = [
    SimpleNamespace(
        NAME=f"SciPy {method}",
        PACKAGE="scipy",
        GIVEN="compiled f, one terminal event, the jump and a restart after each",
        settings=lambda problem: decades(-3, -12, 1),
        build=builder(method),
    )
    for method in ("RK45", "DOP853")
]
