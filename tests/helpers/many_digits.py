"""A compiled function of the library, run as plain Python with 40 digits: an independent reference for its Jacobians."""

import builtins
import math
import types

import mpmath
import numpy as np

DIGITS = 40


class _Numpy:
    """The part of NumPy that fields use, on arrays of mpmath's numbers."""

    pi = mpmath.pi

    def __getattr__(self, name):
        return getattr(mpmath, {"arctan2": "atan2", "arctan": "atan", "abs": "fabs"}.get(name, name))

    @staticmethod
    def zeros(shape, *_):
        return np.full(shape, mpmath.mpf(0), dtype=object)

    empty = zeros

    @staticmethod
    def array(values, *_):
        return np.array(values, dtype=object)

    @staticmethod
    def sqrt(value):
        return mpmath.sqrt(value)


class _Math:
    def __getattr__(self, name):
        return getattr(mpmath, name)

    def copysign(self, size, sign):
        return abs(size) if sign >= 0 else -abs(size)


def in_many_digits(function):
    """The function with mpmath in place of math and NumPy, and so are the functions that it calls."""
    function = getattr(function, "py_func", function)
    known = {"__builtins__": builtins}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if value is math:
            value = _Math()
        elif value is np:
            value = _Numpy()
        elif hasattr(value, "py_func") or (isinstance(value, types.FunctionType) and value is not function):
            value = in_many_digits(value)
        if value is not None:
            known[name] = value
    closure = function.__closure__
    return types.FunctionType(function.__code__, known, function.__name__, function.__defaults__, closure)


def exact_jacobian(function, x, p, b, wrt="x", t=0.0):
    """(n, columns): the derivative of f(t, x, b, p) or f(t, x, b, p, dx), by differences in 40 digits (right to 20 of them)."""
    with mpmath.workdps(DIGITS):
        f, step = in_many_digits(function), mpmath.mpf(10) ** (-DIGITS // 2)

        def values(x, p):
            if f.__code__.co_argcount == 5:
                dx = np.full(len(x), mpmath.mpf(0), dtype=object)
                f(mpmath.mpf(t), x, b, p, dx)
                return dx
            return np.array(f(mpmath.mpf(t), x, b, p), dtype=object)

        x, p = (np.array([mpmath.mpf(float(v)) for v in vector], dtype=object) for vector in (x, p))
        columns = []
        for q in range(len(x if wrt == "x" else p)):
            sides = []
            for sign in (1, -1):
                moved = [x.copy(), p.copy()]
                moved[wrt == "p"][q] += sign * step
                sides.append(values(*moved))
            columns.append([float(d / (2 * step)) for d in sides[0] - sides[1]])
        return np.array(columns).T
