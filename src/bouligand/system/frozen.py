"""What compiled functions have taken in for good: the values that they read from outside.

Numba puts these values into the machine code. A later change has no effect there, so it is noticed: a new system gets new
machine code, and an old one warns.
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .fingerprint import Fingerprint, fingerprint
from .libraries import is_library
from .outside import NOT_THERE, Read, python_of, values_read
from .outside import reached as reached
from .schedule import Schedule

MOST_BYTES = 1000  # of an array whose contents are compared at every integration
# of these, that they are the same objects says that nothing has changed
_UNCHANGING = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    np.generic,
    Schedule,
    types.FunctionType,
    types.ModuleType,
)


class Frozen(NamedTuple):
    """A value that compiled code has taken in: where it was read, and what it was."""

    read: Read
    content: object  # what its fingerprint says; None where the object itself is enough

    @classmethod
    def of(cls, read: Read) -> Frozen:
        """What is read now."""
        return cls(read, None if _is_unchanging(read.was) else fingerprint(read.was).content)

    @property
    def name(self) -> str:
        return self.read.name

    @property
    def is_quick(self) -> bool:
        """Whether a look at the object tells that nothing has changed."""
        return self.content is None

    def has_changed(self) -> bool:
        """Whether there is something else now. (Of large arrays, whether it is another one.)"""
        now = self.read.now()
        if now is self.read.was and (self.is_quick or (isinstance(now, np.ndarray) and now.nbytes > MOST_BYTES)):
            return False
        return self.differs()

    def differs(self) -> bool:
        """The same, with a look also into large arrays."""
        now, was = self.read.now(), self.read.was
        if isinstance(was, types.ModuleType):  # (what is read in it is looked for in the module that was there)
            return now is not was
        return fingerprint(now).content != (self.content or fingerprint(was).content)


def _is_unchanging(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_unchanging, value))
    # (targetoptions: a function of Numba)
    return isinstance(value, _UNCHANGING) or value is NOT_THERE or hasattr(value, "targetoptions") or is_library(value)


def schedules_of(function: Any) -> list[Schedule]:
    """The schedules that a function (and the functions it calls) reads from outside."""
    if python_of(function) is None:
        return []
    found = [value for part in reached(function) for value in values_read(part) if isinstance(value, Schedule)]
    return found + ([function] if isinstance(function, Schedule) else [])


# ------------------------------------------------------------------------------------------------- Numba's own functions

# Of the functions of Numba that were met: their fingerprints, and the machine code that was made while these were true.
_met: WeakKeyDictionary[Any, tuple[str, list[Any]]] = WeakKeyDictionary()
_OURS = "made here, of copies of all that it reads"


def note_met(found: Fingerprint) -> list[Any]:
    """Those functions of Numba in a function whose machine code has the values that they read now, or is not there yet."""
    for one in found.numba:
        if not one.overloads and not _has_file(one) and _met.get(one, ("", []))[0] != _OURS:
            _met[one] = fingerprint(one).digest, []
    return [one for one in found.numba if one in _met and not _may_be_old(one)]


def note_compiled(met: list[Any]) -> None:
    """Remember what was compiled of these since."""
    for one in met:
        _met[one] = _met[one][0], list(one.overloads.values())


def note_own(dispatcher: Any) -> None:
    """Remember that nothing can change the values that a function of Numba reads."""
    _met[dispatcher] = _OURS, []


def is_stale(dispatcher: Any) -> bool:
    """Whether the machine code of a function of Numba, or of one that it calls, may have been made with other values than those
    that it reads now. (So may be what Numba keeps on disk of it, which it finds by the file and the line alone.)"""
    found = fingerprint(dispatcher)
    return bool(found.reads) and any(_may_be_old(one) for one in found.numba)


def _may_be_old(dispatcher: Any) -> bool:
    digest, code = _met.get(dispatcher, ("", []))
    if digest == _OURS or (not dispatcher.overloads and not _has_file(dispatcher)):
        return False
    found = fingerprint(dispatcher)
    strange = any(all(one is not other for other in code) for one in dispatcher.overloads.values())
    return bool(found.reads) and (digest != found.digest or strange)


def _has_file(dispatcher: Any) -> bool:
    """Whether Numba keeps its machine code on disk (cache=True)."""
    return type(dispatcher._cache).__name__ != "NullCache"
