"""Accesses to dual numbers, marked by what is there: loops as vector code, and numbers that depend on what was just written."""

import re

import numpy as np
import pytest
from numba import float64, njit

from bouligand.core.compiler import wrapping
from bouligand.core.compiler.wrapping import c_function
from bouligand.core.duals.recast import recast
from bouligand.core.state import FEW_LANES, LANES, ONE_LANE

from ..helpers.dual_jacobians import dual_jacobian


def halves(t, x, b, p, dx):
    m = b.size
    for i in range(m):
        dx[i] = x[m + i]
        dx[m + i] = p[0] - p[1] * x[m + i] * x[i] - p[2] * b[i]


def one_behind(t, x, b, p, dx):
    work = np.zeros(x.size)
    for i in range(x.size):
        work[i] = x[i] * x[i]
    for i in range(1, x.size):
        work[i] = work[i] + 0.5 * work[i - 1]
    for i in range(x.size):
        dx[i] = work[i]


def parts_of_one_array(t, x, b, p, dx):
    m = x.size // 2
    work = x * x[0]
    for part in [work[:m], work[m:], work[1:]]:
        for i in range(part.size):
            part[i] = part[i] * b[i % b.size] + work[0]
    dx[:m], dx[m:] = work[m:], work[:m]
    for i in range(x.size - 1):
        dx[i] += dx[i + 1]


def floats_between(t, x, b, p, dx):
    weights = 3.0 * b
    for i in range(x.size):
        weights[i % b.size] = weights[i % b.size] + b[0]
        dx[i] = weights[i % b.size] * x[i] * x[x.size - 1 - i]


@pytest.mark.parametrize("lanes", [LANES, FEW_LANES, ONE_LANE])
@pytest.mark.parametrize("f", [halves, one_behind, parts_of_one_array, floats_between], ids=lambda f: f.__name__)
def test_what_was_written_is_read(f, lanes):
    n = 200
    x, b, p = np.linspace(0.2, 1.7, n), np.tile([1.0, -1.0], n // 4), np.array([0.7, 0.4, 0.2])

    def value(at):
        dx = np.empty(n)
        f(0.0, at, b, p, dx)
        return dx

    # (of functions of second degree a central difference is exact, whatever its step)
    known = np.array([(value(x + e) - value(x - e)) / 2.0 for e in np.eye(n)]).T
    found, J = dual_jacobian(f, x, p, b, lanes=lanes)
    assert found == pytest.approx(value(x), rel=1e-14)
    assert pytest.approx(known, rel=1e-10, abs=1e-10 * np.abs(known).max()) == J


def test_no_value_is_compared_with_tangents(monkeypatch):
    """LLVM compares the places that a loop writes to with all others before it takes the vector code: with marks fewer, and none
    that are always in conflict."""

    def code():
        shapes = ("one n", "m", "one p", "one n")
        _, (holder, _) = c_function(recast(halves, ONE_LANE), shapes, True, read_only=True)
        return holder.overloads[()].library.get_llvm_str()

    with_marks = code()
    monkeypatch.setattr(wrapping, "ALLOWED", wrapping.ALLOWED - {"marks"})
    without = code()
    assert "!tbaa" in with_marks
    assert "!tbaa" not in without
    comparisons = [len(re.findall(r"%found\.conflict[.\w]* =", text)) for text in (with_marks, without)]
    assert comparisons[0] < comparisons[1] or not any(
        comparisons
    )  # (LLVM 15, of Numba 0.61, has no vector code for it)


def test_other_code_has_no_marks():
    dual_jacobian(halves, np.ones(4), np.ones(3), np.ones(2))

    @njit
    def plain(x, out):
        for i in range(x.size):
            out[i] = 2.0 * x[i]

    plain.compile((float64[::1], float64[::1]))
    assert "tbaa" not in plain.inspect_llvm(plain.signatures[0])
