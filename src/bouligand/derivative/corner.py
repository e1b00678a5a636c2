"""Corners on their own: the saltation matrix of one guard, and the sampled corner of several.

For people who bring their own integrator, and for `BDerivative`, which has one wherever guards are crossed together.
"""

from dataclasses import dataclass

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import CORNER, CORNER_PLAN, FUNCTIONS, WHOLE
from ..core.views import record_view
from ..errors import FunctionError, NotEventSelectedError
from ..memory.tables import TableMemory
from ..memory.working import Working
from ..system.arguments import number, numbers, whole
from ..system.caught import Failures
from ..system.functions import UserFunction

_pass_corner = Kernel("tangents.corner_passage", "pass_corner", "corners")
_Plan = record_view(CORNER_PLAN)
_NONE = np.empty((0, 0))


def saltation(f_before, f_after, Dh, Dt_h=0.0):
    """The derivative of the flow across one guard: ``I + (f_after - f_before) Dh / hdot``, with ``hdot = Dh f_before + Dt_h``.

    Parameters
    ----------
    f_before, f_after : array (n,)
        The field at the crossing, under the words before and after it.
    Dh : array (n,)
        The gradient of the guard there.
    Dt_h : float
        Its derivative in time, for a guard that moves.

    Returns
    -------
    array (n, n)
        What a perturbation before the crossing is after it, both seen at the same time.

    Examples
    --------
    >>> import bouligand as bd
    >>> bd.saltation([2.0], [0.7], [1.0], Dt_h=-0.5).round(6)
    array([[0.133333]])
    """
    f_before, f_after, Dh = (_vector(*a) for a in (("f_before", f_before), ("f_after", f_after), ("Dh", Dh)))
    if not f_before.shape == f_after.shape == Dh.shape:
        raise ValueError(
            f"f_before, f_after and Dh must have one value for each state; got {f_before.size}, {f_after.size}, {Dh.size}"
        )
    Dt_h = number("Dt_h", Dt_h)
    hdot = Dh @ f_before + Dt_h
    if hdot == 0.0:
        raise NotEventSelectedError(
            "hdot = Dh f_before + Dt_h is zero: the guard is grazed, and has no saltation matrix"
        )
    if hdot * (Dh @ f_after + Dt_h) <= 0.0:
        raise NotEventSelectedError(
            f"hdot is {hdot:.3g} before and {Dh @ f_after + Dt_h:.3g} after the crossing: the guard is not left on the "
            "other side (sliding)"
        )
    return np.eye(Dh.size) + np.outer(f_after - f_before, Dh) / hdot


@dataclass
class Passage:
    """How a perturbation went through a corner: units in the order of crossing, when, and what makes the transpose."""

    order: np.ndarray
    times: np.ndarray  # (crossings, tangents)
    jumps: np.ndarray  # (crossings, n + 1): the jump of f and hdot


