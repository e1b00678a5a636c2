"""Axes to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._optional import need
from ..system.arguments import instance, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def new_axes(ax: Axes | None, name: str = "ax") -> Axes:
    """The given axes, or new ones in a figure of pyplot."""
    made: Axes
    if ax is None:
        made = need("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]
    else:
        made = instance(name, ax, need("matplotlib.axes", "plot").Axes, "plt.subplots()")
    return made


def new_row(axes: Sequence[Axes] | NDArray[np.object_] | None, count: int, name: str = "ax") -> NDArray[np.object_]:
    """The given axes as an array, or ``count`` new ones beside each other in a figure of pyplot."""
    if axes is None:
        row: NDArray[np.object_] = need("matplotlib.pyplot", "plot").subplots(
            1, count, figsize=(4.8 * count, 4.4), layout="constrained"
        )[1]
        return row
    kind = need("matplotlib.axes", "plot").Axes
    listed = list(axes) if isinstance(axes, list | tuple) or (isinstance(axes, np.ndarray) and axes.ndim == 1) else []
    if len(listed) != count or not all(isinstance(ax, kind) for ax in listed):
        raise TypeError(
            f"{name} must be {count} axes of matplotlib, such as plt.subplots(1, {count})[1]; got {short(axes)}"
        )
    return np.array(listed, dtype=object)
