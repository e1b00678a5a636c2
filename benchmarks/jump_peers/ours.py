"""Bouligand: the ready model, ``solve(system, t_span, x0, rtol=...)``, and nothing else.

Where a problem starts on a guard, the mode there is given, as it is to all others: it would be looked for first.
"""

from types import SimpleNamespace

import bouligand as bd
from benchmarks.peers import decades

from . import arm


def build(problem, rtol):
    system, span = problem.system(), (0.0, problem.tf)
    word = bd.solve(system, (0.0, 1e-9), problem.x0).b[0]
    on_guard = (system.function("h")(0.0, problem.x0, system.defaults) == 0.0).any()
    given = {"b0": word} if on_guard else {}

    def solve():
        sol = bd.solve(system, span, problem.x0, rtol=rtol, **given)
        return sol.events.t, sol.x[-1]

    return arm(problem, f"rtol={rtol:.0e}", solve)


PEERS = [
    SimpleNamespace(
        NAME="bouligand",
        PACKAGE="bouligand",
        GIVEN="the ready model, `solve(..., rtol=...)`, and `b0` where it starts on a guard",
        settings=lambda problem: decades(-2, -12),
        build=build,
    )
]
