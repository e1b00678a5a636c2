"""Axes to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._optional import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def new_axes(ax: Axes | None) -> Axes:
    """The given axes, or new ones in a figure of pyplot."""
    if ax is not None:
        return ax
    made: Axes = need("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]
    return made


def new_row(axes: Sequence[Axes] | NDArray[np.object_] | None, count: int) -> NDArray[np.object_]:
    """The given axes as an array, or ``count`` new ones beside each other in a figure of pyplot."""
    if axes is not None:
        return np.asarray(axes, dtype=object)
    row: NDArray[np.object_] = need("matplotlib.pyplot", "plot").subplots(
        1, count, figsize=(4.8 * count, 4.4), layout="constrained"
    )[1]
    return row
