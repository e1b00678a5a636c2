"""Newton's method for the equations of a cycle: damped, and the shortest step where they leave something open.

A Jacobian takes several times as long as the residuals. Where one of a neighbouring cycle is known it is used, corrected after
each step by what that step has shown (Broyden's method), as long as the gap shrinks fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BouligandError, CycleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tqdm import tqdm

    from .. import _typing as ty
    from .problem import Problem, Shot

# singular values below this part of the largest are zero: families of cycles (energy that is kept) leave a direction open
OPEN = 1e-7
HALVINGS = 8
# Broyden's method is left where a step makes the gap smaller by less than this factor, and after so many steps
FAST, MOST = 0.3, 12


@dataclass
class Found:
    """Where the iteration ended."""

    u: ty.FloatArray
    shot: Shot
    converged: bool
    iterations: int
    message: str
    singular_values: ty.FloatArray


def solve_equations(
    problem: Problem,
    u: ty.FloatArray,
    tolerance: float,
    most: int,
    more: Callable[[ty.FloatArray], tuple[ty.FloatArray, ty.FloatArray]] | None = None,
    bar: tqdm | None = None,
    known: ty.FloatArray | None = None,
) -> Found:
    """Newton's method from u on. ``more``: further equations of u, values and rows (of a continuation). ``known``: the Jacobian
    of a cycle nearby, without these. The best u is kept."""
    if known is not None and more is not None:
        found = _without_jacobians(problem, u, tolerance, more, known)
        if isinstance(found, Found):
            return found
        u = found

    def equations(u: ty.FloatArray, step: ty.FloatArray | None) -> tuple[Shot, ty.FloatArray, ty.FloatArray]:
        shot = problem.evaluate(u, step)
        if more is None:
            return shot, shot.residual, shot.jacobian
        value, row = more(u)
        return shot, np.append(shot.residual, value), np.vstack([shot.jacobian, row])

    shot, r, J = equations(u, None)
    size, iterations, message = _size(r), 0, ""
    step: Any
    values: Any = np.linalg.svd(J, compute_uv=False)
    while iterations < most:
        if not np.isfinite(J).all():
            message = "the Jacobian is not finite"
            break
        step, _, _, values = np.linalg.lstsq(J, -r, rcond=OPEN)
        factor, better, why = _limit(problem, u, step), None, ""
        for _ in range(HALVINGS):
            try:
                trial = equations(u + factor * step, step)
            except BouligandError as error:
                why = f"; the last trial failed: {error}"
            else:
                if _size(trial[1]) < (1.0 - 0.1 * factor) * size:
                    better = trial
                    break
            factor *= 0.5
        iterations += 1
        if better is None:
            message = f"no step of Newton's method makes the gap smaller than {size:.2g}{why}"
            break
        u = u + factor * step
        shot, r, J = better
        before, size = size, _size(r)
        if bar is not None:
            bar.set_postfix_str(f"gap {size:.1e}")
            bar.update(1)
        # (while it still converges quadratically, it goes on: down to rounding errors, which no step makes smaller)
        if size <= tolerance and (size > 1e-3 * before or size <= 1e-4 * tolerance):
            break
    converged = size <= tolerance
    if not converged and not message:
        message = f"after {iterations} iterations the gap is still {size:.2g} (more: max_iterations)"
    return Found(u, shot, converged, iterations, "converged" if converged else message, values)


def _without_jacobians(
    problem: Problem,
    u: ty.FloatArray,
    tolerance: float,
    more: Callable[[ty.FloatArray], tuple[ty.FloatArray, ty.FloatArray]],
    known: ty.FloatArray,
) -> Found | ty.FloatArray:
    """Broyden's method, with one Jacobian at its end; if it is slow, the best u for Newton's method to go on from."""
    try:
        solutions, r = problem.shoot(u)
    except BouligandError:
        return u
    value, row = more(u)
    r, J = np.append(r, value), np.vstack([known, row])
    size = _size(r)
    step: Any = None
    values: Any = None
    steps = 0
    while steps < MOST:
        if size <= 1e-4 * tolerance or not np.isfinite(J).all():
            break
        step, _, _, values = np.linalg.lstsq(J, -r, rcond=OPEN)
        step = _limit(problem, u, step) * step
        try:
            tried, gap = problem.shoot(u + step)
        except BouligandError:
            return u
        gap = np.append(gap, more(u + step)[0])
        if not _size(gap) < FAST * size:
            break  # (at rounding errors, too)
        J = J + np.outer(gap - r - J @ step, step) / (step @ step)
        u, solutions, r, size = u + step, tried, gap, _size(gap)
        steps += 1
    if size > tolerance or step is None:
        return u
    shot = problem.linearise(u, solutions, r[:-1], step)
    return Found(u, shot, True, (steps + 1) // 2, "converged", values)  # (two of them are about one of Newton's)


def _size(r: ty.FloatArray) -> float:
    """The largest residual."""
    return float(np.abs(r).max())


def _limit(problem: Problem, u: ty.FloatArray, step: ty.FloatArray) -> float:
    """By which factor a step is shortened at first: the period changes by no more than 40 %."""
    if not problem.autonomous:
        return 1.0
    at = problem.segments * problem.system.n
    return float(min(1.0, 0.4 * abs(u[at]) / max(abs(step[at]), 1e-300)))


def refuse(found: Found, what: str) -> CycleError:
    """The error of an iteration that did not converge."""
    return CycleError(
        f"{what}: {found.message}. Try another guess, more segments (for unstable cycles), or a longer `settle`"
    )
