"""Fits and filters: measured and computed values, residuals, and estimates with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import short, whole
from . import given
from .axes import new_axes, new_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from ..estimation.fit import FitResult
    from ..estimation.track import Track


def residuals(
    found: FitResult, experiment: int = 0, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Draw measured and fitted values of one experiment beside the residuals, in standard deviations.

    Parameters
    ----------
    found : FitResult
    experiment : int
        Which one, if there are several.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.

    Returns
    -------
    array of two matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import numpy as np, bouligand as bd
    >>> from matplotlib.figure import Figure
    >>> t = np.linspace(0.1, 0.4, 4)
    >>> found = bd.fit(bd.models.hopper(), {"t": t, "z": 2.0 - 5.0 * t**2}, [2.0, 0.0], free="g", sigma=0.01)
    >>> left, right = bd.plot.residuals(found, axes=Figure().subplots(1, 2))
    >>> right.get_ylabel()
    'residual / sigma'
    """
    given.result("found", found, "estimation.fit.FitResult", "bd.fit")
    experiment = whole("experiment", experiment, 0, len(found.experiments) - 1)
    left, right = new_row(axes, 2, "axes")
    table, rows = found.experiments[experiment], found.residuals[experiment]
    solution = found.solutions[experiment]
    fine = np.linspace(float(solution.record.t[0]), float(solution.record.t[-1]), 600)
    x = solution(fine)
    right.axhspan(-2.0, 2.0, color="0.93", lw=0.0)
    right.axhline(0.0, color="0.7", lw=0.8)
    for k, name in enumerate(table.names):
        left.plot(table.t, table.values[:, k], ".", color=f"C{k}", ms=5)
        if name in found.system.states:
            left.plot(fine, x[:, found.system.states.index(name)], color=f"C{k}", lw=1.2, label=name)
        else:
            left.plot(table.t, (table.values + rows)[:, k], color=f"C{k}", lw=1.2, label=name)
        right.plot(table.t, rows[:, k] / found.sigma[k], ".", color=f"C{k}", label=name)
    left.set_xlabel("t")
    right.set_xlabel("t")
    right.set_ylabel("residual / sigma")
    left.legend(frameon=False, fontsize="small")
    right.set_title(f"chi2 = {found.chi2:.4g}, {found.dof} degrees of freedom", fontsize="medium")
    return np.array([left, right], dtype=object)


def track(
    track: Track,
    name: str,
    truth: Mapping[str, ArrayLike] | None = None,
    data: Mapping[str, ArrayLike] | None = None,
    ax: Axes | None = None,
    label: str | None = None,
    color: str = "C0",
) -> Axes:
    """Draw an estimated state or parameter over time, with a band of two standard deviations.

    Parameters
    ----------
    track : Track
    name : str
        Of the state or parameter.
    truth, data : mapping with "t" and columns, optional
        True values (a thin line) and measured ones (dots), where they have a column of this name.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.
    label, color : str
        Of the line.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from matplotlib.figure import Figure
    >>> data = {"t": [0.1, 0.2], "z": [1.95, 1.80]}
    >>> found = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4).run(data)
    >>> bd.plot.track(found, "z", data=data, ax=Figure().subplots()).get_ylabel()
    'z'
    """
    given.result("track", track, "estimation.track.Track", "Filter.run or bd.particle_filter")
    if not isinstance(name, str) or name not in track.names:
        raise ValueError(
            f"name must be that of a state or parameter, one of {', '.join(track.names)}; got {short(name)}"
        )
    columns = [given.table(argument, value, name) for argument, value in (("truth", truth), ("data", data))]
    label, color = given.text("label", label), given.colour("color", color)
    mean, spread = track[name], 2.0 * track.std(name)
    ax = new_axes(ax)
    ax.fill_between(track.t, mean - spread, mean + spread, color=color, alpha=0.22, lw=0.0)
    ax.plot(track.t, mean, color=color, lw=1.5, label=label or "estimate, 2 standard deviations")
    styles: list[dict[str, Any]] = [{"color": "k", "lw": 0.9}, {"ls": "", "marker": ".", "color": "0.45", "ms": 3.5}]
    for column, style, text in zip(columns, styles, ("truth", "measured"), strict=True):
        if column is not None:
            ax.plot(*column, label=text, **style)
    ax.set_xlabel("t")
    ax.set_ylabel(name)
    ax.legend(frameon=False, fontsize="small")
    return ax
