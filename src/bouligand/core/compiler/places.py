"""Where compiled code and generated modules are kept from one process to the next.

In folders of NUMBA_CACHE_DIR, if that is set; otherwise of the user's cache folder, or beside the library where there is no home.
They are made for this user only, and a folder or file that somebody else may have written is refused (see `trusted`).
"""

import contextlib
import os
import pathlib
import shutil
import time
from functools import cached_property

from numba import config

from . import trusted
from .checked import write_whole
from .notices import say

_PACKAGE = pathlib.Path(__file__).parents[2]
_MONTH = 30 * 86400.0  # seconds that something is kept without being read
_OLD = 3600.0  # seconds after which an unfinished file has been left by a process that was killed
_PART = "for-" + 12 * "[0-9a-f]"  # the name of a part
MOST = 8  # folders of machine code for different surroundings (see `kept`) that are kept at most


def _candidates(kind):
    """Where files of this kind could be kept, the best place first."""
    if config.CACHE_DIR:
        yield pathlib.Path(config.CACHE_DIR).absolute() / (kind if kind == "functions" else f"bouligand-{kind}")
        return
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(user):  # (without a home: "~/.cache")
        yield pathlib.Path(user) / "bouligand" / kind
    yield _PACKAGE / "__pycache__" / "bouligand" / kind


class Folder:
    """A folder whose files are read if nobody else may have written them."""

    flaw = staticmethod(trusted.flaw)

    def __init__(self, path):
        self.path = path

    def read(self, name):
        """The content of a file; None if there is none, or if it is refused."""
        if self.path is None:
            return None
        try:
            return trusted.read(self.path / name, self.flaw)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except trusted.UntrustedError as error:
            self.refuse(name, error, once="a file is not trusted")
        except OSError as error:
            self.refuse(name, error)
        return None

    def refuse(self, name, error, once=None):
        """A file cannot be used."""
        say(f"{self.path / name} cannot be used: {error}. It is made anew ...", once)


class Kept(Folder):
    """A folder for files of one kind, found or made when it is first used.

    ``names``: what its files are called. ``part``: a function that gives the name of the folder's part for the surroundings of
    this process; or None.
    """

    def __init__(self, kind, names, part=None):
        self._kind, self._names, self._part, self._written, self.why = kind, names, part, False, ""

    @cached_property
    def root(self):
        """The folder of this kind, which may have parts; None if there is none. Sets ``why`` if nothing can be kept."""
        reasons, only_read = [], None
        for path in _candidates(self._kind):
            try:
                with contextlib.suppress(OSError):
                    os.makedirs(path.parent, mode=0o700, exist_ok=True)
                    os.mkdir(path, 0o700)
                found = trusted.flaw_of_folder(path)
            except OSError as error:
                reasons.append(f"{path}: {error.strerror}")
                continue
            if found:
                say(
                    f"what is in {path} is not used, since {found}: anything could have been put there to be run. Remove that "
                    "folder, or set NUMBA_CACHE_DIR to one that only you can write to",
                    once="a folder is not used",
                )
                reasons.append(f"{path} is not used: {found}")
            elif os.access(path, os.W_OK | os.X_OK):
                return path
            else:
                reasons.append(f"{path} cannot be written to")
                only_read = only_read or path
        self.why = "; ".join(reasons)
        return only_read

    @cached_property
    def path(self):
        if self.root is None or self._part is None:
            return self.root
        path = self.root / self._part()
        with contextlib.suppress(OSError):
            os.mkdir(path, 0o700)
        with contextlib.suppress(OSError):
            if not trusted.flaw_of_folder(path):
                _note_use(path)
                return path
        return None

    @property
    def keeps(self):
        """Whether files can be kept here."""
        return self.root is not None and not self.why

    def read(self, name):
        content = super().read(name)
        if content is not None:
            _note_use(self.path / name)
        return content

    def refuse(self, name, error, once=None):
        super().refuse(name, error, once)
        with contextlib.suppress(OSError):
            (self.path / name).unlink()

    def write(self, name, content):
        """Keep a file. Where that fails, one line says so; the path of the file if it did not."""
        if not self.keeps or self.path is None:
            return None
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)  # (removed since)
            if not self._written:
                self._written = True
                self._remove_old()
            write_whole(self.path / name, content)
        except OSError as error:
            say(
                f"{self.path} cannot be written to ({error.strerror}): what is compiled is compiled in every process. Set "
                "NUMBA_CACHE_DIR to a folder that can be written to",
                once="cannot be written",
            )
            return None
        return self.path / name

    def _remove_old(self):
        """Remove what has not been read for a month, unfinished files, and all but the parts that were used last. (Nothing else
        than ours: who knows what is in that folder.)"""
        now = time.time()
        for file in self.path.glob(self._names):
            with contextlib.suppress(OSError):
                if now - file.stat().st_mtime > (_OLD if ".tmp." in file.name else _MONTH):
                    file.unlink()
        if self._part is not None:
            parts = []
            for part in self.root.glob(_PART):
                with contextlib.suppress(OSError):
                    parts.append((now - part.stat().st_mtime, part))
            for place, (age, part) in enumerate(sorted(parts)):
                if age > _MONTH or place >= MOST:
                    shutil.rmtree(part, ignore_errors=True)


def _note_use(path):
    """Note that this is still used, from time to time."""
    with contextlib.suppress(OSError):  # (others than its owner cannot)
        if path.stat().st_mtime < time.time() - 0.1 * _MONTH:
            os.utime(path)
