"""Why something is compiled and not read from the disk, for the line that says so (see `notices`)."""

import json

from . import shipped, trusted
from .kept import CORE, FUNCTIONS, MADE_FOR, KeptCode, nothing_is_kept
from .surroundings import differences

_hints = [" (`bouligand warm` compiles everything at once)"]  # said once


def of_the_core():
    """Why a part of the library is."""
    if reason := nothing_is_kept(CORE):
        return _in_every_process(reason)
    other, hint = _made_for_others(), _hints.pop() if _hints else ""
    return f" for this machine, once; this takes some seconds{other}{hint}"


def of_a_function(unknown):
    """Why a user's function is; ``unknown``: what it reads that cannot be looked into."""
    if unknown:
        return f", in every process: what it reads cannot all be known ({unknown[0]})"
    if reason := nothing_is_kept(FUNCTIONS):
        return _in_every_process(reason)
    return ", once, until it or something that it reads is changed"


def only_numba_keeps(function):
    """Whether it is a function of Numba whose machine code we do not keep."""
    return hasattr(function, "py_func") and not isinstance(function._cache, KeptCode)


def of_a_function_of_numba():
    """Why a user's function of Numba is: what Numba keeps of it is not looked at."""
    return ", in every process, since it is a function of Numba; the machine code of plain functions is kept"


def _in_every_process(reason):
    return (
        f", in this process and in every other: nothing can be kept on disk ({reason}). Set NUMBA_CACHE_DIR to a folder that "
        "only you can write to"
    )


def _made_for_others():
    """What the machine code that is there was made for."""
    if package := shipped.why_not():
        return f" (the machine code that came with it is for {package})"
    others = []
    for file in CORE.root.glob(f"*/{MADE_FOR}"):
        try:
            made_for = json.loads(trusted.read(file))
            others.append((file.parent.stat().st_mtime, differences(made_for)))
        except (OSError, ValueError, trusted.UntrustedError):
            continue
    last = max(others, default=(0.0, []))[1]
    return f" (what is kept there is for another {' and '.join(last)})" if last else ""
