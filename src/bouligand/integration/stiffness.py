"""Was it stiffness? Asked only when an integration has failed to get on: the fastest decaying mode where it stopped."""

import numpy as np

LARGEST = 200  # states up to which the whole Jacobian is looked at


def fastest_decay(system, t, x, b, p):
    """The rate (1/time, positive) of the mode that decays fastest without swinging much, and the states it lives in.

    From differences of f; (0, ()) where there is none, or f cannot be evaluated.
    """
    if system.n > LARGEST:
        return 0.0, ()
    f = system.function("f")
    size = np.maximum(np.abs(x), 1e-3 * max(np.abs(x).max(), 1e-3))
    try:
        columns = [(f(t, x + d, b, p) - f(t, x - d, b, p)) / (2.0 * d.max()) for d in np.diag(1e-6 * size)]
        values, modes = np.linalg.eig(np.array(columns).T)
    except Exception:  # f may well fail near a failure; that is told elsewhere
        return 0.0, ()
    decays = np.where(np.abs(values.imag) < 2.0 * np.abs(values.real), -values.real, 0.0)
    k = int(np.argmax(decays))
    if not decays[k] > 0.0:
        return 0.0, ()
    share = np.abs(modes[:, k])
    order = np.argsort(-share, kind="stable")
    return float(decays[k]), tuple(system.states[i] for i in order[:3] if share[i] > 0.2 * share[order[0]])


def is_stiff(rate, dt, span):
    """Steps that stability limits (the bound of an explicit method is a few times 1/rate), over many of its times."""
    return rate * dt > 0.5 and rate * span > 1e3
