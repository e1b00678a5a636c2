"""``solve``: one call from a start to the end of an interval, through whatever contacts there are."""

import numpy as np

from .stepper import Stepper


def solve(
    system,
    t_span,
    x0,
    p=None,
    *,
    rtol=1e-6,
    atol=None,
    eps=None,
    projection=None,
    method="auto",
    t_eval=None,
    max_step=np.inf,
    max_steps=1_000_000,
    terminal=None,
    breakpoints=None,
    b0=None,
    on_failure="raise",
    progress=None,
):
    """Integrate a system from ``t_span[0]`` to ``t_span[1]``.

    Parameters
    ----------
    system : System
    t_span : (t0, tf)
        With t0 <= tf.
    x0 : array (n,)
        The state at t0.
    p : array (np,) or mapping, optional
        All parameters, or those that differ from the system's defaults.
    rtol, atol : float (atol also array (n,))
        Tolerances: each step's error in component i is kept within ``atol + rtol |x_i|``, and so are landings on guards.
        atol defaults to ``rtol / 100``. These two are all that the accuracy depends on.

    Returns
    -------
    Solution

    Other parameters
    ----------------
    t_eval : array, optional
        Times at which to report the state (``sol.t``, ``sol.x``); the steps are not changed by them. Default: at every step.
    terminal : guard, sequence of guards, or mapping from guard to count, optional
        Stop at the first (or count-th) crossing of these.
    b0 : array (m,) of -1 and +1, optional
        The word at the start. Needed only where a guard is exactly zero there and the flow does not decide;
        ``b0=sol.b[-1]`` continues an earlier solution.
    breakpoints : sequence of float, optional
        Times at which f or h may jump, besides the system's own.
    eps : float or array (m,), optional
        The paper's mode: width of the bands in front of the guards (in units of h) in which the trajectory is projected
        instead of integrated. Default: none, the tolerance decides where and at which order to land.
    projection : 2, 3, 5 (or "tangent", "midpoint", "rk4"), optional
        With eps: the order of the projection in eps. Default 2, the paper's.
    method : "auto", "dopri5", "dop853" or "bosh3"
        The scheme of the smooth steps, of order 5, 8 or 3. "auto" takes dopri5 above rtol = 2e-5 and dop853 below.
    max_step, max_steps : float, int
        Longest step, and number of steps after which to give up.
    on_failure : "raise" or "return"
        A failed integration raises an error that carries ``error.solution``; or returns that Solution, with
        ``success = False``.
    progress : bool or str, optional
        Show a progress bar (with this title).

    Raises
    ------
    SolveError
        By name: SlidingError, GrazingError, NotEventSelectedError, ChatteringError, NotFiniteError, StepSizeError,
        TooManyStepsError, StartError. What f or h raise comes out as it is, with a note of time and state, and with
        ``error.solution``.
    """
    stepper = Stepper.__new__(Stepper)
    # fmt: off
    stepper._set_up(
        system, t_span, x0, p, rtol, atol, method, max_step, max_steps, eps, projection, t_eval, terminal, breakpoints, b0
    )
    # fmt: on
    return stepper.finish(on_failure, progress)
