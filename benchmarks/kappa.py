"""How much a small error grows on the way to the end: kappa = max over s of |D Phi(tf, s)|.

By one-sided differences of tight solves, from states along the trajectory: independent of how the integrator works.
"""

import numpy as np

import bouligand as bd


def amplification(system, t_span, x0, p=None, samples=20, step=1e-6, rtol=1e-11):
    """kappa in the maximum norm, with each component in units of its size (as tolerances are)."""
    t0, tf = t_span
    base = bd.solve(system, t_span, x0, p, rtol=rtol)
    size = np.maximum(np.abs(base.x).max(axis=0), 1e-3)
    largest = 1.0
    for s in np.linspace(t0, tf, samples, endpoint=False):
        x, b = base(s), base.word(s)
        end = bd.solve(system, (s, tf), x, p, rtol=rtol, b0=b).x[-1]
        rows = np.zeros(system.n)
        for i in range(system.n):
            moved = x.copy()
            moved[i] += step * size[i]
            other = bd.solve(system, (s, tf), moved, p, rtol=rtol).x[-1]
            rows += np.abs(other - end) / size / step
        largest = max(largest, rows.max())
    return largest
