"""Listing 1 of the paper: ``integrate(f, h, Dh, eps, x0, t0, tf)``.

The signature and the meaning are the paper's. Where the listing as printed would fail (names that are not defined, a
projection backwards after an overshoot, an end beyond tf, guards that stay disarmed until all have been crossed) this does
what the paper's text means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from .integration.stepper import Stepper
from .system import words
from .system.arguments import finite_numbers, number, numbers, one_of
from .system.system import System

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._typing import FloatArray, Method, Projection


def integrate(
    f: Callable[[FloatArray, FloatArray], ArrayLike],
    h: Callable[[FloatArray], ArrayLike],
    Dh: Callable[[FloatArray], ArrayLike],
    eps: ArrayLike,
    x0: ArrayLike,
    t0: float,
    tf: float,
    *,
    rtol: float = 1e-8,
    atol: ArrayLike | None = None,
    projection: Projection = 2,
    method: Method = "dopri5",
    pool: Literal["armed", "printed"] = "armed",
) -> tuple[FloatArray, FloatArray]:
    """Integrate an event-selected system as the paper does: steps of dopri5, and projections through bands before the guards.

    Parameters
    ----------
    f : callable ``f(x, b)``
        The vector field, n values; it may depend on the signs of b only.
    h : callable ``h(x)``
        The guards, m values, each crossed from - to +. A guard that is also crossed from + to - is given twice, as h and -h.
    Dh : callable ``Dh(x)``
        The Jacobian of h, (m, n).
    eps : float or array (m,)
        Width of the band in front of each guard, in units of h.
    x0 : array (n,)
        The state at t0.
    t0, tf : float
        Start and end time, t0 <= tf.

    Returns
    -------
    t : array (nt,)
        The ends of the steps.
    x : array (nt, n)
        The states at these times.

    Other Parameters
    ----------------
    rtol, atol : float
        Tolerances of the steps outside the bands. ``atol`` may also have a value for each state.
    projection : {2, 3, 5}
        Order of the projection in eps; 2 is the paper's.
    method : {"dopri5", "dop853", "bosh3", "auto"}
        The scheme of the steps outside the bands; dopri5 is the paper's.
    pool : {"armed", "printed"}
        When a guard is re-armed. "armed": as soon as h is negative again. "printed": the rule of the listing, all guards at
        once when all have been crossed. The latter misses events and is meant for comparison.

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.
    SolveError
        As `solve` does.

    Notes
    -----
    The functions are called as plain Python. `solve` compiles them, and needs neither Dh nor eps.

    Examples
    --------
    A point that moves at speed 1, and at speed 1/2 behind x = 0:

    >>> import bouligand as bd
    >>> t, x = bd.integrate(
    ...     lambda x, b: [1.0 if b[0] < 0 else 0.5], lambda x: [x[0]], lambda x: [[1.0]], 1e-3, [-1.0], 0.0, 2.0
    ... )
    >>> x[-1].round(9)
    array([0.5])
    """
    one_of("pool", pool, ("armed", "printed"))
    for what, function, arguments in (("f", f, "x, b"), ("h", h, "x"), ("Dh", Dh, "x")):
        words.function(what, function, arguments)
    start = finite_numbers("x0", x0)
    if start.ndim != 1 or not start.size:
        raise ValueError(f"x0 must be a vector of one or more numbers; got shape {start.shape}")
    t0, tf = number("t0", t0), number("tf", tf)
    if tf < t0:
        raise ValueError(f"tf must not be before t0; got t0 = {t0:g}, tf = {tf:g}")
    m = np.atleast_1d(_first("h", h, start)).size
    system = System(
        lambda t, x, b, p: f(x, b),
        lambda t, x, p: np.atleast_1d(h(x)),
        Dh=lambda t, x, p: np.atleast_2d(Dh(x)),
        n=start.size,
        m=m,
        direction=1,
        compile=False,
    )
    system._modes_tried = False  # of a guard that is given twice, as h and -h, some modes mean nothing
    shape = np.atleast_2d(_first("Dh", Dh, start)).shape
    if shape != (m, start.size):
        raise ValueError(
            f"Dh must return a matrix of shape ({m}, {start.size}), a row for each value of h and a column for each of x0; "
            f"got {shape}"
        )
    stepper = Stepper(system, (t0, tf), start, rtol=rtol, atol=atol, eps=eps, projection=projection, method=method)
    stepper._memory.s.options.use_Dh = 1
    stepper._memory.s.options.pool = int(pool == "printed")
    solution = stepper.finish()
    return solution.t, solution.x


def _first(name: str, function: Callable[[FloatArray], ArrayLike], x0: FloatArray) -> FloatArray:
    """What a function returns at the start."""
    try:
        return numbers(f"what {name} returns", function(x0.copy()))
    except Exception as error:
        error.add_note(f"{name} was called at the start, {name}({x0})")
        raise
