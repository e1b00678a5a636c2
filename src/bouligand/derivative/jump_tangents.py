"""Perturbations through jumps of the state: by the Jacobians that were given, by dual numbers, or by differences."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ..core.state import DUAL, LANES

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..system.functions import UserFunction
    from ..system.system import System

# of a jump, with b, or with fired and b
_KINDS = {count: ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * count) for count in (5, 6)}
_STEP = 6e-6  # of central differences, relative to what is varied


def push_jump(
    system: System,
    group: list[int],
    t: float,
    x: FloatArray,
    word: FloatArray,
    p: FloatArray,
    dx: FloatArray,
    dp: FloatArray,
    dt: FloatArray,
) -> FloatArray:
    """The perturbations (rows of dx, dp, entries of dt) behind the jumps of some guards that fire together."""
    jumps = system.jumps
    if jumps.many is not None:
        fired = jumps.mask(system.m, group)
        return _along(system, jumps.many, (fired, word), t, x, p, dx, dp, dt)
    for k in jumps.in_order(group):
        user = jumps.functions[k]
        if k in jumps.jacobians["DR"] and (k in jumps.jacobians["Dp_R"] or not dp.any()):
            dx = _given(system, k, t, x, word, p, dx, dp, dt)
        else:
            dx = _along(system, user, (word,), t, x, p, dx, dp, dt)
        x = user(system.sizes, t, x, word, p)
    return dx


def _given(
    system: System, k: int, t: float, x: FloatArray, word: FloatArray, p: FloatArray, dx: FloatArray, dp: FloatArray,
    dt: FloatArray,
) -> FloatArray:  # fmt: skip
    """The same by Jacobians that the user gave."""
    jacobians, sizes = system.jumps.jacobians, system.sizes
    out: FloatArray = dx @ jacobians["DR"][k](sizes, t, x, word, p).T
    if dp.any():
        out += dp @ jacobians["Dp_R"][k](sizes, t, x, word, p).T
    if dt.any():
        if k in jacobians["Dt_R"]:
            slope = jacobians["Dt_R"][k](sizes, t, x, word, p)
        else:
            slope = _slope_in_time(system, system.jumps.functions[k], (word,), t, x, p)
        out += np.outer(dt, slope)
    return out


def _along(
    system: System,
    user: UserFunction,
    modes: tuple[FloatArray, ...],
    t: float,
    x: FloatArray,
    p: FloatArray,
    dx: FloatArray,
    dp: FloatArray,
    dt: FloatArray,
) -> FloatArray:
    """The same for one function of the user's: by dual numbers, else by differences along each perturbation."""
    out = np.empty_like(dx)
    address = system._bind().dual_jump(system, user)
    if not address or not _by_duals(system, address, modes, t, x, p, dx, dp, out):
        scale = np.concatenate([np.abs(x), np.abs(p)])
        scale = np.maximum(scale, 1e-3 * max(scale.max(initial=0.0), 1e-6))
        for a in range(len(dx)):
            z = np.concatenate([dx[a], dp[a] if dp.shape[1] else np.zeros(p.size)])
            size = float(np.max(np.abs(z) / scale)) if z.any() else 0.0
            s = _STEP / size if size else 0.0
            if not s:
                out[a] = 0.0
                continue
            high, low = (user(system.sizes, t, x + d * z[: x.size], *modes, p + d * z[x.size :]) for d in (s, -s))
            out[a] = (high - low) / (2.0 * s)
    if dt.any():
        out += np.outer(dt, _slope_in_time(system, user, modes, t, x, p))
    return out


def _by_duals(
    system: System,
    address: int,
    modes: tuple[FloatArray, ...],
    t: float,
    x: FloatArray,
    p: FloatArray,
    dx: FloatArray,
    dp: FloatArray,
    out: FloatArray,
) -> bool:
    """Dual numbers whose tangents are the perturbations, LANES of them at a time. False if the jump fails for them."""
    n, parameters = x.size, p.size
    X, P, Y = np.zeros((n, DUAL)), np.zeros((parameters, DUAL)), np.zeros((n, DUAL))
    X[:, 0], P[:, 0] = x, p
    context = np.array([system.n, system.m, parameters, 0], dtype=np.int64)
    words = [np.ascontiguousarray(mode) for mode in modes]
    arguments = [a.ctypes.data for a in (X, *words, P, Y, context)]
    call = _KINDS[len(arguments)](address)
    for first in range(0, len(dx), LANES):
        part = slice(first, min(first + LANES, len(dx)))
        many = part.stop - first
        X[:, 1:], P[:, 1:] = 0.0, 0.0
        X[:, 1 : many + 1] = dx[part].T
        if dp.shape[1]:
            P[:, 1 : many + 1] = dp[part].T
        Y[:] = X
        if call(t, *arguments) != 0:
            return False
        out[part] = Y[:, 1 : many + 1].T
    return True


def _slope_in_time(
    system: System, user: UserFunction, modes: tuple[FloatArray, ...], t: float, x: FloatArray, p: FloatArray
) -> FloatArray:
    """The derivative of a jump in time."""
    if user.ignores_time():
        return np.zeros(x.size)
    s = _STEP * max(abs(t), 1.0)
    out: FloatArray = (user(system.sizes, t + s, x, *modes, p) - user(system.sizes, t - s, x, *modes, p)) / (2.0 * s)
    return out
