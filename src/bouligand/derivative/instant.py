"""An instant at which the state jumps: how perturbations pass it.

A perturbed trajectory meets a guard by ``tau = -(Dh dx + Dp_h dp) / hdot`` later, jumps there, and goes on with the field behind
the jump. At the time of the unperturbed jump, that is

    dx+ = DR (dx + f- tau) + Dp_R dp + Dt_R tau - f+ tau,

which maps f- to f+. Guards that a jump makes fire at the same instant do so at tau, too. Of several guards that are reached
together, a perturbed trajectory meets one after the other, in an order that depends on the perturbation: each is passed with the
state and the field between the jumps.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..core.state import SHOWN, WHOLE
from ..errors import NotEventSelectedError
from ..system.arguments import vector
from .compiled_corner import Passage
from .instant_crossings import Crossing, Crossings
from .jump_tangents import push_jump

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, RecordArray
    from .flights import Flight
    from .walk import Walk

MOST_ORDERS = 24  # of crossing, that are compared to find out whether the passage is linear


class Instant(Crossings):
    """The jumps between two flights. As a corner of the trajectory it has ``t``, ``guards``, ``kind``, ``units``, ``is_linear``.

    ``walk`` is the way up to it.
    """

    mode, at_break = WHOLE, False
    kind: Literal["jump"] = "jump"

    def __init__(self, walk: Walk, flight: Flight, following: Flight, events: RecordArray, first_event: int) -> None:
        super().__init__(walk, flight, following, events, first_event)
        self.units = len(self._met)
        self._linear: bool | None = None

    # ------------------------------------------------------------------------------------------------------ passage

    def _pass(self, D: FloatArray, dt0: FloatArray | None = None, jumps: bool = False) -> Passage:
        """Propagate the tangents D (rows, changed in place) through the instant. The first selects the order for all."""
        passed: tuple[int, ...] = ()
        order: list[int] = []
        times: list[FloatArray] = []
        while ahead := self._ahead(passed):
            found = [(self._delay(self._cross(passed, k), D[:1])[0], k) for k in ahead]
            k = min(found)[1]
            tau = self._take(self._cross(passed, k), D)
            order.append(self._met.index(k))
            times.append(tau)
            passed = (*passed, k)
        return Passage(np.array(order, dtype=np.int64), np.array(times).reshape(len(order), len(D)), np.empty((0, 0)))

    def _ahead(self, passed: tuple[int, ...]) -> list[int]:
        """The guards that are still to be met. (Some may have been carried across by the jumps of others.)"""
        carried = {j for q in range(len(passed)) for j in self._carried(passed[: q + 1])}
        return [k for k in self._met if k not in passed and k not in carried]

    def _carried(self, passed: tuple[int, ...]) -> list[int]:
        return [j for group, _, _ in self._cross(passed[:-1], passed[-1]).fired[1:] for j in group]

    def _delay(self, crossing: Crossing, D: FloatArray) -> FloatArray:
        out: FloatArray = -(D @ crossing.row) / crossing.hdot
        return out

    def _take(self, crossing: Crossing, D: FloatArray, at_event: bool = False) -> FloatArray:
        """Take tangents through one crossing. Returns by how much later each is. ``at_event``: the state is that behind the jumps
        at their own, perturbed time."""
        n, tau = self.system.n, self._delay(crossing, D)
        dx = D[:, :n] + np.outer(tau, crossing.f_before)
        for group, x, word in crossing.fired:
            dx = push_jump(self.system, group, self.t, x, word, self._p, dx, D[:, n:], tau)
        D[:, :n] = dx if at_event else dx - np.outer(tau, crossing.f_after)
        if crossing.onto is not None:
            D[:, :n] = D @ crossing.onto
        return tau

    def push(self, D: FloatArray, times: FloatArray | None, at_event: bool = False) -> None:
        """Propagate tangents through an instant at which the order does not matter. ``times`` receives the derivatives of the
        times of its events, a row for each."""
        passed: tuple[int, ...] = ()
        taus: dict[int, FloatArray] = {}
        while ahead := self._ahead(passed):
            crossing = self._cross(passed, ahead[0])
            tau = self._take(crossing, D, at_event and len(ahead) == 1)
            passed = (*passed, ahead[0])
            for group in ([ahead[0]], *(g for g, _, _ in crossing.fired)):
                taus |= dict.fromkeys(group, tau)
        if times is not None:
            for q, event in enumerate(self.events):
                if event["shown"] == SHOWN:
                    times[self.offset + q] = taus.get(int(event["guard"]), tau)

    def pull(self, g: FloatArray, at_event: bool = False) -> None:
        """Propagate a gradient (changed in place) back through an instant at which the order does not matter."""
        self._adjoint(g, None, at_event)

    def _adjoint(self, g: FloatArray, passage: Passage | None, at_event: bool = False) -> None:
        order = [self._met[u] for u in passage.order] if passage is not None else self._usual_order()
        n, last = self.system.n, True
        for q in range(len(order) - 1, -1, -1):
            crossing = self._cross(tuple(order[:q]), order[q])
            if crossing.onto is not None:
                by_state = g[:n].copy()
                g[:n] = 0.0
                g += crossing.onto @ by_state
            by_tau = 0.0 if at_event and last else -float(crossing.f_after @ g[:n])
            last = False
            for J, by_time in self._matrices(crossing, g.size - n)[::-1]:
                by_tau += float(by_time @ g[:n])
                g[n:] += J[n:] @ g[:n]
                g[:n] = J[:n] @ g[:n]
            by_tau += float(crossing.f_before @ g[:n])
            g -= crossing.row * (by_tau / crossing.hdot)

    def _usual_order(self) -> list[int]:
        passed: tuple[int, ...] = ()
        while ahead := self._ahead(passed):
            passed = (*passed, ahead[0])
        return list(passed)

    def _matrices(self, crossing: Crossing, parameters: int) -> list[tuple[FloatArray, FloatArray]]:
        """Of each group of jumps: DR and Dp_R (rows: images of unit perturbations) and Dt_R."""
        n = self.system.n
        if len(crossing.matrices) != len(crossing.fired):
            unit = np.eye(n + parameters)
            zero = np.zeros(n + parameters)
            crossing.matrices = []
            for group, x, word in crossing.fired:
                at = self.t, x, word, self._p
                J = push_jump(self.system, group, *at, unit[:, :n], unit[:, n:], zero)
                none = np.zeros((1, n))
                by_time = push_jump(self.system, group, *at, none, np.zeros((1, parameters)), np.ones(1))
                crossing.matrices.append((J, by_time[0]))
        return crossing.matrices

    # ----------------------------------------------------------------------------------------------------- structure

    @property
    def is_linear(self) -> bool:
        """Whether perturbations pass it by one matrix, in whatever order they meet its guards. (Of many guards, some orders are
        compared.)"""
        if self._linear is None:
            self._linear = self.units <= 1 or self._same_in_all_orders()
        return self._linear

    def _same_in_all_orders(self) -> bool:
        n, width = self.system.n, self._cross((), self._met[0]).row.size
        chance = np.random.default_rng(0)
        some = chance.standard_normal((4, width))
        if self.units <= 4:
            orders = list(permutations(self._met))
        else:
            orders = [tuple(self._met), tuple(self._met[::-1])]
            orders += [tuple(int(k) for k in chance.permutation(self._met)) for _ in range(4)]
        images = []
        for order in orders[:MOST_ORDERS]:
            D = some.copy()
            passed: tuple[int, ...] = ()
            try:
                while ahead := [k for k in order if k in self._ahead(passed)]:
                    self._take(self._cross(passed, ahead[0]), D)
                    passed = (*passed, ahead[0])
            except NotEventSelectedError:
                return False
            images.append(D[:, :n])
        size = np.abs(images[0]).max(initial=1e-300)
        return all(np.abs(image - images[0]).max() <= 1e-6 * size for image in images)

    def _tangent(self, dx: ArrayLike) -> FloatArray:
        dx = vector("dx", dx)
        if dx.shape != (self.system.n,):
            raise ValueError(f"dx must have {self.system.n} values, one for each state; got {dx.size}")
        out = np.zeros(self._cross((), self._met[0]).row.size)
        out[: dx.size] = dx
        return out

    def __call__(self, dx: ArrayLike) -> FloatArray:
        """The perturbation behind the jumps of one before them."""
        D = self._tangent(dx)[None]
        self._pass(D)
        return D[0, : self.system.n].copy()

    def matrix(self, dx: ArrayLike) -> FloatArray:
        """The linear piece to which a perturbation belongs."""
        z = self._tangent(dx)
        D = np.vstack([z, np.eye(self.system.n, z.size)])
        self._pass(D)
        return D[1:, : self.system.n].T.copy()

    def order(self, dx: ArrayLike) -> tuple[str, ...]:
        """The guards in the order in which a perturbed trajectory meets them."""
        return tuple(self.guards[u] for u in self._pass(self._tangent(dx)[None]).order)

    @property
    def unit_rows(self) -> list[int]:
        """The rows of the event table that the guards have, counted from the first of this instant."""
        guards = list(self.events["guard"])
        return [guards.index(k) for k in self._met]

    def __repr__(self) -> str:
        return f"jump at t = {self.t:g}: {', '.join(self.guards)}"
