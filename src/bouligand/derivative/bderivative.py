"""The B-derivative of a trajectory: how its outcome depends, to first order, on start, parameters and start time."""

import math
from dataclasses import dataclass

import numpy as np

from ..core.state import AT_START, SHOWN
from ..errors import DerivativeError
from ..system.arguments import index, number, numbers, one_of, whole
from .corner import Corner
from .walk import walk_along

_SMALL = 100  # up to this many perturbable things, the linear stretches are kept as matrices


@dataclass
class _Link:
    """A linear stretch (unit perturbations' images, one a row), the times of its crossings, and the corner behind it."""

    matrix: np.ndarray | None
    times: np.ndarray | None
    corner: Corner | None


class BDerivative:
    """The Bouligand derivative of ``x(since) -> x(t)`` along a solution: continuous, piecewise linear in the perturbation.

    Made by `Solution.bderivative`. Where all crossings are isolated it is a matrix; at a corner, where guards are crossed
    together, the piece depends on the perturbation.

    Attributes
    ----------
    since, t : float
        From when to when.
    event : int or None
        Number of the event at which the state is taken, if it is not taken at a fixed time (a Poincare map).
    corners : list
        Where several guards are crossed together, or one at the start or the end: each with ``t``, ``guards``, ``kind``.
    events : array of int
        The events on the way, as numbers in ``solution.events``.
    """

    def __init__(self, solution, t=None, since=None, event=None, params=False, merge=None):
        if not solution.success and t is None and event is None:
            raise DerivativeError(
                f"the solution did not reach its end ({solution.message}); there is no outcome to take the derivative of. "
                "Give t, a time that it did reach."
            )
        self._made_of = (solution, t, since, event, params, merge)
        record = solution.record
        first, last = record.t[0], record.t[-1]
        self.since = first if since is None else _time("since", since, first, last)
        wanted = None
        if event is None and t is None and solution.status == "terminated":
            event = _terminal_event(solution)
        if event is not None:
            shown = np.flatnonzero(record.shown)
            if t is not None:
                raise ValueError("give t or event, not both: the state is taken at a fixed time, or at an event")
            event = index("event", event)
            if not -len(shown) <= event < len(shown):
                raise ValueError(f"event must be one of the solution's {len(shown)} events; got {event!r}")
            event %= len(shown)
            wanted = int(shown[event])
            self.t = float(record.events["t"][wanted])
        else:
            self.t = last if t is None else _time("t", t, first, last)
        if not self.t > self.since:
            raise ValueError(f"t must be after since; got t = {self.t:g}, since = {self.since:g}")
        if params and record.legs is not None:
            raise DerivativeError(
                "the parameters were changed on the way: there is no derivative in them (params=True)"
            )
        if merge is not None and not number("merge", merge) >= 0.0:
            raise ValueError(f"merge must be a time, zero or more; got {merge!r}")
        self.solution, self.system, self.event, self.params = solution, solution.system, event, bool(params)
        self._arguments = (self.since, last if event is not None else self.t, wanted, self.params, merge)
        self._walk = walk_along(solution, *self._arguments, observers=False)
        self._links: list[_Link] | None = None
        self._calls = 0
        self.n, self.np = self._walk.n, self._walk.np
        self._width = self.n + self.np

    def __reduce__(self):
        return type(self), self._made_of

    # ------------------------------------------------------------------------------------------------ perturbations

    def _perturbation(self, dx, dp, dt0):
        """One perturbation as (state, parameters), and its dt0."""
        z = np.zeros(self._width)
        if dx is not None:
            dx = dx if type(dx) is np.ndarray and dx.dtype == float else numbers("dx", dx)
            # (the product: a quick look, that all is finite and not too large)
            if dx.shape != (self.n,) or not (math.isfinite(dx.dot(dx)) or np.isfinite(dx).all()):
                raise ValueError(f"dx must have {self.n} finite values, one for each state; got {_describe(dx)}")
            z[: self.n] = dx
        if dp is not None:
            if not self.params:
                raise ValueError("dp needs a derivative with parameters: sol.bderivative(params=True)")
            z[self.n :] = self._parameters(dp)
        return z, dt0 if dt0 == 0.0 else number("dt0", dt0)

    def _parameters(self, dp):
        if isinstance(dp, dict):
            out = np.zeros(self.np)
            for key, value in dp.items():
                if key not in self.system.params:
                    raise ValueError(
                        f"dp: no parameter is called {key!r}; parameters: {', '.join(self.system.params) or 'none'}"
                    )
                out[self.system.params.index(key)] = number(f"dp: {key}", value)
            dp = out
        dp = numbers("dp", dp)
        if dp.shape != (self.np,) or not np.isfinite(dp).all():
            raise ValueError(f"dp must have {self.np} finite values, one for each parameter; got {_describe(dp)}")
        return dp

    def _rate(self):
        """x' at the start, under the word there."""
        stretch = self._walk.stretch
        p = stretch.leg_p[stretch.leg]
        return self.system.function("f")(stretch.t[0], stretch.states[0], stretch.word, p)

    def _leader(self, dx, dp, dt0, what):
        """The perturbation that selects the piece; none is needed where there is only one."""
        if dx is None and dp is None and dt0 == 0.0:
            if self.corners and self.is_linear is not True:
                names = ", ".join(str(g) for g in self.corners[0].guards[:4])
                raise ValueError(
                    f"{what} needs dx: the derivative is not a single matrix, guards {names} are crossed together at "
                    f"t = {self.corners[0].t:g} (see B.corners), and dx selects the piece"
                )
            return np.ones(self._width), 0.0
        return self._perturbation(dx, dp, dt0)

    # ---------------------------------------------------------------------------------------------------- the map

    def _go(self, D, dt0, times=None, jumps=False):
        """Take tangents (rows of D, changed in place; the first leads) from the start to the end. Returns their passages.

        ``dt0``: None where it is zero for all.
        """
        walk, passages = self._walk, []
        if dt0 is not None and not walk.starts_on_guard:
            D[:, : self.n] -= np.outer(dt0, self._rate())
        for link in self._stretches(D, times):
            if link.matrix is not None:
                if times is not None and link.times is not None:
                    rows = np.isfinite(link.times[:, 0])
                    times[rows] = link.times[rows] @ D.T
                D[:] = D @ link.matrix
            corner = link.corner
            if corner is None:
                continue
            passage = corner._pass(D, dt0 if corner.mode == AT_START else None, jumps)
            passages.append(passage)
            if times is not None:
                for u, when in zip(passage.order, passage.times, strict=True):
                    if u < len(corner.unit_rows):
                        row = corner.unit_rows[u]
                        times[row] = when
                        if walk.merge > 0.0:  # (with offsets, the leader's is seen from the corner's own time)
                            times[row, 0] += corner.t - walk.stretch.events["t"][row]
        return passages

    def _stretches(self, D, times):
        """The way in linear stretches: from the stored matrices, or by walking it (D is then moved on the way)."""
        if self._links is not None and (times is None or self._links[0].times is not None):
            yield from self._links
            return
        for corner in self._walk.along(D, times):
            yield _Link(None, None, corner)

    def _build(self, times=False):
        """Keep the linear stretches as matrices."""
        if self._links is not None and (not times or self._links[0].times is not None):
            return
        if times:
            self._watch_observers()
        walk, links, unit = self._walk, [], np.eye(self._width)
        D = unit.copy()
        record = np.full((len(walk.stretch.events), self._width), np.nan) if times else np.empty((0, 0))
        for corner in walk.along(D, record if times else None):
            links.append(_Link(D.copy(), record.copy() if times else None, corner))
            D[:] = unit
            record[:] = np.nan
        links.append(_Link(D, record if times else None, None))
        self._links = links

    def _watch_observers(self):
        """Let the way have a record at each observer's event: their times are asked for."""
        if self.system.observers.any():
            self._walk = walk_along(self.solution, *self._arguments, observers=True)
            self._links = None

    def _prepare(self, count):
        """Matrices pay from the second perturbation on; with many states they never do."""
        self._calls += count
        if self._calls > 1 and self._width <= _SMALL:
            self._build()

    def __call__(self, dx=None, dp=None, dt0=0.0):
        """Where a perturbation ends up, to first order: (n,), or (nbatch, n) for a batch.

        ``dx`` of the state, ``dp`` of the parameters (an array, or a mapping from names; needs ``params=True``), ``dt0`` of
        the start time.
        """
        ranks = _rank(dx), _rank(dp), _rank(dt0)
        if ranks[0] > 1 or ranks[1] > 1 or ranks[2] > 0:
            names, singles = ("dx", "dp", "dt0"), (1, 1, 0)
            for name, rank, single in zip(names, ranks, singles, strict=True):
                if rank > single + 1:
                    raise ValueError(f"{name} must be one perturbation or a batch of them; got {rank} dimensions")
            given = [
                (numbers(name, v) if rank > single else v, single)
                for name, v, rank, single in zip(names, (dx, dp, dt0), ranks, singles, strict=True)
            ]
            lengths = {len(v) for (v, single), rank in zip(given, ranks, strict=True) if rank > single}
            if len(lengths) > 1:
                raise ValueError(
                    f"dx, dp and dt0 must each be one perturbation or batches of the same length; got {sorted(lengths)}"
                )
            count = lengths.pop()
            if count == 0:
                return np.empty((0, self.n))
            self._prepare(count)
            return np.array([self(*(_item(v, q, single) for v, single in given)) for q in range(count)])
        z, dt0 = self._perturbation(dx, dp, dt0)
        self._prepare(1)
        self._go(z.reshape(1, -1), np.array([dt0]) if dt0 else None)
        return z[: self.n].copy() if self.np else z

    def matrix(self, dx=None, dp=None, dt0=0.0, wrt="x"):
        """The linear piece that a perturbation falls in: (n, n), (n, parameters) with ``wrt="p"``, (n,) with ``wrt="t0"``.

        Where there are no corners, no perturbation is needed.
        """
        one_of("wrt", wrt, ("x", "p", "t0"))
        if wrt == "p" and not self.params:
            raise ValueError("wrt='p' needs a derivative with parameters: sol.bderivative(params=True)")
        if self._width <= _SMALL:
            self._build()
        z, dt0 = self._leader(dx, dp, dt0, "matrix")
        whole = self._links[0].matrix if self._links is not None and not self.corners else None
        if whole is not None and wrt != "t0":
            return (whole[: self.n] if wrt == "x" else whole[self.n :])[:, : self.n].T.copy()
        unit = np.eye(self._width)
        followers = {"x": unit[: self.n], "p": unit[self.n :], "t0": np.zeros((1, self._width))}[wrt]
        D = np.vstack([z, followers])
        start = np.zeros(len(D))
        start[0] = dt0
        if wrt == "t0":
            start[1] = 1.0
        self._go(D, start)
        return D[1, : self.n].copy() if wrt == "t0" else D[1:, : self.n].T.copy()

    def offset(self, dx=None, dp=None, dt0=0.0):
        """``B(dx) - matrix(dx) dx``: zero, unless ``merge`` keeps the times between near crossings (then B is affine)."""
        z, start = self._perturbation(dx, dp, dt0)
        out = self(dx, dp, dt0) - self.matrix(dx, dp, dt0) @ z[: self.n]
        if self.params:
            out -= self.matrix(dx, dp, dt0, wrt="p") @ z[self.n :]
        return out - (self.matrix(dx, dp, dt0, wrt="t0") * start if start else 0.0)

    def orders(self, dx=None, dp=None, dt0=0.0):
        """For each corner, the names of its guards in the order in which the perturbed trajectory crosses them."""
        z, dt0 = self._leader(dx, dp, dt0, "orders")
        self._prepare(1)
        passages = self._go(z[None].copy(), np.array([dt0]))
        return [
            tuple(corner.guards[u] for u in passage.order)
            for corner, passage in zip(self.corners, passages, strict=True)
        ]

    def event_times(self, dx=None, dp=None, dt0=0.0):
        """How much later each event on the way happens, to first order, aligned with ``B.events``.

        NaN for one that, so perturbed, is not reached before the end.
        """
        z, dt0 = self._leader(dx, dp, dt0, "event_times")
        if self._width <= _SMALL:
            self._build(times=True)
        else:
            self._watch_observers()
        events = self._walk.stretch.events
        times = np.full((len(events), 1), np.nan)
        self._go(z[None].copy(), np.array([dt0]), times)
        return times[: self._count][events["shown"][: self._count] == SHOWN, 0]

    @property
    def _count(self):
        """Rows of events on the way."""
        stretch = self._walk.stretch
        return stretch.wanted + 1 if stretch.wanted >= 0 else stretch.rows.stop - stretch.rows.start

    @property
    def events(self):
        first = self._walk.stretch.rows.start
        rows = slice(first, first + self._count)
        shown = np.flatnonzero(self.solution.record.shown)
        return np.flatnonzero((shown >= rows.start) & (shown < rows.stop))

    def vjp(self, w, dx=None, dp=None, dt0=0.0):
        """The gradient of ``w . x(t)`` on the piece that the perturbation selects: in x0, or (in x0, in p) with ``params=True``.

        A discrete adjoint: the steps are taken back one by one. With ``Df`` and ``Dp_f`` given its cost does not grow with
        the number of parameters.
        """
        w = numbers("w", w)
        if w.shape != (self.n,) or not np.isfinite(w).all():
            raise ValueError(f"w must have {self.n} finite values, one for each state; got {_describe(w)}")
        walk, stretch, passages = self._walk, self._walk.stretch, []
        walk.take_down()
        if self.corners:
            z, dt0 = self._leader(dx, dp, dt0, "vjp")
            passages = self._go(z[None].copy(), np.array([dt0]), jumps=True)
        elif dx is not None or dp is not None:
            self._perturbation(dx, dp, dt0)
        g = np.zeros(self._width)
        g[: self.n] = w
        here = (stretch.end, int(np.searchsorted(stretch.events["t"], stretch.t[stretch.end], side="right")))
        for corner, passage in zip(self.corners[::-1], passages[::-1], strict=True):
            first, behind = corner.event_rows.start, corner.event_rows.stop
            if corner.kind not in ("event", "end"):
                walk.back(g, here, (corner.last_record, behind))
                walk.back(g, (corner.last_record, behind), (corner.record, first), quiet=first)
            corner._transposed(g, passage)
            at_middle = first + int(np.count_nonzero(stretch.events["record"][corner.event_rows] < corner.record))
            walk.back(g, (corner.record, at_middle), (corner.first_record, first), quiet=first)
            here = (corner.first_record, first)
        walk.back(g, here, (0, 0))
        return (g[: self.n].copy(), g[self.n :].copy()) if self.params else g.copy()

    # ------------------------------------------------------------------------------------------------------ pieces

    @property
    def corners(self):
        self._walk.find_corners()
        return self._walk.corners

    def pieces(self, limit=1000):
        """The distinct linear pieces, each with a perturbation inside it and the orders of crossing that lead there.

        Raises TooManyPiecesError rather than go through more than ``limit`` orders, or a corner of more than twelve guards.
        """
        from .pieces import pieces

        limit = whole("limit", limit, 1)
        self._build()
        links = [(link.matrix, link.corner) for link in self._links or []]
        return pieces(links, self.n, limit)

    @property
    def is_linear(self):
        """True if the derivative is a matrix; False if not; None where there are too many orders of crossing to know."""
        known = [corner.is_linear for corner in self.corners]
        if all(value is True for value in known):
            return True
        if sum(corner.units for corner in self.corners) <= 6:
            return len(self.pieces()) == 1
        return False if any(value is False for value in known) else None

    def __repr__(self):
        where = f"at event {self.event} (t = {self.t:g})" if self.event is not None else f"at t = {self.t:g}"
        text = f"B-derivative of the state {where} in that at t = {self.since:g}" + (
            " and the parameters" * self.params
        )
        if not self.corners:
            return text + ": a matrix, all crossings are isolated"
        lines = [f"  {c.kind} at t = {c.t:g}: {', '.join(map(str, c.guards[:6]))}" for c in self.corners[:10]]
        return "\n".join([text + f", {len(self.corners)} corner{'s' * (len(self.corners) > 1)}", *lines])


def _terminal_event(solution):
    """Number of the terminal event: of the last instant's, that of the guard that stopped the integration."""
    guards = solution.events.guard
    return int(np.flatnonzero(guards == solution.ended_by)[-1])


def _time(name, value, first, last):
    value = number(name, value)
    if not first <= value <= last:
        raise ValueError(f"{name} must lie within the trajectory, [{first:g}, {last:g}]; got {value:g}")
    return value


def _rank(value):
    """Its number of dimensions; np.ndim would make an array of it first."""
    if value is None or isinstance(value, float | int):
        return 0
    if isinstance(value, np.ndarray):
        return value.ndim
    if isinstance(value, dict):
        return 1
    if isinstance(value, list | tuple):
        return 2 if len(value) and np.ndim(value[0]) > 0 else 1
    return 0 if isinstance(value, str | bytes) else np.ndim(value)


def _item(value, q, rank):
    return value if value is None or np.ndim(value) <= rank else value[q]


def _describe(value):
    return (
        f"shape {value.shape}"
        if value.ndim != 1
        else f"{value.size} values" + ("" if np.isfinite(value).all() else ", not all finite")
    )
