"""Starts and parameters of an ensemble: arrays that are broadcast against each other, products of axes, or a stream of blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import finite_numbers, index, numbers
from ..system.declarations import named_state
from ..system.system import System

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray
    from .store import Store


class Grid:
    """All combinations of values of some parameters and states: ``bd.grid(k=..., z=...)``, given to `solve_many` as ``p``.

    The last name varies fastest. Nothing is computed before it is needed: a grid of 1e9 points takes no more memory
    than its axes.

    Attributes
    ----------
    axes : dict of arrays
        The values, by name, in order.
    names : tuple of str
    shape : tuple of int
        Numbers of values; ``len(grid)`` is their product.

    Examples
    --------
    >>> import bouligand as bd
    >>> grid = bd.grid(k=[500.0, 1000.0], z=[1.5, 2.0, 2.5])
    >>> grid.names, grid.shape, len(grid)
    (('k', 'z'), (2, 3), 6)
    >>> grid.values(4)
    {'k': 1000.0, 'z': 2.0}
    """

    def __init__(self, **axes: ArrayLike) -> None:
        if not axes:
            raise TypeError("grid needs the values of at least one parameter or state: grid(k=[100.0, 200.0])")
        self.axes: dict[str, FloatArray] = {}
        for name, values in axes.items():
            axis = finite_numbers(f"grid: {name}", values)
            if axis.ndim > 1 or not axis.size:
                raise ValueError(f"grid: {name} must be a number or a vector of them; got shape {axis.shape}")
            self.axes[name] = axis.reshape(-1)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of values of each axis."""
        return tuple(axis.size for axis in self.axes.values())

    def __len__(self) -> int:
        return math.prod(self.shape)

    def columns(self, first: int, stop: int) -> dict[str, FloatArray]:
        """The values of each name at the points from ``first`` to before ``stop``, with 0 <= first <= stop <= len(grid).

        Returns
        -------
        dict of arrays (stop - first,)
        """
        first, stop = index("first", first), index("stop", stop)
        if not 0 <= first <= stop <= len(self):
            raise ValueError(
                f"first and stop must be numbers of points, 0 <= first <= stop <= {len(self)}; got {first}, {stop}"
            )
        places = np.unravel_index(np.arange(first, stop), self.shape)
        return {name: axis[place] for (name, axis), place in zip(self.axes.items(), places, strict=True)}

    def values(self, i: int) -> dict[str, float]:
        """The values at point i, by name."""
        i = index("i", i)
        if not 0 <= i < len(self):
            raise ValueError(f"i must be the number of a point, 0 to {len(self) - 1}; got {i}")
        return {name: float(column[0]) for name, column in self.columns(i, i + 1).items()}

    def __repr__(self) -> str:
        return f"Grid({', '.join(f'{name}: {axis.size}' for name, axis in self.axes.items())})"


def grid(**axes: ArrayLike) -> Grid:
    """All combinations of values of some parameters and states, as the ``p`` of `solve_many`.

    Parameters
    ----------
    **axes : array or float
        The values of each parameter or state, by name. The last one varies fastest.

    Returns
    -------
    Grid

    Examples
    --------
    >>> import bouligand as bd
    >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], bd.grid(k=[500.0, 1000.0], z=[1.5, 2.0, 2.5]))
    >>> ens.dims, ens.shape
    (('k', 'z'), (2, 3))
    >>> ens.on_grid(ens.t).shape
    (2, 3)
    """
    return Grid(**axes)


