"""The steppable integration: the workspace of one run of the core, and everything that happens around it."""

import contextlib
import struct
import time

import numpy as np

from ..core import codes
from ..core.entries import Kernel, say_if_compiling
from ..errors import StartError
from ..memory.pool import pool_of
from ..memory.working import write_times
from ..solution.solution import Solution
from ..system.arguments import one_of
from ..system.system import System
from . import options, spanning
from .failures import failure
from .start_word import consistent_word

_judge = Kernel("steps.judge", "judge", "what happens seldom (breakpoints, grazing, sliding)")

RUNNING, FINISHED, TERMINATED, FAILED = "running", "finished", "terminated", "failed"

_LISTS = (list, tuple)
_ARRAY = np.ndarray
_LOOK = 0.2  # seconds between looks at the clock, the progress bar and the keyboard


class Stepper:
    """An integration that is driven step by step. The arguments are those of `solve`.

    Attributes
    ----------
    t, x, b : float, array (n,), array (m,) of int8
        Present time, state and word.
    status : str
        "running", "finished" (tf reached), "terminated" (a terminal event) or "failed".
    message : str
        The status in a sentence.
    p : array
        The parameters. They may be changed between two steps.
    solution : Solution
        The trajectory so far.

    Examples
    --------
    >>> import bouligand as bd
    >>> ball = bd.Stepper(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
    >>> while ball.status == "running" and ball.t < 0.5:
    ...     ball.step()
    >>> int(ball.b[0])
    1
    """

    __slots__ = (
        *("system", "status", "error"),
        *("_memory", "_lease", "_p", "_legs", "_spans"),
    )

    def __init__(
        self,
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
    ):
        scales = rtol, atol, method, max_step, max_steps
        self._set_up(system, t_span, x0, p, *scales, eps, projection, t_eval, terminal, breakpoints, b0)
        if not np.isfinite(self._memory.v.x).all():
            raise failure(self, codes.NOT_FINITE)

    # fmt: off
    def _set_up(
        self, system, t_span, x0, p, rtol, atol, method, max_step, max_steps, eps, projection, t_eval, terminal, breakpoints, b0
    ):
        """What `__init__` does, without names: `solve` comes here at once, which saves half a microsecond."""
        # fmt: on
        self.system = system
        try:
            self._p = system.defaults if p is None else system.parameters(p)
            work = self._memory = (system._pool or pool_of(system)).integration(system)
        except AttributeError:
            if isinstance(system, System):
                raise
            raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {system!r}") from None
        self._legs = self._spans = self.error = None
        work.parameters[:] = self._p
        try:
            t0, tf = t_span
            written = -1e38 < t0 <= tf < 1e38  # (or a second look: a float32 is not compared with more)
            work.head[:] = options.settings(rtol, atol, method, max_step, max_steps)
            if type(x0) in _LISTS:
                work.write(work.begin, 0, t0, t0, tf, tf, *x0)
            else:
                write_times(work.begin, 0, t0, t0, tf, tf)
                # (a copy of any other kind of array would lose what it has besides its numbers, such as a mask)
                work.state[:] = x0 if type(x0) is _ARRAY else None
        except (TypeError, ValueError, struct.error):
            written = False
        if not written:  # what is no array or list of numbers, or wrong
            t0, tf = options.begin(work, system, t_span, x0, rtol, atol, method, max_step, max_steps)
        special = False
        if not (system._plain and eps is projection is t_eval is terminal is breakpoints is b0 is None):
            special = self._mark(float(t0), float(tf), eps, projection, t_eval, terminal, breakpoints, b0)
        bound = system._bound or system._bind()
        self._lease = bound if system._contexts is None else bound.lease(system)
        if work.fn is not self._lease.fn:
            work.bind(self._lease.fn, bound.has_jacobian)
        if not system._settled:
            system._look(t0, work.v, self._p)
        if system._is_sum and not special and spanning.possible(system, rtol, method):
            work.s.may_span = 1
        self.status = RUNNING

    def __reduce__(self):
        spans = None if self._spans is None else self._spans.contents()
        rest = {name: getattr(self, name) for name in ("status", "error", "_p", "_legs")}
        return _stepper_again, (type(self), self.system, rest, self._memory.contents(), spans)

    def _mark(self, t0, tf, eps, projection, t_eval, terminal, breakpoints, b0):
        """What most integrations do without. Returns whether guards are anything else than signs that flip."""
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

    # ---------------------------------------------------------------------------------------------------- what it is

    @property
    def t(self):
        return self._memory.s.t

    @property
    def x(self):
        return self._memory.v.x.copy()

    @property
    def b(self):
        return self._memory.g.b.astype(np.int8)

    @property
    def p(self):
        return self._p.copy()

    @p.setter
    def p(self, value):
        new = np.array(self.system.parameters(value))
        if self._legs is None:
            self._legs = [(0, self._p)]
        self._legs.append((max(self._memory.s.record_count - 1, 0), new))
        self._p = self._memory.p[:] = new
        self._memory.s.stale = 1

    @property
    def message(self):
        if self.status == RUNNING:
            return f"running, at t = {self.t:g}"
        if self.status == FAILED:
            return str(self.error)
        if self.status == TERMINATED:
            return f"a terminal event was reached, {self.system.guards[self._memory.s.ended_by]!r} at t = {self.t:g}"
        return f"the end of the interval was reached, t = {self.t:g}"

    @property
    def solution(self):
        return Solution(self)

    # ------------------------------------------------------------------------------------------------------ stepping

    def step(self):
        """Take one step (and cross whatever guards it ends on). Raises what `solve` would raise."""
        if self.status == RUNNING:
            self._advance(1)
            if self.error is not None:
                raise self.error

    def finish(self, on_failure="raise", progress=None):
        """Go on to the end and return the Solution."""
        if on_failure != "raise":
            one_of("on_failure", on_failure, ("raise", "return"))
        if progress:
            self._finish_with_bar(progress)
        else:
            self._advance(20_000)
            if self.status == RUNNING:
                self._finish_in_turns(lambda: None)
        if self._spans is not None:
            pool_of(self.system).give_back("spans", self._spans)
            self._spans = None
        self._lease.give_back()
        if self.error is not None and on_failure == "raise":
            raise self.error
        return Solution(self)

    def _finish_in_turns(self, look):
        """Return to Python now and then: for Ctrl-C, and for ``look``."""
        steps = 500
        while self.status == RUNNING:
            began = time.perf_counter()
            self._advance(steps)
            look()
            rate = (time.perf_counter() - began) / steps
            steps = int(min(max(_LOOK / rate, 10), 10 * steps))

    def _finish_with_bar(self, progress):
        from tqdm import tqdm

        start, total = self.t, self._memory.s.tf - self.t
        title = progress if isinstance(progress, str) else None
        with tqdm(
            total=total, desc=title, bar_format="{l_bar}{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]"
        ) as bar:
            self._finish_in_turns(lambda: bar.update(self.t - start - bar.n))

    def _advance(self, budget):
        """Let the core run for a number of steps, and see to what it stops for."""
        run = _loop or _load()
        memory, table = self._memory, self._memory.address
        memory.s.budget = budget
        while True:
            code = run(table)
            if code == codes.NEED_SPAN:
                code = self._span()
            elif codes.FIRST_QUESTION <= code <= codes.LAST_QUESTION:
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

    def _span(self):
        """Steps across many crossings."""
        span = _spans or _load_spans()
        if self._spans is None:
            self._borrow_spans()
        return span(self._memory.address)

    def _borrow_spans(self):
        self._spans = pool_of(self.system).borrow("spans", self.system)
        self._spans.use(self._lease)
        self._memory.put("spans", self._spans)

    def _find_word(self):
        """A guard is zero at the start: which word is it?"""
        s, g = self._memory.s, self._memory.g
        word = g.b.copy()
        open_guards = np.flatnonzero((g.held != 0.0) & (g.observer == 0.0))
        x, span = self.x, s.tf - s.t0
        speed = np.abs(self.system.function("f")(self.t, x, word, self._p)).max()
        scale = 1e-4 * max(np.abs(x).max(), 1e-3) / max(speed, 1e-9)
        scale = min(scale, 1e-4 * span) if span > 0.0 else scale
        g.b[:] = consistent_word(self.system, self.t, x, self._p, word, open_guards, scale)
        s.word_given = 1

    def _stop(self, error):
        self.status, self.error = FAILED, error
        with contextlib.suppress(AttributeError):  # an exception with slots goes without
            error.solution = Solution(self)


