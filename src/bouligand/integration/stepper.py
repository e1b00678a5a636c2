"""The steppable integration: runs the core in a workspace and responds to the codes that it returns."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import codes
from ..core.entries import Kernel, say_if_compiling
from ..errors import StartError
from ..memory.pool import pool_of
from ..memory.working import write_times
from ..solution.solution import Solution
from ..system import interrupts
from ..system.arguments import one_of
from ..system.system import System
from . import options, spanning, stiff
from .failures import failure
from .start_word import consistent_word

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..memory.extras import SpanMemory, StiffMemory
    from ..memory.working import IntegrationMemory
    from ..system.binding import Bound
    from ..system.user_memory import Lease

_judge = Kernel("steps.judge", "judge", "what happens seldom (breakpoints, grazing, sliding)")

RUNNING: ty.Status = "running"
FINISHED: ty.Status = "finished"
TERMINATED: ty.Status = "terminated"
FAILED: ty.Status = "failed"

_LISTS = (list, tuple)
_ARRAY = np.ndarray
_TO_THE_END = 2**62  # steps


class Stepper:
    """An integration that is advanced step by step.

    Parameters
    ----------
    system, t_span, x0, p
        As for `solve`.

    Other Parameters
    ----------------
    rtol, atol, eps, projection, method, t_eval, max_step, max_steps, terminal, breakpoints, b0
        As for `solve`.

    Attributes
    ----------
    t : float
        The present time.
    x : array (n,)
        The present state.
    b : array (m,) of int8
        The present word (mode).
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
        *("_memory", "_lease", "_p", "_legs", "_spans", "_stiff"),
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

    def __init__(
        self,
        system: System,
        t_span: ty.TimeSpan,
        x0: ArrayLike,
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
    ) -> None:
        scales = rtol, atol, method, max_step, max_steps
        self._set_up(system, t_span, x0, p, *scales, eps, projection, t_eval, terminal, breakpoints, b0)
        if not np.isfinite(self._memory.v.x).all():
            raise failure(self, codes.NOT_FINITE)

    def _set_up(
        self,
        system: System,
        t_span: ty.TimeSpan,
        x0: ArrayLike,
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
    ) -> None:
        """What `__init__` does, with positional arguments: `solve` calls it directly, which saves half a microsecond."""
        self.system = system
        try:
            self._p = system.defaults if p is None else system.parameters(p)
            work = self._memory = (system._pool or pool_of(system)).integration(system)
        except AttributeError:
            if isinstance(system, System):
                raise
            raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {system!r}") from None
        self._legs = self._spans = self._stiff = self.error = None
        work.parameters[:] = self._p
        try:
            t0, tf = t_span
            written = (
                -1e38 < t0 <= tf < 1e38
            )  # (the slow path checks beyond this, where comparing a float32 would overflow)
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
            special = self._set_rare_options(float(t0), float(tf), eps, projection, t_eval, terminal, breakpoints, b0)
        bound = system._bound or system._bind()
        self._lease = bound if system._contexts is None else bound.lease(system)
        if work.fn is not self._lease.fn:
            work.bind(self._lease.fn, bound.has_jacobian)
        if not system._settled:
            system._look(t0, work.v, self._p)
        if system._is_sum and not special and spanning.possible(system, rtol, method):
            work.s.may_span = 1
        if special or method == "stiff" or system._is_sum or system._expects_stiff or system.n > stiff.LARGEST:
            stiff.prepare(self, method)
        self.status = RUNNING

    def __reduce__(self) -> tuple[Any, ...]:
        spans = None if self._spans is None else self._spans.contents()
        stiff = None if self._stiff is None else self._stiff.contents()
        rest = {name: getattr(self, name) for name in ("status", "error", "_p", "_legs")}
        return _stepper_again, (type(self), self.system, rest, self._memory.contents(), spans, stiff)

    def _set_rare_options(
        self,
        t0: float,
        tf: float,
        eps: ty.PerGuard | None,
        projection: ty.Projection | None,
        t_eval: ArrayLike | None,
        terminal: ty.Terminal | None,
        breakpoints: ArrayLike | None,
        b0: ArrayLike | None,
    ) -> bool:
        """Options that most integrations do not use. Returns whether some guards are one-sided, observers, terminal, or have
        bands."""
        system, work = self.system, self._memory
        special = system._special or eps is not None or projection is not None or terminal is not None
        if special:
            options.mark(work, system, eps, projection, terminal)
        if b0 is not None:
            work.g.b[:] = options.word(system, b0)
            work.s.word_given = 1
        if breakpoints is not None or system.breakpoints.size:
            work.put("breaks", options.breaks(system, breakpoints, t0, tf))
            if work.breaks.size:
                work.s.stop = work.breaks[0]
        if system.unit.size:
            options.unit_parts(system, work.v.x)
        if t_eval is not None:
            times, states = options.requested(t_eval, t0, tf, system.n)
            work.put("t_eval", times)
            work.put("x_eval", states)
        return special

    # --------------------------------------------------------------------------------------------------- attributes

    @property
    def t(self) -> float:
        """The present time."""
        return self._memory.s.t

    @property
    def x(self) -> ty.FloatArray:
        """The present state, array (n,)."""
        return self._memory.v.x.copy()

    @property
    def b(self) -> ty.SignArray:
        """The present word (mode), array (m,) of int8."""
        return self._memory.g.b.astype(np.int8)

    @property
    def p(self) -> ty.FloatArray:
        """The parameters (a copy). Assign an array or a mapping from names to change them from the present time on."""
        return self._p.copy()

    @p.setter
    def p(self, value: ty.Parameters) -> None:
        new = np.array(self.system.parameters(value))
        if self._legs is None:
            self._legs = [(0, self._p)]
        self._legs.append((max(self._memory.s.record_count - 1, 0), new))
        self._p = self._memory.p[:] = new
        self._memory.s.stale = 1

    @property
    def message(self) -> str:
        """The status in a sentence."""
        if self.status == RUNNING:
            return f"running, at t = {self.t:g}"
        if self.status == FAILED:
            return str(self.error)
        if self.status == TERMINATED:
            return f"a terminal event was reached, {self.system.guards[self._memory.s.ended_by]!r} at t = {self.t:g}"
        return f"the end of the interval was reached, t = {self.t:g}"

    @property
    def solution(self) -> Solution:
        """The trajectory so far. (It does not change when the integration goes on.)"""
        return Solution(self)

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
        if self.status == RUNNING:
            self._advance(1)
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
        if on_failure != "raise":
            one_of("on_failure", on_failure, ("raise", "return"))
        try:
            if progress:
                self._finish_with_bar(progress)
            else:
                self._advance(_TO_THE_END)
        except KeyboardInterrupt as interrupt:
            interrupt.solution = Solution(self)  # type: ignore[attr-defined]  # (the trajectory so far)
            raise
        if self._spans is not None:
            pool_of(self.system).give_back("spans", self._spans)
            self._spans = None
        if self._stiff is not None:
            pool_of(self.system).give_back("stiff", self._stiff)
            self._stiff = None
        self._lease.give_back()
        if self.error is not None and (on_failure == "raise" or not isinstance(self.error, Exception)):
            raise self.error
        return Solution(self)

    def _finish_with_bar(self, progress: bool | str) -> None:
        from tqdm import tqdm

        start, total = self.t, self._memory.s.tf - self.t
        title = progress if isinstance(progress, str) else None
        with tqdm(
            total=total, desc=title, bar_format="{l_bar}{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]"
        ) as bar:

            def show() -> None:
                bar.update(self.t - start - bar.n)

            self._advance(_TO_THE_END, show)
            show()

    def _advance(self, budget: int, look: Callable[[], None] | None = None) -> None:
        """Run the core for a number of steps, and see to it that no Ctrl-C is lost in callbacks."""
        bound = self.system._bind()
        if bound.calls_python:
            with interrupts.answered(bound):
                self._run(budget, look)
        else:
            self._run(budget, look)

    def _run(self, budget: int, look: Callable[[], None] | None) -> None:
        """Run the core for a number of steps, and respond to each code that it returns. It returns every 0.05 s at least, so that
        Python handles signals (Ctrl-C); ``look`` is then called."""
        run = _loop or _load()
        memory, table = self._memory, self._memory.address
        memory.s.budget = budget
        while True:
            code = run(table)
            if code == codes.NEED_SPAN:
                code = self._span(look)
            if code == codes.LOOK:
                if look is not None:
                    look()
                continue
            if codes.FIRST_QUESTION <= code <= codes.LAST_QUESTION:
                code = _judge(table)
            if code == codes.FINISHED:
                self.status = FINISHED
                return
            if code == codes.BUDGET_SPENT:
                return
            if code == codes.RECORDS_FULL:
                memory.grow("record")
            elif code == codes.EVENTS_FULL:
                memory.grow("events")
            elif code == codes.WEIGH:
                stiff.weigh(self)
            elif code == codes.TERMINATED:
                self.status = TERMINATED
                return
            elif code == codes.NEED_WORD:
                try:
                    self._find_word()
                except StartError as error:
                    self._stop(error)
                    return
            elif code >= codes.FIRST_FAILURE:
                self._stop(failure(self, code))
                return

    def _span(self, look: Callable[[], None] | None) -> int:
        """Take spanning steps, across many crossings. Returns the code of the core."""
        span = _spans or _load_spans()
        if self._spans is None:
            self._borrow_spans()
        memory = self._memory
        while True:
            code: int = span(memory.address)
            if code == codes.RECORDS_FULL:
                memory.grow("record")
            elif code == codes.EVENTS_FULL:
                memory.grow("events")
            elif code != codes.LOOK:
                return code
            elif look is not None:
                look()

    def _borrow_spans(self) -> SpanMemory:
        """Take a workspace for spanning steps from the pool."""
        spans = self._spans = pool_of(self.system).borrow("spans", self.system)
        spans.use(self._lease)
        self._memory.put("spans", spans)
        return spans

    def _find_word(self) -> None:
        """Decide the word at the start, where a guard is zero."""
        s, g = self._memory.s, self._memory.g
        word = g.b.copy()
        open_guards = np.flatnonzero((g.held != 0.0) & (g.observer == 0.0))
        x, span = self.x, s.tf - s.t0
        speed = np.abs(self.system.function("f")(self.t, x, word, self._p)).max()
        scale = 1e-4 * max(np.abs(x).max(), 1e-3) / max(speed, 1e-9)
        scale = min(scale, 1e-4 * span) if span > 0.0 else scale
        g.b[:] = word = consistent_word(self.system, self.t, x, self._p, word, open_guards, scale)
        on_observers = np.flatnonzero((g.held != 0.0) & (g.observer != 0.0))
        if on_observers.size:  # on the side to which they move, as where no guard is zero
            later = x + scale * self.system.function("f")(self.t, x, word, self._p)
            h = self.system.function("h")(self.t + scale, later, self._p)[on_observers]
            g.b[on_observers] = np.where(h > 0.0, 1.0, -1.0)
        s.word_given = 1

    def _stop(self, error: BaseException) -> None:
        """Set the status to "failed", and give the error the solution up to here."""
        self.status, self.error = FAILED, error
        with contextlib.suppress(AttributeError):  # (an exception with slots has no place for it)
            error.solution = Solution(self)  # type: ignore[attr-defined]


