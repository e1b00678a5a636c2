"""The stack of three blocks on a shaken table, from event to event by its closed form: which surfaces stick is found by trying.

Nothing is shared with `bouligand.models.three_blocks`: the blocks that stick together are rigid groups here.
"""

from itertools import product

import numpy as np
from scipy.optimize import brentq

G = 9.81


def solve(tf, masses, mu, speed, w, start=(0.0, 0.0, 0.0)):
    """Events [(t, surface, whether it sticks behind it)], and the velocities at tf; ``start`` are those at 0.

    When a surface changes the direction in which it slips, another one may begin to slip at the same instant.
    """
    masses = np.asarray(masses, dtype=float)
    limits = np.array(mu) * G * np.cumsum(masses[::-1])[::-1]

    def table(t):
        return speed * np.cos(w * t)

    def pull(t):
        return -speed * w * np.sin(w * t)

    def accelerations(t, signs):
        """Of the blocks, and frictions from below; signs: of the slip on each surface, 0 where it sticks."""
        rows, right = np.zeros((6, 6)), np.zeros(6)
        for k in range(3):
            rows[k, k], rows[k, 3 + k] = masses[k], -1.0
            if k < 2:
                rows[k, 4 + k] = 1.0
            if signs[k]:
                rows[3 + k, 3 + k], right[3 + k] = 1.0, -signs[k] * limits[k]
            else:
                rows[3 + k, k] = 1.0
                if k:
                    rows[3 + k, k - 1] = -1.0
                else:
                    right[3 + k] = pull(t)
        both = np.linalg.solve(rows, right)
        return both[:3], both[3:]

    def choose(t, slip):
        """Signs that agree with the motion just behind t; where the slip is zero, all are tried."""
        later = t + 1e-7
        for signs in product(*[(0, 1, -1) if s == 0 else (np.sign(s),) for s in slip]):
            a, friction = accelerations(later, signs)
            relative = np.diff(np.concatenate([[pull(later)], a]))
            sticking = np.array(signs) == 0
            slipping = ~sticking & (np.array(slip) == 0)
            if (np.abs(friction) <= limits * (1 + 1e-12))[sticking].all() and (relative * signs > 0)[slipping].all():
                return np.array(signs)
        raise AssertionError("no mode agrees")

    t, v = 0.0, np.array(start, dtype=float)
    events: list[tuple[float, int, bool]] = []
    slip = np.diff(np.concatenate([[table(0.0)], v]))
    signs = choose(t, slip)
    while True:

        def velocities(s, t=t, v=v, signs=signs):
            """Groups that are stuck to the table move with it; the others have constant accelerations."""
            out = v + accelerations(t, signs)[0] * (s - t)
            for k in range(3):
                if signs[: k + 1].any():
                    break
                out[k] = table(s)
            return out

        def margins(s, signs=signs, velocities=velocities):
            slips = np.diff(np.concatenate([[table(s)], velocities(s)])) * signs
            friction = accelerations(s, signs)[1]
            return np.where(signs == 0, limits - np.abs(friction), slips)

        step, now = 1e-3, t
        fresh = np.array(slip) == 0
        while now < tf:
            after = min(now + step, tf)
            ends = margins(after)
            crossed = [k for k in range(3) if ends[k] < 0 and (now > t or not fresh[k] or margins(t + 1e-7)[k] > 0)]
            if crossed:
                begin = max(now, t + 1e-7)
                times = [brentq(lambda s, k=k: margins(s)[k], begin, after, xtol=1e-15, rtol=1e-14) for k in crossed]
                break
            now = after
        else:
            return events, velocities(tf)
        first = int(np.argmin(times))
        t, k = times[first], crossed[first]
        v = velocities(t)
        slip = np.diff(np.concatenate([[table(t)], v]))
        slip[signs == 0] = 0.0
        slip[k] = 0.0
        before, signs = signs, choose(t, slip)
        others = [j for j in range(3) if before[j] != signs[j] and j != k]
        events += [(t, j, bool(signs[j] == 0)) for j in (k, *others)]
