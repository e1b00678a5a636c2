"""What all trajectories of an ensemble have in common: the system, the interval, the options, and what is kept of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..derivative.moments import columns_of
from ..integration import options as read
from ..integration.stepper import Stepper
from ..system.arguments import short
from ..system.words import listed

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..system.system import System

KEPT = ("x", "b", "counts", "events")  # what may be kept of each trajectory, besides its outcome and its last time
COUNTS = ("f", "h", "Dh", "steps", "rejected", "hops", "spans", "events")
NO_TIMES = np.empty(0)


@dataclass(frozen=True)
class Problem:
    """The common part of an ensemble. It travels to other processes as one piece."""

    system: System
    t_span: tuple[float, float]
    keep: tuple[str, ...] = KEPT
    t_eval: FloatArray = field(default_factory=lambda: NO_TIMES)
    options: dict[str, Any] = field(default_factory=dict)
    derivative: str | None = None
    wrt: str | tuple[str, ...] = "x"
    cost: Any = None

    @property
    def wrt_names(self) -> list[str]:
        """The names of the columns of a derivative."""
        names = (*self.system.states, *(self.system.params or (f"p{q}" for q in range(len(self.system.defaults)))))
        return [names[column] for column in columns_of(self.system, self.wrt)]

    @property
    def columns(self) -> int:
        """The number of columns of a derivative."""
        return len(columns_of(self.system, self.wrt))

    def check_wrt(self) -> None:
        """An error if ``wrt`` names what is not there."""
        if not self.columns and self.derivative is not None:
            raise ValueError(f"wrt: {self.wrt!r} stands for nothing: this system has no named parameters")

    def stepper(self, x0: FloatArray, p: FloatArray) -> Stepper:
        """An integration of one trajectory that has not begun: exactly as `solve` begins it."""
        return begun(self.system, self.t_span, x0, p, self.t_eval if self.t_eval.size else None, self.options)


def begun(system: System, t_span: Any, x0: Any, p: Any, t_eval: Any, options: dict[str, Any]) -> Stepper:
    """An integration that is set up, and has not begun. (Unlike a call of `Stepper`, it takes a start that is not finite.)"""
    given = {**_DEFAULTS, **options}
    stepper = Stepper.__new__(Stepper)
    stepper._set_up(system, t_span, x0, p, t_eval=t_eval, **given)
    return stepper


_DEFAULTS: dict[str, Any] = {
    "rtol": 1e-6,
    "atol": None,
    "method": "auto",
    "max_step": np.inf,
    "max_steps": 1_000_000,
    "eps": None,
    "projection": None,
    "terminal": None,
    "breakpoints": None,
    "b0": None,
    "on_graze": "raise",
}
OPTIONS = tuple(_DEFAULTS)


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `solve` that an ensemble passes on; those that it does not know are an error."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise TypeError(
            f"solve_many does not know {', '.join(unknown)}; options of solve that it takes: {', '.join(OPTIONS)}"
        )
    return options


def checked_times(t_eval: Any, t_span: tuple[float, float], n: int) -> FloatArray:
    """The times of ``t_eval``; empty without."""
    return NO_TIMES if t_eval is None else read.requested(t_eval, *t_span, n)[0]


def checked_keep(keep: Any) -> tuple[str, ...]:
    """What is to be kept."""
    kept = listed("keep", keep, "words")
    unknown = [word for word in kept if not isinstance(word, str) or word not in KEPT]
    if unknown:
        raise ValueError(f"keep: {short(unknown[0])} is not known; what may be kept: {', '.join(KEPT)}")
    return tuple(kept)
