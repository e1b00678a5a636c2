"""Ctrl-C while the core calls functions that run as Python.

Python runs the handler of a signal between two bytecodes. After compiled code, the next bytecode may be the first one of a
callback, before its ``try``; ctypes swallows what is raised there. So, while the core runs, a signal is only noted there, and the
next callback calls the handler where exceptions are caught and kept. Inside a user's function the handler is called at once.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .binding import Bound

waiting = False  # whether a signal was noted that no handler has answered yet
callbacks: set[CodeType] = set()  # the code of the functions that ctypes calls

_NOTHING: AbstractContextManager[None] = nullcontext()


def answered(bound: Bound) -> AbstractContextManager[None]:
    """A context in which the core may run functions of this system without losing a Ctrl-C."""
    return _Noting() if bound.calls_python else _NOTHING


def answer() -> None:
    """Call the handler for a signal that was noted (in the main thread, where Python calls handlers)."""
    global waiting
    noting = signal.getsignal(signal.SIGINT)
    if isinstance(noting, _Noting) and noting.handler is not None and _in_main_thread():
        waiting = False
        noting.handler(signal.SIGINT, sys._getframe(1))


class _Noting(AbstractContextManager[None]):
    """A handler of SIGINT that takes the place of the one that is set, until the core has returned."""

    handler: Callable[[int, FrameType | None], Any] | None = None  # the one whose place it has taken

    def __enter__(self) -> None:
        handler = signal.getsignal(signal.SIGINT)
        # (one that was set in C, or a default, raises nothing; and a function of the user may integrate another system)
        if callable(handler) and not isinstance(handler, _Noting) and _in_main_thread():
            self.handler = handler
            signal.signal(signal.SIGINT, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        global waiting
        if self.handler is not None and _is_caught(frame):
            self.handler(number, frame)
        else:
            waiting = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        global waiting
        handler = self.handler
        if handler is None:
            return
        if signal.getsignal(signal.SIGINT) is self:
            signal.signal(signal.SIGINT, handler)
        if waiting:
            waiting = False
            handler(signal.SIGINT, sys._getframe(1))


def _is_caught(frame: FrameType | None) -> bool:
    """Whether this is the frame of something that a callback has called, inside its ``try``."""
    if frame is None or frame.f_code in callbacks:
        return False
    while frame is not None:
        if frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
