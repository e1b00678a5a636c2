"""Integration schemes as data: explicit Runge-Kutta pairs with a continuous extension, each checking itself.

A scheme advances ``x`` by ``s sum b_q K_q`` with ``K_q = f(t + c_q s, x + s sum_r A_qr K_r)``. Its last ordinary stage is
evaluated at the result itself, so that it is the first stage of the next step. The continuous extension is a polynomial
in ``theta = (time since the start) / s``: ``x + s sum_q K_q sum_d P[q, d] theta^(d+1)``; it may need more stages.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import polynomial as poly

from . import dop853 as _dop853
from .stages import combination, stage_runner


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta pair.

    ``A`` has a row for each stage, that at the result included (its row is ``b``), then those of the extension. ``errors``
    are the weights of one error estimate, or of two that are combined as in DOP853. ``P`` is the extension.
    """

    name: str
    order: int  # of the result
    error_order: int  # the error estimate falls like s ** (error_order + 1)
    dense_order: int
    stages: int  # ordinary stages, that at the result included
    c: np.ndarray
    A: np.ndarray
    errors: np.ndarray
    P: np.ndarray
    source: str
    b: np.ndarray = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "b", self.A[self.stages - 1])
        self.check()

    def check(self):
        """Raise ValueError unless the coefficients are those of a method of the stated orders (as far as is cheap)."""
        c, A, b, P = self.c, self.A, self.b, self.P

        def demand(holds, what):
            if not holds:
                raise ValueError(f"tableau {self.name}: {what}")

        demand(np.allclose(A.sum(1), c, rtol=0, atol=1e-13), "the rows of A do not add up to c")
        demand(not np.triu(A).any(), "A is not strictly lower triangular")
        for q in range(self.order):
            demand(np.isclose(b @ c**q, 1 / (q + 1), rtol=1e-12), f"b does not integrate c^{q}")
        demand(np.isclose(b @ A @ c, 1 / 6, rtol=1e-12), "b A c is not 1/6")
        if self.order > 3:
            demand(np.isclose(b @ A @ c**2, 1 / 12, rtol=1e-12), "b A c^2 is not 1/12")
            demand(np.isclose(b @ A @ A @ c, 1 / 24, rtol=1e-12), "b A A c is not 1/24")
        demand(np.allclose(self.errors.sum(1), 0, rtol=0, atol=1e-13), "an error estimate is not zero for constant f")
        demand(np.allclose(P.sum(1), b, rtol=0, atol=1e-12), "the extension does not end at the result")
        for q in range(self.dense_order):
            # integral of t^q from 0 to theta: theta^(q+1)/(q+1)
            wanted = np.zeros(P.shape[1])
            wanted[q] = 1 / (q + 1)
            demand(np.allclose(c**q @ P, wanted, rtol=0, atol=1e-11), f"the extension does not integrate t^{q}")


def _rows(rows, width):
    table = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for q, value in row.items():
            table[i, q] = value
    return table


DOPRI5 = Tableau(
    name="dopri5",
    order=5,
    error_order=4,
    dense_order=4,
    stages=7,
    c=np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]),
    A=np.array(
        [
            [0, 0, 0, 0, 0, 0, 0],
            [1 / 5, 0, 0, 0, 0, 0, 0],
            [3 / 40, 9 / 40, 0, 0, 0, 0, 0],
            [44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0],
            [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
        ]
    ),
    errors=np.array([[71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]]),
    P=np.array(
        [
            [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
            [0, 0, 0, 0],
            [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
            [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
            [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
            [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
            [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
        ]
    ),
    source="Dormand & Prince, J. Comp. Appl. Math. 6 (1980) 19-26; extension: Shampine, Math. Comp. 46 (1986) 135-150",
)

BOSH3 = Tableau(
    name="bosh3",
    order=3,
    error_order=2,
    dense_order=3,
    stages=4,
    c=np.array([0, 1 / 2, 3 / 4, 1]),
    A=np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 3 / 4, 0, 0], [2 / 9, 1 / 3, 4 / 9, 0]]),
    errors=np.array([[5 / 72, -1 / 12, -1 / 9, 1 / 8]]),
    P=np.array([[1, -4 / 3, 5 / 9], [0, 1, -2 / 3], [0, 4 / 3, -8 / 9], [0, -1, 1]]),
    source="Bogacki & Shampine, Appl. Math. Lett. 2 (1989) 321-325",
)


def _dop853_extension(b):
    """Expand the nested form ``y = theta (F0 + (1-theta) (F1 + theta (F2 + (1-theta) (F3 + ...))))`` in powers."""
    first, last = np.eye(16)[0], np.eye(16)[12]
    F = [b, first - b, 2 * b - first - last, *_rows(_dop853.D, 16)]
    P = np.zeros((16, 7))
    factor = np.array([1.0])
    for d, weights in enumerate(F):
        factor = poly.polymul(factor, [0, 1] if d % 2 == 0 else [1, -1])
        P[:, : len(factor) - 1] += np.outer(weights, factor[1:])
    return P


def _dop853_tableau():
    A = _rows(_dop853.A, 16)
    return Tableau(
        name="dop853",
        order=8,
        error_order=7,
        dense_order=7,
        stages=13,
        c=np.array(_dop853.C),
        A=A,
        errors=_rows(_dop853.E, 16),
        P=_dop853_extension(A[12]),
        source="Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, II.5",
    )


DOP853 = _dop853_tableau()

# The number of a method in the compiled core is its place here, counted from 1.
TABLEAUX = (DOPRI5, BOSH3, DOP853)
METHODS = {tableau.name: i + 1 for i, tableau in enumerate(TABLEAUX)}


def _compiled(tableau):
    """As compiled code: two stages, the others before the result, the result, the extension's stages, the errors."""
    A, c, last = tableau.A, tableau.c, tableau.stages - 1
    return (
        stage_runner(A, c, range(1, 3)),
        stage_runner(A, c, range(3, last)),
        combination(tableau.b[:last], onto=True),
        stage_runner(A, c, range(last + 1, len(c))),
        [combination(weights[: last + 1]) for weights in tableau.errors],
    )


dopri5_first, dopri5_rest, dopri5_result, _, (dopri5_error,) = _compiled(DOPRI5)
bosh3_first, bosh3_rest, bosh3_result, _, (bosh3_error,) = _compiled(BOSH3)
dop853_first, dop853_rest, dop853_result, dop853_more, (dop853_error5, dop853_error3) = _compiled(DOP853)
