"""What a check has found, and where it looked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import FloatArray


class Place(NamedTuple):
    """Where a system is checked: time, state, parameters, h there, and the mode that it shows."""

    t: float
    x: FloatArray
    p: FloatArray
    h: FloatArray
    word: FloatArray


@dataclass
class Report:
    """The result of `check`. Printing it lists what was found.

    Attributes
    ----------
    ok : bool
        Whether there are no problems.
    problems : list of str
        What is wrong: Jacobians that differ from differences, guards at which the system is not event-selected.
    notes : list of str
        What is worth knowing, but not wrong.
    jacobians : dict from str to float
        The largest relative difference of each Jacobian that was given (and of the sum ``f0 + g``, if there is one) from
        central differences.
    depends_on_signs_only : bool
        Whether f stays the same when b is scaled by positive numbers.
    margin : float
        The smallest rate hdot with which a guard near x is crossed in any of the modes around x, relative to the largest
        |hdot| of that guard. If it is positive, hdot of each guard has the same sign in all these modes: the guards are
        crossed transversally, in any order, and the system is event-selected at x.
    worst : tuple (str, array of int) or None
        The guard and the mode with that margin.
    speeds : array (m,)
        The largest |hdot| of each guard over these modes: the paper's mu, used by `normalised`.
    """

    jacobians: dict[str, float] = field(default_factory=dict)
    depends_on_signs_only: bool = True
    margin: float = np.inf
    worst: tuple[str, NDArray[np.int_]] | None = None
    speeds: FloatArray = field(default_factory=lambda: np.empty(0))
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def __repr__(self) -> str:
        lines = ["System check: " + ("all right" if self.ok else f"{len(self.problems)} problem(s)")]
        lines += [f"  - {problem}" for problem in self.problems]
        lines += [
            f"  {name}: agrees with differences to {error:.1e}"
            for name, error in self.jacobians.items()
            if error <= 1e-5
        ]
        if self.worst is not None:
            guard, word = self.worst
            signs = np.array2string(word, threshold=12)
            lines.append(
                f"  smallest margin of hdot: {self.margin:.3g} (relative), guard {guard!r} under the word {signs}"
            )
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)
