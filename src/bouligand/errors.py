"""The errors and warnings of this library.

Every failure of an integration is a `SolveError` and carries the trajectory up to there:

>>> import bouligand as bd
>>> relay = bd.System(lambda t, x, b, p: (-b[0],), lambda t, x, p: (x[0],), n=1, guards=("switch",))
>>> try:
...     bd.solve(relay, (0.0, 2.0), [1.0])
... except bd.SlidingError as error:
...     print(error.guard, round(error.t, 6), error.solution.t[-1] == error.t)
switch 1.0 True
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from typing import Unpack

    from ._typing import FloatArray, MaybeNone
    from .solution.solution import Solution

__all__ = [
    "BouligandError",
    "CascadeError",
    "ChatteringError",
    "CycleError",
    "DerivativeError",
    "DerivativeWarning",
    "EstimationError",
    "ExecutorError",
    "FunctionError",
    "FunctionWarning",
    "GrazingError",
    "JumpOrderError",
    "NotEventSelectedError",
    "NotFiniteError",
    "PerformanceWarning",
    "SlidingError",
    "SolveError",
    "StartError",
    "StepSizeError",
    "StiffnessError",
    "StoreError",
    "StoreMismatchError",
    "StoreWarning",
    "TooManyPiecesError",
    "TooManyStepsError",
    "ZenoError",
]


def __dir__() -> list[str]:
    return sorted(__all__)


class BouligandError(Exception):
    """Base class of the errors of this library.

    Catch it to handle all of them at once. (Wrong arguments are ValueErrors and TypeErrors.) A note below each message names the
    section of docs/errors.md that says what to do.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.add_note(f"What to do: docs/errors.md#{type(self).__name__.lower()}")


class SolveError(BouligandError):
    """An integration that could not continue; base class of the errors that `solve` and `Stepper` raise.

    Parameters
    ----------
    message : str
    solution, t, x, guard, hdot
        See the attributes.

    Attributes
    ----------
    solution : Solution
        The trajectory up to the failure. (None if the error does not come from an integration, but from a `Corner`.)
    t : float
        The time of the failure. (None for `saltation`.)
    x : array (n,)
        The state at that time. (None for `saltation`.)
    guard : str or None
        Name of the guard concerned, if one is; of a `Corner`, its number.
    hdot : float or None
        The rate at which that guard was approached (``b hdot``, negative towards it), where it is known.

    Examples
    --------
    >>> import bouligand as bd
    >>> try:
    ...     bd.solve(bd.models.hopper(), (0.0, 100.0), [2.0, 0.0], max_steps=10)
    ... except bd.SolveError as error:
    ...     print(type(error).__name__, error.t < 100.0, len(error.solution.t))
    TooManyStepsError True 11
    """

    def __init__(
        self,
        message: str,
        *,
        solution: Solution | None = None,
        t: float | None = None,
        x: FloatArray | None = None,
        guard: str | int | None = None,
        hdot: float | None = None,
    ) -> None:
        super().__init__(message)
        self.solution: Solution | MaybeNone = solution
        self.t: float | MaybeNone = t
        self.x: FloatArray | MaybeNone = x
        self.guard, self.hdot = guard, hdot


class _Where(TypedDict, total=False):
    """The arguments of `SolveError` behind its message, for those derived from it."""

    solution: Solution | None
    t: float | None
    x: FloatArray | None
    guard: str | int | None
    hdot: float | None


class SlidingError(SolveError):
    """A sliding mode: in the modes on both sides of a guard, the flow points towards the guard.

    With ``System(..., sliding="filippov")`` the trajectory stays on the guard. Otherwise give the law a dead band, or smooth it.
    """


class GrazingError(SolveError):
    """A guard is touched tangentially: at these tolerances crossing and not crossing are equally possible, and lead to different
    trajectories.

    Tighten the tolerances, or change the start.
    """


class NotEventSelectedError(SolveError):
    """Guards are crossed together, and crossing one of them stops the approach to another: the outcome depends
    discontinuously on the order of crossing, so that neither a unique trajectory nor a derivative exists there.

    Smooth the law of one of these guards, or change the start so that they are crossed one after the other. `check` shows the
    margins at a state.
    """


class ChatteringError(SolveError):
    """One guard is crossed again and again within a vanishing time (chattering, or events that accumulate).

    Smooth the law at that guard, or stop before with ``terminal=``.
    """


class CascadeError(SolveError):
    """At one instant, jumps carry guards across zero, whose jumps carry further guards across zero, without end.

    A jump should leave its own guard ready to fire again (a neuron's potential below its threshold). ``jump_many`` can handle
    all guards that fire at one instant.
    """


class JumpOrderError(SolveError):
    """Guards fire at the same instant, and the state afterwards depends on the order in which their jumps are applied.

    Declare the order (``order=``), or say what happens when they fire together (``jump_many=``).

    Attributes
    ----------
    guards : tuple of str
        The two guards.
    outcomes : tuple of arrays (n,)
        The state afterwards if the jump of the first guard is applied first, and if that of the second is.
    """

    def __init__(
        self,
        message: str,
        *,
        guards: tuple[str, ...] = (),
        outcomes: tuple[FloatArray, ...] = (),
        **where: Unpack[_Where],
    ) -> None:
        super().__init__(message, **where)
        self.guards, self.outcomes = guards, outcomes


