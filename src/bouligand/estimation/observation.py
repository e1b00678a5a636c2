"""What a filter is told: measured values as functions of the estimate, parameters by name, and what a measurement did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import number, numbers, short
from ..system.words import function, listed, mapping, pair

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


def observation(observe: Any) -> Any:
    """The argument ``observe``: a function of the state, or names, whose meaning is known with the measurements."""
    if callable(observe):
        return function("observe", observe, "x")
    given = listed("observe", observe, "names of states, or a function of the state")
    wrong = [name for name in given if not isinstance(name, str)]
    if wrong or not given:
        what = short(wrong[0]) if wrong else "none"
        raise TypeError(f"observe must be names of states, or a function of the state; got {what}")
    return tuple(given)


def observed(
    names: tuple[str, ...], n: int, observe: Any, count: int, z: ty.FloatArray
) -> tuple[ty.FloatArray, ty.FloatArray, tuple[str, ...]]:
    """Values that are predicted at z, their Jacobian in z, and names of the values. ``names``: of z, whose first n are states."""
    size = len(names)
    if callable(observe):
        value, slope = pair("what observe returns", observe(z.copy()), "the values, and their Jacobian")
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
    chosen = names[:n] if observe is None else observe
    for name in chosen:
        if name not in names:
            raise ValueError(f"observe: nothing is called {name!r}; there are {', '.join(names)}")
    if len(chosen) != count:
        raise ValueError(f"values must have a number for each of {', '.join(chosen)}; got {count}")
    places = [names.index(name) for name in chosen]
    return z[places], np.eye(size)[places], chosen


def of_parameters(system: System, what: str, given: Mapping[str, float] | None) -> tuple[list[int], ty.FloatArray]:
    """Places and standard deviations of parameters by name."""
    spreads = {} if given is None else mapping(what, given, system.params, "parameter")
    names = list(spreads)
    spread = np.array([number(f"{what}[{name!r}]", value) for name, value in spreads.items()])
    if not (np.isfinite(spread) & (spread >= 0.0)).all():
        raise ValueError(f"{what}: standard deviations must not be negative; got {spread.tolist()}")
    return [system.params.index(name) for name in names], spread
