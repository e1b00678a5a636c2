"""Memory of steps that few integrations take: spanning steps, and stiff ones."""

import numpy as np

from .layout import Rows, Table

# of a spanning step: a column for each crossing
CROSSING_NUMBERS = Rows("crossing number", "guard", "guard_scratch", "before", "place", dtype=np.int64)
CROSSING_ROWS = Rows(
    "crossing",
    "tau",  # its time, as a fraction of the step
    "sign",  # +1 touching, -1 releasing
    "shift",  # how much the cubic moved tau
    "tau_scratch",
    "sign_scratch",
    "shift_scratch",
    "cubic",
    "former",  # tau in the previous list
    "weights x 6",  # quadrature weights of g at the three nodes
)
# sums over crossings, a column for each state
SUM_ROWS = Rows(
    "sum",
    "intervals x 24",  # four rows for each of the six intervals between stages,
    "running x 4",  # then four for the crossings before some time,
    "doubt",  # the change of x at the end due to the uncertainty of the crossing times,
    "moved",  # and due to their move since the previous list
    every=("intervals", 0, 28),
)
SPANS = Table(
    "spans",
    numbers=CROSSING_NUMBERS,
    crossings=CROSSING_ROWS,
    sums=SUM_ROWS,
    g="vector",  # g of a chunk of contacts at the three nodes
    context="integers",
)

# of stiff steps: A is Df, or near it; factors of I - gamma s A, with the rows in the order of ``pivots``
STIFF_ROWS = Rows(
    "stiff",
    "mode",  # the eigenvector of the fastest mode, found by iteration;
    "image",  # A times it
    "before",  # of a stage: the sum over the stages before it
)
STIFF = Table(
    "stiff",
    A="matrix",
    factors="matrix",
    pivots="integers",
    first="integers",  # of each row of the factors, its first column that is not zero (the diagonal, if none is before it),
    begin="integers",  # and the columns behind the diagonal outside of which it is zero
    end="integers",
    columns="integers",  # while they are computed: columns, and rows, that are not zero
    below="integers",
    rows=STIFF_ROWS,
)
EXPLICIT_ONLY, IF_NEEDED, AT_HAND, ALWAYS = 0, 1, 2, 3  # whether stiff steps may be taken
