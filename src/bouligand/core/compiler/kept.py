"""Machine code on disk: what was compiled once is read in the next process.

Numba's own cache sees an edit only in the file of the function itself, and nothing of the values and functions that it reads from
elsewhere; it reads what it finds, whole or not and whoever wrote it, and raises where it cannot write. Here machine code is found
under a name that tells all that it was made from, so that nothing is ever out of date: for the core the hash of its sources
(`sources`), for a user's function a digest of its content (see `system.addresses`); and under what else it depends on
(`surroundings`). What cannot be read is compiled again, what cannot be written is not kept.
"""

import hashlib
import json
import pickle
import uuid

from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import cpu_target

from . import shipped
from .checked import sealed, unsealed
from .notices import compilation_begins, not_kept
from .places import Kept
from .sources import NO_SOURCES, STAMP
from .surroundings import digest, surroundings

_ENDING = ".nbu"
MADE_FOR = "made_for.json"  # the file that says what the machine code of the core beside it was made for
_PACKAGE = __package__.partition(".")[0]
_entries: dict = {}  # those read in this process, by their files: none is put into LLVM's engine twice


class KeptCode:
    """What is kept of one function, under a name that tells all that it was made from. Serves a dispatcher as its ``_cache``.

    ``folders``: where it is looked for; it is written to the first. With none it is compiled in every process.
    """

    cache_path = None

    def __init__(self, name="", *folders):
        self._name, self._folders = name, folders

    # -- compiled functions, for Numba's dispatcher

    def load_overload(self, sig, target_context):
        def rebuilt(libdata, fndesc, environment, *rest):
            *rest, referenced = rest
            return CompileResult._rebuild(
                target_context, libdata, fndesc, _of(environment), *rest, list(map(_of, referenced))
            )

        target_context.refresh()
        found = self._load(rebuilt, "overload", sig)
        if found is None:
            compilation_begins()
        return found

    def save_overload(self, sig, compiled):
        def content():
            libdata, fndesc, environment, *rest, referenced = compiled._reduce()
            return libdata, fndesc, _bare(environment), *rest, list(map(_bare, referenced))

        self._save(compiled, content, "overload", sig)

    def flush(self):
        """(Numba's, before a function is compiled anew.)"""

    # -- entries, which have no caller in Python: their libraries, and the name under which LLVM finds them

    def load_entry(self, *how):
        """The address of an entry, and what must be kept alive for it; or None."""
        file = self.file("entry", how)
        with global_compiler_lock:  # (one thread at a time uses LLVM)
            if file not in _entries and (found := self._load(_entry, "entry", how)) is not None:
                _entries[file] = found
        return _entries.get(file)

    def save_entry(self, name, compiled, *how):
        def content():
            library, _, _, _, _, _, _, _, environments = compiled._reduce()
            return name, library, list(map(_bare, environments))

        self._save(compiled, content, "entry", how)

    # -- files

    def file(self, *part):
        """The name of the file of a signature, or of an entry."""
        return f"{self._name}-{hashlib.sha256(repr(part).encode()).hexdigest()[:16]}{_ENDING}"

    def _load(self, make, *part):
        file = self.file(*part)
        for folder in self._folders:
            content = folder.read(file)
            if content is None:
                continue
            try:
                return make(*pickle.loads(unsealed(content)))
            except Exception as error:
                folder.refuse(file, error)
        return None

    def _save(self, compiled, content, *part):
        """Keep what ``content()`` gives, if it is the same in another process: not if it contains addresses."""
        if not self._folders:
            return
        if compiled.lifted or compiled.library.has_dynamic_globals:
            not_kept("its machine code contains addresses, such as that of an array of more than a megabyte")
            return
        try:
            data = serialize.dumps(content())
        except Exception as error:  # whatever cannot be pickled: it is compiled again, as without a cache
            not_kept(f"its machine code cannot be pickled ({error})")
            return
        self._folders[0].write(self.file(*part), sealed(data))
        if self._folders[0] is CORE:
            CORE.write(MADE_FOR, json.dumps(surroundings(), indent=1).encode())


def _bare(environment):
    """What stands for a function's environment. (Numba's own would import the module of the function to be read: it may be a
    script that has another name since, or none that can be imported.)"""
    return environment.env_name, environment.consts


def _of(bare):
    name, constants = bare
    environment = lookup_environment(name)
    if environment is None:
        environment = Environment({})
        environment.consts[:] = constants
        environment.env_name = name
        Environment._memo[name] = environment
    return environment


def _entry(name, data, environments):
    target_context = cpu_target.target_context
    target_context.refresh()
    library = target_context.codegen().unserialize_library(data)
    for environment in map(_of, environments):
        library.codegen.set_env(environment.env_name, environment)
    address = library.get_pointer_to_function(name)
    if not address:
        raise ValueError(f"{name} is not in it")
    return address, library


def new_name():
    """Of an entry: no other one has it, also of those that other processes have kept."""
    return f"bouligand.entry.{uuid.uuid4().hex}"


# -- where

CORE = Kept("core", f"*{_ENDING}*", lambda: f"for-{digest()}")
FUNCTIONS = Kept("functions", f"*{_ENDING}*")


def nothing_is_kept(folder):
    """Why nothing can be kept in one of these; empty if it can."""
    if STAMP == NO_SOURCES:
        return "the sources of the library are not there"
    return "" if folder.keeps else folder.why


def keep_on_disk(compiled, function):
    """Let a dispatcher (or a C function that is not compiled yet) of the core, or of a bridge, keep its machine code on disk. The
    name of ``function`` ends with a stamp of its sources."""
    name = f"{function.__module__.removeprefix(f'{_PACKAGE}.')}.{function.__qualname__}"
    own = [] if STAMP == NO_SOURCES else [CORE]
    compiled._cache = KeptCode(name, *own, *shipped.folders())


def kept(*made_from):
    """What is on disk of a user's function, given all that its machine code is made from: nothing if that cannot be known."""
    if not made_from or STAMP == NO_SOURCES:
        return KeptCode()
    made = hashlib.sha256(repr((digest(), *made_from)).encode())
    return KeptCode(made.hexdigest()[:32], FUNCTIONS)
