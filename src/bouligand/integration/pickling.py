"""Pickling a `Stepper`: its memory holds addresses of this process, so that only its contents are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..memory.pool import pool_of
from . import stiff
from .options import declare
from .running import borrow_spans

if TYPE_CHECKING:
    from ..system.system import System
    from .stepper import Stepper

_ATTRIBUTES = ("status", "error", "_p", "_legs")
_WORKSPACES = ("_spans", "_stiff")


def reduced(stepper: Stepper) -> tuple[Any, ...]:
    """What ``__reduce__`` returns."""
    extra = {name: part.contents() for name in _WORKSPACES if (part := getattr(stepper, name)) is not None}
    rest = {name: getattr(stepper, name) for name in _ATTRIBUTES}
    return restored, (type(stepper), stepper.system, rest, stepper._memory.contents(), extra)


def restored(
    kind: type[Stepper], system: System, rest: dict[str, Any], contents: Any, extra: dict[str, dict[str, Any]]
) -> Stepper:
    """A stepper that was pickled, in memory of its own."""
    stepper, bound = kind.__new__(kind), system._bind()
    stepper.system, stepper._spans, stepper._stiff, stepper._until = system, None, None, None
    for name, value in rest.items():
        setattr(stepper, name, value)
    memory = stepper._memory = pool_of(system).integration(system)
    stepper._lease = bound.lease(system)
    memory.bind(stepper._lease.fn, bound.has_jacobian)
    if system.jumps and memory.declared is None:
        declare(memory, system)
    memory.restore(contents)
    memory.s.clock.looked, memory.s.clock.look_at = (
        0.0,
        memory.s.counts.f_calls,
    )  # (a time of another process's clock means nothing here)
    if "_spans" in extra:
        borrow_spans(stepper).restore(extra["_spans"])
    if "_stiff" in extra:
        stiff.provide(stepper, memory.s.stiff.A_at).restore(extra["_stiff"])
    return stepper
