"""Numbers that a user gives, of whatever type they come (also NumPy's): finite floats, or an error that names them."""

from __future__ import annotations

import math
from numbers import Real


def finite(what: str, value: object) -> float:
    """The number as a float. ``what`` is its name in the error message."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise TypeError(f"{what} must be a finite number; got {value!r}")
    return float(value)
