"""Machine code on disk: under names that an edit of the sources changes, checked when it is read, and never a reason to fail.

Numba keeps the machine code of a function in an index file and data files. It notices an edit only of the file in which the
function itself is written, reads what it finds without looking whether it is whole, and raises where it cannot write. Here
the name of a function contains a hash of all sources (`stamp_of`), and each file a hash of its content (`CheckedCache`).
"""

import contextlib
import hashlib
import os
import pathlib
import sys
import tempfile
import time

from numba import config
from numba.core.caching import FunctionCache, IndexDataCacheFile

from .checked import read_checked, write_checked
from .shipped import shipped

_CORE = pathlib.Path(__file__).parents[1]
_OLD = 3600.0  # seconds after which an unfinished file has been left by a process that was killed


def stamp_of(*folders):
    """A hash of all sources in these folders and their subfolders."""
    digest = hashlib.sha256()
    for folder in map(pathlib.Path, folders):
        for source in sorted(folder.rglob("*.py")):
            digest.update(source.relative_to(folder).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


STAMP = stamp_of(_CORE)


def _is_writable():
    """Whether there is a place for a cache: where NUMBA_CACHE_DIR says, beside the sources, or in the user's cache folder."""
    if config.CACHE_DIR:
        candidates = [config.CACHE_DIR]
    else:
        user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        candidates = [_CORE / "__pycache__", *([user] if os.path.isabs(user) else [])]  # (without a home: "~/.cache")
    for place in candidates:
        try:
            os.makedirs(place, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return True
        except OSError:
            continue
    return False


JIT = not config.DISABLE_JIT  # type: ignore[attr-defined]  # (made at run time: type checkers do not see it)
CACHED = JIT and _is_writable()


class _CheckedFile(IndexDataCacheFile):
    """Numba's files of one function, each with a hash of its content in front."""

    def _load_index(self):
        try:
            version, stamp, overloads = read_checked(self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads):
        write_checked(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name):
        return read_checked(self._data_path(name))

    def _save_data(self, name, data):
        write_checked(self._data_path(name), self._dump(data))

    def remove(self):
        """Forget all that is kept of this function."""
        path = pathlib.Path(self._index_path)
        for file in (path, *path.parent.glob(f"{path.stem}.*.nbc")):
            file.unlink(missing_ok=True)


class CheckedCache(FunctionCache):
    """The cache of one function. What cannot be read is removed and compiled anew, what cannot be written is not kept.

    ``package``: what came with the package of its machine code, for what is not in the cache; or None.
    """

    def __init__(self, function, package=None):
        super().__init__(function)
        theirs, self._package = self._cache_file, package
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, theirs._source_stamp)

    def load_overload(self, sig, target_context):
        compiled = self._load_own(sig, target_context)
        if compiled is None and self._package is not None:
            compiled = self._package.load_overload(sig, target_context)
        return compiled

    def _load_own(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:
            print(f"bouligand: compiled code on disk cannot be used ({error}); compiling it again ...", file=sys.stderr)
            try:
                self._cache_file.remove()
            except OSError:
                self.disable()
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception as error:
            print(f"bouligand: compiled code cannot be kept on disk: {error}", file=sys.stderr)

    @property
    def is_filled(self):
        """Whether there is anything on disk of this function."""
        return os.path.exists(self._cache_file._index_path) or getattr(self._package, "is_filled", False)


def keep_on_disk(compiled, function):
    """Let a dispatcher (or a C function that is not compiled yet) keep the machine code of ``function`` on disk."""
    package = shipped(function)
    if CACHED:
        with contextlib.suppress(OSError, RuntimeError):  # (Numba's RuntimeError: there is no place to write to)
            compiled._cache = CheckedCache(function, package)
            return
    if package is not None:
        compiled._cache = package


def in_disk_cache(compiled):
    """Whether the disk cache holds machine code of this function (so that its first call only loads it)."""
    return getattr(compiled._cache, "is_filled", False)


def prune_cache(compiled, folder=_CORE, stamp=STAMP):
    """Remove what earlier versions of a folder's sources, and processes that were killed, left in the cache of a function.

    Harmless when another process does the same.
    """
    if not isinstance(compiled._cache, CheckedCache):
        return
    modules = {path.stem for path in pathlib.Path(folder).rglob("*.py")}
    for entry in pathlib.Path(compiled._cache.cache_path).iterdir():
        module, _, rest = entry.name.partition(".")
        theirs = rest.split("-")[0].rpartition("_")[2]
        if module not in modules or len(theirs) != len(stamp):
            continue
        try:
            if theirs != stamp or (".tmp." in rest and time.time() - entry.stat().st_mtime > _OLD):
                entry.unlink(missing_ok=True)
        except OSError:
            continue
