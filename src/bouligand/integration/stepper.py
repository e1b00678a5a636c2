"""The steppable integration: `Stepper` writes its arguments to a workspace of the core, and runs the core there."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import codes
from ..memory.moved_out import MovedOut
from ..memory.pool import pool_of
from ..memory.working import IntegrationMemory, write_times
from ..solution.solution import Solution
from ..system import words
from ..system.arguments import number, one_of
from ..system.system import System, a_system
from . import options, spanning, stiff
from .failures import failure
from .pickling import reduced
from .running import advance, advance_with_bar, give_back, next_stop

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..memory.extras import SpanMemory, StiffMemory
    from ..system.binding import Bound
    from ..system.user_memory import Lease


_LISTS = (list, tuple)
_TIMES = {float, int, np.float64}  # types that need no conversion
_RAISE = "raise"
_ARRAY = np.ndarray
_new: Any = type.__call__  # (of `_made.make`, without its own call)


class Stepper:
    """An integration that is advanced step by step.

    Parameters
    ----------
    system, t_span, x0, p
        As for `solve`.

    Other Parameters
    ----------------
    rtol, atol, eps, projection, method, t_eval, max_step, max_steps, terminal, breakpoints, b0, on_graze
        As for `solve`.

    Attributes
    ----------
    t : float
        The present time.
    x : array (n,)
        The present state.
    b : array (m,) of int8
        The present mode.
    status : str
        "running", "finished" (tf reached), "terminated" (a terminal event) or "failed".
    message : str
        The status in a sentence.
    p : array
        The parameters. Between two steps new ones may be assigned: an array, or a mapping from the names of those that differ
        from the system's defaults.
    solution : Solution
        The trajectory so far.
    system : System
        The system that is integrated.
    error : Exception or None
        The reason of a failure.

    Examples
    --------
    >>> import bouligand as bd
    >>> ball = bd.Stepper(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
    >>> while ball.status == "running" and ball.t < 0.5:
    ...     ball.step()
    >>> int(ball.b[0])
    1
    >>> ball.p = {"k": 500.0}
    >>> ball.finish().success
    True
    """

    __slots__ = (
        *("system", "status", "error"),
        *("_memory", "_lease", "_p", "_legs", "_spans", "_stiff", "_until"),
    )

    system: System
    status: ty.Status
    error: BaseException | None
    _memory: IntegrationMemory
    _lease: Bound | Lease
    _p: ty.FloatArray
    _legs: list[tuple[int, ty.FloatArray]] | None  # row of the record and parameters, for each change
    _spans: SpanMemory | None
    _stiff: StiffMemory | None
    _until: float | None  # the time at which the integration is to pause

    def __init__(
        self,
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
    ) -> None:
        scales = rtol, atol, method, max_step, max_steps
        self._set_up(system, t_span, x0, p, *scales, eps, projection, t_eval, terminal, breakpoints, b0, on_graze)
        if not np.isfinite(self._memory.v.x).all():
            raise failure(self, codes.NOT_FINITE)

    def _set_up(
        self,
        system: System,
        t_span: ty.TimeSpan,
        x0: ty.State,
        p: ty.Parameters | None,
        rtol: float,
        atol: ArrayLike | None,
        method: ty.Method,
        max_step: float,
        max_steps: int,
        eps: ty.PerGuard | None,
        projection: ty.Projection | None,
        t_eval: ArrayLike | None,
        terminal: ty.Terminal | None,
        breakpoints: ArrayLike | None,
        b0: ArrayLike | None,
        on_graze: ty.OnGraze,
    ) -> None:
        """What `__init__` does, with positional arguments: `solve` calls it directly, which saves half a microsecond."""
        self.system = system
        try:
            work = self._memory = (system._pool or pool_of(system)).integration(system)
            if p is not None and not system._checks_parameters and options.wrote_parameters(work, p):
                self._p = work.p
            else:
                self._p = system.defaults if p is None else system.parameters(p)
                work.parameters[:] = self._p
        except AttributeError:
            a_system(system)  # (raises)
            raise
        self._legs = self._spans = self._stiff = self._until = self.error = None
        try:
            t0, tf = t_span if type(t_span) is tuple else options.span(t_span)
            # (the slow path checks what is beyond this, or of another type)
            written = -1e38 < t0 <= tf < 1e38 and type(t0) in _TIMES and type(tf) in _TIMES
            work.head[:] = options.settings(rtol, atol, method, max_step, max_steps)  # type: ignore[arg-type]
            if type(x0) in _LISTS:
                work.write(work.begin, 0, t0, t0, tf, tf, *x0)  # type: ignore[misc]
            else:
                write_times(work.begin, 0, t0, t0, tf, tf)
                # (a copy of any other kind of array would lose what it has besides its numbers, such as a mask)
                work.state[:] = x0 if type(x0) is _ARRAY else None
        except (TypeError, ValueError, struct.error):
            written = False
        if not written:  # (an argument needs a conversion, or is wrong)
            t0, tf = options.begin(work, system, t_span, x0, rtol, atol, method, max_step, max_steps)
        special = False
        if not (system._plain and eps is projection is t_eval is terminal is breakpoints is b0 is None):
            special = options.rare(
                work, system, float(t0), float(tf), eps, projection, t_eval, terminal, breakpoints, b0
            )
        if on_graze is not _RAISE:
            work.s.options.on_graze = one_of("on_graze", on_graze, ("raise", "go on")) == "go on"
        bound = system._bound or system._bind()
        self._lease = bound if system._shares_context else work.lease or bound.lease(system)
        if work.fn is not self._lease.fn:
            work.bind(self._lease.fn, bound.has_jacobian)
            if system._contexts is None and self._lease is not bound:
                work.lease = self._lease
        if not system._settled:
            system._look(t0, work.v, self._p)
        if system._is_sum and not special and spanning.possible(system, rtol, method):
            work.s.options.may_span = 1
        if special or method == "stiff" or system._is_sum or system._expects_stiff or system.n > stiff.LARGEST:
            stiff.prepare(self, method)
        self.status = "running"

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self)

    # --------------------------------------------------------------------------------------------------- attributes

    @property
    def t(self) -> float:
        """The present time."""
        return self._memory.s.now.t

    @property
    def x(self) -> ty.FloatArray:
        """The present state, array (n,)."""
        return self._memory.v.x.copy()

    @property
    def b(self) -> ty.SignArray:
        """The present mode, array (m,) of int8."""
        return self._memory.g.b.astype(np.int8)

    @property
    def p(self) -> ty.FloatArray:
        """The parameters (a copy). Assign an array or a mapping from names to change them from the present time on."""
        return self._p.copy()

    @p.setter
    def p(self, value: ty.Parameters) -> None:
        work, system = self._memory, self.system
        # (controllers assign arrays a thousand times a second)
        quick = type(value) is _ARRAY and system._approves(value) and options.wrote_parameters(work, value)
        if quick:
            new = value.copy()  # type: ignore[union-attr]
        else:
            try:
                new = np.array(system.parameters(value))
            finally:
                work.p[:] = self._p  # (what was written before it was refused)
            work.p[:] = new
        if self._legs is None:
            self._legs = [(0, self._p.copy())]
        s = work.s
        self._legs.append((max(s.rows.records - 1, 0), new))
        self._p = new
        s.run.stale = 1

    @property
    def message(self) -> str:
        """The status in a sentence."""
        if self.status == "running":
            return f"running, at t = {self.t:g}"
        if self.status == "failed":
            return str(self.error)
        if self.status == "terminated":
            return (
                f"a terminal event was reached, {self.system.guards[self._memory.s.run.ended_by]!r} at t = {self.t:g}"
            )
        return f"the end of the interval was reached, t = {self.t:g}"

    @property
    def solution(self) -> Solution:
        """The trajectory so far. (It does not change when the integration goes on.)"""
        return _new(Solution, self)

    def _move_out(self) -> None:
        """Copy what a solution reads, so that the workspace can be used by others: this integration cannot go on."""
        memory = self._memory
        if isinstance(memory, IntegrationMemory):
            self._memory, self._p = MovedOut(memory), self._p.copy()  # type: ignore[assignment]

    # ------------------------------------------------------------------------------------------------------ stepping

    def step(self) -> None:
        """Take one step, and cross the guards that it ends on. Does nothing if the integration is not running.

        Raises
        ------
        SolveError
            If the integration fails (see `solve`).

        Examples
        --------
        >>> import bouligand as bd
        >>> stepper = bd.Stepper(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
        >>> stepper.step()
        >>> stepper.status, stepper.t > 0.0
        ('running', True)
        """
        if self.status == "running":
            s = self._memory.s
            s.run.budget = 1
            try:
                advance(self)
            finally:
                s.run.budget = options.TO_THE_END
            if self.error is not None:
                raise self.error

    def advance(self, until: float) -> None:
        """Integrate exactly to a given time: for loops that sample the state and hold the controls until the next sample.

        A step ends there, so that parameters may be changed (``stepper.p = ...``) as at a breakpoint. Does nothing if the
        integration is not running; it may stop earlier, at a terminal event.

        Parameters
        ----------
        until : float
            A time between the present time and the end of the interval.

        Raises
        ------
        ValueError
            If it lies before the present time, or beyond the end.
        SolveError
            If the integration fails (see `solve`).

        Examples
        --------
        >>> import bouligand as bd
        >>> ball = bd.Stepper(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
        >>> for k in range(1, 4):
        ...     ball.p = {"g": 9.81 + 0.1 * k}
        ...     ball.advance(0.1 * k)
        >>> ball.t, ball.status
        (0.30000000000000004, 'running')
        """
        if self.status != "running":
            return
        memory = self._memory
        s = memory.s
        if type(until) is not float:
            until = number("until", until)
        t, end = s.now.t, s.now.tf
        if not t <= until <= end:
            raise ValueError(f"until must lie between the present time and the end, [{t:g}, {end:g}]; got {until:g}")
        if until == t < end:
            return
        self._until, s.now.stop = until, min(until, next_stop(memory))
        try:
            advance(self)
        finally:
            self._until, s.now.stop = None, next_stop(memory)
        if self.error is not None:
            raise self.error

    def finish(self, on_failure: ty.OnFailure = "raise", progress: bool | str | None = None) -> Solution:
        """Integrate to the end of the interval.

        Parameters
        ----------
        on_failure : {"raise", "return"}
            Whether a failed integration raises an error or returns the `Solution` up to the failure.
        progress : bool or str, optional
            Show a progress bar (with this title).

        Returns
        -------
        Solution
            The whole trajectory, including the steps taken before.

        Raises
        ------
        SolveError
            If the integration fails (see `solve`), unless ``on_failure="return"``.

        Examples
        --------
        >>> import bouligand as bd
        >>> stepper = bd.Stepper(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
        >>> len(stepper.finish().events)
        4
        """
        if on_failure is not _RAISE:
            one_of("on_failure", on_failure, ("raise", "return"))
        try:
            if progress is not None and (progress := words.progress(progress)):
                advance_with_bar(self, progress)
            else:
                advance(self)
        except KeyboardInterrupt as interrupt:
            interrupt.solution = _new(Solution, self)  # type: ignore[attr-defined]  # (the trajectory so far)
            raise
        give_back(self)
        if self.error is not None and (on_failure == "raise" or not isinstance(self.error, Exception)):
            raise self.error
        return _new(Solution, self)
