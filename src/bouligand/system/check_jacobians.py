"""Are the Jacobians that were given those of f and h, and is f the sum that was given?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .check_report import Place, Report
    from .system import System


def _differences(function: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """Central differences of a function of a vector, (outputs, len(x))."""
    columns = []
    for i in range(x.size):
        step = 6e-6 * max(1.0, abs(x[i]))
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        columns.append((function(ahead) - function(behind)) / (ahead[i] - behind[i]))
    return np.array(columns).T if columns else np.zeros((np.size(function(x)), 0))


def check_jacobians(system: System, report: Report, place: Place, tol: float) -> None:
    """Compare the Jacobians that were given, and the sum over contacts, with f and h."""
    t, x, p, _, word = place
    f, h = system.function("f"), system.function("h")
    step = 1e-6 * max(1.0, abs(t))
    wanted: dict[str, Callable[[], FloatArray]] = {
        "Dh": lambda: _differences(lambda y: h(t, y, p), x),
        "Df": lambda: _differences(lambda y: f(t, y, word, p), x),
        "Dt_h": lambda: (h(t + step, x, p) - h(t - step, x, p)) / (2 * step),
        "Dp_f": lambda: _differences(lambda q: f(t, x, word, q), p),
        "Dp_h": lambda: _differences(lambda q: h(t, x, q), p),
    }
    for name, differences in wanted.items():
        given = system.function(name)
        if given is None:
            continue
        values = given(t, x, word, p) if name in ("Df", "Dp_f") else given(t, x, p)
        system._functions[name].check_shape(system.sizes, values, t, x)
        _compare(report, name, values, differences(), tol)
    row = system.function("Dh_row")
    if row is not None:
        rows = np.array([row(t, x, k, p) for k in range(system.m)]).reshape(system.m, system.n)
        _compare(report, "Dh_row", rows, wanted["Dh"](), tol)
    f0, g, g_many = system.function("f0"), system.function("g"), system.function("g_many")
    if f0 is not None and g is not None:
        for signs in (word, np.ones(system.m)):
            total = f0(t, x, p) + sum((g(t, x, k, p) for k in np.flatnonzero(signs > 0)), np.zeros(system.n))
            _compare(report, "f0 + sum of g", total, f(t, x, signs, p), tol)
        if g_many is not None and system.m > 0:
            every = np.arange(system.m, dtype=np.int64)
            columns = np.array([g(t, x, k, p) for k in every]).T
            _compare(report, "g_many", g_many(t, x, every, p), columns, tol)


def _compare(report: Report, name: str, given: FloatArray, wanted: FloatArray, tol: float) -> None:
    scale = max(np.abs(wanted).max(initial=0.0), np.abs(given).max(initial=0.0), 1e-12)
    difference = np.abs(np.asarray(given) - wanted)
    error = float(difference.max(initial=0.0) / scale)
    report.jacobians[name] = max(error, report.jacobians.get(name, 0.0))
    if not error <= tol:
        index = tuple(int(i) for i in np.unravel_index(np.nanargmax(difference), difference.shape))
        report.problems.append(
            f"{name} differs from the differences of {'f' if name.endswith(('f', 'g')) else 'h'}: element {list(index)} is "
            f"{np.asarray(given)[index]:.6g}, should be {wanted[index]:.6g}"
        )
