"""SUNDIALS CVODE (Adams) through scikit-sundae, with its own root finding; initialised again after each event."""

import numpy as np
from sksundae.cvode import CVODE

from . import Arm

NAME, PACKAGE = "CVODE", "scikit-sundae"
TIES = 1e-8  # its setting in the table of ties
GIVEN = "Adams, compiled f and h, `eventsfn` with all guards at once, initialised again after each event"


def settings(problem):
    return [1e-4, 1e-6, 1e-8, 1e-10, 1e-12]


def build(problem, rtol):
    f, h = problem.compiled
    p, b = problem.p, np.empty(problem.m)
    counted = [0]

    def rhs(t, x, dx):
        f(t, x, b, p, dx)

    def guards(t, x, out):
        h(t, x, p, out)

    guards.terminal = [True] * problem.m
    options = {
        "method": "Adams",
        "rtol": rtol,
        "atol": 0.01 * rtol,
        "eventsfn": guards,
        "num_events": problem.m,
        "max_num_steps": 100_000,
        "max_step": problem.max_step,
    }

    def segments(advance):
        """From event to event; ``advance(t, x)`` gives a result that ends at the next one."""
        t, x = 0.0, problem.x0
        b[:] = problem.word0()
        counted[0] = 0
        for _ in range(problem.most_restarts):
            sol = advance(t, x)
            if not sol.success:
                raise RuntimeError(sol.message)
            yield sol
            t, x = float(np.atleast_1d(sol.t)[-1]), np.array(np.atleast_2d(sol.y)[-1])
            if t >= problem.tf:
                return
            fired = np.flatnonzero(np.atleast_2d(sol.i_events)[-1])
            b[fired] = -b[fired]
            counted[0] += len(fired)
        raise RuntimeError(f"no end after {problem.most_restarts} restarts")

    solver = CVODE(rhs, **options)

    def step(t, x):
        solver.init_step(t, x)
        return solver.step(problem.tf, tstop=problem.tf)

    def run():
        for sol in segments(step):
            end = sol.y
        return np.array(end).ravel()

    def grid(t, x):
        # event records pile up over solves of one object: a new one for each
        later = problem.times[problem.times > t]
        return CVODE(rhs, **options).solve(np.r_[t, later], x)

    def sample():
        states = np.full((len(problem.times), problem.n), np.nan)
        for sol in segments(grid):
            at = np.minimum(np.searchsorted(problem.times, sol.t), len(problem.times) - 1)
            known = problem.times[at] == sol.t
            states[at[known]] = sol.y[known]
        return states

    return Arm(f"rtol={rtol:.0e}", run, sample, lambda: counted[0])
