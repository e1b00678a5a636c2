"""Bouligand: the ready model, ``solve(system, t_span, x0, rtol=..., b0=...)``, and nothing else.

The mode at the start is given, as it is to all others: two of the problems start on a guard, where it would be looked for first.
"""

from types import SimpleNamespace

import bouligand as bd
from benchmarks.peers import decades

from . import arm


def build(problem, rtol):
    system, span = problem.system(), (0.0, problem.tf)
    word = bd.solve(system, (0.0, 1e-9), problem.x0).b[0]

    def solve():
        sol = bd.solve(system, span, problem.x0, rtol=rtol, b0=word)
        return sol.events.t, sol.x[-1]

    return arm(problem, f"rtol={rtol:.0e}", solve)


PEERS = [
    SimpleNamespace(
        NAME="bouligand",
        PACKAGE="bouligand",
        GIVEN="the ready model, `solve(..., rtol=..., b0=...)`, defaults otherwise",
        settings=lambda problem: decades(-2, -12),
        build=build,
    )
]
