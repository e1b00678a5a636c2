"""The paper's order test (its Table 1): an affine field in each octant of three dimensions.

             y
        -+   |   ++          guards h = (x, y, -z)
     y+1,    |  10x+1,       (x, y) block: x', y' as shown, by the signs of x and y
     -x+1    |  y+1          z' = -z - 1 above z = 0, 3z - 1 below
    ---------+--------- x
     -y+1,   |  -2y+1,
     x+1     |  x/2+2
        --   |   +-

From (-0.4, -0.15, 0.3) the trajectory crosses y, z and x within half a second; between the crossings it is a matrix
exponential, so that the solution is known to any number of digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import NUMBERS, takes
from .model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray

START = np.array([-0.4, -0.15, 0.3])
END = 0.5
CROSSINGS = np.array([0.209588078334644671, 0.262364264467491052, 0.369207153821750016])  # y, z, x
FINAL = np.array([0.269850417833359897, 0.337890438217039129, -0.346637698427866003])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    if b[0] < 0.0:
        if b[1] < 0.0:
            dx[0] = 1.0 - x[1]
            dx[1] = 1.0 + x[0]
        else:
            dx[0] = 1.0 + x[1]
            dx[1] = 1.0 - x[0]
    elif b[1] < 0.0:
        dx[0] = 1.0 - 2.0 * x[1]
        dx[1] = 2.0 + 0.5 * x[0]
    else:
        dx[0] = 1.0 + 10.0 * x[0]
        dx[1] = 1.0 + x[1]
    dx[2] = -1.0 - x[2] if b[2] < 0.0 else -1.0 + 3.0 * x[2]


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0]
    out[1] = x[1]
    out[2] = -x[2]


def guard_row(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = 0.0
    out[k] = 1.0 if k < 2 else -1.0


def order_test() -> System:
    """The paper's order test: an affine field in each octant of three dimensions, with a solution in closed form.

    Start, end, crossings and final state are START, END, CROSSINGS and FINAL in this file.

    Returns
    -------
    System
        States x, y and z, guards "x", "y" and "-z".

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.order_test(), (0.0, 0.5), [-0.4, -0.15, 0.3], rtol=1e-9)
    >>> list(sol.events.name)
    ['y', '-z', 'x']
    """
    return System(field, guards, states=("x", "y", "z"), guards=("x", "y", "-z"), Dh_row=guard_row, name="order test")


@takes({}, t=NUMBERS)
def exact(t: ArrayLike) -> FloatArray:
    """States at the times t, shape (len(t), 3), from START."""
    t = np.atleast_1d(np.asarray(t, dtype=float))
    t1, t2, t3 = CROSSINGS
    out = np.empty((t.size, 3))
    # the (x, y) block: a rotation, a rotation the other way, then two uncoupled exponentials
    at_y = _rotate(START[:2], min(t1, 1.0), 1.0)
    at_x = _rotate(at_y, t3 - t1, -1.0)
    for row, s in zip(out, t, strict=True):
        if s <= t1:
            row[:2] = _rotate(START[:2], s, 1.0)
        elif s <= t3:
            row[:2] = _rotate(at_y, s - t1, -1.0)
        else:
            row[0] = (at_x[0] + 0.1) * math.exp(10.0 * (s - t3)) - 0.1
            row[1] = (at_x[1] + 1.0) * math.exp(s - t3) - 1.0
        row[2] = 1.3 * math.exp(-s) - 1.0 if s <= t2 else (1.0 - math.exp(3.0 * (s - t2))) / 3.0
    return out


def _rotate(start: FloatArray, s: float, turn: float) -> FloatArray:
    """x' = 1 - turn y, y' = 1 + turn x: a rotation about (-turn, turn)."""
    cosine, sine = math.cos(s), turn * math.sin(s)
    x, y = start[0] + turn, start[1] - turn
    return np.array([cosine * x - sine * y - turn, sine * x + cosine * y + turn])


MODEL = Model(
    about="affine fields in the octants of space, for tests of the order", make=order_test, start=START, tf=END
)
