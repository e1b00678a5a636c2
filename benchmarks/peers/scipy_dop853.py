"""SciPy's DOP853 with terminal events and a restart after each."""

from . import scipy_restarts

NAME, PACKAGE = "SciPy DOP853", "scipy"
TIES = 1e-8  # its setting in the table of ties
GIVEN = scipy_restarts.GIVEN


def settings(problem):
    return [1e-4, 1e-6, 1e-8, 1e-10, 1e-12]


def build(problem, rtol):
    return scipy_restarts.build(problem, rtol, "DOP853", each=False)


def build_ties(problem, rtol):
    return scipy_restarts.build(problem, rtol, "DOP853", each=True)
