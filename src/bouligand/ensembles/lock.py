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
    """``with Lock(path) as lock:``: `acquire` creates the file, when it is needed, and it is removed at the end."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._mine = json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "id": uuid.uuid4().hex})
        self._is_held = False
        self._refreshed = 0.0

    def acquire(self) -> bool:
        """Create the file, unless that was done before (then False); an error if another process holds it."""
        if self._is_held:
            return False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for _ in range(100):
                if self._is_created():
                    self._is_held, self._refreshed = True, time.monotonic()
                    return True
                self._remove_if_stale()
        except OSError as error:
            raise StoreError(f"store: cannot write to {self.path.parent}: {error.strerror or error}") from error
        raise StoreError(
            f"the lock {self.path} comes back whenever it is removed; is another process using this store?"
        )

    def _is_created(self) -> bool:
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        with os.fdopen(handle, "w") as file:
            file.write(self._mine)
        return True

    def _remove_if_stale(self) -> None:
        """Remove the lock of a process that is gone; an error if its process is alive."""
        try:
            text = self.path.read_bytes()
            age = time.time() - self.path.stat().st_mtime
        except FileNotFoundError:
            return
        host, pid = _holder(text)
        if host is None and age < 1.0:  # (killed, or not yet finished, while it was being written)
            time.sleep(0.05)
            return
        if _is_alive(pid) if host == socket.gethostname() else host is not None and age < STALE:
            who = f"process {pid} on {host}"
            raise StoreError(
                f"{self.path.name}: {who} is writing to this store. Wait until it is done; if it is not running any more, "
                f"remove the file (it is taken over after {STALE:g} s without a sign of life)"
            )
        aside = self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}")
        with contextlib.suppress(FileNotFoundError):  # (renaming is atomic: only one process takes it over)
            os.rename(self.path, aside)
            if aside.read_bytes() == text:
                aside.unlink()
            else:  # another process has taken it over in between
                os.replace(aside, self.path)

    def refresh(self) -> None:
        """A sign of life, now and then; an error if another process has taken the lock over."""
        if not self._is_held or time.monotonic() - self._refreshed < REFRESH:
            return
        self._refreshed = time.monotonic()
        try:
            if self._is_mine():
                os.utime(self.path)
                return
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written any more: {error.strerror or error}") from error
        raise StoreError(f"{self.path.name}: another process has taken this store over")

    def _is_mine(self) -> bool:
        try:
            return self._is_held and self.path.read_bytes() == self._mine.encode()
        except FileNotFoundError:
            return False

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # (what is left is taken over: this process is gone by then)
            if self._is_mine():
                self.path.unlink(missing_ok=True)


def _holder(text: bytes) -> tuple[str | None, int]:
    """The host and the number of the process that wrote a lock; None if it is no lock, or was not finished."""
    try:
        holder = json.loads(text)
        host, pid = holder["host"], holder["pid"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None, 0
    return (host, pid) if isinstance(host, str) and isinstance(pid, int) and 0 < pid < 2**31 else (None, 0)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
