"""The events of many trajectories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._made import Made, make
from ..system.arguments import index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import FloatArray, IntArray, SignArray


class EnsembleEvents(metaclass=Made, by="solve_many"):
    """The events of all trajectories of an ensemble, one after the other: ``ens.events``.

    Those of trajectory i are the rows ``offsets[i]`` to ``offsets[i + 1]``; ``ens.events[i]`` has them alone.

    Attributes
    ----------
    offsets : array (N + 1,) of int
    t : array
        Times.
    guard : array of int32
        Numbers of the guards.
    direction : array of int8
        The sign after each crossing.

    Examples
    --------
    >>> import bouligand as bd
    >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 1.0), [[2.0, 0.0], [1.5, 0.0]])
    >>> ens.events.offsets
    array([0, 2, 4])
    >>> ens.events[1].t.round(6)
    array([0.319275, 0.424865])
    """

    def __init__(self, offsets: IntArray, t: FloatArray, guard: NDArray[np.int32], direction: SignArray) -> None:
        self.offsets, self.t, self.guard, self.direction = offsets, t, guard, direction

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, i: int) -> EnsembleEvents:
        i, count = index("i, the number of a trajectory,", i), len(self.offsets) - 1
        if not -count <= i < count:
            raise IndexError(f"there is no trajectory i = {i}: there are {count}")
        i %= count
        rows = slice(self.offsets[i], self.offsets[i + 1])
        offsets = np.array([0, rows.stop - rows.start])
        return make(EnsembleEvents, offsets, self.t[rows], self.guard[rows], self.direction[rows])

    def __repr__(self) -> str:
        return f"EnsembleEvents: {len(self)} of {len(self.offsets) - 1} trajectories"
