"""Pickling a `Stepper`: its memory holds addresses of this process, so that only its contents are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..memory.pool import pool_of
from .running import borrow_spans

if TYPE_CHECKING:
    from ..system.system import System
    from .stepper import Stepper

_ATTRIBUTES = ("status", "error", "_p", "_legs")


def reduced(stepper: Stepper) -> tuple[Any, ...]:
    """What ``__reduce__`` returns."""
    spans = None if stepper._spans is None else stepper._spans.contents()
    rest = {name: getattr(stepper, name) for name in _ATTRIBUTES}
    return restored, (type(stepper), stepper.system, rest, stepper._memory.contents(), spans)


def restored(
    kind: type[Stepper], system: System, rest: dict[str, Any], contents: Any, spans: dict[str, Any] | None
) -> Stepper:
    """A stepper that was pickled, in memory of its own."""
    stepper, bound = kind.__new__(kind), system._bind()
    stepper.system, stepper._spans = system, None
    for name, value in rest.items():
        setattr(stepper, name, value)
    memory = stepper._memory = pool_of(system).integration(system)
    stepper._lease = bound.lease(system)
    memory.bind(stepper._lease.fn, bound.has_jacobian)
    memory.restore(contents)
    memory.s.looked, memory.s.look_at = 0.0, memory.s.f_calls  # (a time of another process's clock means nothing here)
    if spans is not None:
        borrow_spans(stepper).restore(spans)
    return stepper
