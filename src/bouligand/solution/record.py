"""The record of an integration: its steps, the states at their ends, and its crossings. The one class that reads the core's own
tables, and what everything that goes along a trajectory once more starts from."""

from dataclasses import dataclass, replace

import numpy as np

from ..core.state import BACK, MARGIN, SHOWN, SPAN
from ..memory.tables import Placed
from .lazy import lazy

_FIRST_LEG = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class Record:
    """``steps`` and ``states`` have a row for the start and one for each step, ``events`` one for each change of the word, each
    near-grazing, each event (see `core.state`)."""

    steps: np.ndarray  # of the dtype core.state.STEP
    states: np.ndarray  # (rows, n)
    events: np.ndarray  # of the dtype core.state.EVENT
    word_end: np.ndarray  # the word at the end
    breaks: np.ndarray  # times at which f or h may jump
    p: np.ndarray  # the parameters (at the end)
    legs: tuple | None = None  # (row, parameters) where parameters changed on the way, the first at row 0; None: never

    def __getstate__(self):
        # (addresses do not travel)
        return {key: value for key, value in self.__dict__.items() if key != "placed"}

    def __len__(self):
        return len(self.steps)

    @lazy
    def t(self):
        return self.steps["t"]

    @property
    def kind(self):
        """Of each step: the number of its scheme, of its hop, or SPAN; how it was cut back to a guard is left out."""
        return self.steps["kind"] % BACK

    @lazy
    def spans(self):
        """Whether there are steps across many crossings."""
        return bool((self.steps["kind"][1:] == SPAN).any())

    @property
    def shown(self):
        """Which rows of ``events`` are events."""
        return self.events["shown"] == SHOWN

    @property
    def flips(self):
        """The rows of ``events`` that change the word."""
        return self.events[self.events["shown"] != MARGIN]

    @property
    def margins(self):
        """The rows of ``events`` that are near-grazings."""
        return self.events[self.events["shown"] == MARGIN]

    @lazy
    def word_start(self):
        """The word at the start: each guard is on the other side than its first flip leaves it on."""
        word, flips = self.word_end.copy(), self.flips
        guards, first = np.unique(flips["guard"], return_index=True)
        word[guards] = -flips["sign"][first]
        return word

    @property
    def inside(self):
        """Which rows of ``events`` lie inside a step, not at its end."""
        return self.events["t"] < self.t[self.events["record"]]

    @lazy
    def parameters(self):
        """The parameters, a row for each time that they were changed, and the records from which on they held."""
        if self.legs is None:
            return self.p.reshape(1, -1).copy(), _FIRST_LEG
        values = np.array([p for _, p in self.legs]).reshape(len(self.legs), -1)
        return values, np.array([row for row, _ in self.legs], dtype=np.int64)

    @lazy
    def placed(self):
        """The arrays that the core replays, with their addresses."""
        return Placed.of(self.steps, self.states, self.events, self.breaks, *self.parameters)

    def copy(self):
        """One that does not change when the integration goes on."""
        return replace(self, steps=self.steps.copy(), states=self.states.copy(), events=self.events.copy())


def word_after(word, events):
    """A word after rows of ``events``; of several flips of one guard the last one stands."""
    word = word.copy()
    if len(events):
        flips = events[events["shown"] != MARGIN]
        word[flips["guard"]] = flips["sign"]
    return word
