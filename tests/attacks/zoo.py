"""Wrong values: a fixed zoo, and wrong variants of a good value. Each has a label, which tables and messages use."""

import datetime
import decimal
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import bouligand as bd

HUGE = 10**30


class Broken:
    """An object whose conversions fail in a way of their own, as those of other libraries do."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("this cannot be an array")

    def __float__(self):
        raise RuntimeError("this cannot be a number")

    def __iter__(self):
        raise RuntimeError("this cannot be listed")


def wrong_arity():
    return 1.0


def nine_arguments(a, b, c, d, e, f, g, h, i):
    return 1.0


def any_arguments(*args):
    """What takes anything, and returns nothing."""


def raises(*args):
    raise KeyError("the function's own error")


@cache
def other_system():
    return bd.System(lambda t, x, b, p: [1.0], n=1, compile=False)


ZOO: dict[str, Any] = {
    "None": lambda: None,
    "text": lambda: "abc",
    "empty text": lambda: "",
    "bytes": lambda: b"abc",
    "object": object,
    "broken object": Broken,
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "-infinity": lambda: -math.inf,
    "-1": lambda: -1,
    "0": lambda: 0,
    "0.5": lambda: 0.5,
    "True": lambda: True,
    "complex": lambda: 1j,
    "huge": lambda: HUGE,
    "1e300": lambda: 1e300,
    "decimal NaN": lambda: decimal.Decimal("NaN"),
    "empty list": list,
    "empty dict": dict,
    "matrix": lambda: np.ones((2, 2)),
    "cube": lambda: np.ones((2, 2, 2)),
    "vector of 7": lambda: np.arange(7.0),
    "list with NaN": lambda: [math.nan, 1.0],
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "texts": lambda: np.array(["a", "b"]),
    "complex vector": lambda: np.array([1j, 2.0]),
    "dates": lambda: np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
    "date": lambda: datetime.date(2020, 1, 1),
    "objects": lambda: [object(), None],
    "masked": lambda: np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "set": lambda: {1.0, 2.0},
    "dict of nobody": lambda: {"nobody": 1.0},
    "dict of numbers": lambda: {1: 2.0},
    "name of nobody": lambda: ["nobody"],
    "iterator": lambda: iter([1.0, 2.0]),
    "slice": lambda: slice(3),
    "class": lambda: int,
    "module": lambda: math,
    "function of none": lambda: wrong_arity,
    "function of nine": lambda: nine_arguments,
    "function of any": lambda: any_arguments,
    "function that raises": lambda: raises,
    "reversed span": lambda: (1.0, 0.0),
    "complex span": lambda: (0.0, 1j),
    "span of NaN": lambda: (0.0, math.nan),
    "other system": other_system,
}


def variants(good):
    """Wrong variants of a good value, by label: other lengths and shapes, complex, text or NaN in it, other names."""
    if isinstance(good, Mapping) and good:
        name, value = next(iter(good.items()))
        rest = dict(list(good.items())[1:])
        yield "a key of nobody", lambda: {**good, "nobody": value}
        yield "a key of another kind", lambda: {**good, 3.5: value}
        for label in ("None", "text", "object", "NaN", "complex", "vector of 7", "empty list"):
            yield f"{label} for a key", lambda label=label: {**rest, name: ZOO[label]()}
    elif isinstance(good, str):
        yield "another name", lambda: good + "_x"
        yield "number for a name", lambda: 1.5
    elif callable(good) and not isinstance(good, type):
        for label, value in RETURNS.items():
            yield f"a function that returns {label}", lambda value=value: lambda *args: value
    else:
        yield from variants_of_array(good)


RETURNS = {
    "NaN": math.nan,
    "text": "abc",
    "complex": 1j,
    "an empty tuple": (),
    "a vector of 7": np.arange(7.0),
    "a ragged list": [[1.0, 2.0], [3.0]],
    "an object": object(),
}


def variants_of_array(good):
    """Variants of a sequence of numbers or names."""
    if not isinstance(good, (list, tuple, np.ndarray)) or len(good) == 0:
        return
    items = list(good)
    yield "one more", lambda: [*items, items[-1]]
    yield "one less", lambda: items[:-1]
    yield "None in it", lambda: [*items[:-1], None]
    yield "object in it", lambda: [*items[:-1], object()]
    if all(isinstance(item, str) for item in items):
        yield "a name twice", lambda: [*items[:-1], items[0], items[0]]
        yield "a name of nobody", lambda: [*items[:-1], "nobody"]
        yield "a number in it", lambda: [*items[:-1], 1.5]
        return
    yield "text in it", lambda: [*items[:-1], "abc"]
    try:
        array = np.array(good, dtype=float)
    except (TypeError, ValueError):
        return
    for label, value in (("NaN", math.nan), ("infinity", math.inf)):
        yield f"{label} in it", lambda value=value: _with(array, value)
    yield "one axis more", lambda: array[..., None]
    yield "as complex", lambda: array.astype(complex)
    yield "as texts", lambda: array.astype(str)
    yield "ten times as many", lambda: np.concatenate([array] * 10)


def _with(array, value):
    out = array.copy()
    out.flat[-1] = value
    return out


def wrong_values(good, particular=()):
    """(label, function that makes the value) for all that an argument is given: what is wrong for it alone comes first."""
    for q, value in enumerate(particular):
        yield f"particular {q}: {str(value)[:60]}", lambda value=value: value
    yield from ZOO.items()
    yield from variants(good)
