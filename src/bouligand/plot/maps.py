"""Pictures of ensembles: a map over two swept parameters, and how a state spreads over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import flag, instance, numbers, short
from . import given
from .axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ..ensembles.ensemble import Ensemble

MOST_KINDS = 12  # different whole numbers up to which each has a colour of its own
FAILED = "0.75"  # the grey of trajectories that failed


def map(  # noqa: A001  (called as plot.map)
    ens: Ensemble,
    values: str | NDArray[Any] = "events",
    ax: Axes | None = None,
    cmap: str = "viridis",
    label: str | None = None,
    bar: bool = True,
) -> Axes:
    """Draw a value of each trajectory over the two axes of a grid, as colours. Those that failed are grey.

    Parameters
    ----------
    ens : Ensemble
        Over a `grid` of two names (others may have one value).
    values : str or array (N,)
        "events" (their number), "t" (the time of the end), "status", the name of a state (at the end), or an array.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.
    cmap : str
        A colormap of matplotlib. Up to 12 different whole numbers get colours of their own.
    label : str, optional
        What the colours mean; default: the name of the values.
    bar : bool
        Whether to draw a colour bar.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd, numpy as np
    >>> from matplotlib.figure import Figure
    >>> sweep = bd.grid(k=np.linspace(200.0, 2000.0, 6), z=np.linspace(1.1, 3.0, 5))
    >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], sweep)
    >>> ax = bd.plot.map(ens, "events", ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('z', 'k')
    """
    from ..ensembles.ensemble import Ensemble
    from ..ensembles.outcomes import NAMES

    ens = instance("ens", ens, Ensemble, "bd.solve_many")
    colours, label, bar = given.colormap("cmap", cmap), given.text("label", label), flag("bar", bar)
    wide = [q for q, length in enumerate(ens.shape) if length > 1]
    if ens.dims == ("trajectory",) or len(wide) != 2:
        raise ValueError(
            f"ens: plot.map needs an ensemble over a grid of two names; "
            f"this one is over {dict(zip(ens.dims, ens.shape, strict=True))}"
        )
    found, name = _values(ens, values)
    of_status = isinstance(values, str) and values == "status"
    picture = found if of_status else np.ma.masked_where(~ens.success, found)
    picture = ens.on_grid(np.ma.asarray(picture)).squeeze()
    down, across = (ens.coords[ens.dims[q]] for q in wide)
    ax = new_axes(ax)
    ax.set_facecolor(FAILED)
    kinds = np.unique(np.ma.compressed(picture) if np.ma.isMaskedArray(picture) else picture)
    few = kinds.size <= MOST_KINDS and bool((kinds == np.round(kinds)).all())
    if few and kinds.size:
        _draw_kinds(ax, across, down, picture, kinds, colours, label or name, bar, NAMES if of_status else None)
    else:
        drawn = ax.pcolormesh(across, down, picture, cmap=colours, shading="nearest", rasterized=True, snap=True)
        if bar:
            ax.figure.colorbar(drawn, ax=ax, label=label or name)
    ax.set_xlabel(ens.dims[wide[1]])
    ax.set_ylabel(ens.dims[wide[0]])
    if len(ens.failed) and not of_status:
        ax.set_title(f"grey: failed ({len(ens.failed)} of {len(ens)})", fontsize="small", loc="right")
    return ax


def fan(ens: Ensemble, state: str | int = 0, ax: Axes | None = None, levels: Sequence[float] = (0.5, 0.9, 1.0)) -> Axes:
    """Draw how a state spreads over time: the median, and bands that hold given parts of all trajectories.

    Parameters
    ----------
    ens : Ensemble
        Integrated with ``t_eval``.
    state : str or int
        Name or number of the state.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.
    levels : sequence of float
        The parts of all trajectories that the bands hold.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if not ens.t_eval.size:
        raise ValueError("B: plot.fan of an ensemble needs states at times: give t_eval to solve_many")
    names, number = ens.system.states, given.state("state", ens.system, state)
    parts = numbers("levels", levels)
    if parts.ndim != 1 or not ((parts > 0.0) & (parts <= 1.0)).all():
        raise ValueError(f"levels must be parts of all trajectories, above 0 and up to 1; got {short(levels)}")
    ax, rows = new_axes(ax), ens.states[:, :, number]
    for level in sorted(parts.tolist(), reverse=True):
        low, high = np.nanquantile(rows, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        ax.fill_between(ens.t_eval, low, high, color="C0", alpha=0.22, lw=0.0, label=f"{100 * level:g} %")
    ax.plot(ens.t_eval, np.nanmedian(rows, axis=0), color="C0", lw=1.5, label="median")
    ax.set_xlabel("t")
    ax.set_ylabel(names[number])
    ax.legend(frameon=False, fontsize="small")
    return ax


def _values(ens: Ensemble, values: str | NDArray[Any]) -> tuple[NDArray[Any], str]:
    """A number for each trajectory, and what it is called."""
    if not isinstance(values, str):
        array = numbers("values", values)
        if array.shape != (len(ens),):
            raise ValueError(
                f"values must have a number for each of the {len(ens)} trajectories; got shape {array.shape}"
            )
        return array, ""
    if values == "events":
        return np.diff(ens.events.offsets), "events"
    if values == "t":
        return ens.t, "t at the end"
    if values == "status":
        return ens._outcome.astype(np.int64), "status"
    if values in ens.system.states:
        return ens.x[:, ens.system.states.index(values)], f"{values} at the end"
    raise ValueError(
        f"values must be 'events', 't', 'status', a state or an array; got {values!r}; states: {', '.join(ens.system.states)}"
    )


def _draw_kinds(
    ax: Axes,
    across: NDArray[Any],
    down: NDArray[Any],
    picture: NDArray[Any],
    kinds: NDArray[Any],
    cmap: Any,
    label: str,
    bar: bool,
    names: Sequence[str] | None,
) -> None:
    """A colour for each of a few whole numbers."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    places = np.ma.masked_array(np.searchsorted(kinds, np.ma.getdata(picture)), np.ma.getmaskarray(picture))
    colours = ListedColormap(cmap(np.linspace(0.05, 0.95, kinds.size)))
    norm = BoundaryNorm(np.arange(kinds.size + 1) - 0.5, kinds.size)
    drawn = ax.pcolormesh(across, down, places, cmap=colours, norm=norm, shading="nearest", rasterized=True, snap=True)
    if bar:
        shown = ax.figure.colorbar(drawn, ax=ax, label=label, ticks=np.arange(kinds.size))
        shown.set_ticklabels([names[int(kind)] if names else f"{kind:g}" for kind in kinds])
