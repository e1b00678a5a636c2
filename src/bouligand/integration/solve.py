"""``solve``: integrate over an interval in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from .stepper import Stepper

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..solution.solution import Solution
    from ..system.system import System


def solve(
    system: System,
    t_span: ty.TimeSpan,
    x0: ty.State,
    p: ty.Parameters | None = None,
    *,
    rtol: float = 1e-6,
    atol: ArrayLike | None = None,
    eps: ty.PerGuard | None = None,
    projection: ty.Projection | None = None,
    method: ty.Method = "auto",
    t_eval: ArrayLike | None = None,
    max_step: float = np.inf,
    max_steps: int = 1_000_000,
    terminal: ty.Terminal | None = None,
    breakpoints: ArrayLike | None = None,
    b0: ArrayLike | None = None,
    on_graze: ty.OnGraze = "raise",
    on_failure: ty.OnFailure = "raise",
    progress: bool | str | None = None,
) -> Solution:
    """Integrate a system from ``t_span[0]`` to ``t_span[1]``, through all events on the way.

    Parameters
    ----------
    system : System
    t_span : (t0, tf)
        With t0 <= tf.
    x0 : array (n,) or mapping
        The state at t0: its values in order, or by the names of the states, ``{"z": 2.0, "vz": 0.0}``.
    p : array (np,) or mapping, optional
        All parameters, or those that differ from the system's defaults.
    rtol, atol : float (atol also array (n,))
        Tolerances: each step's error in component i is kept within ``atol + rtol |x_i|``, and so are landings on guards.
        atol defaults to ``rtol / 100``. These two are all that the accuracy depends on.

    Returns
    -------
    Solution
        Times ``sol.t``, states ``sol.x``, events ``sol.events``, dense output ``sol(t)``, and more.

    Other Parameters
    ----------------
    t_eval : array, optional
        Times at which to report the state (``sol.t``, ``sol.x``); the steps are not changed by them. Default: at every step.
    terminal : guard, sequence of guards, or mapping from guard to count, optional
        Stop at the first (or count-th) crossing of these.
    b0 : array (m,) of -1 and +1, optional
        The mode at the start. Needed only where a guard is exactly zero there and the flow does not decide its side;
        ``b0=sol.b[-1]`` continues an earlier solution. 0 for a guard on which that stayed (at rest, or sliding).
    breakpoints : sequence of float, optional
        Times at which f or h may jump, besides the system's own.
    eps : float or array (m,), optional
        The paper's method: width of the bands in front of the guards (in units of h) in which the trajectory is projected
        instead of integrated. Default: no bands; the tolerance decides where and at which order to land.
    projection : 2, 3, 5 (or "tangent", "midpoint", "rk4"), optional
        With eps: the order of the projection in eps. Default 2, the paper's.
    method : "auto", "dopri5", "dop853", "bosh3" or "stiff"
        The scheme of the smooth steps: explicit ones of order 5, 8 or 3, or a linearly implicit one of order 3. "auto" takes
        dopri5 above rtol = 2e-5 and dop853 below (for robots from files: below 2e-7), and stiff steps where stability would
        limit these (see docs/method.md).
    max_step, max_steps : float, int
        Longest step, and number of steps after which to give up.
    on_graze : "raise" or "go on"
        What to do where a guard is grazed within the tolerance and f has a finite jump there, so that the outcome
        depends on whether it is crossed: raise a GrazingError; or take the side that was computed, and note it in
        ``sol.margins`` with its effect. A graze beyond which the flow leads away from the guard raises in either case.
        Where f has no jump (the force of a contact begins at zero) there is nothing to decide, and the integration goes
        on.
    on_failure : "raise" or "return"
        A failed integration raises an error that carries ``error.solution``; or returns that Solution, with
        ``success = False``.
    progress : bool or str, optional
        Show a progress bar (with this title).

    Raises
    ------
    SolveError
        The integration failed: SlidingError, GrazingError, NotEventSelectedError, ChatteringError, ZenoError, CascadeError,
        JumpOrderError, NotFiniteError, StepSizeError, TooManyStepsError, StiffnessError, StartError or FunctionError. An
        exception that f or h raise is passed on, with a note of time and state, and with ``error.solution``.
    TypeError, ValueError
        An argument is wrong; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> hopper = bd.models.hopper()
    >>> sol = bd.solve(hopper, (0.0, 2.0), [2.0, 0.0], p={"g": 1.62}, rtol=1e-8)
    >>> sol.events.t.round(6)
    array([1.111111, 1.212257])

    Stop at the second crossing of the foot, and report the state at given times only:

    >>> sol = bd.solve(hopper, (0.0, 2.0), [2.0, 0.0], terminal={"foot": 2}, t_eval=[0.1, 0.2])
    >>> sol.status, sol.x.shape
    ('terminated', (2, 2))
    """
    stepper = Stepper.__new__(Stepper)
    # fmt: off
    stepper._set_up(
        system, t_span, x0, p, rtol, atol, method, max_step, max_steps, eps, projection, t_eval, terminal, breakpoints, b0,
        on_graze,
    )
    # fmt: on
    solution = stepper.finish(on_failure, progress)
    stepper._memory.solution = ref(solution)  # (nobody else has this stepper: the solution can move out)
    return solution
