"""The guards that are met at one instant at which the state jumps: what happens where each is crossed, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NotEventSelectedError
from .compiled_corner import EXACT, FROM_STATES
from .sliding_exit import gradients
from .sliding_start import onto_guards
from .trajectory_corners import rows_of_guards

if TYPE_CHECKING:
    from .._typing import FloatArray, RecordArray
    from .flights import Flight
    from .walk import Walk

SLOW = 1e-7  # rate of a contact, of that which the speed of the state could give it, below which it is nearly at rest
NEAR = 30.0  # tolerances within which a guard is reached together with another


@dataclass
class Crossing:
    """The passage of one guard, with all jumps that it sets off: what perturbations and gradients need of it."""

    guard: int
    fired: list[
        tuple[list[int], FloatArray, FloatArray]
    ]  # the guards whose jumps are applied, the state and word before each
    row: FloatArray  # of Dh and Dp_h
    hdot: float
    f_before: FloatArray
    f_after: FloatArray
    x_after: FloatArray
    word_after: FloatArray
    onto: FloatArray | None = None  # the move onto guards on which the trajectory stays behind it, if there are any
    matrices: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)  # DR with Dp_R, and Dt_R, for gradients


class Crossings:
    """The guards of an instant between two flights, and their crossings. ``walk`` is the way up to it."""

    def __init__(self, walk: Walk, flight: Flight, following: Flight, events: RecordArray, first_event: int) -> None:
        self._walk, self.system = walk, walk.system
        solution = walk.solution
        record = solution.record
        self.t, self.x = float(record.t[-1]), record.states[-1]
        self._word, self._word_after = flight.word, following.solution.record.word_start
        self._x_after = following.solution.record.states[0]
        self._p = record.parameters_at(self.t, "left")
        self._rtol, self._atol = solution._tolerances
        self._resolved = max(EXACT, FROM_STATES * self._rtol)
        self._elapsed = self.t - float(walk.stretch.t[0])
        # rows of the event table, counted from the first on the way
        self.events, self.offset = events, first_event
        reached = self.events[self.events["record"] == flight.last_row]
        self._met = [int(k) for k in dict.fromkeys(reached["guard"]) if not self.system.observers[k]]
        self.guards = tuple(self.system.guards[k] for k in self._met)
        # one guard, whose jump makes no other fire
        self._single = len(self._met) == 1 and following.first_row == flight.last_row + 1 and len(events) <= 2
        self._crossings: dict[tuple[int, ...], Crossing] = {}
        bound = self.system._bind()
        # (machine code called directly is quicker than by way of Python)
        direct = bound.compiled and self.system._contexts is None
        self._field = bound.field if direct else self.system.function("f")

    # ---------------------------------------------------------------------------------------------------- crossings

    def _after(self, passed: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """State and word behind the crossings of these guards, in this order."""
        if not passed:
            return self.x, self._word
        crossing = self._cross(passed[:-1], passed[-1])
        return crossing.x_after, crossing.word_after

    def _cross(self, passed: tuple[int, ...], k: int) -> Crossing:
        """The crossing of guard k behind those of others, in this order."""
        key = (*passed, k)
        if key not in self._crossings:
            self._crossings[key] = self._find(passed, k)
        return self._crossings[key]

    def _find(self, passed: tuple[int, ...], k: int) -> Crossing:
        x, word = self._after(passed)
        f, t, p = self._field, self.t, self._p
        rows, slopes = rows_of_guards(self._walk, t, x, [k])
        before = f(t, x, word, p)
        hdot = float(rows[0, : self.system.n] @ before + slopes[0])
        if self.system.rests[k] and abs(hdot) <= SLOW * np.abs(rows[0]).max() * np.abs(before).max():
            rows, hdot = self._by_rate(k, x, word, before, rows)
        if not hdot * word[k] < 0.0:
            raise self._no_derivative(passed, k)
        ahead = [j for j in self._met if j not in (*passed, k)]
        if self._single:
            fired = [([k], x, np.where(word == 0.0, 1.0, word))]
            x_after, word_after = self._x_after, self._word_after
        else:
            fired, x_after, word_after = self._jumps(k, x, word.copy(), ahead)
        if not ahead and not self._single:  # what the integration has found
            if not self._agrees(x_after):
                raise self._no_derivative(passed, k)
            x_after, word_after = self._x_after, self._word_after
        after = f(t, x_after, word_after, p)
        onto = None
        if (word_after == 0.0).any():
            onto = onto_guards(self.system, t, x_after, word_after, p, rows.shape[1])
        return Crossing(k, fired, rows[0], hdot, before, after, x_after, word_after, onto)

    def _by_rate(
        self, k: int, x: FloatArray, word: FloatArray, f: FloatArray, rows: FloatArray
    ) -> tuple[FloatArray, float]:
        """Row and rate from which the delay follows at one of the last of impacts that accumulate, where h and its rate vanish.

        By how much later a perturbed trajectory meets them changes it along the impulse only, and that is lost at rest: no delay.
        Where f depends on the force at rest it changes more. Then the delay is that with which the rate of h, at which gravity
        goes on to act, is the same: perturbations of the impact itself have died out.
        """
        if not (self.system.rest_forces >= 0).any():
            return np.zeros_like(rows), -float(word[k])
        rate, n, width = self.system._bind().contact_rates, self.system.n, rows.shape[1]
        slopes = gradients(lambda s, y, q: rate(s, y, word, q)[[k]], self.t, x, self._p, width)[:, 0]
        return slopes[None, :width], float(slopes[:n] @ f + slopes[-1])

    def _no_derivative(self, passed: tuple[int, ...], k: int) -> NotEventSelectedError:
        names = [self.system.guards[j] for j in (*passed, k)]
        return NotEventSelectedError(
            f"guards {', '.join(names)} fire together at t = {self.t:.10g}, and the state behind depends on the order in which "
            "they are met: the outcome has no derivative there",
            t=self.t,
            x=self.x.copy(),
            guard=names[-1],
        )

    def _agrees(self, x: FloatArray) -> bool:
        """Whether the state behind is that which the integration has found."""
        if (self._word_after == 0.0).any():
            x = self.system._bind().onto_guards(self.t, x, self._word_after, self._p)
        return bool((np.abs(x - self._x_after) <= NEAR * (self._atol + self._rtol * np.abs(x))).all())

    def _jumps(
        self, k: int, x: FloatArray, word: FloatArray, ahead: list[int]
    ) -> tuple[list[tuple[list[int], FloatArray, FloatArray]], FloatArray, FloatArray]:
        """Apply the jump of guard k, and of those that it makes fire: what was applied, the state and the word behind.

        Guards ``ahead`` are reached at the same instant by themselves; one that the jump carries across fires now.
        """
        system, jumps, applied = self.system, self.system.jumps, []
        h, f, t, p = system.function("h"), self._field, self.t, self._p
        firing = [k]
        word[word == 0.0] = 1.0  # (as the core does where the trajectory has stayed on a guard)
        for _ in range(2 * system.m + 10):
            with_jump = [j for j in firing if jumps.has[j]]
            before, was = x, word.copy()
            if with_jump:
                applied.append((with_jump, before, was))
                x = jumps.apply(system.sizes, with_jump, t, before, was, p)
            values, unsure = h(t, x, p), self._unsure(x)
            carried = []
            for j in range(system.m):
                on = abs(values[j]) <= unsure[j]
                side = np.sign(values[j]) if not on else 0.0
                if j in firing:
                    if side == 0.0 and with_jump and jumps.has[j]:
                        side = self._side_of_flow(f, x, word, j)
                    word[j] = side if side != 0.0 else -was[j]
                elif side not in (0.0, word[j]):
                    one_way = system.direction[j] in (0.0, side)
                    if jumps.has[j] and one_way:
                        carried.append(j)
                    else:
                        word[j] = side
                elif j in ahead and side == word[j]:
                    raise self._no_derivative((k,), j)
            if not carried:
                break
            firing = carried
            for j in carried:
                if j in ahead:
                    ahead.remove(j)
        return applied, x, word

    def _side_of_flow(self, f: Any, x: FloatArray, word: FloatArray, j: int) -> float:
        """The side to which the flow takes guard j, on which the state is behind its own jump."""
        rows, slopes = rows_of_guards(self._walk, self.t, x, [j])
        rate = rows[0, : self.system.n] @ f(self.t, x, word, self._p) + slopes[0]
        return float(word[j] if rate * word[j] > 0.0 else -word[j])

    def _unsure(self, x: FloatArray) -> FloatArray:
        """Values of each guard that are zero within the tolerances."""
        every = list(range(self.system.m))
        rows, slopes = rows_of_guards(self._walk, self.t, x, every)
        n = self.system.n
        size = self._atol + self._rtol * np.abs(x)
        rate = rows[:, :n] @ self._field(self.t, x, self._word, self._p) + slopes
        out: FloatArray = NEAR * (np.abs(rows[:, :n]) @ size + np.abs(rate) * self._rtol * self._elapsed)
        return out
