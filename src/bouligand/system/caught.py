"""Exceptions of Python functions that the core calls: kept until the core has returned, each in the thread it was raised in."""

from __future__ import annotations

import threading


class Failures(threading.local):
    """The first exception since it was last taken, for each thread on its own: integrations of a system may run side by side."""

    first: BaseException | None = None

    def __reduce__(self) -> tuple[type[Failures], tuple[()]]:
        return Failures, ()  # (what was caught stays in its thread)

    def append(self, error: BaseException) -> None:
        """Keep it, unless there is an earlier one."""
        if self.first is None:
            self.first = error

    def take(self) -> BaseException | None:
        """What this thread's functions have raised, and forget it; None if they have not."""
        error, self.first = self.first, None
        return error
