"""Diagnosis of stiffness after a failed integration: the fastest decaying mode where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..system.system import System

LARGEST = 512  # number of states up to which the whole Jacobian is computed


def fastest_decay(
    system: System, t: float, x: FloatArray, b: FloatArray, p: FloatArray
) -> tuple[float, tuple[str, ...]]:
    """The rate (1/time, positive) of the fastest decaying mode that hardly oscillates, and the states that take part in it.

    From finite differences of f; (0, ()) if there is no such mode, or f cannot be evaluated.
    """
    if system.n > LARGEST:
        return 0.0, ()
    f = system.function("f")
    size = np.maximum(np.abs(x), 1e-3 * max(np.abs(x).max(), 1e-3))
    try:
        columns = [(f(t, x + d, b, p) - f(t, x - d, b, p)) / (2.0 * d.max()) for d in np.diag(1e-6 * size)]
        values, modes = np.linalg.eig(np.array(columns).T)
    except Exception:  # f may fail here as well; the caller reports the failure of the integration anyway
        return 0.0, ()
    decays = np.where(np.abs(values.imag) < 2.0 * np.abs(values.real), -values.real, 0.0)
    k = int(np.argmax(decays))
    if not decays[k] > 0.0:
        return 0.0, ()
    share = np.abs(modes[:, k])
    order = np.argsort(-share, kind="stable")
    return float(decays[k]), tuple(system.states[i] for i in order[:3] if share[i] > 0.2 * share[order[0]])


def is_stiff(rate: float, dt: float, span: float) -> bool:
    """Whether stability limits the steps (an explicit method's bound is a few times 1/rate) over many times 1/rate."""
    return rate * dt > 0.5 and rate * span > 1e3
