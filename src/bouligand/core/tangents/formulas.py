"""The formulas that a recorded step may have been taken with, for its perturbations: all schemes, then the rungs of a hop."""

import numpy as np

from ..compiler.jit import core
from ..schemes import SCHEMES
from ..schemes.stages import combinations
from ..state import BACK, HOP

# a hop's rungs: rows of A, and b
_RUNGS: tuple = (
    ([[]], [1]),
    ([[], [1 / 2]], [0, 1]),
    ([[], [1 / 2], [-1, 2]], [1 / 6, 4 / 6, 1 / 6]),
    ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 2 / 6, 2 / 6, 1 / 6]),
)


def _formulas():
    """(A, b, c) of each; the stage at the result has no part in it. The last rung is dopri5, the first scheme."""
    out = [(q.A[: q.stages - 1, : q.stages - 1], q.b[: q.stages - 1], q.c[: q.stages - 1]) for q in SCHEMES]
    for rows, weights in _RUNGS:
        A = np.zeros((len(weights), len(weights)))
        for r, row in enumerate(rows):
            A[r, : len(row)] = row
        out.append((A, np.array(weights, dtype=float), A.sum(1)))
    return [*out, out[0]]


_FORMULAS = _formulas()
_FIRST_RUNG = len(SCHEMES) - HOP - 1
STAGES = np.array([len(b) for _, b, _ in _FORMULAS])
TIMES = np.zeros((len(_FORMULAS), STAGES.max()))  # of the stages
for _q, (_, _, _c) in enumerate(_FORMULAS):
    TIMES[_q, : len(_c)] = _c
# as straight code: a row for each stage, then one for the result; where those of a formula begin
FIRST = np.concatenate([[0], np.cumsum(STAGES + 1)])
_ROWS = [list(row) for A, b, _ in _FORMULAS for row in [*(A[r, :r] for r in range(len(b))), b]]
combine, combine_wide = combinations(_ROWS), combinations(_ROWS, wide=True)
# and backwards: for each stage, the weight that it has in the result, then those in the other stages
combine_back = combinations([[b[r], *A[:, r]] for A, b, _ in _FORMULAS for r in (*range(len(b)), 0)])


@core(inline=True)
def formula_of(kind):
    """Which of the formulas a recorded step was taken with."""
    base = kind % BACK
    return base - 1 if base < HOP else base + _FIRST_RUNG
