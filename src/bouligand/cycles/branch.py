"""A family of cycles along a parameter, and where it changes its kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._made import Made
from ..system.arguments import index
from ..system.words import name as one_name

if TYPE_CHECKING:
    from .. import _typing as ty
    from .cycle import Cycle


@dataclass
class Bifurcation(metaclass=Made, by="continue_cycle"):
    """A place on a branch where cycles change their kind.

    Attributes
    ----------
    kind : str
        "fold" (the branch turns back), "period doubling" (a multiplier of -1), "symmetry breaking" (the same of a part that a
        symmetry maps to the next), "torus" (a complex pair leaves the unit circle), "branch point" (another branch crosses),
        "grazing" (a guard is touched tangentially: its crossings begin or end), or "tie" (two events change their order).
    value : float
        The parameter's value there.
    about : str
        What else is known: multipliers, the guard.
    cycle : Cycle
        The last cycle before it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.buck_converter import START
    >>> buck = bd.find_cycle(bd.models.buck_converter(), START, section="clock", settle=0.02)
    >>> found = bd.continue_cycle(buck, "Vin", stop=25.0).bifurcations[0]
    >>> found.kind, round(found.value, 2)
    ('period doubling', 24.52)
    """

    kind: str
    value: float
    about: str
    cycle: Cycle

    def __str__(self) -> str:
        return f"{self.kind} at {self.value:.8g}" + (f" ({self.about})" if self.about else "")


class Branch(metaclass=Made, by="continue_cycle"):
    """Cycles along a parameter, made by `continue_cycle`, in the order in which they were found.

    ``branch[k]`` is a Cycle, ``len(branch)`` their number.

    Attributes
    ----------
    parameter : str
    cycles : list of Cycle
    values : array
        The parameter's value of each.
    periods : array
    multipliers : array (cycles, n - 1) of complex
        Of each cycle, largest first.
    stable : list of bool or None
    bifurcations : list of Bifurcation
    message : str
        Why it ended.

    Examples
    --------
    The gait of the rimless wheel along the slope; its multiplier does not depend on it:

    >>> import bouligand as bd
    >>> from bouligand.models.rimless_wheel import START
    >>> wheel = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
    >>> branch = bd.continue_cycle(wheel, "gamma", stop=0.12)
    >>> bool(abs(branch.multipliers - 0.5).max() < 1e-6), round(float(branch.values[-1]), 9)
    (True, 0.12)
    """

    def __init__(self, parameter: str, cycles: list[Cycle], bifurcations: list[Bifurcation], message: str) -> None:
        self.parameter, self.cycles, self.bifurcations, self.message = parameter, cycles, bifurcations, message

    def __len__(self) -> int:
        return len(self.cycles)

    def __getitem__(self, k: int) -> Cycle:
        k, count = index("k, the number of a cycle,", k), len(self)
        if not -count <= k < count:
            raise IndexError(f"there is no cycle k = {k}: there are {count}")
        return self.cycles[k]

    def __iter__(self) -> Iterator[Cycle]:
        return iter(self.cycles)

    @property
    def values(self) -> ty.FloatArray:
        """The parameter's value of each cycle."""
        i = self.cycles[0].system.params.index(self.parameter)
        return np.array([cycle.p[i] for cycle in self.cycles])

    @property
    def periods(self) -> ty.FloatArray:
        """The period of each cycle."""
        return np.array([cycle.period for cycle in self.cycles])

    @property
    def multipliers(self) -> ty.ComplexArray:
        """The multipliers of each cycle, array (cycles, multipliers)."""
        return np.array([cycle.multipliers for cycle in self.cycles])

    @property
    def stable(self) -> list[bool | None]:
        """Whether each cycle is stable."""
        return [cycle.stable for cycle in self.cycles]

    def states(self, name: str) -> ty.FloatArray:
        """A state of each cycle where the section is crossed (without a section: at the first node).

        Examples
        --------
        >>> import bouligand as bd
        >>> from bouligand.models.rimless_wheel import START, gait
        >>> wheel = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
        >>> branch = bd.continue_cycle(wheel, "gamma", stop=0.1)
        >>> bool(abs(branch.states("omega")[-1] - gait(gamma=0.1)) < 1e-7)
        True
        """
        system = self.cycles[0].system
        i = system.states.index(one_name("name", name, system.states, "state"))
        rows = [cycle.x0 if cycle.at_section is None else cycle.at_section for cycle in self.cycles]
        return np.array([row[i] for row in rows])

    def __repr__(self) -> str:
        values = self.values
        lines = [f"Branch of {len(self)} cycles, {self.parameter} = {values[0]:g} to {values[-1]:g}; {self.message}"]
        return "\n".join([*lines, *(f"  {found}" for found in self.bifurcations)])
