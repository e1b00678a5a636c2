"""Files that a robot file names, looked at before anything opens them: a pipe would be waited for, a device may have no end."""

from __future__ import annotations

import os
import pathlib
import stat
import struct

from .hostile import MOST_BYTES, MOST_PIXELS

MOST_OF_ALL = 2_000_000_000  # bytes, of all files of one robot

_SPECIAL = {
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def size_of(path: str | pathlib.Path) -> int:
    """The number of bytes of a file, also by way of a link; 0 where there is none, or a folder. An error for what is there and
    is no file that ends, or that is too large."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return 0  # (whoever needs it says so)
    for is_it, what in _SPECIAL.items():
        if is_it(found.st_mode):
            raise ValueError(f"{path} is {what}; only files are opened")
    if stat.S_ISDIR(found.st_mode):
        return 0
    if found.st_size == 0:  # (also of files that the kernel makes up while they are read)
        raise ValueError(f"{path} is empty")
    if found.st_size > MOST_BYTES:
        raise ValueError(f"{path} has {found.st_size:,} bytes; at most {MOST_BYTES:,} are read")
    return found.st_size


class Files:
    """The files of one robot, which must not be too large together."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._bytes = 0

    def check(self, path: str) -> None:
        """An error if a file cannot be opened safely, or is too large. (Nothing happens if it is not there.)"""
        if path in self._seen:
            return
        self._seen.add(path)
        size = size_of(path)
        self._bytes += size
        if self._bytes > MOST_OF_ALL:
            raise ValueError(f"the files that it names have more than {MOST_OF_ALL:,} bytes")
        if size:
            _refuse_large_picture(path)


def _refuse_large_picture(path: str) -> None:
    """A PNG may be a thousand times as large as its file."""
    try:
        with open(path, "rb") as file:
            head = file.read(24)
    except OSError:
        return
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) == 24:
        width, height = struct.unpack(">2I", head[16:])
        if width * height > MOST_PIXELS:
            raise ValueError(f"{path} has {width * height:.3g} points; at most {MOST_PIXELS:,} are read")
