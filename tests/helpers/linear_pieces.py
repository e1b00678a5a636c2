"""A reference for systems that are linear in every mode: matrix exponentials on a grid find where a mode ends, bisection when."""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq


def follow(matrix, margins, switch, mode, x0, tf, step=1e-2):
    """Times of the switches up to tf, and the state there.

    In a mode x' = A x + c, ``matrix(mode)`` is (A, c); ``margins(mode, x)`` are positive as long as the mode lasts;
    ``switch(mode, k, x)`` is the next mode where margin k is zero. Two zeros within one step of the grid are not seen.
    """
    n = len(x0)

    def flow(mode, s):
        A, c = matrix(mode)
        return expm(s * np.block([[np.asarray(A), np.reshape(c, (n, 1))], [np.zeros((1, n + 1))]]))

    def margin_after(q, mode, x, k):
        return margins(mode, (flow(mode, q) @ x)[:n])[k]

    steps: dict = {}
    t, x = 0.0, np.append(np.asarray(x0, dtype=float), 1.0)
    times: list[float] = []
    while True:
        if mode not in steps:
            steps[mode] = flow(mode, step)
        s, now, seen = 0.0, x, False
        while t + s < tf:
            s, now = s + step, steps[mode] @ now
            if min(margins(mode, now[:n])) <= 0.0:
                seen = True
                break
        if not seen:
            return np.array(times), (flow(mode, tf - t) @ x)[:n]
        ends = []
        for k, margin in enumerate(margins(mode, now[:n])):
            if margin <= 0.0:
                begin = max(s - step, 1e-9)  # (the margin that has just been zero is left)
                ends.append((brentq(margin_after, begin, s, args=(mode, x, k), xtol=1e-15), k))
        first, k = min(ends)
        if t + first > tf:
            return np.array(times), (flow(mode, tf - t) @ x)[:n]
        x, t = flow(mode, first) @ x, t + first
        mode = switch(mode, k, x[:n])
        times.append(t)
