"""Field and guards of the exciter. (Apart, because blocks import Numba.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..blocks import limited_integrator, thresholds

if TYPE_CHECKING:
    from .._typing import FloatArray


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    gain, lag, wanted, field_lag = p[0], p[1], p[2], p[3]
    dx[0] = (x[1] - x[0]) / field_lag
    dx[1] = limited_integrator((gain * (wanted - x[0]) - x[1]) / lag, b[0], b[1])


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0], out[1] = thresholds(x[1], p[4], p[5])
