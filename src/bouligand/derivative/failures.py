"""Exceptions for user functions that fail while perturbations are propagated."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ..core import codes
from ..errors import FunctionError

if TYPE_CHECKING:
    from ..memory.working import Working
    from ..system.system import System


def raise_failed(system: System, code: int, memory: Working) -> NoReturn:
    """Raise what a function of the user raised during a propagation, or an error that says where it failed."""
    raise_user_error(system)
    t, x = memory.s.run.t_failed, memory.v.x_failed.copy()
    where = f"at t = {t:g}, x = {x}, when the derivative was propagated along the trajectory"
    raise FunctionError(codes.FAILURES[code].message.format(where=where), t=t, x=x)


def raise_user_error(system: System) -> None:
    """Raise what a function of the user raised, if one did. (Compiled functions only report that they failed.)"""
    error = system._bind().failures.take()
    if error is not None:
        raise error
