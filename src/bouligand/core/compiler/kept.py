"""Machine code of users' functions on disk: a function that was compiled once is read in the next process.

Numba's own cache sees an edit only in the file of the function itself, and nothing of the values and functions that it reads from
elsewhere. Here a file is found under a digest of all that its machine code was made from (see `system.content`): what has
changed is not found, so that nothing is ever out of date. Files that nobody has read for a month are removed.
"""

import contextlib
import hashlib
import os
import pathlib
import sys
import time
import uuid

from numba import config
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from .cache import CACHED, STAMP
from .checked import read_checked, write_checked
from .compiling import compiling
from .settings import settings

_MONTH = 30 * 86400.0  # seconds that a file is kept without being read
_entries: dict = {}  # those read in this process, by their paths: none is put into LLVM's engine twice


class KeptCode:
    """What is kept of one function, under a digest of its content. Serves a dispatcher as its ``_cache``."""

    cache_path = None

    def __init__(self, digest):
        self._digest = digest

    # -- compiled functions, for Numba's dispatcher

    def load_overload(self, sig, target_context):
        found = self._read("overload", sig)
        if found is None:
            return None
        target_context.refresh()
        return self._or_none(lambda: CompileResult._rebuild(target_context, *found), "overload", sig)

    def save_overload(self, sig, compiled):
        self._write(compiled, compiled._reduce, "overload", sig)

    def flush(self):
        """(Numba's, before a function is compiled anew.)"""

    # -- entries, which have no caller in Python: their libraries, and the name under which LLVM finds them

    def load_entry(self, *how):
        """The address of an entry, and what must be kept alive for it; or None."""
        path = self._path("entry", how)
        with compiling():  # (one thread at a time uses LLVM)
            if path not in _entries and (found := self._read("entry", how)) is not None:
                _entries[path] = self._or_none(lambda: _entry(*found), "entry", how)
        return _entries.get(path)

    def save_entry(self, name, compiled, *how):
        def content():
            library, _, _, _, _, _, _, _, environments = compiled._reduce()
            return name, library, environments

        self._write(compiled, content, "entry", how)

    # -- files

    def _path(self, *part):
        return _FOLDER / f"{self._digest}-{hashlib.sha256(repr(part).encode()).hexdigest()[:16]}.nbu"

    def _read(self, *part):
        path = self._path(*part)
        try:
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - 0.1 * _MONTH:
                    os.utime(path)
                return read_checked(path)
        except Exception as error:
            self._discard(error, *part)
        return None

    def _or_none(self, make, *part):
        try:
            return make()
        except Exception as error:
            self._discard(error, *part)
            return None

    def _discard(self, error, *part):
        print(f"bouligand: compiled code on disk cannot be used ({error}); compiling it again ...", file=sys.stderr)
        with contextlib.suppress(OSError):
            self._path(*part).unlink(missing_ok=True)

    def _write(self, compiled, content, *part):
        """Keep what ``content()`` gives, if it is the same in another process: not if it contains addresses."""
        if compiled.lifted or compiled.library.has_dynamic_globals:
            return
        # (whatever cannot be pickled, or written: it is compiled again, as without a cache)
        with contextlib.suppress(Exception):
            data = serialize.dumps(content())
            _FOLDER.mkdir(parents=True, exist_ok=True)
            _remove_old()
            write_checked(self._path(*part), data)


def _entry(name, data, environments):
    target_context = cpu_target.target_context
    target_context.refresh()
    library = target_context.codegen().unserialize_library(data)
    for environment in environments:
        library.codegen.set_env(environment.env_name, environment)
    address = library.get_pointer_to_function(name)
    if not address:
        raise ValueError(f"{name} is not in it")
    return address, library


def new_name():
    """Of an entry: no other one has it, also of those that other processes have kept."""
    return f"bouligand.entry.{uuid.uuid4().hex}"


def surroundings():
    """What machine code depends on besides a function: the sources of the core, Numba's version and settings, the processor."""
    import llvmlite
    import numba
    import numpy

    versions = [sys.version, numba.__version__, numpy.__version__, llvmlite.__version__]
    return repr((STAMP, versions, settings(), cpu_target.target_context.codegen().magic_tuple()))


def kept(digest):
    """What is on disk under a digest, for ``c_function`` and dispatchers; None without one, or without a place to write to."""
    return KeptCode(digest) if digest is not None and CACHED and _FOLDER is not None else None


def _place():
    if config.CACHE_DIR:
        return pathlib.Path(config.CACHE_DIR) / "functions"
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return (
        pathlib.Path(user) / "bouligand" / "functions" if os.path.isabs(user) else None
    )  # (without a home: "~/.cache")


_FOLDER = _place()
_removed: list = []


def _remove_old():
    """Once in a process that writes: files that have not been read for a month."""
    if _removed:
        return
    _removed.append(True)
    limit = time.time() - _MONTH
    for path in _FOLDER.glob("*.nbu*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()
