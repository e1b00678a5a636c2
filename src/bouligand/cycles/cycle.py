"""The result of `find_cycle`: a periodic motion with its multipliers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._made import Made
from ..integration.solve import solve
from .stability import across_flow, around, eigenvalues, is_stable, pieces_of

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..solution.events import Events
    from ..solution.solution import Solution
    from .newton import Found
    from .problem import Problem


class Cycle(metaclass=Made, by="find_cycle"):
    """A periodic motion of a system, made by `find_cycle`.

    Attributes
    ----------
    system : System
    period : float
        Of the whole cycle (of all parts, if it was found with a symmetry).
    p : array
        Parameters; ``cycle.parameters`` has them by name.
    t0, x0 : float, array (n,)
        Time and state at the first node, which lies between events.
    states : array (segments, n)
        States at the nodes of one part.
    at_section : array (n,) or None
        The state where the section is crossed, behind its jump if it has one.
    solution : Solution
        One period, from x0 on.
    events : Events
        Its events.
    multipliers : array of complex
        Floquet multipliers of the whole cycle, largest first, without the one of the direction of the flow (which is 1 for every
        autonomous system) and those of states that drift. At corners: of the first piece.
    part_multipliers : array of complex
        The same of one part, mapped back by the symmetry.
    pieces : list of arrays
        The multipliers of each linear piece; one array where there is no corner.
    stable : bool or None
        Whether small perturbations decay. None if that is open: a multiplier on the unit circle, within the errors, or several
        pieces that neither all contract nor all expand.
    trivial_error : float
        By how much the multiplier in the direction of the flow differs from 1: a measure of accuracy. (Zero for forced systems.)
    drift : array
        By how much states that drift change in one period (zeros elsewhere): the stride.
    gap : float
        The largest residual that is left, relative to the size of the states.
    converged : bool
    message : str
    iterations, solves : int
        Of Newton's method; integrations.

    Examples
    --------
    The simplest machine that walks, whose gait is known in closed form:

    >>> import bouligand as bd
    >>> from bouligand.models.rimless_wheel import START, gait
    >>> cycle = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
    >>> round(cycle.period, 6), bool(abs(cycle.at_section[1] - gait()) < 1e-8)
    (1.03455, True)
    >>> cycle.multipliers.real.round(6), cycle.stable
    (array([0.5]), True)
    """

    def __init__(self, problem: Problem, found: Found) -> None:
        self._problem, self._u = problem, found.u
        self.system = problem.system
        self.states, self._duration, self.p = problem.unpack(found.u)
        self.period = self._duration * problem.parts
        self.t0, self.x0 = problem.t0, self.states[0].copy()
        self.converged, self.message = found.converged, found.message
        self.iterations, self.solves = found.iterations, problem.solves
        self.gap = float(np.abs(found.shot.residual).max())
        self._solutions = found.shot.solutions
        rate = found.shot.solutions[0].rate(float(found.shot.solutions[0].record.t[0])) if problem.autonomous else None
        segments = pieces_of(found.shot.derivatives, found.shot.matrices, self.system.n)
        reduced = [across_flow(M, rate, problem.drift, problem.scale) for M in around(segments, problem.S)]
        self._parts = [M for M, _ in reduced]
        self.trivial_error = max(error for _, error in reduced)
        self.part_multipliers: ty.ComplexArray = eigenvalues(self._parts[0])
        whole = [np.linalg.matrix_power(M, problem.parts) for M in self._parts]
        self.pieces: list[ty.ComplexArray] = [eigenvalues(M) for M in whole]
        self.multipliers = self.pieces[0]
        self.stable: bool | None = is_stable(self._parts, max(1e-6, 10.0 * self.trivial_error))

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name.

        Examples
        --------
        >>> import bouligand as bd
        >>> bd.find_cycle(bd.models.hopper(), [2.0, 0.0], section="foot").parameters
        {'g': 9.81, 'k': 1000.0, 'rest': 1.0}
        """
        return dict(zip(self.system.params, map(float, self.p), strict=False))

    @property
    def monodromy(self) -> ty.FloatArray:
        """The derivative around one part of the cycle, across the flow, in scaled coordinates; of the first piece. Its
        eigenvalues
        are `part_multipliers`."""
        return self._parts[0]

    @cached_property
    def solution(self) -> Solution:
        """One period, from ``x0`` on."""
        return solve(self.system, (self.t0, self.t0 + self.period), self.x0, self.p, **self._problem.options)

    @property
    def events(self) -> Events:
        """The events of one period."""
        return self.solution.events

    @cached_property
    def at_section(self) -> ty.FloatArray | ty.MaybeNone:
        """The state where the section is crossed (behind its jump); None without a section, or if it is not crossed."""
        if self._problem.section is None:
            return None
        for solution in (*self._solutions, self.solution):  # (with a symmetry another part may cross it)
            rows = self._problem.section.rows(solution)
            if rows.size:
                out: ty.FloatArray = solution.events.x_after[rows[0]].copy()
                return out
        return None

    @cached_property
    def drift(self) -> ty.FloatArray:
        """By how much states that drift change in one period; zeros elsewhere."""
        out = np.zeros(self.system.n)
        out[self._problem.drift] = (self.solution.record.states[-1] - self.x0)[self._problem.drift]
        return out

    @cached_property
    def signature(self) -> tuple[tuple[str, int], ...]:
        """The events of one part, as pairs of a guard's name and a direction, beginning with the first in alphabetical order.

        Those of one instant are in the order of their names. Cycles with equal signatures pass the same modes.

        Examples
        --------
        >>> import bouligand as bd
        >>> bd.find_cycle(bd.models.hopper(), [2.0, 0.0], section="foot").signature
        (('foot', -1), ('foot', 1))
        """
        times: list[tuple[int, str, int]] = []
        for q, solution in enumerate(self._solutions):
            events = solution.events
            resolution = 1e-7 * self.period
            instant, last = 0, -np.inf
            for t, name, direction in zip(events.t, events.name, events.direction, strict=True):
                instant += t > last + resolution
                last = t
                times.append((1000000 * q + instant, str(name), int(direction)))
        rows = [(name, direction) for _, name, direction in sorted(times)]
        turns = [tuple(rows[k:] + rows[:k]) for k in range(len(rows))]
        return min(turns, default=())

    def __repr__(self) -> str:
        count = len(self.signature) * self._problem.parts
        head = (
            f"Cycle of {self.system.name or 'a system'}: period {self.period:.10g}, {count} event{'s' * (count != 1)}"
        )
        if self._problem.parts > 1:
            head += f" in {self._problem.parts} parts"
        if not self.converged:
            return f"{head}; not converged ({self.message})"
        word = {True: "stable", False: "unstable", None: "neither shown stable nor unstable"}[self.stable]
        lines = [head, f"  {word}; multipliers {_numbers(self.multipliers)}"]
        if len(self.pieces) > 1:
            lines[1] += f" on the first of {len(self.pieces)} pieces"
        if self._problem.autonomous:
            lines.append(f"  trivial multiplier 1 {self.trivial_error:+.1e}, gap {self.gap:.1e}")
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        self.at_section, self.signature, self.solution  # noqa: B018  (computed while all is here)
        return {**self.__dict__}


def _numbers(values: ty.ComplexArray) -> str:
    """Some multipliers as text."""
    shown = [f"{v.real:.6g}" if abs(v.imag) < 1e-12 else f"{v.real:.4g}{v.imag:+.4g}i" for v in values[:6]]
    return ", ".join(shown) + (", ..." if len(values) > 6 else "") if len(values) else "none"
