"""Classes that only the library makes, such as results: calling one says who makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Made(type):
    """The type of classes without a public constructor: ``class Solution(metaclass=Made, by="bd.solve")``.

    The library makes its instances by `make`; pickle and copy, which do not call the class, work as with any other.
    """

    _made_by: str

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], by: str = "", **rest: Any) -> Made:
        made = super().__new__(mcs, name, bases, namespace, **rest)
        if by:
            made._made_by = by
        return made

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], by: str = "", **rest: Any) -> None:
        super().__init__(name, bases, namespace, **rest)

    def __call__(cls, *arguments: Any, **named: Any) -> NoReturn:
        raise TypeError(f"{cls.__name__} has no public constructor: {cls._made_by} makes it")


def make(kind: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """An instance of a class that only the library makes."""
    plain: Any = getattr(kind, "__origin__", kind)  # (of a class with type arguments)
    made: T = type.__call__(plain, *arguments, **named)
    return made
