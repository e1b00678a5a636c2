"""The vector field of a system that is declared as a sum over contacts: f out of f0 and g."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .addresses import Keyed, dispatcher_of
from .functions import UserFunction

if TYPE_CHECKING:
    from .._typing import FloatArray


def check_parts(functions: dict[str, UserFunction]) -> None:
    """Raise unless the given functions are enough for a vector field: f, or f0 and g (g_many only beside g)."""
    if ("f0" in functions) != ("g" in functions):
        raise TypeError("f0 and g go together: f = f0 + sum of g_k over the guards with b_k > 0")
    if "g_many" in functions and "g" not in functions:
        raise TypeError("g_many is g for several contacts at once; give g as well")
    if "f" not in functions and "f0" not in functions:
        raise TypeError("give f, or f0 and g for a field that is a sum over contacts")


def no_guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    """h of a system without guards."""


def composed_field(functions: dict[str, UserFunction]) -> UserFunction:
    """f as one function, out of the user's f0 and g."""
    f0, g = functions["f0"], functions["g"]
    return UserFunction("f", compose(f0.function, f0.in_place, g.function, g.in_place))


def compose(f0: Any, f0_in_place: bool, g: Any, g_in_place: bool) -> Callable[..., None]:
    """``f0 + sum of g_k over the guards with b_k > 0`` as one in-place function.

    Parameters
    ----------
    f0, g : function or Numba dispatcher
    f0_in_place, g_in_place : bool
        Whether each writes to its last argument (g adds to it) instead of returning its values.

    Returns
    -------
    function
        ``f(t, x, b, p, dx)``. Numba compiles it together with f0 and g where it can compile these.
    """
    from ..core.compiler import jit

    if jit.JIT:
        try:
            f0 = f0 if hasattr(f0, "py_func") else dispatcher_of(Keyed(f0))
            g = g if hasattr(g, "py_func") else dispatcher_of(Keyed(g))
        except Exception:  # they will run as plain Python; binding warns and names the reason
            pass

    if f0_in_place and g_in_place:

        def f(t, x, b, p, dx):  # type: ignore[no-untyped-def]
            f0(t, x, p, dx)
            for k in range(b.size):
                if b[k] > 0.0:
                    g(t, x, k, p, dx)

    elif f0_in_place:

        def f(t, x, b, p, dx):  # type: ignore[no-untyped-def]
            f0(t, x, p, dx)
            for k in range(b.size):
                if b[k] > 0.0:
                    part = g(t, x, k, p)
                    for i in range(dx.size):
                        dx[i] += part[i]

    else:

        def f(t, x, b, p, dx):  # type: ignore[no-untyped-def]
            whole = f0(t, x, p)
            for i in range(dx.size):
                dx[i] = whole[i]
            for k in range(b.size):
                if b[k] > 0.0:
                    if g_in_place:
                        g(t, x, k, p, dx)
                    else:
                        part = g(t, x, k, p)
                        for i in range(dx.size):
                            dx[i] += part[i]

    return f