def _stepper_again(kind, system, rest, contents, spans):
    """A stepper that has travelled, in memory of its own."""
    stepper, bound = kind.__new__(kind), system._bind()
    stepper.system, stepper._spans = system, None
    for name, value in rest.items():
        setattr(stepper, name, value)
    memory = stepper._memory = pool_of(system).integration(system)
    stepper._lease = bound.lease(system)
    memory.bind(stepper._lease.fn, bound.has_jacobian)
    memory.restore(contents)
    if spans is not None:
        stepper._borrow_spans()
        stepper._spans.restore(spans)
    return stepper


_loop = _spans = None  # the machine code of the compiled loop, and of its spanning steps


def _load():
    from ..core.steps.loop import run

    def keep(code):
        global _loop
        _loop = code

    return _first(run, "the integrator", keep, quickly=True)


def _load_spans():
    from ..core.spans.span import span

    def keep(code):
        global _spans
        _spans = code

    return _first(span, "steps across many contacts", keep)


def _first(function, what, keep, quickly=False):
    """For its first call: a function that Numba compiles (or reads from its cache) then; its machine code alone is kept."""
    from ..core.compiler import jit

    say_if_compiling(function, what)

    def call(*arguments):
        jit.compile_for(function, arguments, quickly)
        code = function(*arguments)
        keep(jit.direct(function))
        return code

    return call
