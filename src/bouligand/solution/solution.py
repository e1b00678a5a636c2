"""What an integration found. Everything that is not needed to have it is computed when it is asked for."""

from dataclasses import dataclass

import numpy as np

from ..errors import BouligandError
from ..memory.working import NO_TIMES
from ..system.arguments import number, numbers, one_of
from .dense import sample
from .events import Events
from .lazy import lazy
from .record import Record

# what a solution takes from its integration
_TAKEN = ("system", "status", "error", "counts", "ended_by", "_message", "_requested", "_tolerances", "record")


@dataclass(frozen=True)
class Counts:
    """What an integration cost: evaluations of f, h and Dh; steps, of these hops onto a guard and steps that span many
    crossings; refused steps; and events found."""

    f: int
    h: int
    Dh: int
    steps: int
    rejected: int
    hops: int
    spans: int
    events: int


class Solution:
    """A trajectory through its contacts.

    Attributes
    ----------
    t : array (nt,)
        Times: ``t_eval`` if that was given, else the ends of the steps. Strictly increasing.
    x : array (nt, n)
        States at these times. ``y`` is its transpose, as in SciPy.
    b : array (nt, m) of int8
        Words at these times: the side of each guard, as after the events of that time. ``b[-1]`` continues a solution.
    events : Events
        The crossings, in order: ``events.t``, ``.guard``, ``.direction``, ``.x`` and more; ``events.array`` has them as a
        structured array.
    t_events, y_events : list of arrays
        Times and states of the crossings of each guard, as in SciPy.
    counts : Counts
        Evaluations of f, h, Dh; steps, rejected steps, hops. ``nfev`` is ``counts.f``.
    margins : structured array (t, guard, h)
        Near-grazings: where a guard came within about ten tolerances of zero and turned back.
    status : str
        "finished", "terminated", "failed" or "running".
    success : bool
        True if the end of the interval or a terminal event was reached.
    message : str
        The same in a sentence.
    error : Exception or None
        Why it failed.
    """

    _rates = None  # of the fastest modes along the record, once a derivative has looked: see `derivative.refinement`

    def __init__(self, stepper):
        # the integration; what is asked for is taken from it then
        self._stepper = stepper
        if stepper.status != "finished":
            self._keep()

    def _keep(self):
        """Take everything out of the integration's memory: it may go on, or this solution may travel."""
        if self._stepper is None:
            return
        for name in _TAKEN:
            getattr(self, name)
        if self.status == "running":
            self.record = self.record.copy()
        self._stepper = None

    system = lazy(lambda self: self._stepper.system)
    status = lazy(lambda self: self._stepper.status)
    error = lazy(lambda self: self._stepper.error)
    _message = lazy(lambda self: self._stepper.message)

    @lazy
    def record(self):
        """Its steps and crossings as the core has left them: a `Record`."""
        stepper = self._stepper
        memory = stepper._memory
        rows, legs = memory.s.record_count, stepper._legs
        return Record(
            steps=memory.steps[:rows],
            states=memory.states[:rows],
            events=memory.events[: memory.s.event_count],
            word_end=memory.g.b.copy(),
            breaks=memory.breaks,
            p=stepper._p,
            legs=None if legs is None else tuple(legs),
        )

    @lazy
    def ended_by(self):
        """Number of the guard whose terminal event ended it, or None."""
        return self._stepper._memory.s.ended_by if self.status == "terminated" else None

    @lazy
    def _requested(self):
        memory = self._stepper._memory
        return (memory.t_eval, memory.x_eval, memory.s.eval_count) if memory.t_eval.size else None

    @lazy
    def _tolerances(self):
        memory = self._stepper._memory
        return memory.s.rtol, memory.v.atol.copy()

    # -------------------------------------------------------------------------------------------------- trajectory

    @lazy
    def t(self):
        if self._requested is None:
            return self.record.t.copy()
        times, _, done = self._requested
        return times[: self._done(times, done)]

    @lazy
    def x(self):
        if self._stepper is not None:
            memory = self._stepper._memory
            if memory.t_eval is NO_TIMES:  # the same in one go: what most ask for first
                return memory.states[: memory.s.record_count].copy()
        if self._requested is None:
            return self.record.states.copy()
        times, states, done = self._requested
        states = states[: self._done(times, done)]
        states[done:] = self.record.states[-1]
        return states

    def _done(self, times, done):
        """Requested times reached; one that is the very end may not have been written by a step."""
        record = self.record
        return max(done, int(np.searchsorted(times, record.t[-1], side="right"))) if len(record) else 0

    @property
    def y(self):
        return self.x.T

    @lazy
    def b(self):
        return self.word(self.t)

    @property
    def events(self):
        return self._events

    @lazy
    def _events(self):
        return Events(self)

    @property
    def t_events(self):
        return [self.events.t[self.events.guard == k] for k in range(self.system.m)]

    @property
    def y_events(self):
        return [self.events.x[self.events.guard == k] for k in range(self.system.m)]

    @lazy
    def margins(self):
        rows = self.record.margins
        out = np.empty(len(rows), dtype=[("t", float), ("guard", int), ("h", float)])
        out["t"], out["guard"], out["h"] = rows["t"], rows["guard"], rows["residual"] * rows["sign"]
        return out

    @property
    def p(self):
        """The parameters (those at the end, if a Stepper changed them on the way)."""
        return self.record.p.copy()

    # -------------------------------------------------------------------------------------------------- dense output

    def __call__(self, t):
        """The state at a time, shape (n,), or at an array of times, shape (len(t), n)."""
        wanted = numbers("t", t)
        order = np.argsort(wanted, axis=None, kind="stable")
        ordered = wanted.ravel()[order]
        self._within(ordered)
        out = np.empty((ordered.size, self.system.n))
        sample(self, ordered, out)
        back = np.empty_like(out)
        back[order] = out
        return back.reshape(wanted.shape + (self.system.n,))

    def _within(self, ordered):
        """Refuse times before or behind the trajectory, and NaN (which is the last in order)."""
        if not len(self.record):
            raise ValueError("t: the integration did not start, there is no trajectory to look at")
        first, last = self.record.t[0], self.record.t[-1]
        if ordered.size and not (ordered[0] >= first and ordered[-1] <= last):
            raise ValueError(
                f"t must lie within the trajectory, [{first:g}, {last:g}]; got [{ordered[0]:g}, {ordered[-1]:g}]"
            )

    # -------------------------------------------------------------------------------------------------- words

    def word(self, t, side="right"):
        """The word at a time, shape (m,), or at an array of times; at an event that after it, or before (side="left")."""
        one_of("side", side, ("left", "right"))
        wanted = numbers("t", t)
        if wanted.size:
            self._within(np.sort(wanted, axis=None))
        flips = self.record.flips
        count = np.searchsorted(flips["t"], wanted.ravel(), side=side)
        out = np.empty((wanted.size, self.system.m), dtype=np.int8)
        word, done = self.record.word_start.astype(np.int8), 0
        for q in np.argsort(count, kind="stable"):
            for flip in flips[done : count[q]]:
                word[flip["guard"]] = flip["sign"]
            done = max(done, count[q])
            out[q] = word
        return out.reshape(wanted.shape + (self.system.m,))

    def rate(self, t, side="right"):
        """x' at a time: f at the state of that time, under the word on that side of it."""
        t, p = number("t", t), self.record.p
        one_of("side", side, ("left", "right"))
        for row, since in self.record.legs or ():
            begins = self.record.t[row]
            if begins < t or (begins == t and side == "right") or row == 0:
                p = since
        return self.system.function("f")(t, self(t), self.word(t, side).astype(float), p)

    # -------------------------------------------------------------------------------------------------- derivative

    def bderivative(self, t=None, *, since=None, event=None, params=False, merge=None):
        """The Bouligand derivative of ``x(since) -> x(t)``: how the outcome depends on where (and when) it started.

        Parameters
        ----------
        t, since : float, optional
            To and from when; default the end and the start of the trajectory.
        event : int, optional
            Take the state at this event instead of a fixed time: the derivative of a Poincare map. That is also the default
            for a solution that ended at a terminal event.
        params : bool
            Also in the parameters: ``B(dx, dp=...)``, ``B.matrix(wrt="p")``.
        merge : float, optional
            Crossings within this time of each other are one corner, whose offsets are kept: right for perturbations that
            are larger than the gaps, with an error of O(merge |dx|). Default: crossings that the tolerances cannot tell
            apart are one corner, without offsets.

        Returns
        -------
        BDerivative
            ``B(dx)``, ``B.matrix(dx)``, ``B.vjp(w, dx)``, ``B.event_times(dx)``, ``B.pieces()`` and more.
        """
        from ..derivative.bderivative import BDerivative

        return BDerivative(self, t, since, event, params, merge)

    # -------------------------------------------------------------------------------------------------- the rest

    @lazy
    def counts(self):
        s = self._stepper._memory.s
        return Counts(
            f=s.f_calls,
            h=s.h_calls,
            Dh=s.Dh_calls,
            steps=s.step_count,
            rejected=s.rejected,
            hops=s.hops,
            spans=s.spans,
            events=int(np.count_nonzero(self.record.shown)),
        )

    @property
    def nfev(self):
        return self.counts.f

    @property
    def success(self):
        return self.status in ("finished", "terminated")

    @property
    def message(self):
        return self._message

    def __getstate__(self):
        self._keep()
        state = dict(self.__dict__)
        state.pop("_events", None)
        if not isinstance(state["error"], BouligandError | None):
            # of a user's type, which may not be known, or may not be able to travel: its name and message are enough
            state["error"] = RuntimeError(f"{type(state['error']).__name__}: {state['error']}")
        return state

    def __repr__(self):
        n, m = self.system.n, self.system.m
        record, c = self.record, self.counts
        span = f"t from {record.t[0]:g} to {record.t[-1]:g}" if len(record) else "not started"
        state = np.array2string(record.states[-1], precision=6, threshold=8) if len(record) else "-"
        return (
            f"Solution: {self.message}\n"
            f"  {span}, {n} states, {m} guards\n"
            f"  {c.steps} steps ({c.rejected} refused), {c.events} events, {c.f} evaluations of f, {c.h} of h\n"
            f"  x(end) = {state}"
        )
