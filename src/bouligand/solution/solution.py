"""The result of an integration. Its attributes are computed on first access."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from ..errors import BouligandError
from ..memory.working import NO_TIMES
from ..system.arguments import number, numbers, one_of
from .dense import sample
from .events import Events
from .lazy import lazy
from .record import Record

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, MaybeNone, Parameters, RecordArray, Side, SignArray, Status
    from ..derivative.at_times import BDerivativeAtTimes
    from ..derivative.bderivative import BDerivative
    from ..derivative.differences import Steps
    from ..derivative.refinement import Rates
    from ..integration.stepper import Stepper
    from ..system.system import System

# attributes that read from the integration's workspace
_FROM_WORKSPACE = ("system", "status", "error", "counts", "ended_by", "_message", "_requested", "_tolerances", "record")


@dataclass(frozen=True)
class Counts:
    """The cost of an integration: ``sol.counts``.

    Attributes
    ----------
    f, h, Dh : int
        Evaluations of the user's functions.
    steps : int
        Accepted steps of all kinds.
    rejected : int
        Steps that were tried and rejected.
    hops : int
        Of the steps, those that landed on a guard (or on the edge of its band).
    spans : int
        Of the steps, those that span many crossings.
    events : int
        Events found.

    Examples
    --------
    >>> import bouligand as bd
    >>> counts = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0]).counts
    >>> counts.events, counts.spans, counts.f > counts.steps
    (4, 0, True)
    """

    f: int
    h: int
    Dh: int
    steps: int
    rejected: int
    hops: int
    spans: int
    events: int


class Solution:
    """A trajectory through its contacts: the result of `solve`, or ``stepper.solution``.

    It can be called: ``sol(t)`` is the state at any time within the trajectory.

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
        The status in a sentence.
    error : Exception or None
        The reason of a failure.
    ended_by : int or None
        Number of the guard whose terminal event ended the integration.
    p : array
        The parameters (at the end, if a `Stepper` changed them).
    system : System
        The system that was integrated.
    record : Record
        Steps and crossings as the core has recorded them.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
    >>> sol.success, sol.message
    (True, 'the end of the interval was reached, t = 2')
    >>> sol.x.shape == (len(sol.t), 2)
    True
    >>> sol([0.1, 0.5]).round(4)
    array([[ 1.951 , -0.981 ],
           [ 0.8506, -0.4776]])
    >>> sol.events.name[:2]
    array(['foot', 'foot'], dtype=object)
    >>> sol.bderivative().matrix().shape
    (2, 2)
    """

    # the fastest modes along the record, found by the last derivative with another tolerance
    _rates: Rates | None = None
    # the steps of differences, without parameters and with them; see `derivative.differences`
    _difference_steps: dict[bool, Steps] | None = None

    def __init__(self, stepper: Stepper) -> None:
        # attributes are read from the integration's workspace on first access, until `_detach`
        self._stepper: Stepper | MaybeNone = stepper
        if stepper.status != "finished":
            self._detach()

    def _detach(self) -> None:
        """Copy everything out of the integration's workspace: the integration may go on, or this solution be pickled."""
        if self._stepper is None:
            return
        for name in _FROM_WORKSPACE:
            getattr(self, name)
        if self.status == "running":
            self.record = self.record.copy()
        self._stepper = None

    @lazy
    def system(self) -> System:
        """The system that was integrated."""
        return self._stepper.system

    @lazy
    def status(self) -> Status:
        """ "finished", "terminated" (by a terminal event), "failed" or "running"."""
        return self._stepper.status

    @lazy
    def error(self) -> BaseException | None:
        """The reason of a failure; None if there was none."""
        return self._stepper.error

    @lazy
    def _message(self) -> str:
        return self._stepper.message

    @lazy
    def record(self) -> Record:
        """Steps and crossings as the core has recorded them."""
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
    def ended_by(self) -> int | None:
        """Number of the guard whose terminal event ended the integration; None if none did."""
        return self._stepper._memory.s.ended_by if self.status == "terminated" else None

    @lazy
    def _requested(self) -> tuple[FloatArray, FloatArray, int] | None:
        """The times and states of ``t_eval``, and how many of them have been written; None without ``t_eval``."""
        memory = self._stepper._memory
        return (memory.t_eval, memory.x_eval, memory.s.eval_count) if memory.t_eval.size else None

    @lazy
    def _tolerances(self) -> tuple[float, FloatArray]:
        memory = self._stepper._memory
        return memory.s.rtol, memory.v.atol.copy()

    # -------------------------------------------------------------------------------------------------- trajectory

    @lazy
    def t(self) -> FloatArray:
        """Times, array (nt,): ``t_eval`` if that was given, else the ends of the steps."""
        if self._requested is None:
            return self.record.t.copy()
        times, _, done = self._requested
        return times[: self._done(times, done)]

    @lazy
    def x(self) -> FloatArray:
        """States at these times, array (nt, n)."""
        if self._stepper is not None:
            memory = self._stepper._memory
            if memory.t_eval is NO_TIMES:  # the most frequent case, without making a Record
                return memory.states[: memory.s.record_count].copy()
        if self._requested is None:
            return self.record.states.copy()
        times, states, done = self._requested
        states = states[: self._done(times, done)]
        states[done:] = self.record.states[-1]
        return states

    def _done(self, times: FloatArray, done: int) -> int:
        """Number of requested times that were reached. (One at the very end may not have been written by a step.)"""
        record = self.record
        return max(done, int(np.searchsorted(times, record.t[-1], side="right"))) if len(record) else 0

    @property
    def y(self) -> FloatArray:
        """The transpose of ``x``, array (n, nt), as in SciPy."""
        return self.x.T

    @lazy
    def b(self) -> SignArray:
        """Words (modes) at the times ``t``, array (nt, m) of int8, as after the events of that time."""
        return self.word(self.t)

    @property
    def events(self) -> Events:
        """The events, in order."""
        return self._events

    @lazy
    def _events(self) -> Events:
        return Events(self.system, self.record)

    @property
    def t_events(self) -> list[FloatArray]:
        """Times of the events of each guard, as in SciPy."""
        return [self.events.t[self.events.guard == k] for k in range(self.system.m)]

    @property
    def y_events(self) -> list[FloatArray]:
        """States at the events of each guard, as in SciPy."""
        return [self.events.x[self.events.guard == k] for k in range(self.system.m)]

    @lazy
    def margins(self) -> RecordArray:
        """Near-grazings, structured array (t, guard, h): where a guard came near zero and turned back."""
        rows = self.record.margins
        out: RecordArray = np.empty(len(rows), dtype=[("t", float), ("guard", np.int64), ("h", float)])
        out["t"], out["guard"], out["h"] = rows["t"], rows["guard"], rows["residual"] * rows["sign"]
        return out

    @property
    def p(self) -> FloatArray:
        """The parameters (those at the end, if a `Stepper` changed them)."""
        return self.record.p.copy()

    # -------------------------------------------------------------------------------------------------- dense output

    def __call__(self, t: ArrayLike) -> FloatArray:
        """The state at any time within the trajectory (dense output).

        The step that contains the time is taken again up to there, so that the state has the accuracy of the integration.

        Parameters
        ----------
        t : float or array
            A time or several, in any order.

        Returns
        -------
        array (n,) or (len(t), n)

        Raises
        ------
        ValueError
            If a time lies outside the trajectory.

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
        >>> sol(0.2).round(4)
        array([ 1.8038, -1.962 ])
        """
        wanted = numbers("t", t)
        order = np.argsort(wanted, axis=None, kind="stable")
        ordered = wanted.ravel()[order]
        self._within(ordered)
        out = np.empty((ordered.size, self.system.n))
        sample(self.system, self.record, ordered, out)
        back = np.empty_like(out)
        back[order] = out
        return back.reshape(wanted.shape + (self.system.n,))

    def _within(self, ordered: FloatArray) -> None:
        """Raise a ValueError unless these increasing times lie within the trajectory. (NaN, the last in order, does not.)"""
        if not len(self.record):
            raise ValueError("t: the integration did not start, there is no trajectory to look at")
        first, last = self.record.t[0], self.record.t[-1]
        if ordered.size and not (ordered[0] >= first and ordered[-1] <= last):
            raise ValueError(
                f"t must lie within the trajectory, [{first:g}, {last:g}]; got [{ordered[0]:g}, {ordered[-1]:g}]"
            )

    # -------------------------------------------------------------------------------------------------- words

    def word(self, t: ArrayLike, side: Side = "right") -> SignArray:
        """The word (mode) at any time: -1 or +1 for each guard.

        Parameters
        ----------
        t : float or array
            A time or several, in any order.
        side : {"right", "left"}
            At the very time of an event: the word after it, or before it.

        Returns
        -------
        array (m,) or (len(t), m) of int8

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
        >>> touchdown = sol.events.t[0]
        >>> sol.word(touchdown), sol.word(touchdown, side="left")
        (array([1], dtype=int8), array([-1], dtype=int8))
        """
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

    def rate(self, t: float, side: Side = "right") -> FloatArray:
        """x' at a time: f at the state and in the mode of that time.

        Parameters
        ----------
        t : float
            A time within the trajectory.
        side : {"right", "left"}
            At the very time of an event (or of a change of parameters): just after it, or just before it.

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
        >>> sol.rate(0.2).round(4)
        array([-1.962, -9.81 ])
        """
        t, p = number("t", t), self.record.p
        one_of("side", side, ("left", "right"))
        for row, since in self.record.legs or ():
            begins = self.record.t[row]
            if begins < t or (begins == t and side == "right") or row == 0:
                p = since
        return self.system.function("f")(t, self(t), self.word(t, side).astype(float), p)

    # -------------------------------------------------------------------------------------------------- derivative

    @overload
    def bderivative(
        self,
        t: float | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: Literal[False] = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative: ...

    @overload
    def bderivative(
        self,
        t: float | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: Literal[True],
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative[tuple[FloatArray, FloatArray]]: ...

    @overload
    def bderivative(
        self,
        t: float | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: bool,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative[FloatArray | tuple[FloatArray, FloatArray]]: ...

    @overload
    def bderivative(
        self,
        t: Sequence[float] | FloatArray,
        *,
        since: float | None = None,
        params: Literal[False] = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivativeAtTimes: ...

    @overload
    def bderivative(
        self,
        t: Sequence[float] | FloatArray,
        *,
        since: float | None = None,
        params: Literal[True],
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivativeAtTimes[tuple[FloatArray, FloatArray]]: ...

    @overload
    def bderivative(
        self,
        t: Sequence[float] | FloatArray,
        *,
        since: float | None = None,
        params: bool,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivativeAtTimes[FloatArray | tuple[FloatArray, FloatArray]]: ...

    def bderivative(
        self,
        t: float | Sequence[float] | FloatArray | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: bool = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative[Any] | BDerivativeAtTimes[Any]:
        """The Bouligand derivative of ``x(since) -> x(t)``: how the outcome depends on the start.

        Parameters
        ----------
        t : float or sequence of float, optional
            The time of the outcome; default: the end of the trajectory. Or several times, in any order, all in one pass.
        since : float, optional
            The time of the start; default: the start of the trajectory.
        event : int, optional
            Take the state at this event instead of a fixed time: the derivative of a Poincare map. That is also the default
            for a solution that ended at a terminal event.
        params : bool
            Whether to differentiate with respect to the parameters too: ``B(dx, dp=...)``, ``B.matrix(wrt="p")``.
        merge : float, optional
            Crossings within this time of each other are one corner, whose offsets are kept: right for perturbations that
            are larger than the gaps, with an error of O(merge |dx|). Default: crossings that the tolerances cannot tell
            apart are one corner, without offsets.
        rtol : float, optional
            The tolerance to which steps that are too long for perturbations are divided; default: that of the solution. A
            looser one costs less where the trajectory has fast modes that it does not excite.

        Returns
        -------
        BDerivative
            ``B(dx)``, ``B.matrix(dx)``, ``B.vjp(w, dx)``, ``B.event_times(dx)``, ``B.pieces()`` and more. For several times, a
            `BDerivativeAtTimes`: ``B(dx)``, ``B.matrix(dx)`` and ``B.vjp(w, dx)``, whose arrays have the times first.

        Raises
        ------
        DerivativeError
            If the solution failed before its end (and no ``t`` is given), or its parameters were changed and
            ``params=True``.
        GrazingError
            If a guard is touched tangentially.

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0])
        >>> B = sol.bderivative(params=True)
        >>> B([0.0, 1.0]).round(6)
        array([0.2, 1. ])
        >>> B(dp={"g": 1.0}).round(6)
        array([-0.02, -0.2 ])
        >>> sol.bderivative([0.1, 0.2]).matrix().shape
        (2, 2, 2)
        """
        if t is None or isinstance(t, float | int) or np.ndim(t) == 0:
            from ..derivative.bderivative import BDerivative

            return BDerivative(self, cast("float | None", t), since, event, params, merge, rtol)
        from ..derivative.at_times import BDerivativeAtTimes

        if event is not None:
            raise ValueError("give t or event, not both: the state is taken at fixed times, or at an event")
        return BDerivativeAtTimes(self, t, since, params, merge, rtol)

    def sensitivity(
        self,
        wrt: str | Iterable[str] = "x",
        t: ArrayLike | None = None,
        *,
        dx: ArrayLike | None = None,
        dp: Parameters | None = None,
        rtol: float | None = None,
    ) -> FloatArray:
        """The derivatives of the states at many times with respect to the start or to parameters, in one pass.

        Parameters
        ----------
        wrt : {"x", "p"}, or a sequence of str
            With respect to the state at the start, to all parameters, or to these states and parameters, by name.
        t : array, optional
            The times; default: ``sol.t``, which is ``t_eval`` if that was given.
        dx, dp
            A perturbation of the start and of the parameters. It selects the linear piece, and is needed only where there are
            several (see `bderivative`).
        rtol
            As for `bderivative`.

        Returns
        -------
        array (times, n, columns)

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], t_eval=[0.0, 0.1, 0.2])
        >>> sol.sensitivity(("vz", "g")).round(6)
        array([[[ 0.   ,  0.   ],
                [ 1.   ,  0.   ]],
        <BLANKLINE>
               [[ 0.1  , -0.005],
                [ 1.   , -0.1  ]],
        <BLANKLINE>
               [[ 0.2  , -0.02 ],
                [ 1.   , -0.2  ]]])
        """
        from ..derivative.at_times import BDerivativeAtTimes, columns_of

        columns = columns_of(self.system, wrt)
        params = dp is not None or any(column >= self.system.n for column in columns)
        times = self.t if t is None else np.atleast_1d(numbers("t", t))
        return BDerivativeAtTimes[Any](self, times, None, params, None, rtol)._columns(columns, dx, dp)

    # -------------------------------------------------------------------------------------------------- the rest

    @lazy
    def counts(self) -> Counts:
        """Evaluations, steps and events."""
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
    def nfev(self) -> int:
        """Evaluations of f, as in SciPy."""
        return self.counts.f

    @property
    def success(self) -> bool:
        """Whether the end of the interval or a terminal event was reached."""
        return self.status in ("finished", "terminated")

    @property
    def message(self) -> str:
        """The status in a sentence."""
        return self._message

    def __getstate__(self) -> dict[str, Any]:
        self._detach()
        state = dict(self.__dict__)
        state.pop("_events", None)
        if not isinstance(state["error"], BouligandError | None):
            # of a user's type, which may not be known, or may not be able to travel: its name and message are enough
            state["error"] = RuntimeError(f"{type(state['error']).__name__}: {state['error']}")
        return state

    def __repr__(self) -> str:
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
