"""Names, mappings by name and functions that a user gives: read, or an error that names the argument."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import short

if TYPE_CHECKING:
    from collections.abc import Callable


def name(what: str, value: Any, known: Sequence[str], kind: str) -> str:
    """One of the names that are known; ``kind`` says what they name: "state", "parameter"."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be the name of a {kind}; got {short(value)}")
    if value not in known:
        raise ValueError(f"{what}: no {kind} is called {value!r}; {kind}s: {_listed(known)}")
    return str(value)


def names(what: str, value: Any, known: Sequence[str], kind: str, others: str = "") -> tuple[str, ...]:
    """Some of the names that are known, or one alone; none of them twice. ``others``: what may be given instead."""
    given = listed(what, value, f"names of {kind}s{others}")
    out = tuple(name(what, one, known, kind) for one in given)
    if len(set(out)) < len(out):
        raise ValueError(f"{what}: each may be named once; got {', '.join(out)}")
    return out


def listed(what: str, value: Any, kinds: str) -> list[Any]:
    """The elements of a sequence, or one word alone; ``kinds`` says what they are."""
    if isinstance(value, str):
        return [value]
    try:
        if isinstance(value, bytes | Mapping):
            raise TypeError
        return list(value)
    except Exception:  # (objects of other libraries fail in ways of their own)
        raise TypeError(f"{what} must be {kinds}; got {short(value)}") from None


def mapping(what: str, value: Any, known: Sequence[str], kind: str) -> dict[str, Any]:
    """A mapping from names that are known."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a mapping from the names of {kind}s; got {short(value)}")
    return {name(what, key, known, kind): entry for key, entry in value.items()}


def pair(what: str, value: Any, kinds: str) -> tuple[Any, Any]:
    """Two things; ``kinds`` says which."""
    try:
        if isinstance(value, str | bytes | Mapping | set):
            raise TypeError
        one, other = value
    except Exception:  # (objects of other libraries fail in ways of their own)
        raise ValueError(f"{what} must be {kinds}; got {short(value)}") from None
    return one, other


def function(what: str, value: Any, arguments: str) -> Callable[..., Any]:
    """A function; ``arguments`` says of what, as "t, x"."""
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"{what} must be a function of ({arguments}); got {short(value)}")
    out: Callable[..., Any] = value
    try:
        signature = inspect.signature(getattr(value, "py_func", value))
    except (TypeError, ValueError):  # (some of those written in C do not tell)
        return out
    try:
        signature.bind(*arguments.replace(",", " ").split())
    except TypeError:
        raise TypeError(f"{what} must be a function of ({arguments}); the one that came takes {signature}") from None
    return out


def progress(value: Any) -> bool | str:
    """The argument ``progress``: whether to show a bar, or its title."""
    if value is None or isinstance(value, bool | np.bool_):
        return bool(value)
    if not isinstance(value, str):
        raise TypeError(f"progress must be True, False or the title of the bar; got {short(value)}")
    return value


def _listed(known: Sequence[str]) -> str:
    return ", ".join(known[:12]) + (", ..." if len(known) > 12 else "") or "none"
