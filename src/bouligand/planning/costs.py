"""Costs of states and controls, with the quadratic models of them that a planner needs.

The running cost of a plan is ``sum_k (t[k+1] - t[k]) l(t[k], x[k], u[k])``, its end cost ``L(t[N], x[N])``. A cost knows its
value at many nodes and its expansion: gradients, and second derivatives of which those of residuals are Gauss and Newton's (they
are never negative). Expansions are in the coordinates of the state; `plan` takes them to tangent coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..system.arguments import finite_numbers, not_negative, number, short, vector
from ..system.declarations import named_state
from ..system.words import function
from .coordinates import Coordinates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from .._typing import FloatArray
    from ..system.system import System


class Expansion(NamedTuple):
    """Gradients and second derivatives at each of some nodes; those by u are None of an end cost."""

    x: FloatArray  # (nodes, n)
    u: FloatArray  # (nodes, inputs)
    xx: FloatArray  # (nodes, n, n)
    ux: FloatArray  # (nodes, inputs, n)
    uu: FloatArray  # (nodes, inputs, inputs)


class Cost:
    """What all costs have. One of your own needs `value` and `expand`; costs can be added.

    Examples
    --------
    >>> import bouligand as bd
    >>> cost = bd.planning.Quadratic(x={"z": 1.0}) + bd.planning.Quadratic(u=[0.1])
    >>> type(cost).__name__
    'Sum'
    """

    def prepare(self, system: System, inputs: tuple[str, ...]) -> None:
        """Learn for which system it is; called once, by `Plan`."""

    def value(self, t: FloatArray, X: FloatArray, U: FloatArray) -> FloatArray:
        """The cost at each node, array (nodes,)."""
        raise NotImplementedError

    def expand(self, t: FloatArray, X: FloatArray, U: FloatArray) -> Expansion:
        """Its gradients and second derivatives at each node."""
        raise NotImplementedError

    def __add__(self, other: Cost) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        return Sum(self, other)


class Sum(Cost):
    """Two costs, added."""

    def __init__(self, one: Cost, other: Cost) -> None:
        self.parts = (one, other)

    def prepare(self, system: System, inputs: tuple[str, ...]) -> None:
        for part in self.parts:
            part.prepare(system, inputs)

    def value(self, t: FloatArray, X: FloatArray, U: FloatArray) -> FloatArray:
        one, other = self.parts
        return one.value(t, X, U) + other.value(t, X, U)

    def expand(self, t: FloatArray, X: FloatArray, U: FloatArray) -> Expansion:
        one, other = (part.expand(t, X, U) for part in self.parts)
        return Expansion(*(a + b for a, b in zip(one, other, strict=True)))


class Quadratic(Cost):
    """``1/2 e W e + 1/2 v R v``, with ``e = x - target`` and ``v = u - rest``.

    Of a robot, e is in tangent coordinates: of a quaternion its three components are twice the sine of half the angle, times the
    axis.

    Parameters
    ----------
    target : array (n,), mapping from str to float, or callable, optional
        The state that costs nothing, or ``target(t)``. Default: zeros (of a robot its reference pose), also of states that a
        mapping does not name.
    x : float, array or mapping from str to float, optional
        Weights of the states: one, one for each (of a robot: for each tangent coordinate), or by name. A robot's base is weighted
        with the names of its velocities, ``{"qpos:root:z": 10.0}`` or by an array.
    u : float, array or mapping, optional
        Weights of the controls.
    rest : array, optional
        The controls that cost nothing; default zeros.

    Examples
    --------
    >>> import bouligand as bd
    >>> import numpy as np
    >>> cost = bd.planning.Quadratic(target=[1.0, 0.0], x={"z": 2.0})
    >>> cost.prepare(bd.models.hopper(), ("g",))
    >>> cost.value(np.zeros(1), np.array([[1.5, 3.0]]), np.zeros((1, 1)))
    array([0.25])
    """

    def __init__(
        self,
        target: ty.State | Callable[[float], ty.State] | None = None,
        x: float | ArrayLike | Mapping[str, float] = 0.0,
        u: float | ArrayLike | Mapping[str, float] = 0.0,
        rest: ArrayLike | None = None,
    ) -> None:
        self._target = _target(target)
        self._x, self._u = _read_weights("x", x), _read_weights("u", u)
        self._rest = None if rest is None else vector("rest", rest)

    def prepare(self, system: System, inputs: tuple[str, ...]) -> None:
        self.coordinates, self._n = Coordinates(system), system.n
        self._unit = np.eye(system.n)[None]
        self.W = _weights("x", self._x, self.coordinates.size, self._tangent_names(system))
        self.R = _weights("u", self._u, len(inputs), inputs)
        self.rest = np.zeros(len(inputs)) if self._rest is None else self._rest
        if self.rest.shape != (len(inputs),):
            raise ValueError(f"rest must have {len(inputs)} values, one for each control; got shape {self.rest.shape}")
        self._states = system.states
        self._default = system.neutral() if hasattr(system, "neutral") else np.zeros(system.n)
        self._at = np.zeros(0), np.zeros((0, system.n))  # times, and the targets then
        if not callable(self._target):
            self._fixed = self._checked(self._default if self._target is None else self._target)
            self._P = self.coordinates.project(self._fixed[None])

    def _checked(self, target: ty.State) -> FloatArray:
        if isinstance(target, Mapping):
            target = named_state("target", self._states, target, self._default)
        out = finite_numbers("target", target)
        if out.shape != (self._n,):
            raise ValueError(f"target must have {self._n} values, one for each state; got shape {out.shape}")
        return out

    def _tangent_names(self, system: System) -> tuple[str, ...]:
        if self.coordinates.plain:
            return system.states
        # (of a quaternion, the coordinates are turns about x, y and z)
        G = np.asarray(self.coordinates.lift(np.asarray(system.neutral())[None])[0])  # type: ignore[attr-defined]
        out = [""] * self.coordinates.size
        for column in range(self.coordinates.size):
            rows = np.flatnonzero(G[:, column])
            out[column] = system.states[rows[0]] if len(rows) == 1 and G[rows[0], column] == 1.0 else ""
        turns = [q for q, name in enumerate(out) if not name]
        for q, column in enumerate(turns):
            out[column] = f"turn {'xyz'[q % 3]}" + (f" {q // 3 + 1}" if q > 2 else "")
        return tuple(out)

    def _targets(self, t: FloatArray, X: FloatArray) -> tuple[FloatArray, bool]:
        """The target of each node, and whether all are the same."""
        if callable(self._target):
            if not np.array_equal(t, self._at[0]):  # (all rollouts of a plan have the same times)
                self._at = t.copy(), np.array([self._checked(self._target(moment)) for moment in t.tolist()])
            return self._at[1], False
        return np.broadcast_to(self._fixed, X.shape), True

    def _error(self, t: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """e at each node, and the matrices of its derivative in the state."""
        targets, fixed = self._targets(t, X)
        if self.coordinates.plain:
            return X - targets, self._unit
        near = self.coordinates.near(targets, X)
        fixed = fixed and np.array_equal(near, targets)
        P = self._P if fixed else self.coordinates.project(near)
        return np.einsum("kij,kj->ki", np.broadcast_to(P, (len(X), *P.shape[1:])), X - near), P

    def value(self, t: FloatArray, X: FloatArray, U: FloatArray) -> FloatArray:
        e, _ = self._error(t, X)
        v = U - self.rest
        out: FloatArray = 0.5 * (e * e) @ self.W + 0.5 * (v * v) @ self.R
        return out

    def expand(self, t: FloatArray, X: FloatArray, U: FloatArray) -> Expansion:
        nodes, inputs = len(X), len(self.rest)
        e, P = self._error(t, X)
        uu = np.broadcast_to(np.diag(self.R), (nodes, inputs, inputs))
        by_u, ux = (U - self.rest) * self.R, np.zeros((nodes, inputs, self._n))
        if self.coordinates.plain:
            xx = np.broadcast_to(np.diag(self.W), (nodes, self._n, self._n))
            return Expansion(e * self.W, by_u, xx, ux, uu)
        weighted = P.transpose(0, 2, 1) * self.W
        by_x = np.einsum("kij,kj->ki", np.broadcast_to(weighted, (nodes, *weighted.shape[1:])), e)
        return Expansion(by_x, by_u, np.broadcast_to(weighted @ P, (nodes, self._n, self._n)), ux, uu)


def _target(given: Any) -> Any:
    """The argument ``target``, read as far as it can be without a system."""
    if given is None or callable(given):
        return given if given is None else function("target", given, "t")
    if isinstance(given, Mapping):
        return {_text("target", name): number(f"target: {name}", value) for name, value in given.items()}
    out = finite_numbers("target", given)
    if out.ndim != 1:
        raise ValueError(f"target must have a value for each state; got shape {out.shape}")
    return out


def _text(what: str, name: Any) -> str:
    """A name by which something is given."""
    if not isinstance(name, str):
        raise TypeError(f"{what} must be given by names (str); got {short(name)} among them")
    return name


def _read_weights(what: str, given: Any) -> dict[str, float] | FloatArray:
    """Weights, read as far as they can be without a system."""
    if isinstance(given, Mapping):
        return {
            _text(what, name): not_negative(f"{what}: the weight of {name}", weight) for name, weight in given.items()
        }
    out = finite_numbers(what, given)
    if out.ndim > 1 or (out < 0.0).any():
        raise ValueError(
            f"{what} must be one weight, a vector, or by name, finite and not negative; got {short(given)}"
        )
    return out


def _weights(what: str, given: dict[str, float] | FloatArray, size: int, names: tuple[str, ...]) -> FloatArray:
    """A weight for each of the coordinates with these names."""
    if isinstance(given, dict):
        out = np.zeros(size)
        for name, weight in given.items():
            if name not in names:
                raise ValueError(f"{what}: there is no {name!r} to be weighted; there are {', '.join(names)}")
            out[names.index(name)] = weight
        return out
    out = np.full(size, float(given)) if given.ndim == 0 else given
    if out.shape != (size,):
        raise ValueError(f"{what} must be a weight, {size} weights, or weights by name; got shape {out.shape}")
    return out


class Nothing(Cost):
    """No cost."""

    def value(self, t: FloatArray, X: FloatArray, U: FloatArray) -> FloatArray:
        return np.zeros(len(t))

    def expand(self, t: FloatArray, X: FloatArray, U: FloatArray) -> Expansion:
        nodes, n, inputs = len(t), X.shape[1], U.shape[1]
        return Expansion(
            np.zeros((nodes, n)),
            np.zeros((nodes, inputs)),
            np.zeros((nodes, n, n)),
            np.zeros((nodes, inputs, n)),
            np.zeros((nodes, inputs, inputs)),
        )
