"""A progress bar over trajectories, with their rate and the time left."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

PAUSE = 0.1  # seconds between two changes of the bar


class Progress:
    """``progress.at(done)`` says how many are done; nothing is shown unless it was asked for."""

    def __init__(self, shown: bool | str | None, total: int | None) -> None:
        self._bar: Any = None
        self._next = 0.0
        if shown:
            from tqdm import tqdm

            title = shown if isinstance(shown, str) else None
            self._bar = tqdm(total=total, desc=title, unit=" trajectories", unit_scale=True, mininterval=0.0)

    def begin(self, done: int) -> None:
        """So many were done before, and do not count for the rate."""
        if self._bar is not None and done:
            self._bar.initial = self._bar.n = self._bar.last_print_n = done

    def at(self, done: int) -> None:
        """So many trajectories are done."""
        if self._bar is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + PAUSE
            self._bar.update(done - self._bar.n)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            if kind is None and self._bar.total is not None:
                self._bar.update(self._bar.total - self._bar.n)
            self._bar.close()
