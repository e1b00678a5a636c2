"""A spiral that reverses its rotation when it leaves the unit circle: a curved guard (an example of NOSNOC's).

          .  - ~ - .          inside  (b < 0):  x' = A2 x, a spiral outwards, turning left
        /    2       \\        outside (b > 0):  x' = A1 x, a spiral outwards, turning right
       |   .->        |       guard: h = |x|^2 - 1
        \\            /  1     A = [[1, -+2 pi], [+-2 pi, 1]]
          ~ - . - ~

From (1/e, 0) it crosses at t = 1, at (1, 0), exactly.
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

START = np.array([math.exp(-1.0), 0.0])
END = math.pi / 2
FINAL = np.array([-1.597460377450698, 0.7614936206060115])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    turn = 2.0 * math.pi if b[0] < 0.0 else -2.0 * math.pi
    dx[0] = x[0] - turn * x[1]
    dx[1] = turn * x[0] + x[1]


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] * x[0] + x[1] * x[1] - 1.0


def guard_row(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    out[0] = 2.0 * x[0]
    out[1] = 2.0 * x[1]


def circle() -> System:
    """A spiral that turns round when it leaves the unit circle: a curved guard, with a solution in closed form.

    Start, end and final state are START, END and FINAL in this file.

    Returns
    -------
    System
        States x and y, guard "circle" (positive outside).

    Examples
    --------
    >>> import math
    >>> import bouligand as bd
    >>> bd.solve(bd.models.circle(), (0.0, 1.5), [math.exp(-1.0), 0.0], rtol=1e-9).events.t.round(6)
    array([1.])
    """
    return System(field, guard, states=("x", "y"), guards=("circle",), Dh_row=guard_row, name="circle")


@takes({}, t=NUMBERS)
def exact(t: ArrayLike) -> FloatArray:
    """States at the times t, shape (len(t), 2), from START."""
    t = np.atleast_1d(np.asarray(t, dtype=float))
    turn = 2.0 * math.pi * np.where(t <= 1.0, t, 1.0 - t)
    return np.exp(t - 1.0)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])


MODEL = Model(about="a spiral that reverses its rotation at a circle", make=circle, start=START, tf=END)
