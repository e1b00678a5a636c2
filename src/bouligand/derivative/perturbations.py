"""Perturbations as users give them (dx, dp, dt0; single or in batches), checked and as vectors."""

from __future__ import annotations

import math
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import number, numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, Parameters
    from ..system.system import System

_FLOAT = np.dtype(float)
_NAMES, _SINGLE = ("dx", "dp", "dt0"), (1, 1, 0)  # the arguments, and the dimensions of each in one perturbation


class Perturbations:
    """Perturbations of n states, of parameters if ``params``, and of the start time."""

    def __init__(self, system: System, n: int, parameters: int, params: bool) -> None:
        self._system, self._n, self._np, self._params = system, n, parameters, params
        self.width = n + parameters

    def vector(self, dx: ArrayLike | None, dp: Parameters | None, dt0: float) -> tuple[FloatArray, float]:
        """One perturbation as a vector (state, parameters), and its dt0."""
        z = None
        if dx is not None:
            dx = dx if type(dx) is np.ndarray and dx.dtype is _FLOAT else numbers("dx", dx)
            # (of a few values, a finite sum shows faster that all are finite)
            if dx.shape != (self._n,) or not (math.isfinite(sum(dx.tolist())) or np.isfinite(dx).all()):
                raise ValueError(f"dx must have {self._n} finite values, one for each state; got {described(dx)}")
            z = dx.copy() if self.width == self._n else np.concatenate([dx, np.zeros(self._np)])
        z = np.zeros(self.width) if z is None else z
        if dp is not None:
            if not self._params:
                raise ValueError("dp needs a derivative with parameters: sol.bderivative(params=True)")
            z[self._n :] = self._parameters(dp)
        return z, dt0 if type(dt0) is float and dt0 == 0.0 else number("dt0", dt0)

    def _parameters(self, dp: Parameters) -> FloatArray:
        """A perturbation of the parameters as an array."""
        if isinstance(dp, dict):
            names, out = self._system.params, np.zeros(self._np)
            for key, value in dp.items():
                if key not in names:
                    raise ValueError(f"dp: no parameter is called {key!r}; parameters: {', '.join(names) or 'none'}")
                out[names.index(key)] = number(f"dp: {key}", value)
            dp = out
        dp = numbers("dp", dp)
        if dp.shape != (self._np,) or not np.isfinite(dp).all():
            raise ValueError(f"dp must have {self._np} finite values, one for each parameter; got {described(dp)}")
        return dp


def batch_of(dx: Any, dp: Any, dt0: Any) -> list[tuple[Any, Any, Any]] | None:
    """The perturbations of a batch, one after the other; None if this is a single one."""
    if type(dx) is np.ndarray and dx.ndim == 1 and dp is None and type(dt0) is float:  # (most are)
        return None
    ranks = _rank(dx), _rank(dp), _rank(dt0)
    if ranks[0] <= 1 and ranks[1] <= 1 and ranks[2] == 0:
        return None
    lengths, each = set(), []
    for name, value, rank, single in zip(_NAMES, (dx, dp, dt0), ranks, _SINGLE, strict=True):
        if rank > single + 1:
            raise ValueError(f"{name} must be one perturbation or a batch of them; got {rank} dimensions")
        if rank > single:
            value = numbers(name, value)
            lengths.add(len(value))
        each.append(value if rank > single else repeat(value))
    if len(lengths) > 1:
        raise ValueError(
            f"dx, dp and dt0 must each be one perturbation or batches of the same length; got {sorted(lengths)}"
        )
    return list(zip(*each, strict=False))


def _rank(value: Any) -> int:
    """Number of dimensions. (np.ndim would convert a list to an array first.)"""
    if value is None or isinstance(value, float | int):
        return 0
    if isinstance(value, np.ndarray):
        return value.ndim
    if isinstance(value, dict):
        return 1
    if isinstance(value, list | tuple):
        return 2 if len(value) and _has_rows(value[0]) else 1
    return int(getattr(value, "ndim", 0))


def _has_rows(first: Any) -> bool:
    """Whether the first element of a sequence is a row of numbers."""
    return isinstance(first, list | tuple) or getattr(first, "ndim", 0) > 0


def described(value: FloatArray) -> str:
    """Shape or size of a wrong argument, for messages."""
    if value.ndim != 1:
        return f"shape {value.shape}"
    return f"{value.size} values" + ("" if np.isfinite(value).all() else ", not all finite")
