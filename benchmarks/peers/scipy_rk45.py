"""SciPy's RK45 with terminal events and a restart after each."""

from . import scipy_restarts

NAME, PACKAGE = "SciPy RK45", "scipy"
TIES = 1e-8  # its setting in the table of ties
GIVEN = scipy_restarts.GIVEN


def settings(problem):
    return [1e-4, 1e-6, 1e-8, 1e-10]


def build(problem, rtol):
    return scipy_restarts.build(problem, rtol, "RK45", each=False)


def build_ties(problem, rtol):
    return scipy_restarts.build(problem, rtol, "RK45", each=True)
