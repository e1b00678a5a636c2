"""What the parameters of a model may be: declared once, above the functions that take them, and checked when these are called.

>>> LIMITS = {"mass": POSITIVE, "e": FRACTION}
>>> @takes(LIMITS)
... def ball(mass=1.0, e=0.8):
...     return mass, e
>>> ball(e=1.5)
Traceback (most recent call last):
    ...
ValueError: e must be from 0 to 1; got 1.5
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from ..system.arguments import finite_numbers, flag, number, whole
from ..system.declarations import MOST

MANY = 100_000  # events that a closed form lists

P = ParamSpec("P")
R = TypeVar("R")


class Limits:
    """What an argument may be."""

    def read(self, name: str, value: Any) -> Any:
        """The value, as the functions of a model use it; raises a TypeError or ValueError that names the argument."""
        raise NotImplementedError


@dataclass(frozen=True)
class Real(Limits):
    """A finite number between two limits, which may be reached unless `open`; not a number of many digits, but a float."""

    least: float = -math.inf
    most: float = math.inf
    open: bool = False

    def read(self, name: str, value: Any) -> float:
        out = number(name, value)
        if (self.open and out in (self.least, self.most)) or not self.least <= out <= self.most:
            raise ValueError(f"{name} must be {self}; got {value!r}")
        return out

    def __str__(self) -> str:
        if self.most < math.inf:
            return f"{'between' if self.open else 'from'} {self.least:g} {'and' if self.open else 'to'} {self.most:g}"
        if self.least == 0.0:
            return "positive" if self.open else "zero or positive"
        return f"{'greater than' if self.open else 'at least'} {self.least:g}"


@dataclass(frozen=True)
class Whole(Limits):
    """A whole number."""

    least: int = 1
    most: int = MOST

    def read(self, name: str, value: Any) -> int:
        return whole(name, value, self.least, self.most)


@dataclass(frozen=True)
class Reals(Limits):
    """Several numbers, each between limits: an array of one dimension, of a given length if there is one; or a single number,
    if `single`."""

    each: Real = Real()
    size: int | None = None
    single: bool = False

    def read(self, name: str, value: Any) -> Any:
        out = finite_numbers(name, value)
        if out.ndim > 1 or (out.ndim == 0 and not self.single) or not out.size or self.size not in (None, out.size):
            raise ValueError(f"{name} must be a vector of {self.size or 'one or more'} numbers; got shape {out.shape}")
        for one in out.ravel().tolist():
            self.each.read(f"each of {name}", one)
        return out


class Flag(Limits):
    """True or False."""

    def read(self, name: str, value: Any) -> bool:
        return flag(name, value)


ANY = Real()
POSITIVE = Real(0.0, open=True)
NOT_NEGATIVE = Real(0.0)
FRACTION = Real(0.0, 1.0)  # such as a restitution
ACUTE = Real(0.0, 0.5 * math.pi, open=True)  # an angle
SLOPE = Real(-0.5 * math.pi, 0.5 * math.pi, open=True)
NUMBERS = Reals(single=True)
VECTOR = Reals()
COUNT = Whole()
FLAG = Flag()


def takes(limits: Mapping[str, Limits], **others: Limits) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: the arguments that have these names are read before the function is called. None stays None where that is the
    default; what ``**params`` collects is read by its names. Where a closed form does not exist (a root of a negative number),
    the error names the arguments that were given."""
    known = {**limits, **others}

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = cache(lambda: inspect.signature(function))  # (once it is called)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                bound = signature().bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # (Python's own message names the function)
            given: dict[str, Any] = bound.arguments
            for name, value in given.items():
                argument = signature().parameters[name]
                if argument.kind is argument.VAR_KEYWORD:
                    given[name] = {
                        key: known[key].read(key, one) if key in known else one for key, one in value.items()
                    }
                elif name in known and not (value is None and argument.default is None):
                    given[name] = known[name].read(name, value)
            try:
                return function(*bound.args, **bound.kwargs)
            except (ArithmeticError, StopIteration, ValueError) as error:
                if isinstance(error, ValueError) and any(name in str(error) for name in given):
                    raise
                values = ", ".join(f"{name} = {value!r}" for name, value in given.items())
                raise ValueError(f"{function.__name__} has no answer for {values} ({error})") from error

        return checked

    return decorate


def ordered(low: str, least: float, high: str, most: float) -> None:
    """Raise a ValueError unless the first of two arguments is smaller than the second."""
    if not least < most:
        raise ValueError(f"{low} must be less than {high}; got {low} = {least:g}, {high} = {most:g}")


def listed(times: Sequence[float]) -> None:
    """Raise a ValueError if a list of events has become too long: their parameters make them accumulate, or tf is far away."""
    if len(times) > MANY:
        raise ValueError(f"tf is too far away for these parameters: there are more than {MANY} events before it")
