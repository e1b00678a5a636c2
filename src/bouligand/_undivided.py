"""Work that no Ctrl-C may cut in two: imports of what cannot be imported again, and compilation.

Python raises ``KeyboardInterrupt`` between any two instructions of its main thread. A module that was imported by half stays
broken (Numba then has "no attribute 'core'"), and so do Numba's tables of rules. So a Ctrl-C waits until such work is done.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from types import FrameType, TracebackType
from typing import Any


class undivided(ContextDecorator):  # noqa: N801  (used like a function)
    """A context, or a decorator: a Ctrl-C is answered at its end, by the handler that was set before.

    Handlers run in the main thread only: elsewhere this does nothing. Nor does it where Ctrl-C is ignored or ends the process.
    """

    _handler: Callable[[int, FrameType | None], Any] | None = None  # whose place this one has taken
    _came = False  # whether there was a Ctrl-C

    def _recreate_cm(self) -> undivided:
        return undivided()

    def __enter__(self) -> undivided:
        handler = signal.getsignal(signal.SIGINT)
        within = isinstance(getattr(handler, "__self__", None), undivided)  # (the outer one answers)
        if callable(handler) and not within and threading.current_thread() is threading.main_thread():
            self._handler = handler
            signal.signal(signal.SIGINT, self._wait)
        return self

    def _wait(self, number: int, frame: FrameType | None) -> None:
        self._came = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        handler = self._handler
        if handler is not None:
            if signal.getsignal(signal.SIGINT) == self._wait:
                signal.signal(signal.SIGINT, handler)
            if self._came:
                handler(signal.SIGINT, sys._getframe(1))
