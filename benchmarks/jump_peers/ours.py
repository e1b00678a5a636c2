"""Bouligand: the ready model, ``solve(system, t_span, x0, rtol=...)``, and nothing else."""

from types import SimpleNamespace

import bouligand as bd
from benchmarks.peers import decades

from . import arm


def build(problem, rtol):
    system, span = problem.system(), (0.0, problem.tf)

    def solve():
        sol = bd.solve(system, span, problem.x0, rtol=rtol)
        return sol.events.t, sol.x[-1]

    return arm(problem, f"rtol={rtol:.0e}", solve)


PEERS = [
    SimpleNamespace(
        NAME="bouligand",
        PACKAGE="bouligand",
        GIVEN="the ready model, `solve(..., rtol=...)`, defaults otherwise",
        settings=lambda problem: decades(-2, -12),
        build=build,
    )
]
