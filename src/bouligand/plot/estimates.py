"""Fits and filters: measured and computed values, residuals, and estimates with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

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
    left, right = new_row(axes, 2)
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

    Examples
    --------
    >>> import bouligand as bd
    >>> from matplotlib.figure import Figure
    >>> data = {"t": [0.1, 0.2], "z": [1.95, 1.80]}
    >>> found = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4).run(data)
    >>> bd.plot.track(found, "z", data=data, ax=Figure().subplots()).get_ylabel()
    'z'
    """
    ax = new_axes(ax)
    mean, spread = track[name], 2.0 * track.std(name)
    ax.fill_between(track.t, mean - spread, mean + spread, color=color, alpha=0.22, lw=0.0)
    ax.plot(track.t, mean, color=color, lw=1.5, label=label or "estimate, 2 standard deviations")
    for given, style, text in ((truth, {"color": "k", "lw": 0.9}, "truth"), (data, {"ls": "", "marker": ".", "color":
    "0.45", "ms": 3.5}, "measured")):  # fmt: skip
        if given is not None and name in given:
            options: dict[str, Any] = style
            column = np.broadcast_to(np.asarray(given[name], dtype=float), np.shape(given["t"]))
            ax.plot(np.asarray(given["t"], dtype=float), column, label=text, **options)
    ax.set_xlabel("t")
    ax.set_ylabel(name)
    ax.legend(frameon=False, fontsize="small")
    return ax
