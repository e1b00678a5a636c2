"""A lock beside a store: one driver writes at a time. The lock of a driver that was killed is taken over."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import socket
import time
import uuid
from types import TracebackType

from ..errors import StoreError

STALE = 60.0  # seconds without a sign of life after which another host's lock counts as left behind
REFRESH = 5.0  # seconds between two signs of life


class Lock:
    """``with Lock(path).acquire():`` creates the file, and removes it at the end."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._mine = json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "id": uuid.uuid4().hex})
        self._refreshed = 0.0

    def acquire(self) -> Lock:
        """Create the file; an error if another process holds it."""
        for _ in range(100):
            try:
                handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            except FileExistsError:
                self._remove_if_stale()
                continue
            with os.fdopen(handle, "w") as file:
                file.write(self._mine)
            self._refreshed = time.monotonic()
            return self
        raise StoreError(
            f"the lock {self.path} comes back whenever it is removed; is another process using this store?"
        )

    def _remove_if_stale(self) -> None:
        """Remove the lock of a process that is gone; an error if its process is alive."""
        try:
            text = self.path.read_text()
            age = time.time() - self.path.stat().st_mtime
        except FileNotFoundError:
            return
        try:
            holder = json.loads(text)
        except ValueError:  # (killed, or not yet finished, while it was being written)
            holder = {}
            if age < 1.0:
                time.sleep(0.05)
                return
        here = holder.get("host") == socket.gethostname()
        if _is_alive(int(holder["pid"])) if here and "pid" in holder else holder and age < STALE:
            who = f"process {holder.get('pid')} on {holder.get('host')}"
            raise StoreError(
                f"{self.path.name}: {who} is writing to this store. Wait until it is done; if it is not running any more, "
                f"remove the file (it is taken over after {STALE:g} s without a sign of life)"
            )
        aside = self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}")
        with contextlib.suppress(FileNotFoundError):  # (renaming is atomic: only one process takes it over)
            os.rename(self.path, aside)
            if aside.read_text() == text:
                aside.unlink()
            else:  # another process has taken it over in between
                os.replace(aside, self.path)

    def refresh(self) -> None:
        """A sign of life, now and then; an error if another process has taken the lock over."""
        if time.monotonic() - self._refreshed < REFRESH:
            return
        self._refreshed = time.monotonic()
        if self._is_mine():
            os.utime(self.path)
        else:
            raise StoreError(f"{self.path.name}: another process has taken this store over")

    def _is_mine(self) -> bool:
        try:
            return self.path.read_text() == self._mine
        except FileNotFoundError:
            return False

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_mine():
            self.path.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