class ZenoError(SolveError):
    """Jumps at one guard that follow each other at ever shorter intervals and accumulate (a bouncing ball that comes to rest); or
    a jump after which the trajectory does not leave the guard at all.

    Let the trajectory come to rest there, ``System(rest=...)``, or stop before with ``terminal=`` (see docs/jumps.md).

    Attributes
    ----------
    t_end : float
        The time at which the jumps accumulate, extrapolated.
    ratio : float
        Of each interval to the one before.
    """

    def __init__(
        self,
        message: str,
        *,
        t_end: float = math.nan,
        ratio: float = math.nan,
        **where: Unpack[_Where],
    ) -> None:
        super().__init__(message, **where)
        self.t_end, self.ratio = t_end, ratio


class NotFiniteError(SolveError):
    """f or h returns NaN or infinity, also for the shortest steps.

    Look at f and h near the state ``error.x``: a division by zero, a root of a negative number, a pole of a guard.
    """


class StepSizeError(SolveError):
    """The step size shrank to round-off: f is singular, or discontinuous within a mode (it tests h or x instead of b).

    Look for a singularity of f near ``error.x``; ``system.check(x0)`` finds tests of h inside f.
    """


class TooManyStepsError(SolveError):
    """``max_steps`` steps were taken without reaching the end of the interval.

    Give a larger ``max_steps``, or loosen the tolerances.
    """


class StiffnessError(TooManyStepsError, StepSizeError):
    """Stability, not accuracy, limits the step size: a component of the solution decays much faster than the others move.

    Leave ``method="auto"`` or give "stiff", make that component slower (a softer damper, a larger slip speed), or give a larger
    ``max_steps``.

    Attributes
    ----------
    rate : float
        The rate of that decay, in 1/time.
    states : tuple of str
        The states that take part in it, the most important first.
    """

    def __init__(
        self,
        message: str,
        *,
        rate: float = math.nan,  # (defaults for pickle, which calls it with the message alone)
        states: tuple[str, ...] = (),
        **where: Unpack[_Where],
    ) -> None:
        super().__init__(message, **where)
        self.rate, self.states = rate, states


class StartError(SolveError):
    """The mode at the start is ambiguous or impossible, or ``b0`` contradicts the sign of h.

    It is ambiguous where a guard is zero at the start and the flow does not decide its side: then give ``b0``.
    """


class FunctionError(SolveError):
    """A compiled user function reported a failure, but did not fail when it was called again with the same arguments; or a jump
    leads through a contact on which the trajectory may rest.

    Make sure that the functions depend on their arguments only; with ``compile=False`` their own exceptions are raised.
    """


class CycleError(BouligandError):
    """A periodic motion that was not found, or could not be followed.

    Give another guess (a state nearer to the cycle, or a longer ``settle`` if it is stable), or more segments if it is unstable.

    Attributes
    ----------
    cycle : Cycle or None
        The best that was found, with ``converged = False``.
    """

    cycle: MaybeNone = None


class DerivativeError(BouligandError):
    """The requested derivative does not exist: the integration failed before that time, the parameters were changed on the way,
    or the state jumps at that very time.

    The message says which; give a time ``t`` that was reached, an ``event=``, or leave out ``params=True``.
    """


class EstimationError(BouligandError):
    """An estimate cannot be computed, because none of the trajectories that it needs can be integrated.

    The message has the reason; start from other values, with a smaller covariance, or with looser options of `solve`.
    """


class TooManyPiecesError(BouligandError):
    """The derivative has more linear pieces than can be listed.

    Ask for the piece of a perturbation, ``B.matrix(dx)``, or give a larger ``limit``.
    """


class StoreError(BouligandError):
    """The store of an ensemble cannot be used: another process writes to it, it cannot be written, or what is in it is damaged.

    The message names the place and what to do; blocks that are done stay as they are. Reading a damaged block is an error, too:
    ``ens.verify(repair=True)`` removes it, and `solve_many` with the same store integrates it again.
    """


class StoreMismatchError(StoreError):
    """The store holds the results of another problem: another system, other starts, parameters, options or versions.

    Give another store, or remove this one; the message says what differs.
    """


class ExecutorError(BouligandError):
    """The workers of an ensemble were killed again and again, or their executor takes no tasks any more.

    Call again with an executor that works: blocks that are in a store are skipped.
    """


class FunctionWarning(UserWarning):
    """A user's function tests h instead of b, or reads a global variable that has changed since it was compiled; or a file is
    loaded with other functions than it was saved with.

    Results may be slow, or wrong. The message names the guard or the variable, and what to write instead; ``system.check(x0)``
    looks for the first of these mistakes.
    """


class DerivativeWarning(UserWarning):
    """A derivative is less accurate than the integration, or holds for very small perturbations only.

    Either a Jacobian comes from differences, and no step size is good: the message names the Jacobian and its column. Give that
    Jacobian, or functions that Numba compiles, whose Jacobians are exact. Or a guard is grazed where f jumps: the message names
    the guard; see ``B.margins``.
    """


class StoreWarning(UserWarning):
    """The store of an ensemble has blocks that are missing files or are damaged.

    The message names the first. Reading one is a `StoreError`; ``ens.verify(repair=True)`` removes them, and `solve_many` with
    the same store integrates them again.
    """


class PerformanceWarning(UserWarning):
    """Something works, but much slower than it could, such as a function that Numba cannot compile.

    The message says what hinders it. ``compile=False`` silences the warning, ``compile=True`` makes it an error.
    """
