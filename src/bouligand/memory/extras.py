"""The additional workspaces of spanning steps, stiff steps and derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.state import (
    CROSSING_NUMBERS,
    CROSSING_ROWS,
    DENSITY_PLACES,
    DERIVATIVE_ROWS,
    DIVIDED,
    DIVISION,
    DIVISION_PLAN,
    DUAL,
    FEW_DUAL,
    GUARD_SIDE,
    JACOBIANS,
    LANES,
    MODES_POSITION,
    MOST_SAMPLES,
    ONE_DUAL,
    POSITION,
    SMALL,
    SPANS,
    STEP,
    STIFF,
    STIFF_ROWS,
    SUM_ROWS,
    TANGENT_ROWS,
    TANGENTS,
    USER_DATA,
)
from ..core.views import record_view
from .tables import TableMemory
from .working import NO_MATRIX, NO_TIMES, Working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import FloatArray, IntArray, RecordArray
    from ..derivative.patterns import Pattern
    from ..derivative.stretch import Stretch
    from ..solution.solution import Solution
    from ..system.binding import Bound
    from ..system.exact import Ways
    from ..system.system import System
    from ..system.user_memory import Lease

CHUNK = 128  # contacts evaluated at once
_MOST_SPARE = 50_000  # numbers of a stretch's states up to which there is room for twice as many

_Position, _Modes, _Plan = record_view(POSITION), record_view(MODES_POSITION), record_view(DIVISION_PLAN)


class SpanMemory(TableMemory):
    """The workspace of spanning steps: the crossings inside one, sums over them, and a context for ``g_many``."""

    crossings: FloatArray
    sums: FloatArray
    g: FloatArray
    context: IntArray

    def __init__(self, system: System) -> None:
        bound = system._bind()
        bound.bind_contacts(system)
        n, most = system.n, 2 * system.m + 8
        super().__init__(
            SPANS,
            numbers=np.zeros((CROSSING_NUMBERS.count, most), dtype=np.int64),
            crossings=np.empty((CROSSING_ROWS.count, most)),
            sums=np.empty((SUM_ROWS.count, n)),
            g=np.empty(3 * n * max(1, min(CHUNK, 200_000 // n))),
            context=np.append(bound.context, 0),
        )
        self.size = self.crossings.size + self.sums.size + self.g.size

    def contents(self) -> dict[str, NDArray[Any]]:
        """Copies of its arrays, for `restore`."""
        return {name: getattr(self, name).copy() for name in ("numbers", "crossings", "sums", "g")}

    def restore(self, contents: dict[str, NDArray[Any]]) -> None:
        """Write the `contents` of another one to this one."""
        for name, values in contents.items():
            getattr(self, name)[:] = values

    def use(self, lease: Bound | Lease) -> None:
        """Let ``g_many`` use the same user data as the other functions of an integration."""
        self.context[USER_DATA] = lease.context[USER_DATA]


class StiffTable(TableMemory):
    """The matrix A of stiff steps, and its factors."""

    A: FloatArray
    rows: FloatArray

    def __init__(self, n: int) -> None:
        super().__init__(
            STIFF,
            A=np.zeros((n, n)),
            factors=np.empty((n, n)),
            **{name: np.zeros(n, dtype=np.int64) for name in ("pivots", "first", "begin", "end", "columns", "below")},
            rows=np.zeros((STIFF_ROWS.count, n)),
        )


class StiffMemory(StiffTable):
    """The workspace of stiff steps: with (``tangents``) what the evaluation of A needs."""

    def __init__(self, system: System) -> None:
        n, parameters = system.n, len(system.defaults)
        super().__init__(n)
        self.tangents = TangentTable(
            TANGENTS,
            jacobians=system._bind().jacobians_of_steps(system),
            dual_x=np.zeros(DUAL * n),
            dual_p=np.zeros(DUAL * parameters),
            dual_out=np.zeros(DUAL * n),
        )
        self.size = 2 * self.A.size

    def join(self, memory: Working) -> None:
        """Let a run of the core use it."""
        memory.put("stiff", self)
        memory.put("tangents", self.tangents)

    def contents(self) -> dict[str, NDArray[Any]]:
        """Copies of what is kept from step to step, for `restore`."""
        return {"A": self.A.copy(), "rows": self.rows.copy()}

    def restore(self, contents: dict[str, NDArray[Any]]) -> None:
        """Write the `contents` of another one to this one."""
        for name, values in contents.items():
            getattr(self, name)[:] = values


class DivisionTable(TableMemory):
    """How steps that are too long for perturbations are divided (see `core.state.DIVISION`)."""

    limited_to = 0.0  # the tolerance for which its limits are
    rows: FloatArray
    samples: IntArray
    times: FloatArray
    steps: RecordArray
    states: FloatArray
    fresh: IntArray
    fresh_times: FloatArray

    def __init__(self, n: int) -> None:
        plan = np.zeros(1, dtype=DIVISION_PLAN)
        self.now = _Plan(plan.data.cast("B"))  # the plan, for Python
        super().__init__(DIVISION, plan=plan, density=np.empty((2, DENSITY_PLACES)))
        self._n, self._room, self._judgement = n, 0, NO_MATRIX

    def hold_judgement(self, rows: int) -> None:
        """Make room for what is found out about the steps of a record with so many rows, before it is known whether it will be
        needed."""
        if len(self._judgement) < rows:
            self._judgement = np.zeros((2 * rows, len(DIVIDED)))
        self.put("rows", self._judgement)

    def hold_samples(self) -> None:
        """Make room for the eigenvalues of samples of Df. (Most derivatives need none.)"""
        if not hasattr(self, "samples"):
            self.put("samples", np.zeros(MOST_SAMPLES, dtype=np.int64))
            self.put("eigenvalues", np.empty((MOST_SAMPLES, 2 * self._n)))

    def hold_rows(self, rows: int) -> None:
        """Make room for a stretch of so many rows. (It belongs to the walk that has borrowed this memory.)"""
        if self._room < rows:
            self._room = 2 * rows if rows * self._n <= _MOST_SPARE else rows
            self.put("steps", np.empty(self._room, dtype=STEP))
            self.put("states", np.empty((self._room, self._n)))
            for name, dtype in (("moments", float), ("owners", int), ("fresh", int), ("fresh_times", float)):
                self.put(name, np.empty(self._room, dtype=dtype))


class TangentTable(TableMemory):
    """The arrays that only derivatives need (see `core.state.TANGENTS`); here those that Python looks at."""

    division: DivisionTable
    jacobians: RecordArray
    rows: FloatArray
    differences: FloatArray
    differences_h: FloatArray
    Dh: FloatArray
    row_starts: IntArray
    guard_sides: RecordArray
    word: FloatArray
    coloured: FloatArray
    dual_out: FloatArray


def _evaluations_of_h(system: System, params: bool, ways: Ways) -> tuple[int, int]:
    """How many evaluations of h of dual numbers Dh takes, and Dp_h; none where these do not come from it. (With many states: see
    `TangentMemory.use_pattern`.)"""
    jac = system._bind().jacobians(system, params)
    by_duals = bool(jac["h_dual"][0])
    of_x = by_duals and not (jac["Dh"][0] or jac["Dh_row"][0] or ways.by_colours)
    of_p = by_duals and params and not jac["Dp_h"][0]
    return -(-system.n // LANES) * of_x, -(-len(system.defaults) // LANES) * of_p


class TangentMemory(Working):
    """The workspace of a derivative along a record: that of a run without a record of its own, Jacobians, and the position."""

    tangents: TangentTable
    stages_for: tuple[int, int] | None

    def __init__(self, system: System, params: bool) -> None:
        n, m, parameters = system.n, system.m, len(system.defaults)
        super().__init__(n, m, parameters, units=system.unit, reset=system.reset)
        of_p = self.parameters_differentiated = parameters if params else 0
        self.ways = system._bind().ways[params]
        self.stages, self.stages_for = NO_MATRIX, None
        self._observers = system.observers if system.observers.any() else None
        position = np.zeros(1, dtype=POSITION)
        self.at = _Position(position.data.cast("B"))
        modes = np.zeros(1, dtype=MODES_POSITION)
        self.modes = _Modes(modes.data.cast("B"))
        by_duals = _evaluations_of_h(system, params, self.ways)
        tangents = TangentTable(
            TANGENTS,
            at=position,
            modes=modes,
            division=DivisionTable(n),
            jacobians=np.zeros(1, dtype=JACOBIANS),
            rows=np.zeros((DERIVATIVE_ROWS.count, n)),
            word=np.zeros(m),
            differences=np.empty(n + of_p + 1),
            differences_h=np.empty(n + of_p + 1),
            Dh=np.zeros((0 if system.has("Dh_row") or self.ways.by_colours or by_duals[0] else m, n)),
            row_starts=np.zeros(0, dtype=np.int64),
            columns=np.zeros(0, dtype=np.int64),
            colours=np.zeros(0, dtype=np.int64),
            check=np.zeros(0),
            coloured=np.zeros((0, 0)),
            dual_rows=np.zeros((by_duals[0], DUAL * m)),
            dual_rows_p=np.zeros((by_duals[1], DUAL * m)),
            Dp_h=np.zeros((0 if by_duals[1] else m, of_p)),
            Dt_h=np.zeros(m),
            Df=np.zeros((n, n if n <= SMALL or system.has("Df") else 0)),
            Dp_f=np.zeros((n, of_p)),
            guard_sides=np.zeros(2 * m, dtype=GUARD_SIDE),
            guard_rows=np.zeros((2, n + of_p)),
            reach=np.zeros((2, 2), dtype=np.int64),
            sides=np.empty((2, parameters)),
            dual_t=np.zeros(DUAL),
            dual_x=np.zeros(DUAL * n),
            dual_p=np.zeros(DUAL * parameters),
            dual_out=np.zeros(DUAL * max(n, m)),
            plain_p=np.zeros(DUAL * parameters),
            few_p=np.zeros(FEW_DUAL * parameters),
            one_p=np.zeros(ONE_DUAL * parameters),
        )
        self.put("tangents", tangents)

    def open(self, solution: Solution, fn: RecordArray, jacobians: RecordArray) -> None:
        """Prepare the replay of a solution's record with these functions: what `core.tangents.prepare.open_record` does not."""
        record = solution.record
        self.fill()
        self.bind(fn, False)
        self.tangents.put("jacobians", jacobians)
        if self._observers is not None:
            self.g.observer[:] = self._observers
        if record.source:
            self.replayed = record  # (all else is there, and the core takes it)
            return
        self.put_record(record.placed)
        self.s.options.rtol, self.v.atol[:] = solution._tolerances
        self.g.b[:] = record.word_end

    def take_stiff(self, n: int) -> None:
        """Let the core replay stiff steps."""
        if not hasattr(self, "stiff"):
            self.put("stiff", StiffTable(n))

    def use_pattern(self, pattern: Pattern, size: int) -> None:
        """Let the core evaluate Dh by colours, with dual numbers of this size."""
        width = size * len(pattern.colours)
        if self.tangents.row_starts is not pattern.row_starts or self.tangents.coloured.shape[1] != width:
            for name in ("row_starts", "columns", "colours", "check"):
                self.tangents.put(name, getattr(pattern, name))
            seeds = pattern.seeds(size)
            self.tangents.put("coloured", seeds)
            self.tangents.put("dual_rows", np.zeros((len(seeds), size * (len(pattern.row_starts) - 1))))

    def open_stretch(self, stretch: Stretch) -> None:
        """Prepare the replay of a stretch of that record, which `core.tangents.prepare` has opened as a whole."""
        if self.replayed is not stretch.placed:
            self.put_record(stretch.placed)
        at = self.at
        at.leg = at.begin_leg = stretch.leg
        at.begin, at.wanted, at.end = stretch.done, stretch.wanted, stretch.end
        self.tangents.word[:] = stretch.word_after(stretch.done)

    def request(self, times: FloatArray = NO_TIMES, values: FloatArray = NO_MATRIX, *, backwards: bool = False) -> None:
        """Request tangents at these times, to be written to the rows of ``values``; backwards, gradients that are given there."""
        if times is not self.t_eval:
            self.put("t_eval", times)
            self.put("x_eval", values)
        s, count = self.s, len(times) if backwards else 0
        if s.rows.requested != count:
            s.rows.requested = count

    def hold_stages(self, width: int, what_for: tuple[int, int] | None) -> None:
        """Let ``stages``, the workspace of a step's stages, have rows of this width. ``what_for``: the number of tangents, and
        whether Jacobians are frozen, if that is all that the width depends on."""
        self.stages_for = what_for
        if self.stages.shape[1] != width:
            self.stages = np.zeros((TANGENT_ROWS.count, width))

    def release(self) -> None:
        """Forget the record that was replayed (see `Working.release`), and what was requested."""
        self.replayed = None
        if self.t_eval is not NO_TIMES:
            self.request()
