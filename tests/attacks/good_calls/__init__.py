"""Good calls of everything public: ``bad_calls`` replaces one argument of them at a time. One room of the library a file.

    @good("Solution.word")
    def _():
        return Good(solution().word, t=0.5)

A class that only the library makes is named in `MADE_BY_THE_LIBRARY`, by ``made("Solution")``.
"""

import importlib
import pkgutil
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Good:
    """What is called, with its arguments by name.

    `then` uses what came of the call: what fails there, but was taken at the call, was refused too late.
    `particular` has values that are wrong for an argument of this call, beside those of the zoo.
    `says` has what a message may call an argument instead of its name.
    `raises` has documented exceptions of other types, such as the KeyError of an index or the OSError of a path.
    `later` names arguments whose size and names are known only with others, with the reason: these are refused in `then`.
    `leave` names arguments that are not attacked, with the reason.
    """

    function: Any
    arguments: dict[str, Any]
    then: Any = None
    particular: dict[str, list[Any]] = field(default_factory=dict)
    says: dict[str, tuple[str, ...]] = field(default_factory=dict)
    raises: tuple[type[BaseException], ...] = ()
    later: dict[str, str] = field(default_factory=dict)
    leave: dict[str, str] = field(default_factory=dict)


GOOD: dict[str, Any] = {}  # name: function that makes the good call
MADE_BY_THE_LIBRARY: set[str] = set()
CALLED_BY_THE_LIBRARY: dict[
    str, str
] = {}  # methods that users write, and the library calls, with the reason not to attack them


def good(name):
    """Registers the function that makes a good call; a second one of the same callable has a remark, as "System (f0)"."""

    def register(make):
        assert name not in GOOD, name
        GOOD[name] = make
        return make

    return register


def made(*names):
    """Registers classes that have no public constructor."""
    MADE_BY_THE_LIBRARY.update(names)


def interface(reason, *names):
    """Registers methods that are public for users who write their own."""
    CALLED_BY_THE_LIBRARY.update(dict.fromkeys(names, reason))


def load():
    """Imports all files of this folder, which fills the tables."""
    for file in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{file.name}")