def _stepper_again(
    kind: type[Stepper],
    system: System,
    rest: dict[str, Any],
    contents: Any,
    spans: dict[str, Any] | None,
    stiffly: dict[str, Any] | None,
) -> Stepper:
    """A stepper that was pickled, in memory of its own."""
    stepper, bound = kind.__new__(kind), system._bind()
    stepper.system, stepper._spans, stepper._stiff = system, None, None
    for name, value in rest.items():
        setattr(stepper, name, value)
    memory = stepper._memory = pool_of(system).integration(system)
    stepper._lease = bound.lease(system)
    memory.bind(stepper._lease.fn, bound.has_jacobian)
    memory.restore(contents)
    memory.s.looked, memory.s.look_at = 0.0, memory.s.f_calls  # (a time of another process's clock means nothing here)
    if spans is not None:
        stepper._borrow_spans().restore(spans)
    if stiffly is not None:
        evaluated = memory.s.A_at
        stiff.provide(stepper).restore(stiffly)
        memory.s.A_at = evaluated
    return stepper


# the machine code of the compiled loop, and of its spanning steps, after their first call
_loop: Callable[[int], int] | None = None
_spans: Callable[[int], int] | None = None


def _load() -> Callable[[int], int]:
    from ..core.steps.loop import run

    def keep(code: Callable[[int], int]) -> None:
        global _loop
        _loop = code

    return _compiled_on_call(run, "the integrator", keep, quickly=True)


def _load_spans() -> Callable[[int], int]:
    from ..core.spans.span import span

    def keep(code: Callable[[int], int]) -> None:
        global _spans
        _spans = code

    return _compiled_on_call(span, "steps across many contacts", keep)


def _compiled_on_call(
    function: Any, what: str, keep: Callable[[Callable[[int], int]], None], quickly: bool = False
) -> Callable[[int], int]:
    """An entry of the core for its first call: Numba compiles it then (or loads it from the cache), and ``keep`` receives the
    machine code for all later calls."""
    from ..core.compiler.compiling import compile_for
    from ..core.compiler.jit import direct

    say_if_compiling(function, what)

    def call(*arguments: int) -> int:
        compile_for(function, arguments, quickly)
        code: int = function(*arguments)
        keep(direct(function))
        return code

    return call
