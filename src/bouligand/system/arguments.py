"""Numbers, vectors and counts that a user gives, of whatever type they come: read, or an error that names the argument."""

from __future__ import annotations

import math
import operator
import os
import pathlib
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray

T = TypeVar("T")


def numbers(what: str, value: Any) -> FloatArray:
    """An array of floats, a new one; text, complex numbers, masked values and ragged lists are refused."""
    if type(value) is np.ndarray and value.dtype == np.float64:  # (most are)
        return value.copy()
    try:
        array = np.asarray(value)
        real = array.dtype.kind in "biuf" or (array.dtype.kind == "O" and all(map(_is_real, array.ravel())))
        if real and not np.ma.is_masked(value):
            return array.astype(float)
    except Exception:  # (objects of other libraries fail in ways of their own)
        pass
    raise TypeError(f"{what} must be made of real numbers; got {short(value)}")


def finite_numbers(what: str, value: Any) -> FloatArray:
    """The same, of which all are finite."""
    array = numbers(what, value)
    if not np.isfinite(array).all():
        raise ValueError(f"{what} must be finite; got {short(value)}")
    return array


def vector(name: str, value: Any) -> FloatArray:
    """The argument ``name`` as a vector of finite numbers."""
    out = numbers(name, value)
    if out.ndim == 0:
        out = out.reshape(1)
    if out.ndim != 1 or not np.isfinite(out).all():
        raise ValueError(f"{name} must be a vector of finite numbers; got {short(value)}")
    return out


def number(what: str, value: Any) -> float:
    """A finite float."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not _is_real(value) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{what} must be a number; got {short(value)}")
    try:
        out = float(value)
    except OverflowError:
        out = math.inf
    if not math.isfinite(out):
        raise ValueError(f"{what} must be finite; got {short(value)}")
    return out


def moment(what: str, value: Any) -> float:
    """A time at which an integration may begin or end."""
    out = number(what, value)
    if not abs(out) < 1e290:
        raise ValueError(f"{what} must be a time within 1e290; got {short(value)}")
    return out


def positive(what: str, value: Any, most: float = math.inf) -> float:
    """A finite float above zero, up to ``most``."""
    out = number(what, value)
    if not 0.0 < out <= most:
        raise ValueError(f"{what} must be positive{_up_to(most)}; got {short(value)}")
    return out


def not_negative(what: str, value: Any, most: float = math.inf) -> float:
    """A finite float, zero or more, up to ``most``."""
    out = number(what, value)
    if not 0.0 <= out <= most:
        raise ValueError(f"{what} must not be negative{_up_to(most)}; got {short(value)}")
    return out


def whole(what: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number, also one that comes as a float."""
    count = number(what, value)
    if count != int(count) or count < least or (most is not None and count > most):
        limits = f"at least {least}" + (f" and at most {most}" if most is not None and count > most else "")
        raise ValueError(f"{what} must be a whole number, {limits}; got {short(value)}")
    return int(count)


def index(what: str, value: Any) -> int:
    """A whole number of an integer type."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number; got {short(value)}") from None


def flag(what: str, value: Any) -> bool:
    """True or False, and nothing that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{what} must be True or False; got {short(value)}")
    return bool(value)


def one_of(what: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{what} must be {' or '.join(map(repr, choices))}; got {short(value)}")
    return value


def text(what: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} must be a text that is not empty; got {short(value)}")
    return value


def path(what: str, value: Any) -> pathlib.Path:
    """A path: a text that is not empty, or what has the protocol of paths."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise TypeError(f"{what} must be a path, a text or a pathlib.Path; got {short(value)}")
    if not os.fspath(value) or "\0" in os.fspath(value):
        raise ValueError(f"{what} must be the path of a file; got {value!r}")
    return pathlib.Path(value)


def instance(what: str, value: Any, kind: type[T], made_by: str) -> T:
    """An object of a class of the library."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{what} must be {article} {kind.__name__}, from {made_by}; got {short(value)}")
    return value


def _up_to(most: float) -> str:
    return "" if most == math.inf else f", and at most {most:g}"


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) or (isinstance(value, np.generic) and value.dtype.kind in "biuf")


def short(value: Any) -> str:
    """A value as messages show it."""
    try:
        text = repr(value)
    except Exception:
        text = f"an object of {type(value)}"
    return text if len(text) <= 200 else text[:190] + " ..."
