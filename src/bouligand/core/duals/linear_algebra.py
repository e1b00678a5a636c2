"""Products, norms and linear systems of arrays of dual numbers."""

import math
import operator

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from .arrays import empty, zero
from .number import is_array, kind_of


def _products(function):
    @overload(function)
    def make(a, b):
        if not (isinstance(a, types.Array) and isinstance(b, types.Array) and (is_array(a) or is_array(b))):
            return None
        rules = {(1, 1): _inner, (2, 1): _matrix_vector, (1, 2): _vector_matrix, (2, 2): _matrix_matrix}
        rule = rules.get((a.ndim, b.ndim))
        return rule(kind_of(a, b)) if rule is not None else None


def _inner(kind):
    def impl(a, b):
        if a.size != b.size:
            raise ValueError("a product of vectors of different lengths")
        total = zero(kind)
        for i in range(a.size):
            total = total + a[i] * b[i]
        return total

    return impl


def _matrix_vector(kind):
    def impl(a, b):
        if a.shape[1] != b.size:
            raise ValueError("shapes do not fit in a product")
        out = empty(a.shape[0], kind)
        for i in range(a.shape[0]):
            total = zero(kind)
            for j in range(b.size):
                total = total + a[i, j] * b[j]
            out[i] = total
        return out

    return impl


def _vector_matrix(kind):
    return lambda a, b: np.dot(b.T, a)


def _matrix_matrix(kind):
    def impl(a, b):
        if a.shape[1] != b.shape[0]:
            raise ValueError("shapes do not fit in a product")
        out = empty((a.shape[0], b.shape[1]), kind)
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                total = zero(kind)
                for k in range(b.shape[0]):
                    total = total + a[i, k] * b[k, j]
                out[i, j] = total
        return out

    return impl


_products(np.dot)
_products(operator.matmul)


@overload(np.outer)
def _outer(a, b):
    if not (is_array(a) or is_array(b)) or a.ndim != 1 or b.ndim != 1:
        return None

    kind = kind_of(a, b)

    def impl(a, b):
        out = empty((a.size, b.size), kind)
        for i in range(a.size):
            for j in range(b.size):
                out[i, j] = a[i] * b[j]
        return out

    return impl


@overload(np.cross)
def _cross(a, b):
    if not (is_array(a) or is_array(b)) or a.ndim != 1 or b.ndim != 1:
        return None

    kind = kind_of(a, b)

    def impl(a, b):
        if a.size != 3 or b.size != 3:
            raise ValueError("a cross product of vectors that do not have three components")
        out = empty(3, kind)
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            out[i] = a[j] * b[k] - a[k] * b[j]
        return out

    return impl


@overload(np.linalg.norm)
def _norm(x):
    if not is_array(x):
        return None

    kind = x.dtype

    def impl(x):
        total = zero(kind)
        for value in x.flat:
            total = total + value * value
        return math.sqrt(total)

    return impl


@register_jitable
def _eliminate(matrix, right):
    """Solve for the columns of ``right``, in place, by Gaussian elimination with pivots by value."""
    n, columns = right.shape
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[best, k]):
                best = i
        if matrix[best, k] == 0.0:
            raise ValueError("Matrix is singular to machine precision.")
        for j in range(n):
            matrix[k, j], matrix[best, j] = matrix[best, j], matrix[k, j]
        for j in range(columns):
            right[k, j], right[best, j] = right[best, j], right[k, j]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k + 1, n):
                matrix[i, j] = matrix[i, j] - factor * matrix[k, j]
            for j in range(columns):
                right[i, j] = right[i, j] - factor * right[k, j]
    for k in range(n - 1, -1, -1):
        for c in range(columns):
            total = right[k, c]
            for j in range(k + 1, n):
                total = total - matrix[k, j] * right[j, c]
            right[k, c] = total / matrix[k, k]


@register_jitable
def _matrix(a, kind):
    """A copy of a matrix, as one of dual numbers."""
    out = empty(a.shape, kind)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]
    return out


@overload(np.linalg.solve)
def _solve(a, b):
    if not (isinstance(a, types.Array) and isinstance(b, types.Array) and (is_array(a) or is_array(b))):
        return None
    kind = kind_of(a, b)
    if b.ndim == 2:

        def several(a, b):
            right = _matrix(b, kind)
            _eliminate(_matrix(a, kind), right)
            return right

        return several

    def one(a, b):
        right = empty((b.size, 1), kind)
        for i in range(b.size):
            right[i, 0] = b[i]
        _eliminate(_matrix(a, kind), right)
        return right[:, 0].copy()

    return one


@overload(np.linalg.inv)
def _inverse(a):
    if not is_array(a):
        return None

    kind = a.dtype

    def impl(a):
        n = a.shape[0]
        unit = empty((n, n), kind)
        for i in range(n):
            for j in range(n):
                unit[i, j] = 1.0 if i == j else 0.0
        _eliminate(_matrix(a, kind), unit)
        return unit

    return impl
