"""A reference that shares nothing with the library: SciPy's DOP853, the word frozen, a new start at every crossing."""

import numpy as np
from scipy.integrate import solve_ivp


def restarts(f, h, span, x0, rtol=1e-12, atol=1e-14):
    """Final state and table of (t, guard, direction) of x' = f(x, touching), touching = h(x) > 0 frozen between crossings.

    A crossing is found by SciPy's root finding on its dense output. All guards that are zero there to within 1e-11 of their
    speed cross together.
    """
    t, x = span[0], np.array(x0, dtype=float)
    touching = h(x) > 0.0
    table: list[tuple[float, int, int]] = []
    while True:
        events = [lambda s, y, k=k, sign=1 if up else -1: sign * h(y)[k] for k, up in enumerate(touching)]
        for event in events:
            event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
        now = touching.copy()
        run = solve_ivp(
            lambda s, y, now=now: f(y, now), (t, span[1]), x, method="DOP853", rtol=rtol, atol=atol, events=events
        )
        assert run.success
        t, x = float(run.t[-1]), run.y[:, -1]
        if run.status == 0:
            return x, table
        rate, value = f(x, touching), h(x)
        speed = np.abs(h(x + 1e-7 * rate) - value) / 1e-7
        together = np.abs(value) <= 1e-11 * np.maximum(speed, 1.0)
        together |= [len(found) > 0 for found in run.t_events]
        for k in np.flatnonzero(together):
            touching[k] = not touching[k]
            table.append((t, int(k), 1 if touching[k] else -1))
