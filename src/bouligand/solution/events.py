"""The table of events."""

from functools import cached_property

import numpy as np


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
        self._rows = solution._E[solution._E[:, 5] == 1]

    @property
    def t(self):
        return self._rows[:, 0]

    @cached_property
    def guard(self):
        return self._rows[:, 1].astype(int)

    @property
    def name(self):
        return np.array([self._solution.system.guards[k] for k in self.guard], dtype=object)

    @cached_property
    def direction(self):
        return self._rows[:, 2].astype(np.int8)

    @property
    def residual(self):
        return self._rows[:, 3]

    @cached_property
    def x(self):
        record = self._rows[:, 4].astype(int)
        states = self._solution._R[record, 5:]
        between = self._solution._R[record, 0] > self._rows[:, 0]
        if between.any():
            states[between] = self._solution(self._rows[between, 0])
        return states

    def _words(self, after):
        """The word before each event, or after it (with what was armed again at the same instant)."""
        solution = self._solution
        flips = solution._E[solution._E[:, 5] != 2]
        out = np.empty((len(self), solution.system.m), dtype=np.int8)
        word, q = solution._word_start.astype(np.int8), 0
        for i, row in enumerate(flips):
            if row[5] == 1 and not after:
                out[q] = word
                q += 1
            word[int(row[1])] = row[2]
            if row[5] == 1 and after:
                out[q] = word
                for hidden in flips[i + 1 :]:
                    if hidden[5] != 0 or hidden[0] != row[0]:
                        break
                    out[q, int(hidden[1])] = hidden[2]
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
