"""Least squares by Gauss and Newton's steps, with as few Jacobians as will do.

A Jacobian costs as much as two or three integrations. Behind a step on which the residuals were nearly linear, the change of the
residuals corrects the last Jacobian in the direction of the step (Broyden), and the next step needs no other. An exact one is
computed where they were not, where a corrected one led uphill, and as soon as the step that it gives will probably be the last
one: a fit has converged only if its Jacobian is exact, up to what a last, small step has changed, since the covariance
follows from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray

# of the predicted change of the residuals, so much may be missing for the last Jacobian to serve again
_NEARLY_LINEAR = 0.1
_NEGLIGIBLE = 1e-3  # a step, in standard errors of the estimate
_AS_GOOD = 0.01  # as exact: a relative change of the Jacobian; it moves the estimate by about so many standard errors
_SMALLEST = 1e-10  # a step, relative to the unknowns


@dataclass
class Minimum:
    """What was found: the unknowns, residuals and Jacobian there, which unknowns are at a bound, and why it ended."""

    x: FloatArray
    fun: FloatArray
    jac: FloatArray
    active_mask: IntArray
    success: bool
    message: str


def minimise(
    residuals: Callable[[FloatArray], FloatArray],
    jacobian: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    first: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    scale: FloatArray | None,
    unit: float,
    noise: float,
    most: int,
) -> Minimum:
    """Minimise half the sum of the squared residuals within bounds.

    ``first`` are the residuals at the start; ``scale`` the sizes of the unknowns (None: those that change the residuals by one);
    ``unit`` the standard deviation of a residual if that is known, else infinite; ``noise`` its relative error from the
    integration; ``most`` the number of evaluations. Residuals that are not finite are avoided.
    """
    low, high = bounds
    x, r, J = start, first, jacobian(start)
    if scale is None:
        size = np.linalg.norm(J, axis=0)
        scale = 1.0 / np.where(size > 0.0, size, 1.0)
    radius = float(np.linalg.norm(x / scale)) or 1.0
    cost, evaluations, freedom = 0.5 * float(r @ r), 1, max(len(r) - len(x), 1)
    drift, bend = 0.0, np.inf  # of the Jacobian since it was exact; of the residuals, relative, per standard error
    while True:
        step, limited = _step(J, r, x, bounds, scale, radius)
        change = J @ step
        predicted = -float(change @ (r + 0.5 * change))
        length = float(np.linalg.norm(step / scale))
        variance = max(min(unit**2, 2.0 * cost / freedom), 1e-300)
        errors = np.sqrt(max(2.0 * predicted, 0.0) / variance)  # the step, in standard errors
        negligible = errors <= _NEGLIGIBLE and not limited
        ends = negligible or length <= _SMALLEST * float(np.linalg.norm(x / scale))
        if ends and drift <= _AS_GOOD:
            return _minimum(x, r, J, bounds, True, "the next step would be below a thousandth of the standard errors")
        last = not limited and bend * errors * max(errors, 1.0) <= _AS_GOOD
        if drift > _AS_GOOD and (ends or last):
            J, drift = jacobian(x), 0.0
            continue
        if evaluations >= most:
            return _minimum(x, r, jacobian(x) if drift else J, bounds, False, f"{most} evaluations were not enough")
        there = np.clip(x + step, low, high)
        behind, evaluations = residuals(there), evaluations + 1
        reduction = cost - 0.5 * float(behind @ behind) if np.isfinite(behind).all() else -np.inf
        if not reduction > 0.0:
            if drift:
                J, drift = jacobian(x), 0.0
            elif predicted <= noise * cost:
                return _minimum(x, r, J, bounds, True, "the accuracy of the integration hides what a step would gain")
            else:
                radius = 0.25 * length
            continue
        if reduction < 0.25 * predicted:
            radius = 0.25 * length
        elif reduction > 0.75 * predicted and limited:
            radius *= 2.0
        missing = behind - r - change
        x, r, cost = there, behind, cost - reduction
        bent = float(np.linalg.norm(missing)) / max(float(np.linalg.norm(change)), 1e-300)
        bend = bent / errors
        if bent <= _NEARLY_LINEAR:
            along, drift = step / scale**2, drift + bent
            J = J + np.outer(missing, along / float(along @ step))
        else:
            J, drift = jacobian(x), 0.0


def _minimum(
    x: FloatArray, r: FloatArray, J: FloatArray, bounds: tuple[FloatArray, FloatArray], success: bool, why: str
) -> Minimum:
    """The result, with the bounds that hold: -1 for a lower one, 1 for an upper one."""
    return Minimum(x, r, J, (x >= bounds[1]).astype(int) - (x <= bounds[0]), success, why)


def _step(
    J: FloatArray, r: FloatArray, x: FloatArray, bounds: tuple[FloatArray, FloatArray], scale: FloatArray, radius: float
) -> tuple[FloatArray, bool]:
    """The step that minimises the linear model of the residuals within the bounds and, in units of ``scale``, the radius; and
    whether the radius limits it."""
    low, high = bounds[0] - x, bounds[1] - x
    downhill = -(r @ J)
    step, free, limited = np.zeros(len(x)), ~((low >= 0.0) & (downhill < 0.0) | (high <= 0.0) & (downhill > 0.0)), False
    while free.any():
        U, values, rows = np.linalg.svd(J[:, free] * scale[free], full_matrices=False)
        inner, limited = _within(values, (r + J[:, ~free] @ step[~free]) @ U, radius)
        step[free] = scale[free] * (inner @ rows)
        beyond = free & ((step < low) | (step > high))
        if not beyond.any():
            break
        # unknowns that meet a bound stay there; the others take this into account
        step[beyond] = np.clip(step[beyond], low[beyond], high[beyond])
        free &= ~beyond
    return step, limited


def _within(values: FloatArray, r: FloatArray, radius: float) -> tuple[FloatArray, bool]:
    """The step against the residuals r along the singular vectors with these values, no longer than the radius: the damping for
    which it has that length, by Newton's method for the reciprocal length (Hebden, More)."""
    seen = values > 1e-13 * max(float(values.max(initial=0.0)), 1e-300)
    step = np.where(seen, -r / np.where(seen, values, 1.0), 0.0)
    length, damping = float(np.linalg.norm(step)), 0.0
    if length <= radius:
        return step, False
    for _ in range(20):
        shifted = values**2 + damping
        damping += (
            (length / radius - 1.0)
            * length**2
            / max(float(step @ np.divide(step, shifted, out=np.zeros_like(step), where=seen)), 1e-300)
        )
        step = np.where(seen, -values * r / (values**2 + damping), 0.0)
        length = float(np.linalg.norm(step))
        if abs(length - radius) <= 0.1 * radius:
            break
    return step, True