class Corner:
    """Several guards crossed at one place: a continuous, piecewise linear map of perturbations.

    Parameters
    ----------
    F : callable or mapping
        The field at the corner for each word: ``F(word)`` with an array of -1.0 and +1.0, or a table keyed by tuples of
        -1 and +1. Only the words on the way are asked for.
    Dh : array (m, n)
        The gradients of the guards there.
    Dt_h : array (m,), optional
        Their derivatives in time, for guards that move.
    before : array (m,), optional
        The word before the corner; default all -1.

    Examples
    --------
    >>> import bouligand as bd
    >>> F = {(-1, -1): (1, 1), (-1, 1): (1, 0.75), (1, -1): (0.5, 1), (1, 1): (1, 0.5)}
    >>> corner = bd.Corner(F, [[1, 0], [0, 1]])
    >>> corner([-0.25, 0.0])
    array([-0.25  ,  0.0625])
    >>> corner.order([-0.25, 0.0])
    (1, 0)
    """

    def __init__(self, F, Dh, Dt_h=None, before=None):
        rows = numbers("Dh", Dh)
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise ValueError(f"Dh must be a finite (guards, states) array; got shape {rows.shape}")
        m, n = rows.shape
        self.guards = tuple(range(m))
        times = np.zeros(m) if Dt_h is None else _vector("Dt_h", Dt_h)
        word = -np.ones(m) if before is None else _vector("before", before)
        if times.shape != (m,) or word.shape != (m,) or not np.isin(word, (-1.0, 1.0)).all():
            raise ValueError(f"Dt_h and before must have {m} values, one for each guard, those of before -1 or +1")
        field = _Field(F, n, m)
        self._made_of = (F, Dh, Dt_h, before)
        self._set_up(field.fn, np.empty(0), 0.0, np.zeros(n), word, rows, times, np.arange(m), np.arange(m + 1))
        self._field, self._given = field.at, field

    def __reduce__(self):
        return type(self), self._made_of

    def _set_up(self, fn, p, t, x, word, rows, times, flips, firsts):
        """What the compiled core needs: rows compressed to what is not zero, and a workspace."""
        self.n, self._p, self._t, self._word = x.size, p, t, word
        self._rows, self._slopes = rows, np.ascontiguousarray(times, dtype=float)
        self._flips, self._firsts = flips.astype(np.int64), firsts.astype(np.int64)
        self._side = word[self._flips[self._firsts[:-1]]].copy()
        self._count = np.count_nonzero(rows, axis=1).astype(np.int64)
        widest = max(int(self._count.max(initial=0)), 1)
        self._index = np.argsort(rows == 0.0, axis=1, kind="stable")[:, :widest].astype(np.int64).copy()
        self._value = np.take_along_axis(rows, self._index, axis=1).copy()
        self._offset = np.zeros(len(rows))
        self._memory = memory = Working(x.size, word.size, p.size)
        memory.fill()
        memory.v.x[:], memory.p[:] = x, p
        memory.bind(fn, False)
        plan = np.zeros(1, dtype=CORNER_PLAN)
        self._plan = _Plan(plan.data.cast("B"))
        self._plan.t = t
        done = np.zeros(len(rows), dtype=np.int64)
        arrays = {"value": self._value, "index": self._index, "count": self._count, "Dt_h": self._slopes}
        arrays |= {"offset": self._offset, "side": self._side, "firsts": self._firsts, "flips": self._flips}
        memory.put("corner", TableMemory(CORNER, plan=plan, done=done, **arrays))
        self.mode, self.target, self.end, self._reference = WHOLE, 0, 0.0, np.zeros(x.size)

    @property
    def units(self):
        return self._side.size

    # ---------------------------------------------------------------------------------------------- going through

    def _pass(self, D, dt0=None, jumps=False):
        """Take the tangents D (a row each, changed in place) through; the first leads."""
        units, tangents, plan = self.units, D.shape[0], self._plan
        self._memory.g.b[:] = self._word
        plan.mode, plan.target, plan.end = self.mode, self.target, self.end
        order, times = np.zeros(units, dtype=np.int64), np.zeros((units, tangents))
        records = np.zeros((units, self.n + 1)) if jumps else _NONE
        dt0 = np.zeros(tangents) if dt0 is None else dt0
        code, crossed = _pass_corner(self._memory.address, D, dt0, order, times, records)
        if code != codes.GO_ON:
            self._fail(code)
        D[0, : self.n] -= self._reference
        return Passage(order[:crossed], times[:crossed], records[:crossed])

    def _fail(self, code):
        if code == codes.NOT_EVENT_SELECTED:
            name = self._name(self._plan.culprit)
            raise NotEventSelectedError(
                f"the corner is not event-selected: guard {name} is not approached under a word on the way (hdot points away "
                "from it), so that the derivative does not exist there",
                t=self._t,
                x=self._memory.v.x.copy(),
                guard=name,
            )
        self._given.failed()

    def _name(self, k):
        return k

    def _flipped(self, word, u):
        """A word with the guards of unit u on their other side."""
        word, flips = word.copy(), self._flips[self._firsts[u] : self._firsts[u + 1]]
        word[flips] = -word[flips]
        return word

    def _transposed(self, w, passage):
        """The gradient w (n entries of the state, then parameters) before the corner, changed in place."""
        for u, jump in zip(passage.order[::-1], passage.jumps[::-1], strict=True):
            weight = (jump[:-1] @ w[: self.n]) / jump[-1]
            w += self._rows[u] * weight

    def _perturbation(self, dx):
        dx = _vector("dx", dx)
        if dx.shape != (self.n,):
            raise ValueError(f"dx must have {self.n} values, one for each state; got {dx.size}")
        return dx

    def __call__(self, dx):
        """What the perturbation (or each of a batch, (nbatch, n)) is behind the corner, seen at the same time."""
        dx = numbers("dx", dx)
        if dx.ndim == 2:
            return np.array([self(row) for row in dx])
        D = self._perturbation(dx)[None].copy()
        self._pass(D)
        return D[0]

    def matrix(self, dx):
        """The linear piece that dx falls in."""
        D = np.vstack([self._perturbation(dx), np.eye(self.n)])
        self._pass(D)
        return D[1:].T.copy()

    def order(self, dx):
        """The guards in the order in which the perturbed trajectory crosses them."""
        return tuple(self.guards[u] for u in self._pass(self._perturbation(dx)[None].copy()).order)

    def pieces(self, limit=1000):
        """The distinct linear pieces, each with the orders that lead to it (see `BDerivative.pieces`)."""
        from .pieces import pieces

        limit = whole("limit", limit, 1)
        return pieces([(np.eye(self.n), self)], self.n, limit)

    @property
    def is_linear(self):
        """Whether all pieces are the same: True, False, or None where there are too many orders to know."""
        from .pieces import is_linear

        return is_linear(self)

    def __repr__(self):
        names = ", ".join(str(g) for g in self.guards[:8]) + (", ..." if len(self.guards) > 8 else "")
        return f"Corner of {self.units} guards: {names}"


