"""What a filter is told: measured values as functions of the estimate, parameters by name, and what a measurement did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import number, numbers

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..system.system import System


@dataclass
class Update:
    """What a measurement did.

    Attributes
    ----------
    innovation : array
        Measured minus predicted values.
    S : array
        Its covariance.
    nis : float
        Its squared length in units of S (normalised innovation squared): on average the number of values.
    accepted : bool
        False if the gate has rejected it.
    log_likelihood : float
    """

    innovation: ty.FloatArray
    S: ty.FloatArray
    nis: float
    accepted: bool
    log_likelihood: float


def observed(
    names: tuple[str, ...], n: int, observe: Any, count: int, z: ty.FloatArray
) -> tuple[ty.FloatArray, ty.FloatArray, tuple[str, ...]]:
    """Values that are predicted at z, their Jacobian in z, and names of the values. ``names``: of z, whose first n are states."""
    size = len(names)
    if callable(observe):
        try:
            value, slope = observe(z.copy())
        except (TypeError, ValueError) as error:
            raise ValueError(f"observe must return values and their Jacobian; {error}") from error
        value, slope = (
            np.atleast_1d(numbers("observe: the values", value)),
            np.atleast_2d(numbers("observe: the Jacobian", slope)),
        )
        if value.shape != (count,) or slope.shape not in ((count, n), (count, size)):
            raise ValueError(
                f"observe must give {count} values, as many as were measured, and a Jacobian of shape {(count, size)}; "
                f"got shapes {value.shape} and {slope.shape}"
            )
        H = np.zeros((count, size))
        H[:, : slope.shape[1]] = slope
        return value, H, tuple(f"value {k}" for k in range(count))
    chosen = names[:n] if observe is None else (observe,) if isinstance(observe, str) else tuple(observe)
    for name in chosen:
        if name not in names:
            raise ValueError(f"observe: nothing is called {name!r}; there are {', '.join(names)}")
    if len(chosen) != count:
        raise ValueError(f"values must have a number for each of {', '.join(chosen)}; got {count}")
    places = [names.index(name) for name in chosen]
    return z[places], np.eye(size)[places], chosen


def of_parameters(system: System, what: str, given: Mapping[str, float] | None) -> tuple[list[int], ty.FloatArray]:
    """Places and standard deviations of parameters by name."""
    names = list(given or {})
    for name in names:
        if name not in system.params:
            raise ValueError(
                f"{what}: no parameter is called {name!r}; parameters: {', '.join(system.params) or 'none'}"
            )
    spread = np.array([number(f"{what}[{name!r}]", (given or {})[name]) for name in names])
    if not (np.isfinite(spread) & (spread >= 0.0)).all():
        raise ValueError(f"{what}: standard deviations must not be negative; got {spread.tolist()}")
    return [system.params.index(name) for name in names], spread
