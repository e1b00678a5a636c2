"""Piecewise-affine problems in closed form: from guard to guard by matrix exponentials. Nothing of the library is used.

In each mode z = (x, t, 1) obeys z' = M z. On cells so short that the series of exp(M s) is exact to round-off, each guard is a
polynomial in s: its first root is bracketed between the extrema and bisected. The derivative is the product of the exponentials
and of the saltation matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.optimize import bisect

ORDER = 20  # of the series, for cells of |M| s = 1/2: 0.5^21 / 21! is 1e-26
GRID = np.linspace(0.0, 1.0, 9)
POWERS = GRID[:, None] ** np.arange(ORDER + 1)
ROUND = 2e-14


@dataclass
class Crossing:
    t: float
    guard: int
    sign: int
    speed: float  # |hdot| over |N|, the slower of before and after; infinite where h itself jumps


@dataclass
class Outcome:
    """Where a trajectory ends, and by how much it would have to be displaced for anything else to happen."""

    status: str = "finished"  # or "terminated", "slides", "ambiguous", "many"
    t: float = 0.0
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    word: np.ndarray = field(default_factory=lambda: np.zeros(0))
    crossings: list[Crossing] = field(default_factory=list)
    factors: list[np.ndarray] = field(default_factory=list)  # of the derivative, in the order of time
    largest: float = 0.0  # |x| on the way
    margin: float = np.inf  # a displacement that would change the sequence of events
    on_guards: bool = False  # whether it starts on a guard, to round-off
    beside_guards: bool = False  # and not exactly on it
    flow: np.ndarray = field(default_factory=lambda: np.zeros(0))  # z' at the end, before a terminal crossing
    row: np.ndarray | None = None  # Dh of the terminal guard

    @cached_property
    def growth(self):
        """By how much a displacement on the way has grown at most, anywhere later."""
        count, worst = len(self.factors), 1.0
        step = max(1, count // 30)
        merged = [_product(self.factors[q : q + step]) for q in range(0, count, step)]
        n = len(self.x)
        for first in range(len(merged)):
            total = np.eye(n + 2)
            for factor in merged[first:]:
                total = factor @ total
                worst = max(worst, np.abs(total[:n, :n]).sum(axis=1).max())
        return worst

    @cached_property
    def derivative(self):
        """Of the end (at a terminal crossing: of the state there) with respect to the start."""
        n = len(self.x)
        total = _product(self.factors, n + 2)
        if self.row is not None:
            total = total - np.outer(self.flow, self.row @ total) / (self.row @ self.flow)
        return total[:n, :n]


def _product(factors, size=None):
    total = np.eye(len(factors[0]) if factors else size)
    for factor in factors:
        total = factor @ total
    return total


def generator(leg, word):
    """M in this mode, for z = (x, t, 1)."""
    n = leg.N.shape[1]
    on = word > 0
    both = on & np.roll(on, -1)
    M = np.zeros((n + 2, n + 2))
    M[:n, :n] = leg.A[0] + leg.A[1:][on].sum(axis=0)
    M[:n, n] = leg.d
    M[:n, n + 1] = leg.c[0] + leg.c[1:][on].sum(axis=0) + leg.e[both].sum(axis=0)
    M[n, n + 1] = 1.0
    return M


def rows(leg):
    """h = rows @ z."""
    return np.concatenate([leg.N, -leg.speed[:, None], -leg.level[:, None]], axis=1)


def start_words(leg, z, H):
    """The words that are consistent with the flow at the start: guards that are zero there go where the word says."""
    h = H @ z
    open_guards = np.flatnonzero(h == 0.0)
    found, narrowest = [], np.inf
    for code in range(2 ** len(open_guards)):
        word = np.where(h > 0, 1, -1)
        word[open_guards] = [1 if code >> q & 1 else -1 for q in range(len(open_guards))]
        rates = (H @ (generator(leg, word) @ z))[open_guards]
        narrowest = min(narrowest, np.abs(rates).min(initial=np.inf))
        if (rates * word[open_guards] > 0).all():
            found.append(word)
    return found, narrowest


class _Run:
    def __init__(self, problem, x0):
        self.problem, self.out = problem, Outcome()
        self.z = np.concatenate([x0, [problem.span[0], 1.0]])
        self.size = 1.0

    def go(self, most):
        problem, out = self.problem, self.out
        ends = [*problem.breaks, problem.span[1]]
        for leg, end in zip(problem.legs, ends, strict=True):
            if self.z[-2] >= problem.span[1]:
                break
            H = rows(leg)
            self.sizes = np.linalg.norm(leg.N, axis=1)
            self.enter(leg, H)
            if out.status != "finished":
                break
            self.leg(leg, H, min(end, problem.span[1]), most)
            if out.status != "finished":
                break
        out.x, out.t = self.z[: problem.n].copy(), self.z[-2]
        return out

    def enter(self, leg, H):
        """The word at the start; at a breakpoint, the guards whose h has jumped across zero."""
        problem, out = self.problem, self.out
        h = H @ self.z
        if len(out.word) == 0:
            near = np.abs(h) <= ROUND * (np.abs(H) @ np.abs(self.z) + self.sizes)
            out.on_guards, out.beside_guards = bool(near.any()), bool((near & (h != 0.0)).any())
            if problem.b0 is not None:
                out.word = np.array(problem.b0)
            else:
                found, narrowest = start_words(leg, self.z, H)
                if narrowest < 1e-6:
                    out.margin = 0.0
                if len(found) != 1:
                    out.status = "ambiguous"
                    return
                out.word = found[0]
            return
        out.margin = min(out.margin, (np.abs(h) / self.sizes).min())
        for k in np.flatnonzero(out.word * h < 0.0):
            self.cross(k, np.inf)
            if self.is_terminal(k):
                out.status = "terminated"

    def cross(self, k, speed):
        out = self.out
        out.word[k] = -out.word[k]
        out.crossings.append(Crossing(float(self.z[-2]), int(k), int(out.word[k]), speed))

    def leg(self, leg, H, end, most):
        out, problem = self.out, self.problem
        n = problem.n
        crossed_at: dict[int, float] = {}
        while self.z[-2] < end:
            M = generator(leg, out.word)
            norm = max(np.abs(M[:n]).sum(axis=1).max() if n else 1.0, np.abs(M[:n, :n]).sum(axis=0).max(), 1.0)
            cell = 0.5 / norm
            full = _exponential(M, cell)
            while True:
                length = min(cell, end - self.z[-2])
                series = [self.z]
                for q in range(ORDER):
                    series.append(M @ series[-1] * (length / (q + 1)))
                Z = np.array(series)  # (order, n + 2): z at s length is the sum of s^q Z[q]
                out.largest = max(out.largest, np.abs(self.z[:n]).max())
                self.scales = np.abs(H) @ np.abs(self.z)
                just = [k for k, t in crossed_at.items() if self.z[-2] - t < 1e-12 * max(1.0, abs(t))]
                found = self.first(H @ Z.T, just)
                if found is not None or length < cell:
                    break
                self.z = full @ self.z
                out.factors.append(full)
            if found is None:
                self.advance(M, length, end)
                if end == problem.span[1] and not problem.at_corner(end):
                    self.note_margins(-1, H, out.flow, end)
                break
            k, s = found
            self.z = (s ** np.arange(ORDER + 1)) @ Z
            out.factors.append(_exponential(M, s * length))
            before = M @ self.z
            rate = H[k] @ before
            if k in crossed_at and self.z[-2] - crossed_at[k] < 1e-12 * max(1.0, abs(self.z[-2])):
                out.status = "slides"
                return
            crossed_at[k] = self.z[-2]
            word = out.word.copy()
            word[k] = -word[k]
            after = generator(leg, word) @ self.z
            later = H[k] @ after
            speed = min(abs(rate), abs(later)) / self.sizes[k]
            if not problem.at_corner(self.z[-2]):
                self.note_margins(k, H, before, end)
            self.cross(k, speed)
            if self.is_terminal(k):
                out.status, out.flow, out.row = "terminated", before, H[k]
                return
            if later * rate <= 0.0 and k not in problem.observers:
                out.status = "slides"
                return
            if len(out.crossings) > most:
                out.status = "many"
                return
            out.factors.append(np.eye(n + 2) + np.outer(after - before, H[k]) / rate)

    def note_margins(self, k, H, flow, end):
        """At the crossing of k (-1: the end): how far the end is, and the guards that are being approached (they may recede from
        now on)."""
        rates = H @ flow / self.sizes
        distances = np.abs(H @ self.z) / self.sizes
        for j in np.flatnonzero(self.out.word * rates < 0.0):
            if j != k and j not in self.problem.observers:
                self.out.margin = min(self.out.margin, distances[j])
        if k >= 0:
            self.out.margin = min(self.out.margin, abs(end - self.z[-2]) * abs(rates[k]))

    def counts(self, crossing):
        """Whether a crossing is an event: in this direction."""
        direction = self.problem.direction
        return direction is None or direction[crossing.guard] in (0, crossing.sign)

    def is_terminal(self, k):
        """Whether the last crossing, of guard k, ends the trajectory."""
        crossings = self.out.crossings
        count = sum(c.guard == k and self.counts(c) for c in crossings)
        return self.counts(crossings[-1]) and self.problem.terminal.get(k) == count

    def advance(self, M, length, end):
        step = _exponential(M, length)
        self.z = step @ self.z
        self.z[-2] = end
        self.out.flow = M @ self.z
        self.out.factors.append(step)

    def first(self, C, just):
        """The guard that is crossed first in this cell, and where (0 to 1); None if none is. C: the guards' coefficients;
        ``just``: those that were crossed where it begins."""
        out = self.out
        b = out.word[:, None]
        C = b * C
        values = C @ POWERS.T
        slopes = (C[:, 1:] * np.arange(1, ORDER + 1)) @ POWERS[:, :-1].T
        noise = ROUND * self.scales
        near = np.abs(values[:, 0]) <= noise  # zero, to round-off: just crossed, or to be crossed now
        near[just] = True
        leaves = near & (slopes[:, 0] > 0.0)
        values[leaves, 0] = np.maximum(values[leaves, 0], 1e-300)
        values[near & ~leaves, 0] = -1.0
        values[leaves[:, None] & (np.abs(values) <= noise[:, None])] = 1e-300
        best = None
        for k in range(len(C)):
            last = 1.0 if best is None else best[1]
            row = values[k]
            if row[0] < 0.0:
                return k, 0.0
            if row.min() > 0.0 and not ((slopes[k, :-1] < 0) & (slopes[k, 1:] > 0)).any():
                continue
            for j in range(len(GRID) - 1):
                if GRID[j] >= last:
                    break
                low, high = GRID[j], GRID[j + 1]
                if row[j + 1] >= 0.0 and slopes[k, j] < 0.0 < slopes[k, j + 1]:
                    lowest = _root(-C[k, 1:] * np.arange(1, ORDER + 1), low, high)
                    depth = _value(C[k], lowest)
                    if lowest < last:
                        out.margin = min(out.margin, abs(depth) / self.sizes[k])
                    if depth >= 0.0:
                        continue
                    high = lowest
                elif row[j + 1] >= 0.0:
                    continue
                if j == 0 and near[k]:  # it has just been crossed: away from it first
                    low = next((s for s in (1e-3, 1e-5, 1e-7, 1e-9) if s < high and _value(C[k], s) > 0.0), None)
                    if low is None:
                        continue
                root = _root(C[k], low, high)
                if root < last:
                    best = (k, root)
                break
        return best


def _value(coefficients, s):
    total = 0.0
    for c in coefficients[::-1]:
        total = total * s + c
    return total


def _root(coefficients, low, high):
    """Where a polynomial that is positive at low and negative at high changes its sign, to round-off."""
    if _value(coefficients, low) <= 0.0:
        return low
    if _value(coefficients, high) >= 0.0:
        return high
    return bisect(lambda s: _value(coefficients, s), low, high, xtol=1e-17, rtol=8.9e-16)


def _exponential(M, length):
    """exp(M length), |M length| at most 1/2."""
    step = M * length
    term = total = np.eye(len(M))
    for q in range(1, ORDER + 1):
        term = term @ step / q
        total = total + term
    return total


def follow(problem, x0=None, most=300):
    """The trajectory in closed form, through at most so many crossings."""
    out = _Run(problem, problem.x0 if x0 is None else x0).go(most)
    _ties(out, problem)
    return out


def _ties(out, problem):
    """Crossings of two guards at nearly the same time: by how much they are apart, as a displacement."""
    for one, two in zip(out.crossings, out.crossings[1:], strict=False):
        if problem.at_corner(one.t) and problem.at_corner(two.t):
            continue
        if one.guard != two.guard and np.isfinite(one.speed) and np.isfinite(two.speed):
            out.margin = min(out.margin, (two.t - one.t) * min(one.speed, two.speed))
        elif one.guard == two.guard and np.isfinite(one.speed + two.speed):
            out.margin = min(out.margin, (two.t - one.t) * min(one.speed, two.speed) / 4.0)  # its depth in between
