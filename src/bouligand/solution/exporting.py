"""What other packages want of a `Solution`: columns by name, tables of pandas, datasets of xarray, a file, a notebook's cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._optional import need
from .printing import html_table

if TYPE_CHECKING:
    from .._typing import FloatArray, Path
    from .solution import Solution


class Exporting:
    """The part of a `Solution` that hands it over to other packages."""

    def __getitem__(self, name: str) -> FloatArray:
        """A state over the times ``sol.t``, by name; of a guard, its side (-1 or +1; 0 while it slides); ``"t"``, the times.

        Raises
        ------
        TypeError
            If that is no name.
        KeyError
            If no state or guard is called so.

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], t_eval=[0.0, 0.5])
        >>> sol["z"].round(3), sol["foot"]
        (array([2.   , 0.851]), array([-1.,  1.]))
        """
        solution = cast("Solution", self)
        system = solution.system
        if not isinstance(name, str):
            raise TypeError(f"sol[...] takes the name of a state or a guard; got {name!r} (sol.x[i] is the i-th state)")
        if name in system.states:
            return solution.x[:, system.states.index(name)]
        if name in system.guards:
            return solution.b[:, system.guards.index(name)].astype(float)
        if name == "t":
            return solution.t
        raise KeyError(f"{name}; there are the states {_some(system.states)}, the guards {_some(system.guards)}, and t")

    def _ipython_key_completions_(self) -> list[str]:
        system = cast("Solution", self).system
        return ["t", *system.states, *system.guards]

    def to_pandas(self) -> Any:
        """A table with a row for each time and a column for each state.

        Returns
        -------
        pandas.DataFrame
            Its index is the time. ``sol.events.to_pandas()`` is the table of events.

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], t_eval=[0.0, 0.1])
        >>> table = sol.to_pandas()
        >>> list(table.columns), table.loc[0.1, "vz"].round(3).item()
        (['z', 'vz'], -0.981)
        """
        solution = cast("Solution", self)
        pandas = need("pandas", "data")
        index = pandas.Index(solution.t, name="t")
        return pandas.DataFrame(solution.x, index=index, columns=list(solution.system.states))

    def to_xarray(self) -> Any:
        """States, words and events as arrays with named dimensions.

        Returns
        -------
        xarray.Dataset
            ``x`` (t, state), ``b`` (t, guard); ``event_t``, ``event_guard``, ``event_direction`` and ``event_x`` over ``event``;
            ``p`` (parameter).

        Examples
        --------
        >>> import bouligand as bd
        >>> data = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).to_xarray()
        >>> data.x.sel(state="z", t=0.0).item(), data.event_guard.values.tolist()
        (2.0, ['foot', 'foot'])
        """
        solution = cast("Solution", self)
        xarray = need("xarray", "data")
        system, events = solution.system, solution.events
        variables: dict[str, Any] = {
            "x": (("t", "state"), solution.x),
            "b": (("t", "guard"), solution.b),
            "event_t": ("event", events.t),
            "event_guard": ("event", np.array(events.name, dtype=str)),
            "event_direction": ("event", events.direction),
            "event_x": (("event", "state"), events.x),
            "p": ("parameter", solution.p),
        }
        coords: dict[str, Any] = {"t": solution.t, "state": list(system.states), "guard": list(system.guards)}
        if system.params:
            coords["parameter"] = list(system.params)
        about = {"system": system.name or "", "status": solution.status, "message": solution.message}
        return xarray.Dataset(variables, coords=coords, attrs=about)

    @property
    def source(self) -> dict[str, str]:
        """The text of the system's functions by name, as far as it can be had: {"f": "def f(...) ...", ...}."""
        from .files import source_of

        kept: dict[str, str] | None = self.__dict__.get("_source")
        return source_of(cast("Solution", self).system) if kept is None else dict(kept)

    def save(self, path: Path) -> None:
        """Write everything to a file, which `bouligand.load` reads: NumPy's format ``.npz``, with arrays and texts only.

        Parameters
        ----------
        path : str or path
            ".npz" is added if it does not end with that. An older file is replaced whole, or, if writing fails, not at all.

        Raises
        ------
        TypeError, ValueError
            If that is no path of a file.
        OSError
            If the file cannot be written, such as in a folder that does not exist.

        Examples
        --------
        >>> import os, tempfile
        >>> import bouligand as bd
        >>> hopper = bd.models.hopper()
        >>> sol = bd.solve(hopper, (0.0, 1.0), [2.0, 0.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sol.save(os.path.join(folder, "hop"))
        ...     again = bd.load(os.path.join(folder, "hop.npz"), hopper)
        >>> bool((again(0.5) == sol(0.5)).all())
        True
        """
        from .files import save

        save(cast("Solution", self), path)

    def _repr_html_(self) -> str:
        """For notebooks: the outcome, its cost and its first events."""
        solution = cast("Solution", self)
        system, counts, events = solution.system, solution.counts, solution.events
        rows = [("outcome", solution.message)]
        if len(solution.record):
            rows.append(("t", f"{solution.record.t[0]:g} to {solution.record.t[-1]:g}"))
            last = solution.record.states[-1]
            rows += [
                (f"{name}(end)", f"{value:.6g}") for name, value in list(zip(system.states, last, strict=True))[:8]
            ]
        rows.append(("cost", f"{counts.steps} steps, {counts.f} evaluations of f, {counts.h} of h"))
        title = f"Solution of {system.name or 'a system'}: {system.n} states, {system.m} guards, {counts.events} events"
        return html_table(title, (), rows) + (events._repr_html_() if len(events) else "")


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "(none)"