class _Field:
    """A field given for each word, as a function that the core can call."""

    def __init__(self, F, n, m):
        if callable(F):
            self._value = F
        else:
            table = _table(F)
            self._value = lambda word: table[tuple(int(s) for s in word)]
        self._n = n
        self.failures = Failures()
        user = UserFunction("f", lambda t, x, b, p: self.at(b))
        address, self._callback = user.bind(False, {"n": n, "m": m, "p": 0}, self.failures)
        self.fn = np.zeros(1, dtype=FUNCTIONS)
        self._context = np.array([n, m, 0, 0], dtype=np.int64)
        self.fn["f"], self.fn["context"] = address, self._context.ctypes.data

    def at(self, word):
        try:
            value = numbers("F", self._value(np.array(word)))
        except KeyError:
            raise KeyError(f"F has no entry for the word {tuple(int(s) for s in word)}") from None
        if value.shape != (self._n,):
            raise ValueError(f"F must give {self._n} values, one for each state; got shape {value.shape}")
        return value

    def failed(self):
        raise self.failures.take() or FunctionError("F failed, but did not say why")


def _table(F):
    try:
        return {tuple(int(s) for s in key): value for key, value in dict(F).items()}
    except (TypeError, ValueError):
        raise TypeError(
            f"F must be a function of the word, or a table keyed by tuples of -1 and +1; got {F!r}"
        ) from None


def _vector(name, value):
    out = numbers(name, value)
    if out.ndim == 0:
        out = out.reshape(1)
    if out.ndim != 1 or not np.isfinite(out).all():
        raise ValueError(f"{name} must be a vector of finite numbers; got {value!r}")
    return out
