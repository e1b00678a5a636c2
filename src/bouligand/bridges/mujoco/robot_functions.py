"""The compiled functions of a robot as functions of a System."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...system.functions import SHAPES, UserFunction
from . import compiled, jacobians
from .table import PAIR

if TYPE_CHECKING:
    from ..._typing import FloatArray
    from ...system.caught import Failures
    from .memory import Memory


class Function(UserFunction):
    """One of the compiled functions. If a control function made it fail, calling it from Python raises what that raised."""

    def _call_low_level(
        self, sizes: Mapping[str, int], t: float, arguments: list[Any], shape: tuple[int, ...]
    ) -> FloatArray:
        try:
            return super()._call_low_level(sizes, t, arguments, shape)
        except RuntimeError as error:
            memory: Any = None if self.contexts is None else self.contexts.make  # a Memory
            if memory is not None and self.name == "f" and memory.driver.function is not None:
                memory.driver.function(memory.sizes, t, arguments[0], arguments[2])
            if memory is not None and self.name == "f" and memory.cost is not None:
                memory.cost(memory.sizes, t, arguments[0], arguments[2], np.zeros(len(memory.driver.names)))
            raise error


class Jacobian(Function):
    """One of the Jacobians, compiled when it is first bound or called; until then that of another function stands for it."""

    def bind(self, as_machine_code: bool, sizes: Mapping[str, int], failures: Failures) -> tuple[int, object]:
        self._compile()
        return super().bind(as_machine_code, sizes, failures)

    def _call_low_level(
        self, sizes: Mapping[str, int], t: float, arguments: list[Any], shape: tuple[int, ...]
    ) -> FloatArray:
        self._compile()
        return super()._call_low_level(sizes, t, arguments, shape)

    def _compile(self) -> None:
        self.function = callable_of(self.name, jacobians.entry(self.name))


def callable_of(name: str, entry: Any) -> Any:
    from scipy import LowLevelCallable

    return LowLevelCallable(entry, ctypes.c_void_p(0), f"int (double{', long' * (len(SHAPES[name]) + 1)})")


def low_level(memory: Memory, has_guards: bool, sticks: bool = False) -> dict[str, Any]:
    entries = compiled.entries()
    if not has_guards or sticks:
        return {name: callable_of(name, entries[name]) for name in ("f", "h")}
    of_pairs = (memory.contacts["kind"] == PAIR) & (memory.contacts["pull"] >= 0)
    if of_pairs.any():
        entries = {**entries, "Dh": jacobians.entry("Dh")}
    return {name: callable_of(name, entry) for name, entry in entries.items()}
