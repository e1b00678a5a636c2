"""When crossings may be spanned by one step."""

# Below these tolerances hops take less time to the same error: a spanning step is of third order in its jumps, and a hop passes
# over all guards. (The second is over the cube of the number of guards; measured on the plate with 100 and 200 springs.)
TIGHTEST, TIGHTEST_OF_FEW = 1e-8, 0.3


def possible(system, rtol, method):
    """Whether crossings may be spanned where all guards only flip signs (no bands, none terminal): a tolerance that is not very
    tight, and no scheme that was asked for instead."""
    return rtol >= max(TIGHTEST, TIGHTEST_OF_FEW / max(system.m, 1) ** 3) and method in ("auto", "dopri5")
