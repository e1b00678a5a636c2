"""The result of `solve_many`: many trajectories as arrays, and each of them as a `Solution` on demand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._made import Made, make
from .._optional import need
from ..integration.solve import solve
from ..solution.lazy import lazy
from ..system.arguments import flag, index, numbers
from . import outcomes
from .arrays import InMemory
from .events import EnsembleEvents
from .kept import EVENT_FIELDS
from .problem import COUNTS
from .store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import BoolArray, FloatArray, IntArray, SignArray
    from ..solution.solution import Solution
    from ..system.system import System
    from .arrays import Arrays
    from .inputs import Inputs, StoredInputs
    from .problem import Problem


class Ensemble(metaclass=Made, by="solve_many"):
    """Many trajectories of one system: the result of `solve_many`.

    ``ens[i]`` is the `Solution` of trajectory i, integrated again: it is the same to the last bit. ``len(ens)`` is their number.
    What was left out with ``keep=`` is not there.

    Attributes
    ----------
    x : array (N, n)
        The states at the end of each trajectory.
    t : array (N,)
        The times of the ends: that of the failure, or of the terminal event, if there was one.
    b : array (N, m) of int8
        The words at the end.
    states : array (N, times, n)
        The states at ``t_eval``; NaN at times that were not reached.
    events : EnsembleEvents
        All events.
    counts : dict of arrays (N,)
        Evaluations, steps and events: ``ens.counts["steps"]`` (see `Counts`).
    status : array (N,) of str
        "finished", "terminated" or "failed".
    error : array (N,) of str
        The name of the error of each that failed; else empty.
    guard : array (N,) of int32
        The guard concerned by a failure, or that of the terminal event; -1 if there is none.
    message : array (N,) of str
        The status in a sentence. (``ens[i].message`` says more about a failure.)
    success : array (N,) of bool
    failed : array of int
        The numbers of those that failed.
    B : array (N, n, columns)
        With ``derivative="matrix"``: the derivatives of the end states.
    cost, gradient : array (N,), array (N, columns)
        With ``derivative="vjp"``: the cost of each, and its gradient. ``total_gradient`` is the sum.
    t_eval : array
        The requested times.
    dims, shape : tuple of str, tuple of int
        The names and lengths of the axes of a `grid`; else ``("trajectory",)`` and ``(N,)``.
    system : System

    Examples
    --------
    >>> import bouligand as bd
    >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], {"k": [500.0, 1000.0, 2000.0]})
    >>> ens  # doctest: +ELLIPSIS
    Ensemble: 3 trajectories of hopper
      finished    3
      12 events, ... steps in all
    >>> bool((ens[1].x[-1] == ens.x[1]).all())
    True
    """

    def __init__(self, problem: Problem, inputs: Inputs | StoredInputs, source: Arrays) -> None:
        self._problem, self._inputs, self._source = problem, inputs, source

    # ------------------------------------------------------------------------------------------------------ sizes

    def __len__(self) -> int:
        return self._inputs.count

    @property
    def system(self) -> System:
        """The system that was integrated."""
        return self._problem.system

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the axes of a grid, or ("trajectory",)."""
        return ("trajectory",) if self._inputs.grid is None else self._inputs.grid.names

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes of a grid, or (N,)."""
        return (len(self),) if self._inputs.grid is None else self._inputs.grid.shape

    @property
    def coords(self) -> dict[str, FloatArray]:
        """The values along the axes of a grid; empty without one."""
        return {} if self._inputs.grid is None else dict(self._inputs.grid.axes)

    def on_grid(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all trajectories, array (N, ...), as an array over the axes of the grid.

        Examples
        --------
        >>> import bouligand as bd
        >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], bd.grid(g=[1.6, 9.8], k=[500.0, 1000.0, 2000.0]))
        >>> ens.on_grid(ens.counts["events"])
        array([[2, 2, 2],
               [4, 4, 4]])
        """
        rows = values if isinstance(values, np.ndarray) else numbers("values", values)
        if rows.ndim < 1 or len(rows) != len(self):
            raise ValueError(f"values must have a row for each of the {len(self)} trajectories; got shape {rows.shape}")
        return rows.reshape(*self.shape, *rows.shape[1:])

    @property
    def x0(self) -> FloatArray:
        """The starts, array (N, n)."""
        return np.array(np.broadcast_to(self._inputs.rows(0, len(self))[0], (len(self), self.system.n)))

    @property
    def p(self) -> FloatArray:
        """The parameters, array (N, parameters)."""
        return np.array(np.broadcast_to(self._inputs.rows(0, len(self))[1], (len(self), len(self.system.defaults))))

    # ------------------------------------------------------------------------------------------------------ arrays

    def _array(self, name: str, what: str) -> NDArray[Any]:
        names = self._source.names
        if names and name not in names:  # (a store of which no block is left says so itself)
            raise AttributeError(f"this ensemble has no {name}: {what}")
        return self._source.array(name)

    @lazy
    def x(self) -> FloatArray:
        """States at the ends, array (N, n)."""
        return self._array("x", "'x' was not among keep")

    @lazy
    def t(self) -> FloatArray:
        """Times of the ends, array (N,)."""
        return self._source.array("t")

    @lazy
    def b(self) -> SignArray:
        """Words at the ends, array (N, m) of int8."""
        return self._array("b", "'b' was not among keep")

    @property
    def t_eval(self) -> FloatArray:
        """The requested times."""
        return self._problem.t_eval

    @lazy
    def states(self) -> FloatArray:
        """States at the requested times, array (N, times, n)."""
        return self._array("states", "no t_eval was given")

    @lazy
    def B(self) -> FloatArray:
        """Derivatives of the end states, array (N, n, columns)."""
        return self._array("B", "derivative='matrix' was not asked for")

    @lazy
    def cost(self) -> FloatArray:
        """The cost of each, array (N,)."""
        return self._array("cost", "derivative='vjp' was not asked for")

    @lazy
    def gradient(self) -> FloatArray:
        """The gradient of each cost, array (N, columns)."""
        return self._array("gradient", "derivative='vjp' was not asked for")

    @property
    def total_gradient(self) -> FloatArray:
        """The gradient of the sum of the costs, array (columns,); trajectories that failed are left out."""
        return self.gradient[self.success].sum(axis=0)

    @lazy
    def counts(self) -> dict[str, IntArray]:
        """Evaluations, steps and events, by name, each an array (N,)."""
        return dict(zip(COUNTS, self._array("counts", "'counts' was not among keep").T, strict=True))

    @lazy
    def events(self) -> EnsembleEvents:
        """All events, trajectory by trajectory."""
        counts = self._array("event_count", "'events' was not among keep")
        return make(
            EnsembleEvents,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            *map(self._source.array, EVENT_FIELDS),
        )

    # ------------------------------------------------------------------------------------------------------ outcomes

    @lazy
    def _outcome(self) -> NDArray[np.int8]:
        return self._source.array("outcome")

    @lazy
    def guard(self) -> NDArray[np.int32]:
        """The guard of a failure or of a terminal event, array (N,); -1: none."""
        return self._source.array("guard")

    @property
    def status(self) -> NDArray[np.str_]:
        """ "finished", "terminated" or "failed", array (N,)."""
        return np.array([outcomes.status(number) for number in range(len(outcomes.NAMES))])[self._outcome]

    @property
    def error(self) -> NDArray[np.str_]:
        """The names of errors, array (N,); empty where there was none."""
        names = [name if outcomes.is_error(number) else "" for number, name in enumerate(outcomes.NAMES)]
        return np.array(names)[self._outcome]

    @property
    def success(self) -> BoolArray:
        """Whether the end of the interval or a terminal event was reached, array (N,)."""
        outcome = self._outcome
        return (outcome == outcomes.FINISHED) | (outcome == outcomes.TERMINATED)

    @property
    def failed(self) -> IntArray:
        """The numbers of the trajectories that failed."""
        return np.flatnonzero(~self.success)

    @property
    def message(self) -> NDArray[np.object_]:
        """The status of each in a sentence, array (N,)."""
        return np.array([self._sentence(i) for i in range(len(self))], dtype=object)

    def _sentence(self, i: int) -> str:
        outcome, t, k = int(self._outcome[i]), self.t[i], int(self.guard[i])
        if outcome == outcomes.FINISHED:
            return f"the end of the interval was reached, t = {t:g}"
        guard = repr(self.system.guards[k]) if k >= 0 else ""
        if outcome == outcomes.TERMINATED:
            return f"a terminal event was reached, {guard} at t = {t:g}"
        return f"{outcomes.NAMES[outcome]} at t = {t:g}" + (f", guard {guard}" if guard else "")

    def __getitem__(self, i: int) -> Solution:
        i, count = index("i, the number of a trajectory,", i), len(self)
        if not -count <= i < count:
            raise IndexError(f"there is no trajectory i = {i}: there are {count}")
        x0, p = self._inputs.row(i % count)
        problem = self._problem
        t_eval = problem.t_eval if problem.t_eval.size else None
        return solve(problem.system, problem.t_span, x0, p, t_eval=t_eval, on_failure="return", **problem.options)

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def first_error(self) -> BaseException | None:
        """The error of the first trajectory that failed, with a note of its number; None if none failed."""
        failed = self.failed
        if not failed.size:
            return None
        error = self[int(failed[0])].error
        if error is not None:
            more = f" ({failed.size} of {len(self)} failed)" if failed.size > 1 else ""
            error.add_note(f"trajectory {failed[0]} of the ensemble{more}")
        return error

    # ------------------------------------------------------------------------------------------------------ the rest

    def verify(self, repair: bool = False) -> list[int]:
        """Read a store again and compare it with the hashes that were written with it.

        Parameters
        ----------
        repair : bool
            Remove what is damaged, so that `solve_many` with the same store integrates it again.

        Returns
        -------
        list of int
            The blocks that are damaged (truncated, altered or missing files) or not done. Empty for an ensemble in memory.
        """
        repair, store = flag("repair", repair), self._source
        damaged = store.verify() if isinstance(store, Store) else []
        if repair and isinstance(store, Store):
            for number in damaged:
                store.forget(number)
        return damaged

    def to_xarray(self) -> Any:
        """All arrays with named dimensions, as an ``xarray.Dataset`` (the extra ``cluster`` installs xarray).

        Returns
        -------
        xarray.Dataset
            Over the axes of the grid, or over ``trajectory``. Events are over ``event``, with ``event_trajectory``.

        Examples
        --------
        >>> import bouligand as bd
        >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], bd.grid(k=[500.0, 1000.0], z=[1.5, 2.0, 2.5]))
        >>> ens.to_xarray().x_end.sel(state="z", k=1000.0).dims
        ('z',)
        """
        from .labelled import dataset

        return dataset(need("xarray", "cluster"), self)

    def to_pandas(self) -> Any:
        """A table with a row for each trajectory: what distinguishes it, how and when it ended, and where (the extra ``data``).

        Returns
        -------
        pandas.DataFrame
            The parameters and starts that differ (and all of a grid), by name; ``status``, ``t_end``, ``events``, and
            ``NAME_end`` of each state. What was not kept is left out.

        Examples
        --------
        >>> import bouligand as bd
        >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], bd.grid(k=[500.0, 1000.0], z=[1.5, 2.0]))
        >>> ens.to_pandas().round(4)
                k    z    status  t_end  events   z_end  vz_end
        0   500.0  1.5  finished    2.0       5  0.8546  1.4477
        1   500.0  2.0  finished    2.0       4  1.9462  1.0276
        2  1000.0  1.5  finished    2.0       6  1.2350  2.2801
        3  1000.0  2.0  finished    2.0       4  1.9991  0.1337
        """
        from .labelled import table

        return table(need("pandas", "data"), self)

    def __repr__(self) -> str:
        tally = self._source.tally()
        name = self.system.name or "a system"
        lines = [f"Ensemble: {len(self)} trajectories of {name}"]
        if self._inputs.grid is not None:
            lines[0] += f", over {' x '.join(f'{n} ({size})' for n, size in zip(self.dims, self.shape, strict=True))}"
        width = max([10, *(len(outcomes.NAMES[number]) for number in np.flatnonzero(tally))])
        lines += [f"  {outcomes.NAMES[number]:<{width}}  {tally[number]}" for number in np.flatnonzero(tally)]
        if isinstance(self._source, Store) and self._source.damaged:
            damaged = sorted(self._source.damaged)
            blocks = ", ".join(map(str, damaged[:10])) + (", ..." if len(damaged) > 10 else "")
            lines.append(f"  {'damaged':<{width}}  {self._source.count_damaged()}, in block {blocks}: see ens.verify")
        if isinstance(self._source, InMemory) and "counts" in self._source.names:
            lines.append(f"  {self.counts['events'].sum()} events, {self.counts['steps'].sum()} steps in all")
        return "\n".join(lines)
