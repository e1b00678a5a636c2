"""What the file of a model declares: a `Model`, under the name ``MODEL``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..system.system import System


@dataclass(frozen=True, eq=False)
class Model:
    """A ready model: how to make it, where it starts, when it ends and how it is drawn.

    A file ``bouligand/models/NAME.py`` with ``MODEL = Model(...)`` is all that a new model needs: `bouligand.models.available`
    finds it there, and with it ``bouligand.models.NAME(...)`` and the command ``bouligand run NAME``.
    """

    about: str  # one line for `bouligand run --list`
    make: Callable[..., System]  # called with the size, if the model has one, else without arguments
    start: np.ndarray | Callable[[int], np.ndarray]  # usual state at t = 0; if it depends on the size, a function of it
    tf: float  # usual end of the simulation
    draw: Callable[..., None] | None = None  # draw(ax, t, x, b, p), see `bouligand.plot.animate`; None: no animation
    gait: str | Sequence[str] | None = (
        None  # guards in the gait diagram, see `bouligand.plot.contacts`; None: its default
    )
    size: int | None = None  # usual number of contacts, fingers, ...; None: there is nothing to choose
    speed: float = 1.0  # of the animation: 0.1 is ten times slower than real time
    units: Mapping[str, str] = field(
        default_factory=dict
    )  # of the time "t" and the states; "q" stands for q0, q1, ... too

    def build(self, size: int | None = None) -> tuple[System, np.ndarray]:
        """The system and its state at t = 0, in the usual size or another one."""
        if self.size is None:
            if size is not None:
                raise ValueError("there is no size to choose")
            return self.make(), np.array(self.start, dtype=float)
        count = self.size if size is None else size
        return self.make(count), np.array(self.start(count) if callable(self.start) else self.start, dtype=float)

    def unit(self, name: str) -> str:
        """Unit of a state or of the time, ``"t"``; empty where there is none."""
        return self.units.get(name, self.units.get(name.rstrip("0123456789"), ""))
