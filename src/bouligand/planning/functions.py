"""Costs that are functions of a user's: residuals, or one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import numbers
from ..system.words import function as read_function
from .costs import Cost, Expansion, Nothing
from .derivatives import CostFunction

if TYPE_CHECKING:
    from .._typing import FloatArray


class Residuals(Cost):
    """``1/2 |r|^2`` of a function ``r(t, x, u)`` or ``r(t, x)`` that returns a vector.

    Its derivatives are exact, by dual numbers from the function's own code (by differences where Numba cannot compile it), its
    second derivatives are Gauss and Newton's, from the first ones.

    Parameters
    ----------
    function : callable
    derivative : callable, optional
        ``derivative(t, x, u)`` returns the Jacobian, array (values, n + inputs), instead.

    Examples
    --------
    >>> import bouligand as bd
    >>> import numpy as np
    >>> cost = bd.planning.Residuals(lambda t, x, u: np.array([x[0] - 1.0, 0.1 * u[0]]))
    >>> cost.prepare(bd.models.hopper(), ("g",))
    >>> cost.expand(np.zeros(1), np.array([[3.0, 0.0]]), np.zeros((1, 1))).x
    array([[2., 0.]])
    """

    def __init__(self, function: Callable[..., Any], derivative: Callable[..., Any] | None = None) -> None:
        self._function = CostFunction("function", function)
        self._derivative = None if derivative is None else read_function("derivative", derivative, "t, x, u")

    @property
    def exact(self) -> bool:
        """Whether derivatives are exact; if not, they are by differences."""
        return self._derivative is not None or not self._function.reason

    def _residuals(self, t: FloatArray, X: FloatArray, U: FloatArray) -> list[FloatArray]:
        return [self._function.values(*node) for node in zip(t.tolist(), X, U, strict=True)]

    def _jacobians(self, t: FloatArray, X: FloatArray, U: FloatArray) -> FloatArray:
        out = []
        for moment, x, u in zip(t.tolist(), X, U, strict=True):
            if self._derivative is None:
                out.append(self._function.jacobian(moment, x, u))
                continue
            J = numbers("what derivative returns", self._derivative(moment, x, u))
            J = J[None] if J.ndim == 1 else J
            if J.ndim != 2 or J.shape[1] != len(x) + len(u):
                raise ValueError(
                    f"derivative must return a row for each value with {len(x) + len(u)} columns (states, then controls); got "
                    f"shape {J.shape}"
                )
            out.append(J)
        return np.array(out)

    def value(self, t: FloatArray, X: FloatArray, U: FloatArray) -> FloatArray:
        return np.array([0.5 * float(r @ r) for r in self._residuals(t, X, U)])

    def expand(self, t: FloatArray, X: FloatArray, U: FloatArray) -> Expansion:
        n = X.shape[1]
        r, J = np.array(self._residuals(t, X, U)), self._jacobians(t, X, U)
        gradient = np.einsum("kri,kr->ki", J, r)
        H = J.transpose(0, 2, 1) @ J
        return Expansion(gradient[:, :n], gradient[:, n:], H[:, :n, :n], H[:, n:, :n], H[:, n:, n:])


class Smooth(Residuals):
    """A function ``l(t, x, u)`` or ``l(t, x)`` that returns a number.

    Its gradient is exact, by dual numbers (or ``derivative``); its second derivatives are differences of the gradient, with
    negative curvature left out.

    Parameters
    ----------
    function : callable
    derivative : callable, optional
        ``derivative(t, x, u)`` returns the gradient, array (n + inputs,), instead.

    Examples
    --------
    >>> import bouligand as bd
    >>> import numpy as np
    >>> cost = bd.planning.Smooth(lambda t, x, u: np.cos(x[0]) + u[0] ** 2)
    >>> cost.prepare(bd.models.hopper(), ("g",))
    >>> round(float(cost.expand(np.zeros(1), np.zeros((1, 2)), np.ones((1, 1))).uu[0, 0, 0]), 6)
    2.0
    """

    def value(self, t: FloatArray, X: FloatArray, U: FloatArray) -> FloatArray:
        values = self._residuals(t, X, U)
        if values and values[0].size != 1:
            raise ValueError(
                f"function must return one number; it returned {values[0].size} (residuals are a `Residuals`)"
            )
        return np.concatenate(values)

    def expand(self, t: FloatArray, X: FloatArray, U: FloatArray) -> Expansion:
        n, Z = X.shape[1], np.concatenate([X, U], axis=1)
        every = Z.shape[1]
        gradient = self._jacobians(t, X, U)[:, 0]
        H = np.zeros((len(t), every, every))
        for i in range(every):
            step = 1e-4 * np.maximum(1.0, np.abs(Z[:, i]))
            sides = []
            for side in (step, -step):
                moved = Z.copy()
                moved[:, i] += side
                sides.append(self._jacobians(t, moved[:, :n], moved[:, n:])[:, 0])
            H[:, i] = (sides[0] - sides[1]) / (2.0 * step[:, None])
        values, vectors = np.linalg.eigh(0.5 * (H + H.transpose(0, 2, 1)))
        H = np.einsum("kij,kj,klj->kil", vectors, np.maximum(values, 0.0), vectors)
        return Expansion(gradient[:, :n], gradient[:, n:], H[:, :n, :n], H[:, n:, :n], H[:, n:, n:])


def as_cost(what: str, given: Any, t: float, x: FloatArray, u: FloatArray) -> Cost:
    """What a user gave as a cost: a `Cost`, a function of one value (`Smooth`) or of several (`Residuals`), or None."""
    if given is None:
        return Nothing()
    if isinstance(given, Cost):
        return given
    if not callable(given):
        raise TypeError(
            f"{what} must be a function of (t, x, u) or (t, x), or a cost of bouligand.planning; got {given!r}"
        )
    function = CostFunction(what, given)
    cost = Residuals(given) if np.ndim(_sample(function, t, x, u)) else Smooth(given)
    cost._function = function
    return cost


def _sample(function: CostFunction, t: float, x: FloatArray, u: FloatArray) -> Any:
    with np.errstate(all="ignore"):
        return function.function(t, x, u) if function.with_u else function.function(t, x)
