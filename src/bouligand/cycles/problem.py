"""The equations of a cycle: segments that continue one another, and their derivatives.

Unknowns u, scaled: the states x_0, ..., x_{N-1} at the nodes; of an autonomous system the time T of one part; parameters that are
free. Equations: each segment ends where the next one starts, the last one is mapped onto the first by the symmetry S; of an
autonomous system x_0 lies in a plane across the flow; states that drift (such as a robot's position) are held at the first node
and need not come back; and what is asked for at the section or of the period.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CycleError
from ..integration.solve import solve

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..derivative.bderivative import BDerivative
    from ..solution.solution import Solution
    from ..system.system import System


@dataclass
class Section:
    """A guard whose crossings in one direction begin a new cycle (0: in either)."""

    guard: int
    direction: int = 0

    def rows(self, solution: Solution) -> ty.IntArray:
        """The events of a solution that are on the section."""
        events = solution.events
        here = events.guard == self.guard
        if self.direction:
            here &= events.direction == self.direction
        return np.flatnonzero(here)


@dataclass
class Shot:
    """One evaluation of the equations: residuals and their Jacobian, scaled, and the segments."""

    residual: ty.FloatArray
    jacobian: ty.FloatArray
    solutions: list[Solution]
    derivatives: list[BDerivative[Any]]
    matrices: list[ty.FloatArray]  # D phi of each segment in the state, on the piece that was taken


@dataclass
class Problem:
    """The equations of one cycle, for `newton`."""

    system: System
    p: ty.FloatArray
    S: ty.FloatArray
    fractions: ty.FloatArray
    t0: float  # time of the first node
    duration: float | None  # of one part, if it is known (forced systems)
    free: list[int]  # parameters
    drift: list[int]  # states
    fixed: Mapping[str, float]
    section: Section | None
    scale: ty.FloatArray  # of the states
    parameter_scale: ty.FloatArray  # of the free parameters
    time_scale: float
    options: dict[str, Any]
    reference: ty.FloatArray = field(default_factory=lambda: np.empty(0))  # x_0 of the plane across the flow
    normal: ty.FloatArray = field(default_factory=lambda: np.empty(0))
    solves: int = 0

    @property
    def autonomous(self) -> bool:
        """Whether the period is an unknown."""
        return self.duration is None

    @property
    def segments(self) -> int:
        """Their number."""
        return len(self.fractions) - 1

    def pack(self, states: ty.FloatArray, duration: float, p: ty.FloatArray) -> ty.FloatArray:
        """The unknowns, scaled."""
        time = [duration / self.time_scale] if self.autonomous else []
        return np.concatenate([(states / self.scale).ravel(), time, p[self.free] / self.parameter_scale])

    def unpack(self, u: ty.FloatArray) -> tuple[ty.FloatArray, float, ty.FloatArray]:
        """States at the nodes, the time of one part, all parameters."""
        n, N = self.system.n, self.segments
        states = u[: N * n].reshape(N, n) * self.scale
        duration = float(u[N * n] * self.time_scale) if self.duration is None else self.duration
        p = self.p.copy()
        p[self.free] = u[u.size - len(self.free) :] * self.parameter_scale
        return states, duration, p

    def set_plane(self, x: ty.FloatArray, rate: ty.FloatArray) -> None:
        """The plane across the flow in which the first node stays."""
        slope = rate / self.scale
        slope[self.drift] = 0.0
        size = float(np.linalg.norm(slope))
        if not size * self.time_scale > 1e-9:
            raise CycleError(
                f"the state {x.tolist()} is at rest (f is zero there): an equilibrium is no cycle; start farther away from it"
            )
        self.reference, self.normal = x / self.scale, slope / size

    def evaluate(self, u: ty.FloatArray, towards: ty.FloatArray | None = None) -> Shot:
        """Residuals and Jacobian at u. ``towards``: a step of u, which selects the linear piece at corners."""
        return self.linearise(u, *self.shoot(u), towards)

    def shoot(self, u: ty.FloatArray) -> tuple[list[Solution], ty.FloatArray]:
        """The segments at u, and the residuals alone: a fraction of the time of a Jacobian."""
        states, duration, p = self.unpack(u)
        n, N = self.system.n, self.segments
        if not 0.02 * self.time_scale < duration < 50.0 * self.time_scale:
            raise CycleError(f"the period went from {self.time_scale * self.parts:g} to {duration * self.parts:g}")
        solutions, residual = [], []
        for i in range(N):
            solution = self._solve(states[i], i, duration, p)
            end, then = solution.record.states[-1], (i + 1) % N
            end = self.S @ end if then == 0 else end
            residual.append(((end - states[then]) / self.scale)[self._kept if then == 0 else slice(n)])
            solutions.append(solution)
        return solutions, np.concatenate([*residual, self._conditions(u, states, duration, solutions)])

    @property
    def _kept(self) -> list[int]:
        """The states that must come back."""
        return [i for i in range(self.system.n) if i not in self.drift]

    def linearise(
        self, u: ty.FloatArray, solutions: list[Solution], residual: ty.FloatArray, towards: ty.FloatArray | None = None
    ) -> Shot:
        """The Jacobian besides, of what `shoot` has found at u."""
        n, N, width = self.system.n, self.segments, u.size
        derivatives, matrices, rows = [], [], []
        lengths = np.diff(self.fractions)
        for i, solution in enumerate(solutions):
            B, M, Mp = self._derivative(solution, i, u if towards is None else towards)
            J = np.zeros((n, width))
            J[:, i * n : (i + 1) * n] = M * self.scale
            if self.autonomous:
                J[:, N * n] = solution.rate(float(solution.record.t[-1])) * lengths[i] * self.time_scale
            if self.free:
                J[:, width - len(self.free) :] = Mp * self.parameter_scale
            then = (i + 1) % N
            J = self.S @ J if then == 0 else J
            J[:, then * n : (then + 1) * n] -= np.diag(self.scale)
            rows.append((J / self.scale[:, None])[self._kept if then == 0 else slice(n)])
            derivatives.append(B)
            matrices.append(M)
        jacobian = np.vstack([*rows, self._condition_rows(solutions, width)])
        return Shot(residual, jacobian, solutions, derivatives, matrices)

    def _solve(self, x: ty.FloatArray, i: int, duration: float, p: ty.FloatArray) -> Solution:
        """Segment i from the state x."""
        begin = self.t0 + self.fractions[i] * duration
        if self.autonomous:
            begin = self.t0  # (the time does not matter; equal times have equal rounding errors)
        self.solves += 1
        until = begin + (self.fractions[i + 1] - self.fractions[i]) * duration
        return solve(self.system, (begin, until), x, p, **self.options)

    def _derivative(
        self, solution: Solution, i: int, towards: ty.FloatArray
    ) -> tuple[BDerivative[Any], ty.FloatArray, ty.FloatArray]:
        """The derivative of segment i, and its matrices in the state and in the free parameters."""
        n = self.system.n
        params = bool(self.free)
        B: BDerivative[Any] = solution.bderivative(params=params)
        dx, dp = None, None
        if B.corners and B.is_linear is not True:
            dx = towards[i * n : (i + 1) * n] * self.scale
            if params:
                dp = np.zeros(len(self.p))
                dp[self.free] = towards[towards.size - len(self.free) :] * self.parameter_scale
        matrix = B.matrix(dx, dp)
        return B, matrix, B.matrix(dx, dp, wrt="p")[:, self.free] if params else np.empty((n, 0))

    def _conditions(
        self, u: ty.FloatArray, states: ty.FloatArray, duration: float, solutions: list[Solution]
    ) -> ty.FloatArray:
        """The equations besides those of the segments."""
        values = []
        if self.autonomous:
            values.append(float(self.normal @ (u[: self.system.n] - self.reference)))
        values += [float(u[i] - self.reference[i]) for i in self.drift]
        for name, wanted in self.fixed.items():
            if name == "period":
                values.append((duration * self.parts - wanted) / self.time_scale)
            else:
                i = self.system.states.index(name)
                q, row = self._at_section(solutions)
                value = states[0, i] if self.section is None else solutions[q].events.x_after[row, i]
                values.append((float(value) - wanted) / self.scale[i])
        return np.array(values)

    def _condition_rows(self, solutions: list[Solution], width: int) -> ty.FloatArray:
        """Their derivatives."""
        n, rows = self.system.n, []
        if self.autonomous:
            rows.append(self.plane_row(width))
        rows += [np.eye(1, width, i)[0] for i in self.drift]
        for name in self.fixed:
            if name == "period":
                rows.append(np.eye(1, width, self.segments * n)[0] * self.parts)
                continue
            i, row = self.system.states.index(name), np.zeros(width)
            if self.section is None:
                row[i] = self.scale[i]
            else:
                q, event = self._at_section(solutions)
                B: BDerivative[Any] = solutions[q].bderivative(event=event, params=bool(self.free))
                row[q * n : (q + 1) * n] = B.matrix()[i] * self.scale
                if self.free:
                    row[width - len(self.free) :] = B.matrix(wrt="p")[i, self.free] * self.parameter_scale
            rows.append(row / self.scale[i])
        return np.array(rows).reshape(len(rows), width)

    def plane_row(self, width: int) -> ty.FloatArray:
        """The derivative of the equation that keeps the first node in a plane across the flow."""
        return np.concatenate([self.normal, np.zeros(width - self.system.n)])

    parts: int = 1  # of a cycle: the order of the symmetry

    def _at_section(self, solutions: list[Solution]) -> tuple[int, int]:
        """The first crossing of the section: number of the segment, and of the event. (Without a section: 0, 0.)"""
        if self.section is None:
            return 0, 0
        for q, solution in enumerate(solutions):
            found = self.section.rows(solution)
            if found.size:
                return q, int(found[0])
        names = ", ".join(repr(name) for name in self.fixed if name != "period")
        raise CycleError(f"fixed: {names} is asked for at the section, {self.system.guards[self.section.guard]!r}, "
                         "which this motion does not cross")  # fmt: skip
