"""Calls of the core that may take long, in turns: it returns now and then, so that Python handles Ctrl-C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core import codes
from ..system.interrupts import answered

if TYPE_CHECKING:
    from ..core.entries import Kernel
    from ..system.system import System


def in_turns(system: System, entry: Kernel, *arguments: Any) -> int:
    """Call an entry of the core until it is done. Returns its code."""
    bound, code, call = system._bind(), codes.LOOK, entry.code or entry
    if not bound.calls_python:  # (entering a context that does nothing would take as long as the call)
        while code == codes.LOOK:
            code = call(*arguments)
        return code
    with answered(bound):
        while code == codes.LOOK:
            code = call(*arguments)
    return code
