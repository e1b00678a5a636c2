"""Axes to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import need
from ..system.arguments import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def given_axes(ax: Any, name: str = "ax") -> Axes:
    """Axes of matplotlib."""
    if not isinstance(ax, need("matplotlib.axes", "plot").Axes):
        raise TypeError(f"{name} must be axes of matplotlib, such as plt.subplots()[1]; got {short(ax)}")
    known: Axes = ax
    return known


def new_axes(ax: Axes | None, name: str = "ax") -> Axes:
    """The given axes, or new ones in a figure of pyplot."""
    return given_axes(need("matplotlib.pyplot", "plot").subplots(layout="constrained")[1] if ax is None else ax, name)


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
