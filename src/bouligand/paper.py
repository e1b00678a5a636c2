"""Listing 1 of the paper: ``integrate(f, h, Dh, eps, x0, t0, tf)``.

The signature and the meaning are the paper's. Where the listing as printed would fail (names that are not defined, a
projection backwards after an overshoot, an end beyond tf, guards that stay disarmed until all have been crossed) this does
what the paper's text means.
"""

import numpy as np

from .integration.stepper import Stepper
from .system.system import System


def integrate(f, h, Dh, eps, x0, t0, tf, *, rtol=1e-8, atol=None, projection=2, method="dopri5", pool="armed"):
    """Integrate an event-selected system as the paper does: steps of dopri5, and projections through the bands.

    Parameters
    ----------
    f : function ``f(x, y)``
        The vector field; y is known by its signs only.
    h, Dh : functions ``h(x)``, ``Dh(x)``
        Guards (m values), crossed from - to +, and their Jacobian (m, n). A guard that is also crossed the other way is
        given twice, as h and -h. NumPy functions are enough.
    eps : float or array (m,)
        Width of the band in front of each guard, in units of h.
    x0, t0, tf
        Start and end.

    Returns
    -------
    t : array (nt,)
    x : array (nt, n)

    Other parameters
    ----------------
    rtol, atol : float
        Tolerances of the steps outside the bands.
    projection : 2, 3 or 5
        Order of the projection in eps; 2 is the paper's.
    pool : "armed" or "printed"
        "armed": a guard may be crossed again once h is negative again. "printed": the listing's own rule, guards are armed
        again only when all have been crossed; it loses events, and is here for comparison.
    """
    if pool not in ("armed", "printed"):
        raise ValueError(f"pool must be 'armed' or 'printed'; got {pool!r}")
    x0 = np.array(x0, dtype=float)
    if x0.ndim != 1:
        raise ValueError(f"x0 must be a vector; got shape {x0.shape}")
    m = np.atleast_1d(np.asarray(h(x0), dtype=float)).size
    system = System(
        lambda t, x, b, p: f(x, b),
        lambda t, x, p: np.atleast_1d(h(x)),
        Dh=lambda t, x, p: np.atleast_2d(Dh(x)),
        n=x0.size,
        m=m,
        direction=1,
        compile=False,
    )
    shape = np.shape(np.atleast_2d(Dh(x0)))
    if shape != (m, x0.size):
        raise ValueError(f"Dh must return a matrix of shape ({m}, {x0.size}), a row for each guard; got {shape}")
    stepper = Stepper(system, (t0, tf), x0, rtol=rtol, atol=atol, eps=eps, projection=projection, method=method)
    stepper._memory.s.use_Dh = 1
    stepper._memory.s.pool = int(pool == "printed")
    solution = stepper.finish()
    return solution.t, solution.x
