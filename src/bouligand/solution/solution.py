"""What an integration found. Everything that is not needed to have it is computed when it is asked for."""

from dataclasses import dataclass

import numpy as np

from ..core import state as at
from ..memory.working import NO_TIMES
from .dense import sample
from .events import Events

# what a solution takes from its integration
_TAKEN = (
    *("system", "status", "error", "_p", "_message", "_legs", "_breaks", "_requested", "_tolerances"),
    *("_R", "_E", "_word_end", "_integers"),
)


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


class lazy:  # noqa: N801  (used like a function, as Python's own is)
    """A value that is computed when it is first asked for, and kept. (Python's own ``cached_property`` takes a lock, which in
    Python 3.11 costs as much as a landing on a guard.)"""

    def __init__(self, compute):
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.compute(instance)
        return value


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

    _rates = None  # of the fastest modes along the record, once a derivative has looked: see `refining`

    def __init__(self, stepper):
        # the integration; what is asked for is taken from it then
        self._work = stepper
        if stepper.status != "finished":
            self._keep()

    def _keep(self):
        """Take everything out of the workspace: it may go on, or this solution may travel."""
        work = self._work
        if work is None:
            return
        for name in _TAKEN:
            getattr(self, name)
        if self.status == "running":
            self._R, self._E = self._R.copy(), self._E.copy()
        self._work = None

    system = lazy(lambda self: self._work.system)
    status = lazy(lambda self: self._work.status)
    error = lazy(lambda self: self._work.error)
    _p = lazy(lambda self: self._work._p)
    _breaks = lazy(lambda self: self._work._work.breaks)
    _message = lazy(lambda self: self._work.message)

    @lazy
    def _R(self):
        work = self._work._work
        return work.R[: work.I.item(at.NRECORDS)]

    @lazy
    def _E(self):
        work = self._work._work
        return work.E[: work.I.item(at.NEVENTS)]

    @lazy
    def _word_end(self):
        return self._work._H[at.B].copy()

    @lazy
    def _integers(self):
        return self._work._I.copy()

    @lazy
    def _legs(self):
        return list(self._work._legs) if self._work._legs is not None else None

    @lazy
    def _requested(self):
        work = self._work._work
        return (work.TQ, work.Y, int(work.I[at.NQ])) if work.TQ.size else None

    @lazy
    def _tolerances(self):
        return float(self._work._S[at.RTOL]), self._work._V[at.ATOL].copy()

    # -------------------------------------------------------------------------------------------------- trajectory

    @lazy
    def t(self):
        if self._requested is None:
            return self._R[:, 0].copy()
        times, _, done = self._requested
        return times[: self._done(times, done)]

    @lazy
    def x(self):
        if self._work is not None:
            work = self._work._work
            if work.TQ is NO_TIMES:  # the same in one go: what most ask for first
                return work.R[: work.I.item(at.NRECORDS), at.R_X :].copy()
        if self._requested is None:
            return self._R[:, at.R_X :].copy()
        times, states, done = self._requested
        states = states[: self._done(times, done)]
        states[done:] = self._R[-1, 5:]
        return states

    def _done(self, times, done):
        """Requested times reached; one that is the very end may not have been written by a step."""
        return max(done, int(np.searchsorted(times, self._R[-1, 0], side="right"))) if len(self._R) else 0

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
        rows = self._E[self._E[:, 5] == 2]
        out = np.empty(len(rows), dtype=[("t", float), ("guard", int), ("h", float)])
        out["t"], out["guard"], out["h"] = rows[:, 0], rows[:, 1], rows[:, 3] * rows[:, 2]
        return out

    @property
    def p(self):
        """The parameters (those at the end, if a Stepper changed them on the way)."""
        return self._p.copy()

    # -------------------------------------------------------------------------------------------------- dense output

    def __call__(self, t):
        """The state at a time, shape (n,), or at an array of times, shape (len(t), n)."""
        wanted = np.asarray(t, dtype=float)
        order = np.argsort(wanted, axis=None, kind="stable")
        ordered = wanted.ravel()[order]
        self._within(ordered)
        out = np.empty((ordered.size, self.system.n))
        sample(self, ordered, out)
        back = np.empty_like(out)
        back[order] = out
        return back.reshape(wanted.shape + (self.system.n,))

    def _within(self, ordered):
        first, last = self._R[0, 0], self._R[-1, 0]
        if ordered.size and not (ordered[0] >= first and ordered[-1] <= last):
            raise ValueError(
                f"t must lie within the trajectory, [{first:g}, {last:g}]; got [{ordered[0]:g}, {ordered[-1]:g}]"
            )

    # -------------------------------------------------------------------------------------------------- words

    @lazy
    def _word_start(self):
        """The word at t0: each guard is on the other side than its first flip leaves it on."""
        word, flips = self._word_end.copy(), self._E[self._E[:, 5] != 2]
        guards, first = np.unique(flips[:, 1].astype(np.int64), return_index=True)
        word[guards] = -flips[first, 2]
        return word

    def word(self, t, side="right"):
        """The word at a time, shape (m,), or at an array of times; at an event that after it, or before (side="left")."""
        if side not in ("left", "right"):
            raise ValueError(f"side must be 'left' or 'right'; got {side!r}")
        wanted = np.asarray(t, dtype=float)
        flips = self._E[self._E[:, 5] != 2]
        count = np.searchsorted(flips[:, 0], wanted.ravel(), side=side)
        out = np.empty((wanted.size, self.system.m), dtype=np.int8)
        word, done = self._word_start.astype(np.int8), 0
        for q in np.argsort(count, kind="stable"):
            for row in flips[done : count[q]]:
                word[int(row[1])] = row[2]
            done = max(done, count[q])
            out[q] = word
        return out.reshape(wanted.shape + (self.system.m,))

    def rate(self, t, side="right"):
        """x' at a time: f at the state of that time, under the word on that side of it."""
        t, p = float(t), self._p
        for record, since in self._legs or ():
            begins = self._R[record, at.R_T]
            if begins < t or (begins == t and side == "right") or record == 0:
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
        c = self._integers
        return Counts(
            f=int(c[at.NF]),
            h=int(c[at.NH]),
            Dh=int(c[at.NDH]),
            steps=int(c[at.NSTEPS]),
            rejected=int(c[at.NREJECTED]),
            hops=int(c[at.NHOPS]),
            spans=int(c[at.NSPANS]),
            events=int(np.count_nonzero(self._E[:, 5] == 1)),
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
        if state["error"] is not None:
            # an exception may refer to this solution and to a user's types: its message is enough
            state["error"] = RuntimeError(str(state["error"]))
        return state

    def __repr__(self):
        n, m = self.system.n, self.system.m
        span = f"t from {self._R[0, 0]:g} to {self._R[-1, 0]:g}" if len(self._R) else "not started"
        c = self.counts
        state = np.array2string(self._R[-1, 5:], precision=6, threshold=8) if len(self._R) else "-"
        return (
            f"Solution: {self.message}\n"
            f"  {span}, {n} states, {m} guards\n"
            f"  {c.steps} steps ({c.rejected} refused), {c.events} events, {c.f} evaluations of f, {c.h} of h\n"
            f"  x(end) = {state}"
        )
