"""DOP853: Dormand and Prince, order 8, with error estimates of order 5 and 3 and an extension of order 7."""

import numpy as np

from . import dop853_coefficients as coefficients
from .scheme import Control, Scheme


def _rows(rows, width=16):
    table = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for q, value in row.items():
            table[i, q] = value
    return table


def _extension(b):
    """Expand the nested form ``y = theta (F0 + (1-theta) (F1 + theta (F2 + (1-theta) (F3 + ...))))`` in powers."""
    first, last = np.eye(16)[0], np.eye(16)[12]
    F = [b, first - b, 2 * b - first - last, *_rows(coefficients.D)]
    P = np.zeros((16, 7))
    factor = np.array([1.0])
    for d, weights in enumerate(F):
        # the product of two polynomials (numpy.polynomial would take a tenth of the time of ``import bouligand``)
        factor = np.convolve(factor, [0, 1] if d % 2 == 0 else [1, -1])
        P[:, : len(factor) - 1] += np.outer(weights, factor[1:])
    return P


_A = _rows(coefficients.A)

DOP853 = Scheme(
    name="dop853",
    order=8,
    error_order=7,
    dense_order=7,
    stages=13,
    c=np.array(coefficients.C),
    A=_A,
    errors=_rows(coefficients.E),
    P=_extension(_A[12]),
    source="Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, II.5",
    control=Control(
        late=10,
        growth=10.0,
        early=(0.0526001519587677, 0.0789002279381516),
        early_error=(1.5e-8, 5),
        natural=(1e9, 7),
    ),
)
