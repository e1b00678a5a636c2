"""The table of events."""

from functools import cached_property

import numpy as np

from ..core.state import SHOWN, SWITCH


class Events:
    """The crossings of a solution, in the order in which they happened.

    Attributes
    ----------
    t : array (ne,)
    guard : array (ne,) of int
        Number of the guard; ``name`` has their names.
    direction : array (ne,) of int8
        The sign after the crossing: +1 if h went from - to +.
    x : array (ne, n)
        The state.
    residual : array (ne,)
        What was left of h at the landing.
    before, after : array (ne, m) of int8
        The words on both sides of each event.
    array : structured array
        t, guard, direction, x together.
    """

    def __init__(self, solution):
        self._solution = solution
        self._rows = solution.record.events[solution.record.shown]

    @property
    def t(self):
        return self._rows["t"]

    @cached_property
    def guard(self):
        return self._rows["guard"].astype(int)

    @property
    def name(self):
        return np.array([self._solution.system.guards[k] for k in self.guard], dtype=object)

    @cached_property
    def direction(self):
        return self._rows["sign"].astype(np.int8)

    @property
    def residual(self):
        return self._rows["residual"]

    @cached_property
    def x(self):
        record, rows = self._solution.record, self._rows["record"]
        states = record.states[rows]
        between = record.t[rows] > self.t
        if between.any():
            states[between] = self._solution(self.t[between])
        return states

    def _words(self, after):
        """The word before each event, or after it (with what was armed again at the same instant)."""
        record = self._solution.record
        flips = record.flips
        out = np.empty((len(self), self._solution.system.m), dtype=np.int8)
        word, q = record.word_start.astype(np.int8), 0
        for i, flip in enumerate(flips):
            event = flip["shown"] == SHOWN
            if event and not after:
                out[q] = word
                q += 1
            word[flip["guard"]] = flip["sign"]
            if event and after:
                out[q] = word
                for armed in flips[i + 1 :]:
                    if armed["shown"] != SWITCH or armed["t"] != flip["t"]:
                        break
                    out[q, armed["guard"]] = armed["sign"]
                q += 1
        return out

    @property
    def before(self):
        return self._words(after=False)

    @property
    def after(self):
        return self._words(after=True)

    @property
    def array(self):
        n = self._solution.system.n
        kind = [("t", float), ("guard", int), ("direction", np.int8), ("x", float, (n,))]
        out = np.empty(len(self), dtype=kind)
        for field in ("t", "guard", "direction", "x"):
            out[field] = getattr(self, field)
        return out

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        return iter(self.array)

    def __getitem__(self, key):
        return self.array[key]

    def __repr__(self):
        if not len(self):
            return "Events: none"
        lines = [f"Events: {len(self)}"]
        for q in range(min(len(self), 10)):
            state = np.array2string(self.x[q], precision=6, threshold=6)
            lines.append(f"  t = {self.t[q]:<12.9g} {self.name[q]:<12} {self.direction[q]:+d}  x = {state}")
        if len(self) > 10:
            lines.append(f"  ... and {len(self) - 10} more")
        return "\n".join(lines)
