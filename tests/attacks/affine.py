"""Piecewise-affine problems, and the same as systems of the library. One field serves all sizes: every number is in p."""

from __future__ import annotations

from dataclasses import dataclass, field

import numba
import numpy as np

import bouligand as bd

MOST_LEGS = 4
_HEAD = MOST_LEGS  # m, then the breakpoints


@dataclass
class Leg:
    """x' and h between two breakpoints.

    x' = A0 x + c0 + d t, plus A_k x + c_k where guard k is on, plus e_k where guards k and k + 1 are on.
    h = N x - level - speed t.
    """

    A: np.ndarray  # (1 + m, n, n): A0, A1, ...
    c: np.ndarray  # (1 + m, n)
    d: np.ndarray  # (n,)
    e: np.ndarray  # (m, n)
    N: np.ndarray  # (m, n)
    level: np.ndarray  # (m,)
    speed: np.ndarray  # (m,)

    def parameters(self):
        m = len(self.level)
        contacts = [self.A[1:].reshape(m, -1), self.c[1:], self.e, self.N, self.level[:, None], self.speed[:, None]]
        return np.concatenate([self.A[0].ravel(), self.c[0], self.d, np.concatenate(contacts, axis=1).ravel()])


@dataclass
class Problem:
    """What is integrated, and how."""

    legs: list[Leg]
    breaks: list[float]
    span: tuple[float, float]
    x0: np.ndarray
    b0: np.ndarray | None = None
    direction: np.ndarray | None = None
    observers: tuple[int, ...] = ()
    terminal: dict[int, int] = field(default_factory=dict)
    form: str = "f"  # or "sum" (f0 and g), or "both"
    options: dict = field(default_factory=dict)  # rtol, atol, method
    corner: float | None = None  # when several guards are reached together, on purpose

    def at_corner(self, t):
        return self.corner is not None and abs(t - self.corner) < 1e-9

    @property
    def n(self):
        return len(self.x0)

    @property
    def m(self):
        return len(self.legs[0].level)

    def parameters(self):
        breaks = [*self.breaks, *[1e300] * (MOST_LEGS - 1 - len(self.breaks))]
        return np.concatenate([[self.m], breaks, *(leg.parameters() for leg in self.legs)])

    def system(self):
        functions = {"h": guards} | ({"f": whole} if self.form != "sum" else {})
        if self.form != "f":
            functions |= {"f0": free, "g": contact}
        return bd.System(
            **functions,
            n=self.n,
            m=self.m,
            params=self.parameters(),
            direction=0 if self.direction is None else self.direction,
            observers=self.observers,
            breakpoints=self.breaks,
        )

    def solve(self, **options):
        given = {"terminal": self.terminal or None, "b0": self.b0, "max_steps": 20_000} | self.options | options
        return bd.solve(self.system(), self.span, self.x0, **given)


# ------------------------------------------------------------------------------------------- the library's functions


@numba.njit
def leg_at(t, n, p):
    """Where the numbers of the leg at time t begin in p."""
    at = _HEAD
    for q in range(MOST_LEGS - 1):
        if t >= p[1 + q]:
            at += n * n + 2 * n + int(p[0]) * (n * n + 3 * n + 2)
    return at


@numba.njit
def guard_at(t, n, k, p):
    """Where those of guard k begin."""
    return leg_at(t, n, p) + n * n + 2 * n + k * (n * n + 3 * n + 2)


@numba.njit
def add_affine(matrix, vector, x, p, dx):
    n = x.size
    for i in range(n):
        value = p[vector + i]
        for j in range(n):
            value += p[matrix + n * i + j] * x[j]
        dx[i] += value


def free(t, x, p, dx):
    n = x.size
    at = leg_at(t, n, p)
    for i in range(n):
        dx[i] = p[at + n * n + n + i] * t
    add_affine(at, at + n * n, x, p, dx)


def contact(t, x, k, p, dx):
    n = x.size
    at = guard_at(t, n, k, p)
    add_affine(at, at + n * n, x, p, dx)


def whole(t, x, b, p, dx):
    n, m = x.size, b.size
    at = leg_at(t, n, p)
    for i in range(n):
        dx[i] = p[at + n * n + n + i] * t
    add_affine(at, at + n * n, x, p, dx)
    for k in range(m):
        if b[k] > 0.0:
            at = guard_at(t, n, k, p)
            add_affine(at, at + n * n, x, p, dx)
            if b[(k + 1) % m] > 0.0:
                for i in range(n):
                    dx[i] += p[at + n * n + n + i]


def guards(t, x, p, out):
    n = x.size
    for k in range(out.size):
        at = guard_at(t, n, k, p) + n * n + 2 * n
        value = -p[at + n] - p[at + n + 1] * t
        for i in range(n):
            value += p[at + i] * x[i]
        out[k] = value
