"""Any number of second-order oscillators, each with a guard of its own: a thousand guards with an exact answer.

q_i'' = a - damping q_i' - delta sign(q_i)        guard i: h = q_i

         delta   |            They are not coupled, so that each is a scalar problem: on either side of its guard an
   -->   .---.   |   <--      exponential plus a straight line. With equal speeds their crossings can be made as
    a    | m |---|-->         close together as one likes, or simultaneous.
         '---'   |
               q = 0
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, COUNT, NOT_NEGATIVE, NUMBERS, POSITIVE, listed, takes
from .model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    m = b.size
    for i in range(m):
        dx[i] = x[m + i]
        dx[m + i] = p[0] - p[1] * x[m + i] - p[2] * b[i]


def free(t: float, x: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    m = x.size // 2
    for i in range(m):
        dx[i] = x[m + i]
        dx[m + i] = p[0] - p[1] * x[m + i] + p[2]


def contact(t: float, x: FloatArray, k: int, p: FloatArray, dx: FloatArray) -> None:
    dx[x.size // 2 + k] -= 2.0 * p[2]


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = x[i]


def guard_row(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = 0.0
    out[k] = 1.0


LIMITS = {"count": COUNT, "a": ANY, "damping": NOT_NEGATIVE, "delta": ANY}


@takes(LIMITS)
def oscillators(count: int = 1, a: float = 1.0, damping: float = 0.4, delta: float = 0.5) -> System:
    """Uncoupled oscillators, each with a guard of its own: many guards with a known solution.

    Each obeys ``q'' = a - damping q' - delta sign(q)``.

    Parameters
    ----------
    count : int
        Their number.
    a, damping, delta : float
        Drive, damping, and the force that changes its sign at q = 0.

    Returns
    -------
    System
        States q0, q1, ... (all positions), then v0, v1, ... (all velocities); a guard ``q = 0`` for each.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.oscillators(2), (0.0, 1.0), [-0.5, -0.4, 1.0, 1.0])
    >>> list(sol.events.name)
    ['q1 = 0', 'q0 = 0']
    """
    return System(
        field,
        guards,
        states=tuple(f"q{i}" for i in range(count)) + tuple(f"v{i}" for i in range(count)),
        guards=tuple(f"q{i} = 0" for i in range(count)),
        params={"a": a, "damping": damping, "delta": delta},
        f0=free,
        g=contact,
        Dh_row=guard_row,
        name=f"{count} oscillators",
    )


@takes(LIMITS, tf=NOT_NEGATIVE, q0=ANY, v0=ANY, damping=POSITIVE)
def exact(
    tf: float, q0: float, v0: float, a: float = 1.0, damping: float = 0.4, delta: float = 0.5
) -> tuple[float, float, FloatArray]:
    """Position, velocity and crossing times of one oscillator at tf; q0 must not be zero."""
    t, q, v, side = 0.0, float(q0), float(v0), math.copysign(1.0, q0)
    crossings: list[float] = []
    while True:
        push = a - delta * side
        s = _first_zero(q, v, push, damping, tf - t, bool(crossings))
        if s is None:
            return *_move(q, v, push, damping, tf - t), np.array(crossings)
        q, v = _move(q, v, push, damping, s)
        q, t, side = 0.0, t + s, -side
        crossings.append(t)
        listed(crossings)


@takes(LIMITS, t=NUMBERS, q0=ANY, v0=ANY, damping=POSITIVE)
def path(t: ArrayLike, q0: float, v0: float, a: float = 1.0, damping: float = 0.4, delta: float = 0.5) -> FloatArray:
    """Position and velocity of one oscillator at the increasing times t, shape (len(t), 2); q0 must not be zero."""
    t = np.atleast_1d(np.asarray(t, dtype=float))
    crossings = exact(float(t[-1]), q0, v0, a, damping, delta)[2]
    out = np.empty((t.size, 2))
    since, q, v, side = 0.0, float(q0), float(v0), math.copysign(1.0, q0)
    for until in [*crossings, math.inf]:
        push = a - delta * side
        for i in np.flatnonzero((t >= since) & (t < until)):
            out[i] = _move(q, v, push, damping, t[i] - since)
        if until < math.inf:
            v = _move(q, v, push, damping, until - since)[1]
            since, q, side = until, 0.0, -side
    return out


def _move(q: float, v: float, push: float, damping: float, s: float) -> tuple[float, float]:
    """q'' = push - damping q' for a time s."""
    rest = push / damping
    fade = -math.expm1(-damping * s) / damping
    return q + rest * s + (v - rest) * fade, rest + (v - rest) * math.exp(-damping * s)


def _first_zero(q: float, v: float, push: float, damping: float, span: float, on_guard: bool) -> float | None:
    """First time in (0, span] at which q is zero; q is monotone on either side of the one time where v is."""
    rest = push / damping
    ends = [0.0, span]
    if rest != 0.0 and (v - rest) / -rest > 0.0:
        turn = math.log((v - rest) / -rest) / damping
        if 0.0 < turn < span:
            ends = [0.0, turn, span]
    for low, high in pairwise(ends):
        first = 0.0 if on_guard and low == 0.0 else _move(q, v, push, damping, low)[0]
        last = _move(q, v, push, damping, high)[0]
        if (first == 0.0 and low == 0.0) or first * last > 0.0 or last == 0.0 == first:
            continue
        for _ in range(200):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            if first * _move(q, v, push, damping, middle)[0] > 0.0:
                low = middle
            else:
                high = middle
        return high
    return None


def _start(count: int) -> FloatArray:
    """Positions slightly apart and equal speeds: the oscillators cross shortly one after the other."""
    return np.concatenate([np.linspace(-0.5, -0.4, count), np.ones(count)])


MODEL = Model(about="oscillators with a relay each", make=oscillators, start=_start, tf=6.0, size=10)