class Inputs:
    """The starts and parameters of the trajectories of an ensemble, by number.

    ``x0`` and ``p`` have a row for each, or one row for all; ``grid`` (if any) replaces some of their columns.
    """

    is_spread = False  # whether a single trajectory has rows of its own in a store

    def __init__(self, system: System, x0: Any, p: Any) -> None:
        self.grid: Grid | None = p if isinstance(p, Grid) else None
        columns: dict[str, Any] = {}
        if isinstance(p, Mapping):
            columns, p = dict(p), None
        self.p = _rows(
            "p", system.defaults if p is None or self.grid is not None else p, len(system.defaults), system.params
        )
        if isinstance(x0, Mapping):
            x0 = np.stack(np.broadcast_arrays(*map(np.atleast_1d, named_state("x0", system.states, x0))), axis=-1)
        self.x0 = _rows("x0", x0, system.n, system.states)
        if not np.isfinite(self.p).all():
            row = int(np.flatnonzero(~np.isfinite(self.p).all(axis=1))[0])
            raise ValueError(f"p must be finite; row {row} is {self.p[row]}")
        for name, values in columns.items():
            self._set(system, name, values)
        self.places = {} if self.grid is None else {name: _place(system, name) for name in self.grid.names}
        lengths = {"x0": len(self.x0), "p": len(self.p)}
        if self.grid is not None:
            lengths["the grid"] = len(self.grid)
        many = {length for length in lengths.values() if length != 1}
        if len(many) > 1:
            what = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"x0 and p must have the same number of rows, or one for all; {what}")
        self.count: int = many.pop() if many else 1
        if system._checks_parameters:  # (a robot has rules for its parameters)
            for row in self.p:
                system.parameters(row)
        for first, stop in system.unit:
            short = ~(np.hypot.reduce(self.x0[:, first:stop], axis=1) > 1e-9)
            if short.any() and not any(kind == "x" and first <= q < stop for kind, q in self.places.values()):
                row = int(np.flatnonzero(short)[0])
                names = ", ".join(system.states[first:stop])
                raise ValueError(f"x0: ({names}) has unit length, but is {self.x0[row, first:stop]} in row {row}")

    def _set(self, system: System, name: str, values: Any) -> None:
        """Replace a column by the values that a mapping has for it."""
        column = numbers(f"p: {name}", values)
        if column.ndim > 1 or not column.size or not np.isfinite(column).all():
            raise ValueError(f"p: {name} must be a finite number or a vector of them; got {values!r}")
        kind, place = _place(system, name)
        rows: FloatArray = getattr(self, "x0" if kind == "x" else "p")
        if column.size > 1 and len(rows) == 1:
            rows = np.repeat(rows, column.size, axis=0)
        if column.size not in (1, len(rows)):
            raise ValueError(
                f"p: {name} has {column.size} values, but there are {len(rows)} rows; give as many, or one for all"
            )
        rows[:, place] = column
        setattr(self, "x0" if kind == "x" else "p", rows)

    def rows(self, first: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Starts and parameters from ``first`` to before ``stop``; a single row is for all."""
        x0, p = (array if len(array) == 1 else array[first:stop] for array in (self.x0, self.p))
        if self.grid is not None:
            found = {"x": x0, "p": p}
            for name, column in self.grid.columns(first, stop).items():
                kind, place = self.places[name]
                if found[kind] is x0 or found[kind] is p:
                    found[kind] = np.array(np.broadcast_to(found[kind], (stop - first, found[kind].shape[1])))
                found[kind][:, place] = column
            x0, p = found["x"], found["p"]
        return np.ascontiguousarray(x0), np.ascontiguousarray(p)

    def row(self, i: int) -> tuple[FloatArray, FloatArray]:
        """The start and the parameters of one trajectory."""
        x0, p = self.rows(i, i + 1)
        return x0[0], p[0]

    def part(self, first: int, stop: int) -> tuple[Inputs, int, int]:
        """The inputs from ``first`` to before ``stop``, to be sent to another process: what to send, and which rows of it.

        (A grid travels as it is: its axes take less room.)
        """
        if len(self.x0) == len(self.p) == 1:
            return self, first, stop
        x0, p = self.rows(first, stop)
        return plain(x0.copy(), p.copy(), stop - first), 0, stop - first

    def spread(self) -> Inputs:
        """The same with a row of starts and of parameters for each trajectory, as a stream is kept in a store."""
        x0, p = (np.array(np.broadcast_to(rows, (self.count, rows.shape[1]))) for rows in self.rows(0, self.count))
        return plain(x0, p, self.count, spread=True)

    def row_arrays(self) -> dict[str, tuple[tuple[int, ...], type]]:
        """The inputs that have a row of their own for each trajectory, to be kept in a store: shape of a row, and type."""
        given = {"x0": self.x0, "p": self.p}
        return {name: ((rows.shape[1],), np.float64) for name, rows in given.items() if len(rows) > 1 or self.is_spread}

    def kept_rows(self, first: int, stop: int) -> dict[str, FloatArray]:
        """The rows of these."""
        return {name: (self.x0 if name == "x0" else self.p)[first:stop] for name in self.row_arrays()}


class StoredInputs:
    """The inputs of a stream, which are kept in its store."""

    grid = None

    def __init__(self, store: Store) -> None:
        self._store, self.count = store, store.layout.count

    def rows(self, first: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Starts and parameters from ``first`` to before ``stop``."""
        return self._store.rows("x0", first, stop), self._store.rows("p", first, stop)

    def row(self, i: int) -> tuple[FloatArray, FloatArray]:
        """The start and the parameters of one trajectory."""
        x0, p = self.rows(i, i + 1)
        return x0[0], p[0]


def plain(x0: FloatArray, p: FloatArray, count: int, spread: bool = False) -> Inputs:
    """Inputs that have been checked before."""
    out = object.__new__(Inputs)
    out.is_spread = spread
    out.grid, out.places, out.x0, out.p, out.count = None, {}, x0, p, count
    return out


def stream(system: System, blocks: Iterable[Any]) -> Iterator[Inputs]:
    """The inputs of each block of a stream: ``x0``, or ``(x0, p)``."""
    for q, block in enumerate(blocks):
        x0, p = block if isinstance(block, tuple) and len(block) == 2 else (block, None)
        try:
            yield Inputs(system, x0, p)
        except (TypeError, ValueError) as error:
            raise type(error)(f"block {q} of the stream: {error}") from None


def _rows(what: str, values: Any, width: int, names: tuple[str, ...]) -> FloatArray:
    """Rows of so many numbers; one row from a vector."""
    array = np.atleast_1d(numbers(what, values))
    shown = f" ({', '.join(names)})" if 0 < len(names) <= 8 else ""
    if array.ndim > 2 or array.shape[-1] != width:
        raise ValueError(
            f"{what} must have {width} values{shown}, or a row of {width} for each trajectory; got {array.shape}"
        )
    array = array.reshape(-1, width) if width else np.empty((array.shape[0] if array.ndim == 2 else 1, 0))
    if not len(array):
        raise ValueError(f"{what} has no rows: there is nothing to integrate")
    return np.array(array, order="C")


def _place(system: System, name: str) -> tuple[str, int]:
    """Whether a name is that of a parameter ("p") or of a state ("x"), and its number."""
    known = [("p", system.params), ("x", system.states)]
    found = [(kind, names.index(name)) for kind, names in known if name in names]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"p: {name!r} is both a parameter and a state of this system; give x0 and p as arrays")
    raise ValueError(
        f"p: no parameter or state is called {name!r}; parameters: {', '.join(system.params[:12]) or 'none'}; "
        f"states: {', '.join(system.states[:12])}"
    )
