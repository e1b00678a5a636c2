"""Jumps of the state at events, as a user declares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from .declarations import guard_index, guard_numbers
from .functions import UserFunction

if TYPE_CHECKING:
    from .. import _typing as ty
    from .._typing import BoolArray, FloatArray, IntArray
    from .user_memory import Contexts

JACOBIANS = ("DR", "Dp_R", "Dt_R")


class SetState(NamedTuple):
    """A jump that sets one state, given by its name, to a value; all others stay."""

    state: str
    value: float

    def function(self, states: tuple[str, ...]) -> ty.ModeFunction:
        """The jump as a function, for a system with these states."""
        if self.state not in states:
            raise ValueError(f"jumps: no state is called {self.state!r}; states: {', '.join(states[:12])}")
        return sets(states.index(self.state), self.value)


def sets(index: int, value: float) -> Callable[..., None]:
    """A jump that sets one state, given by its number, to a value."""

    def jump(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
        xnew[index] = value

    return jump


class Jumps:
    """The jumps of a system: for each guard a function that changes the state at its events, or one function for all.

    ``has`` tells which guards have one, ``order`` is the order in which those of one instant are applied, ``order_given`` whether
    the user has said so.
    """

    def __init__(
        self,
        states: tuple[str, ...],
        guards: tuple[str, ...],
        jumps: Mapping[ty.Guard, ty.ModeFunction | SetState] | ty.ModeFunction | ty.Guards | None,
        jump_many: ty.JumpFunction | None,
        order: Iterable[ty.Guard] | None,
        jacobians: Mapping[str, Mapping[ty.Guard, Any] | None],
        contexts: Contexts | None,
    ) -> None:
        self.functions: dict[int, UserFunction] = {}
        self.many = None if jump_many is None else UserFunction("jump_many", jump_many, contexts)
        self.has: BoolArray = np.zeros(len(guards), dtype=bool)
        if is_function(jumps):
            if len(guards) != 1 or self.many is not None:
                raise TypeError(
                    f"jumps maps guards to functions; got a function alone. Give jumps={{{', '.join(map(repr, guards[:1]))}: "
                    "function, ...}, or jump_many=function for all guards"
                )
            jumps = {0: jumps}
        if isinstance(jumps, Mapping):
            for guard, function in jumps.items():
                k = guard_index(guards, guard, "jumps")
                if isinstance(function, SetState):
                    function = function.function(states)
                if self.many is None:
                    self.functions[k] = UserFunction("jump", function, contexts)
                elif function is not None:
                    raise TypeError("give a function for each guard in jumps, or jump_many for all, not both")
                self.has[k] = True
        elif jumps is not None:
            self.has[guard_numbers(guards, jumps, "jumps")] = True
            if self.many is None:
                raise TypeError(
                    "jumps maps guards to functions R(t, x, b, p) (or R(t, x, b, p, xnew)); guards alone go with jump_many"
                )
        elif self.many is not None:
            self.has[:] = True
        self.jacobians = {name: self._jacobians(guards, name, given, contexts) for name, given in jacobians.items()}
        self._some = bool(self.has.any())
        self.order: IntArray = np.arange(len(guards))
        self.order_given = order is not None
        if order is not None:
            self._put_in_order(guards, order)

    def __bool__(self) -> bool:
        return self._some

    def _jacobians(
        self, guards: tuple[str, ...], name: str, given: Mapping[ty.Guard, Any] | None, contexts: Contexts | None
    ) -> dict[int, UserFunction]:
        out: dict[int, UserFunction] = {}
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{name} maps guards to functions, as jumps does; got {given!r}")
        for guard, function in (given or {}).items():
            k = guard_index(guards, guard, name)
            if k not in self.functions:
                raise ValueError(f"{name}: guard {guard!r} has no function in jumps")
            out[k] = UserFunction(name, function, contexts)
        return out

    def _put_in_order(self, guards: tuple[str, ...], order: Iterable[ty.Guard]) -> None:
        if self.many is not None:
            raise ValueError("order is for jumps of single guards; jump_many gets all guards of an instant at once")
        named = guard_numbers(guards, order, "order")
        twice = [guards[k] for k in named if named.count(k) > 1]
        if twice:
            raise ValueError(f"order names {twice[0]!r} twice")
        without = [guards[k] for k in named if not self.has[k]]
        if without:
            raise ValueError(f"order: guard {without[0]!r} has no jump")
        self.order = np.array([*named, *(k for k in range(len(guards)) if k not in named)], dtype=np.int64)

    def refuse(self, guards: tuple[str, ...], observers: BoolArray, reset: FloatArray) -> None:
        """Raise if something is declared that does not go together with jumps."""
        both = np.flatnonzero(self.has & observers)
        if both.size:
            raise ValueError(
                f"observers: guard {guards[both[0]]!r} has a jump and is an observer: an observer changes nothing. Leave it out "
                "of one"
            )
        if self and reset.size:
            raise ValueError("reset (the matrix that says which crossing re-arms which guard) does not go with jumps")

    def resting(self, guards: tuple[str, ...], rest: ty.Guards | Mapping[ty.Guard, str | None] | None) -> BoolArray:
        """Which guards are contacts on which the trajectory may come to rest."""
        out = np.zeros(len(guards), dtype=bool)
        if rest is not None:
            out[guard_numbers(guards, list(rest) if isinstance(rest, Mapping) else rest, "rest")] = True
        without = np.flatnonzero(out & ~self.has)
        if without.size:
            raise ValueError(
                f"rest: guard {guards[without[0]]!r} has no jump; rest is what jumps that accumulate lead to. Give it a jump, or "
                "sliding='filippov' for a guard towards which the flow points on both sides"
            )
        return out

    @staticmethod
    def forces(
        guards: tuple[str, ...],
        rest: ty.Guards | Mapping[ty.Guard, str | None] | None,
        params: tuple[str, ...],
        defaults: FloatArray,
    ) -> IntArray:
        """For each guard the number of the parameter in which f finds the force of the contact while it rests; -1: none."""
        out = np.full(len(guards), -1, dtype=np.int64)
        for guard, name in rest.items() if isinstance(rest, Mapping) else ():
            if name is None:
                continue
            if name not in params:
                raise ValueError(
                    f"rest: the force of {guard!r} is to be the parameter {name!r}; parameters: {', '.join(params)}"
                )
            place = params.index(name)
            if place in out:
                raise ValueError(f"rest: the parameter {name!r} is the force of one contact; give each its own")
            if defaults[place] != 0.0:
                raise ValueError(
                    f"rest: the parameter {name!r} is a force, 0 while the contact is open; give it the default 0"
                )
            out[guard_index(guards, guard, "rest")] = place
        return out

    def in_order(self, group: list[int]) -> list[int]:
        """Guards of one instant in the order in which their jumps are applied."""
        return [int(k) for k in self.order if k in group]

    @staticmethod
    def mask(m: int, group: list[int]) -> FloatArray:
        """``fired`` of jump_many."""
        fired = np.zeros(m)
        fired[group] = 1.0
        return fired

    def apply(
        self, sizes: Mapping[str, int], group: list[int], t: float, x: FloatArray, word: FloatArray, p: FloatArray
    ) -> FloatArray:
        """The state behind the jumps of some guards, called from Python."""
        if self.many is not None:
            return self.many(sizes, t, x, self.mask(self.has.size, group), word, p)
        for k in self.in_order(group):
            x = self.functions[k](sizes, t, x, word, p)
        return x


def is_function(given: Any) -> TypeGuard[ty.ModeFunction]:
    """Whether this is one function, and not a mapping or names of guards."""
    return callable(given) or type(given).__name__ == "LowLevelCallable"
