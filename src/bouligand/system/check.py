"""The paper's section 2 as a tool: is this an event-selected system near x, and are its Jacobians right?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .arguments import finite_numbers, number, positive
from .check_jacobians import check_jacobians
from .check_modes import check_modes
from .check_report import Place, Report
from .probing import refuse_unset_outputs
from .switching import message, switches_itself
from .system import a_system

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, Guard, Parameters
    from .system import System


def check(
    system: System,
    x: ArrayLike,
    p: Parameters | None = None,
    t: float = 0.0,
    *,
    guards: Iterable[Guard] | None = None,
    tol: float = 1e-5,
) -> Report:
    """Check a system at a state: its Jacobians, its dependence on b, and whether it is event-selected there.

    Jacobians that were given are compared with central differences; f is evaluated with scaled b; hdot, the rate of each
    guard, is evaluated in all modes around x; and f must write all of its output in all of them, be smooth across the guards
    as long as b is held (so that it does not test h itself), and be compiled with the global variables that there are now.

    Parameters
    ----------
    system : System
    x : array (n,)
        The state.
    p : array or mapping from str to float, optional
        All parameters, or those that differ from the defaults.
    t : float
        The time.
    guards : sequence of guards, optional
        The guards (names or numbers) whose signs are varied; the others keep the sign that they have at x. Default: all if
        there are up to ten, otherwise the ten that would be reached first.
    tol : float
        Largest relative difference of a Jacobian that is not a problem.

    Returns
    -------
    Report

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong, or f or h returns a wrong number of values.

    Examples
    --------
    >>> import bouligand as bd
    >>> report = bd.check(bd.models.hopper(), [1.5, -1.0])
    >>> report.ok
    True
    >>> round(report.margin, 6)
    1.0
    """
    a_system(system)
    x, t, tol = finite_numbers("x", x), number("t", t), positive("tol", tol)
    if x.shape != (system.n,):
        raise ValueError(f"x must have {system.n} values; got shape {x.shape}")
    p = system.parameters(p)
    f, h = system.function("f"), system.function("h")
    here = h(t, x, p)
    system._functions["h"].check_shape(system.sizes, here, t, x)
    here = here.ravel()
    word = np.where(here >= 0, 1.0, -1.0)
    system._functions["f"].check_shape(system.sizes, f(t, x, word, p), t, x)
    report, place = Report(), Place(t, x, p, here, word)
    check_jacobians(system, report, place, tol)
    _check_signs(system, report, place)
    check_modes(system, report, place, guards)
    _check_functions(system, report, place)
    return report


def normalised(
    system: System,
    eps: float,
    x: ArrayLike,
    p: Parameters | None = None,
    t: float = 0.0,
    *,
    guards: Iterable[Guard] | None = None,
    tol: float = 1e-5,
) -> FloatArray:
    """The paper's normalisation of guards: factors ``eps / mu_k`` by which to multiply h_k, so that one eps suits all.

    ``mu_k`` is the largest ``|hdot_k|`` that `check` finds at x. With h so scaled, a trajectory crosses the band of width eps in
    front of each guard in about the same time. Equivalently, keep h and give ``solve(..., eps=mu_k * time)``.

    Parameters
    ----------
    system : System
    eps : float
        Width of the bands, positive.
    x, p, t, guards, tol
        As in `check`.

    Returns
    -------
    array (m,)

    Examples
    --------
    >>> import bouligand as bd
    >>> bd.normalised(bd.models.hopper(), 1e-3, [1.0, -4.0]).round(6)
    array([0.00025])
    """
    eps = positive("eps", eps)
    speeds = check(system, x, p, t, guards=guards, tol=tol).speeds
    factors: FloatArray = eps / np.where(speeds > 0, speeds, 1.0)
    return factors


def _check_signs(system: System, report: Report, place: Place) -> None:
    """Whether f uses the signs of b only."""
    t, x, p, _, word = place
    if not word.size:
        return
    f = system.function("f")
    base = f(t, x, word, p)
    for scale in (0.5, 3.0):
        other = f(t, x, scale * word, p)
        if not np.allclose(base, other, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(base).max(initial=0.0))):
            report.depends_on_signs_only = False
    if not report.depends_on_signs_only:
        report.notes.append(
            "f changes when b is scaled: fine if it uses b as -1 and +1, but the paper asks for signs only"
        )


def _check_functions(system: System, report: Report, place: Place) -> None:
    """What would make integrations wrong or slow, silently."""
    t, x, p, _, word = place
    try:
        refuse_unset_outputs(system, t, x, word, p)
    except ValueError as error:
        report.problems.append(str(error))
    report.problems += [message(system, k, sign) for k, sign in switches_itself(system, t, x, p)]
    if system._bound is not None:
        changed = dict.fromkeys(value.name for value in system._bound.frozen if value.differs())
        if changed:
            report.problems.append(
                f"{', '.join(changed)}: changed since the functions were compiled, which go on with the old value. Make a new "
                "System, or pass what changes in p"
            )
