"""The saltation matrix: the derivative of the flow across one guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import NotEventSelectedError
from ..system.arguments import number, vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray


def saltation(f_before: ArrayLike, f_after: ArrayLike, Dh: ArrayLike, Dt_h: float = 0.0) -> FloatArray:
    """The derivative of the flow across one guard: ``I + (f_after - f_before) Dh / hdot``, with ``hdot = Dh f_before + Dt_h``.

    Parameters
    ----------
    f_before, f_after : array (n,)
        The field at the crossing, in the modes before and after it.
    Dh : array (n,)
        The gradient of the guard there.
    Dt_h : float
        Its derivative in time, for a guard that moves.

    Returns
    -------
    array (n, n)
        The saltation matrix: maps a perturbation of the state just before the crossing to that just after it, both at the same
        time.

    Raises
    ------
    NotEventSelectedError
        If the guard is grazed (hdot is zero), or not left on the other side (sliding).

    Examples
    --------
    >>> import bouligand as bd
    >>> bd.saltation([2.0], [0.7], [1.0], Dt_h=-0.5).round(6)
    array([[0.133333]])
    """
    f_before, f_after, Dh = (vector(*a) for a in (("f_before", f_before), ("f_after", f_after), ("Dh", Dh)))
    if not f_before.shape == f_after.shape == Dh.shape:
        raise ValueError(
            f"f_before, f_after and Dh must have one value for each state; got {f_before.size}, {f_after.size}, {Dh.size}"
        )
    Dt_h = number("Dt_h", Dt_h)
    hdot = Dh @ f_before + Dt_h
    if hdot == 0.0:
        raise NotEventSelectedError(
            "hdot = Dh f_before + Dt_h is zero: the guard is grazed, and has no saltation matrix"
        )
    if hdot * (Dh @ f_after + Dt_h) <= 0.0:
        raise NotEventSelectedError(
            f"hdot is {hdot:.3g} before and {Dh @ f_after + Dt_h:.3g} after the crossing: the guard is not left on the "
            "other side (sliding)"
        )
    return np.eye(Dh.size) + np.outer(f_after - f_before, Dh) / hdot
