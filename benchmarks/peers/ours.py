"""Bouligand: ``solve(system, t_span, x0, rtol=...)`` and nothing else."""

import bouligand as bd

from . import Arm, decades

NAME, PACKAGE = "bouligand", "bouligand"
TIES = 1e-8  # its setting in the table of ties
GIVEN = "the library's own model, `solve(..., rtol=...)`, defaults otherwise"


def settings(problem):
    return decades(-2, -11)


def build(problem, rtol):
    system, span, x0 = problem.system(), (0.0, problem.tf), problem.x0
    last = []

    def run():
        last[:] = [bd.solve(system, span, x0, rtol=rtol)]
        return last[0].x[-1]

    def sample():
        return bd.solve(system, span, x0, rtol=rtol, t_eval=problem.times).x

    return Arm(f"rtol={rtol:.0e}", run, sample, lambda: len(last[0].events))
