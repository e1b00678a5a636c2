"""Jacobians of bare functions by dual numbers, called as the core calls them."""

import ctypes
import functools

import numpy as np

from bouligand.core.compiler.wrapping import c_function
from bouligand.core.duals.recast import recast
from bouligand.core.state import FEW_LANES, LANES, ONE_LANE


@functools.cache
def compiled(f, lanes):
    """``f`` of dual numbers, as the core calls it, and what must be kept as long as it is called. Once in a process."""
    in_place = getattr(f, "py_func", f).__code__.co_argcount == 5
    kind = {FEW_LANES: "few", ONE_LANE: "one"}.get(lanes, "dual")
    shapes = (f"{kind} n", "m", f"{kind} p", f"{kind} n")
    address, keep = c_function(recast(f, lanes), shapes, in_place, read_only=True)
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * 5)(address), keep


def dual_jacobian(f, x, p=(), b=(1.0,), wrt="x", t=0.0, lanes=LANES):
    """(values, Jacobian) of ``f(t, x, b, p)`` or ``f(t, x, b, p, dx)`` in x or p. Raises what Numba raises, if it does."""
    x, p, b = (np.array(values, dtype=float) for values in (x, p, b))
    call, _ = compiled(f, lanes)
    context = np.array([x.size, b.size, p.size, 0])
    varied = x if wrt == "x" else p
    J = np.zeros((x.size, varied.size))
    for first in range(0, varied.size, lanes):
        many = min(lanes, varied.size - first)
        X, P, out = (np.zeros((max(count, 1), 1 + lanes)) for count in (x.size, p.size, x.size))
        X[:, 0], P[: p.size, 0] = x, p
        for q in range(many):
            (X if wrt == "x" else P)[first + q, 1 + q] = 1.0
        assert call(t, *(a.ctypes.data for a in (X, b, P, out, context))) == 0
        J[:, first : first + many] = out[:, 1 : 1 + many]
    return out[:, 0].copy(), J
