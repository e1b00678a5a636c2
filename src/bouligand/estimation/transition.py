"""How a Gaussian goes through a stretch of a trajectory: by the B-derivative, its linear pieces, or the flow itself.

- Where B is a matrix, the covariance is B P B^T (saltation at events, jumps of the state included).
- Where it has several pieces (guards crossed together), points go through the piecewise linear map: no further integrations.
- Where the Gaussian lies on both sides of a guard at the start or the end, so that an event may have happened or not, a
  derivative around the mean knows one side only: points are integrated (`solve_many`). Those that met the same events
  are one part of the outcome, a Gaussian of its own, until the next measurement says which of them it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ensembles.solve_many import solve_many
from ..errors import BouligandError, EstimationError
from ..integration.solve import solve
from .gaussian import Part, points, root

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..derivative.bderivative import BDerivative
    from ..ensembles.ensemble import Ensemble
    from ..solution.solution import Solution
    from ..system.system import System

DOUBT = 3.0  # standard deviations within which a guard is in doubt


@dataclass
class Layout:
    """What is estimated: all states, some parameters (as states that do not move), and parameters that are uncertain anew in each
    interval."""

    system: System
    p: ty.FloatArray
    estimated: list[int]
    uncertain: list[int]
    uncertain_std: ty.FloatArray

    @property
    def size(self) -> int:
        """Of the estimated vector z = (x, parameters)."""
        return self.system.n + len(self.estimated)

    def split(self, z: ty.FloatArray) -> tuple[ty.FloatArray, ty.FloatArray]:
        """State and parameters of one z, or of rows of them."""
        n = self.system.n
        p = np.broadcast_to(self.p, (*z.shape[:-1], len(self.p))).copy()
        p[..., self.estimated] = z[..., n : self.size]
        if z.shape[-1] > self.size:
            p[..., self.uncertain] += z[..., self.size :]
        return z[..., :n].copy(), p


@dataclass
class Step:
    """A Gaussian one interval later: mean, covariance, covariance with the start, and how it was computed."""

    z: ty.FloatArray
    P: ty.FloatArray
    cross: ty.FloatArray  # (start, end)
    A: ty.FloatArray  # the matrix, or the best linear approximation
    how: str  # "matrix", "pieces" or "flow"
    solution: Solution | None
    parts: list[Part] = field(default_factory=list)  # points that met different events, as a Gaussian each


def propagate(
    layout: Layout,
    z: ty.FloatArray,
    P: ty.FloatArray,
    t: float,
    until: float,
    method: str,
    samples: int,
    options: dict[str, Any],
) -> Step:
    """The Gaussian (z, P) at a later time. ``method``: "auto", "matrix" (one piece, whatever happens), "pieces" or "flow"."""
    try:
        x, p = layout.split(z)
        solution = solve(layout.system, (t, until), x, p, **options)
        B: BDerivative[Any] = solution.bderivative(params=bool(layout.estimated or layout.uncertain))
    except BouligandError as error:
        if method in ("matrix", "pieces"):
            raise EstimationError(
                f"the estimate could not be propagated from t = {t:g} to {until:g}: {error}"
            ) from error
        return _flow(layout, z, P, t, until, samples, options, None, error)
    if method == "auto":
        method = "matrix"
        if B.corners and B.is_linear is not True:
            method = "pieces"
        if _doubtful(layout, z, P, t) or (
            layout.system.m and _doubtful(layout, *_linear(layout, B, z, P, solution)[:2], until)
        ):
            method = "flow"
    if method == "flow":
        return _flow(layout, z, P, t, until, samples, options, solution, None)
    if method == "pieces":
        return _pieces(layout, B, z, P, solution, samples)
    z_end, P_end, cross, A = _linear(layout, B, z, P, solution)
    return Step(z_end, P_end, cross, A, "matrix", solution)


def matrix_of(layout: Layout, B: BDerivative[Any]) -> tuple[ty.FloatArray, ty.FloatArray]:
    """The matrix of z (one piece of it), and the columns of parameters that are uncertain."""
    n, size = layout.system.n, layout.size
    dx = np.ones(n) if B.corners and B.is_linear is not True else None
    A, G = np.eye(size), np.zeros((size, len(layout.uncertain)))
    A[:n, :n] = B.matrix(dx)
    if layout.estimated or layout.uncertain:
        by_parameter = B.matrix(dx, wrt="p")
        A[:n, n:] = by_parameter[:, layout.estimated]
        G[:n] = by_parameter[:, layout.uncertain]
    return A, G


def _linear(
    layout: Layout, B: BDerivative[Any], z: ty.FloatArray, P: ty.FloatArray, solution: Solution
) -> tuple[ty.FloatArray, ty.FloatArray, ty.FloatArray, ty.FloatArray]:
    """By one matrix."""
    A, G = matrix_of(layout, B)
    noise = G * layout.uncertain_std
    end = z.copy()
    end[: layout.system.n] = solution.record.states[-1]
    return end, A @ P @ A.T + noise @ noise.T, P @ A.T, A


def _around(layout: Layout, P: ty.FloatArray, samples: int) -> ty.FloatArray:
    """Deviations of z and of uncertain parameters, rows of points."""
    unit = points(layout.size + len(layout.uncertain), samples)
    return np.hstack([unit[:, : layout.size] @ root(P).T, unit[:, layout.size :] * layout.uncertain_std])


def _moments(
    layout: Layout, P: ty.FloatArray, start: ty.FloatArray, end: ty.FloatArray, how: str, solution: Any
) -> Step:
    """Mean and covariances of points."""
    mean = end.mean(axis=0)
    away, before = end - mean, start[:, : layout.size] - start[:, : layout.size].mean(axis=0)
    cross = before.T @ away / len(end)
    A = np.linalg.lstsq(P, cross, rcond=1e-12)[0].T
    return Step(mean, away.T @ away / len(end), cross, A, how, solution)


def _pieces(
    layout: Layout, B: BDerivative[Any], z: ty.FloatArray, P: ty.FloatArray, solution: Solution, samples: int
) -> Step:
    """Points through the piecewise linear map."""
    n, size = layout.system.n, layout.size
    dz = _around(layout, P, samples)
    dp = None
    if layout.estimated or layout.uncertain:
        dp = np.zeros((len(dz), len(layout.p)))
        dp[:, layout.estimated] = dz[:, n:size]
        dp[:, layout.uncertain] += dz[:, size:]
    end = z + dz[:, :size]
    end[:, :n] = solution.record.states[-1] + B(dz[:, :n], dp)
    return _moments(layout, P, dz, end, "pieces", solution)


def _flow(
    layout: Layout,
    z: ty.FloatArray,
    P: ty.FloatArray,
    t: float,
    until: float,
    samples: int,
    options: dict[str, Any],
    solution: Solution | None,
    error: BouligandError | None,
) -> Step:
    """Points, integrated. Those that fail are left out."""
    dz = _around(layout, P, samples)
    full = np.concatenate([z, np.zeros(len(layout.uncertain))]) + dz
    x, p = layout.split(full)
    possible = _possible(layout.system, t, x, p)
    dz, full, x, p = dz[possible], full[possible], x[possible], p[possible]
    allowed = {
        key: value
        for key, value in options.items()
        if key in ("rtol", "atol", "method", "max_step", "max_steps", "on_graze")
    }
    ens = solve_many(
        layout.system, (t, until), x, p if p.shape[1] else None, keep=("x", "events"), threads=1, **allowed
    )
    done = np.asarray(ens.success)
    if done.sum() < max(len(done) // 2, layout.size + 1):
        why = error or (f"{len(ens.failed)} of {len(ens)} points failed, the first one: {ens.message[ens.failed[0]]}")
        raise EstimationError(f"the estimate could not be propagated from t = {t:g} to {until:g}: {why}")
    end = full[done, : layout.size].copy()
    end[:, : layout.system.n] = ens.x[done]
    step = _moments(layout, P, dz[done], end, "flow", solution)
    step.parts = _parts(ens, done, end)
    return step


def _possible(system: System, t: float, x: ty.FloatArray, p: ty.FloatArray) -> ty.BoolArray:
    """Which points can be where they are: not those that are behind a one-sided guard with a jump, on the way farther, since they
    would have jumped. (If hardly any can, all are kept.)"""
    hard = np.flatnonzero(system.jumps.has & (system.direction != 0)) if system.jumps else np.empty(0, dtype=int)
    out = np.ones(len(x), dtype=bool)
    if not hard.size:
        return out
    f, h, side = system.function("f"), system.function("h"), system.direction[hard]
    for row, (point, parameters) in enumerate(zip(x, p, strict=True)):
        values = np.array(h(t, point, parameters), dtype=float)
        behind = values[hard] * side > 0.0
        if behind.any():
            rate = np.asarray(f(t, point, np.where(values > 0.0, 1.0, -1.0), parameters))
            short = 1e-7 * (1.0 + np.abs(point).max()) / (1.0 + np.abs(rate).max())
            ahead = np.array(h(t, point + short * rate, parameters), dtype=float)
            out[row] = not (behind & ((ahead - values)[hard] * side > 0.0)).any()
    return out if out.sum() > max(4, len(out) // 20) else np.ones(len(x), dtype=bool)


def _parts(ens: Ensemble, done: ty.BoolArray, end: ty.FloatArray) -> list[Part]:
    """The points by the events that they met, a Gaussian for each group. Groups of a few points are left to the largest one."""
    offsets, guards = ens.events.offsets, ens.events.guard
    met = [tuple(sorted(guards[offsets[i] : offsets[i + 1]])) for i in np.flatnonzero(done)]
    groups: dict[tuple[int, ...], list[int]] = {}
    for row, events in enumerate(met):
        groups.setdefault(events, []).append(row)
    ordered = sorted(groups.values(), key=len, reverse=True)
    few = max(end.shape[1] + 2, len(end) // 50)
    large = [rows for rows in ordered if len(rows) >= few]
    if len(large) < 2:
        return []
    large[0] = large[0] + [row for rows in ordered if len(rows) < few for row in rows]
    out = []
    for rows in large:
        part = end[rows]
        away = part - part.mean(axis=0)
        out.append(Part(len(rows) / len(end), part.mean(axis=0), away.T @ away / len(rows)))
    return out


def guard_moments(
    layout: Layout, z: ty.FloatArray, P: ty.FloatArray, t: float, k: int
) -> tuple[float, ty.FloatArray, float]:
    """Guard k at z, its covariance with z, and its variance; by differences over one standard deviation."""
    h = layout.system.function("h")

    def guard(z: ty.FloatArray) -> float:
        x, p = layout.split(z)
        return float(h(t, x, p)[k])

    L = root(P)
    slopes = np.array([0.5 * (guard(z + column) - guard(z - column)) for column in L.T])
    return guard(z), L @ slopes, float(slopes @ slopes)


def _doubtful(layout: Layout, z: ty.FloatArray, P: ty.FloatArray, t: float) -> bool:
    """Whether the Gaussian lies on both sides of a guard that matters."""
    system = layout.system
    if not system.m:
        return False
    h = system.function("h")
    x, p = layout.split(z)
    middle = np.abs(np.asarray(h(t, x, p), dtype=float))
    spread = np.zeros(system.m)
    for column in root(P).T:
        if column.any():
            a, b = layout.split(np.array([z + column, z - column]))
            spread += (0.5 * (np.asarray(h(t, a[0], b[0])) - np.asarray(h(t, a[1], b[1])))) ** 2
    return bool((middle < DOUBT * np.sqrt(spread))[~system.observers].any())
