"""The formulas that a recorded step may have been taken with, for its perturbations: all schemes, then the rungs of a hop.

Each has a continuous extension, for perturbations at times inside the step: it is that of the trajectory's dense output. It uses
the stage at the result, and a few more in some schemes.
"""

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


def _rung(rows, weights):
    """(A, c, b, P) of a rung, with the stage at its result; its extension is the cubic between the ends."""
    last = len(weights)
    A, b = np.zeros((last + 1, last + 1)), np.array(weights, dtype=float)
    for r, row in enumerate((*rows, weights)):
        A[r, : len(row)] = row
    P = np.zeros((last + 1, 3))
    P[:last] = np.outer(b, (0.0, 3.0, -2.0))
    P[0] += 1.0, -2.0, 1.0
    P[last] += 0.0, -1.0, 1.0
    return A, A.sum(1), b, P


def _formulas():
    """(A, c, b, P) of each: all stages, those that the result uses, the extension. The last rung is dopri5, the first scheme."""
    out = [(q.A, q.c, q.b[: q.stages - 1], q.P) for q in SCHEMES]
    return [*out, *(_rung(*rung) for rung in _RUNGS), out[0]]


def _padded(arrays):
    """Arrays of different sizes as one, filled up with zeros."""
    out = np.zeros((len(arrays), *(max(sizes) for sizes in zip(*(a.shape for a in arrays), strict=True))))
    for q, a in enumerate(arrays):
        out[(q, *map(slice, a.shape))] = a
    return out


_FORMULAS = _formulas()
_FIRST_RUNG = len(SCHEMES) - HOP - 1
STAGES = np.array([len(b) for _, _, b, _ in _FORMULAS])  # that the result uses,
ALL_STAGES = np.array([len(c) for _, c, _, _ in _FORMULAS])  # and those that the extension uses
TIMES = _padded([c for _, c, _, _ in _FORMULAS])  # of the stages
WEIGHTS = _padded([A for A, _, _, _ in _FORMULAS])
EXTENSION = _padded([P for _, _, _, P in _FORMULAS])
_DEGREE = EXTENSION.shape[2]
# as straight code: a row for each stage; that of the stage at the result, which is the one after the others, is the result
FIRST = np.concatenate([[0], np.cumsum(ALL_STAGES)])
_ROWS = [list(A[r, :r]) for A, _, _, _ in _FORMULAS for r in range(len(A))]
combine, combine_wide = combinations(_ROWS), combinations(_ROWS, wide=True)
# and backwards: for each stage of the result, the weight that it has in the result, then those in the other stages
combine_back = combinations(
    [[b[r], *A[: len(b), r]] if r < len(b) else None for A, _, b, _ in _FORMULAS for r in range(len(A))]
)


@core(inline=True)
def formula_of(kind):
    """Which of the formulas a recorded step was taken with."""
    base = kind % BACK
    return base - 1 if base < HOP else base + _FIRST_RUNG


@core(inline=True)
def stages_of(formula, inside):
    """Number of stages of a step, with those of the extension if states ``inside`` it are requested."""
    return ALL_STAGES[formula] if inside > 0 else STAGES[formula]


@core(inline=True)
def weight_inside(formula, stage, theta):
    """The weight of a stage in the extension at theta (0 to 1)."""
    weight = 0.0
    for d in range(_DEGREE - 1, -1, -1):
        weight = (weight + EXTENSION[formula, stage, d]) * theta
    return weight
