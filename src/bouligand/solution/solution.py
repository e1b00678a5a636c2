"""The result of an integration. Its attributes are computed on first access."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._made import Made, make
from ..core.state import NOT_JUDGED
from ..memory.working import NO_TIMES
from ..system.arguments import number, numbers, one_of
from .counts import Counts as Counts
from .dense import sample
from .events import Events
from .exporting import Exporting
from .from_workspace import FromWorkspace
from .lazy import lazy
from .printing import fitted
from .sensitivities import Sensitivities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, RecordArray, Side, SignArray

_MARGIN = [("t", float), ("guard", np.int64), ("h", float), ("decided", bool), ("effect", float), ("returns", bool)]


class Solution(FromWorkspace, Sensitivities, Exporting, metaclass=Made, by="bd.solve, Stepper.solution or bd.load"):
    """A trajectory through its contacts: the result of `solve`, or ``stepper.solution``.

    It can be called: ``sol(t)`` is the state at any time within the trajectory. ``sol["z"]`` is a state by name at the times
    ``sol.t``; `to_pandas`, `to_xarray` and `save` export the whole trajectory.

    Attributes
    ----------
    t : array (nt,)
        Times: ``t_eval`` if that was given, else the ends of the steps. Increasing; the time of a jump is there twice.
    x : array (nt, n)
        States at these times. ``y`` is its transpose, as in SciPy.
    b : array (nt, m) of int8
        Modes at these times, after the events of that time: the side of each guard. ``b0=sol.b[-1]`` continues a solution.
    events : Events
        The crossings, in order: ``events.t``, ``.guard``, ``.direction``, ``.x`` and more; ``events.array`` has them as a
        structured array.
    t_events, y_events : list of arrays
        Times and states of the crossings of each guard, as in SciPy.
    counts : Counts
        Evaluations of f, h, Dh; steps, rejected steps, hops. ``nfev`` is ``counts.f``.
    margins : structured array (t, guard, h, decided, effect, returns)
        Near-grazings: where a guard came within about ten tolerances of zero and turned back. See `Solution.margins`.
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
                return memory.states[: memory.s.rows.records].copy()
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
        """Modes at the times ``t``, after the events of that time, array (nt, m) of int8."""
        return self.word(self.t)

    @lazy
    def events(self) -> Events:
        """The events, in order."""
        stepper = self._stepper
        if stepper is None or "record" in self.__dict__:
            return make(Events, self.system, self.record)
        return make(Events, stepper.system, stepper)

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
        """Near-grazings, structured array (t, guard, h, decided, effect, returns): where a guard came near zero and turned back.

        ``h`` is its value nearest to zero: with the sign of its side, or with the other sign if it was beyond for a moment.
        ``decided`` is true where that is within the tolerance of h, so that the other side was possible, too. ``effect`` is
        then by how much the outcome would differ, in tolerances (0: f has no jump there, the outcome is continuous),
        and ``returns`` whether a trajectory beyond the guard comes back to it. If a guard comes near again and
        again, only the times at which it comes clearly nearer are listed.
        """
        rows = self.record.margins
        out: RecordArray = np.empty(len(rows), dtype=_MARGIN)
        out["t"], out["guard"], out["h"] = rows["t"], rows["guard"], rows["residual"] * rows["sign"]
        out["decided"], out["effect"] = rows["returns"] != NOT_JUDGED, rows["effect"]
        out["returns"] = rows["returns"] != 0
        return out

    @property
    def p(self) -> FloatArray:
        """The parameters (those at the end, if a `Stepper` changed them)."""
        return self.record.p.copy()

    # -------------------------------------------------------------------------------------------------- dense output

    def __call__(self, t: ArrayLike, side: Side = "right") -> FloatArray:
        """The state at any time within the trajectory (dense output).

        The step that contains the time is taken again up to there, so that the state has the accuracy of the integration.

        Parameters
        ----------
        t : float or array
            A time or several, in any order.
        side : {"right", "left"}
            At the very time of a jump: the state behind it, or before it.

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
        one_of("side", side, ("left", "right"))
        wanted = numbers("t", t)
        times, order = wanted.ravel(), None
        if not (times[1:] >= times[:-1]).all():
            order = np.argsort(times, kind="stable")
            times = times[order]
        self._within(times)
        out = np.empty((times.size, self.system.n))
        sample(self.system, self.record, times, out)
        if side == "right" and self.system.jumps:
            self.record.behind_jumps(times, out)
        if order is not None:
            in_order, out = out, np.empty_like(out)
            out[order] = in_order
        return out.reshape(wanted.shape + (self.system.n,))

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
        """The mode (*word* in papers) at any time: -1 or +1 for each guard, 0 for one that the trajectory stays on.

        Parameters
        ----------
        t : float or array
            A time or several, in any order.
        side : {"right", "left"}
            At the very time of an event: the mode after it, or before it.

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
        words = self.record.words(wanted.ravel(), side)
        return words.reshape(wanted.shape + (self.system.m,))

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
        t = number("t", t)
        one_of("side", side, ("left", "right"))
        p = self.record.parameters_at(t, side)
        return self.system.function("f")(t, self(t), self.word(t, side).astype(float), p)

    # -------------------------------------------------------------------------------------------------- the rest

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

    def __repr__(self) -> str:
        n, m = self.system.n, self.system.m
        record, c = self.record, self.counts
        span = f"t from {record.t[0]:g} to {record.t[-1]:g}" if len(record) else "not started"
        state = np.array2string(record.states[-1], precision=6, threshold=8) if len(record) else "-"
        lines = (
            f"Solution: {self.message}",
            f"  {span}, {n} states, {m} guards",
            f"  {c.steps} steps ({c.rejected} rejected), {c.events} events, {c.f} evaluations of f, {c.h} of h",
            f"  x(end) = {' '.join(state.split())}",
        )
        return "\n".join([lines[0], *map(fitted, lines[1:])])  # (of a failure, all of the message)
