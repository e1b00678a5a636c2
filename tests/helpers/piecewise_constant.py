"""Fields that are constant for each word, with guards in a plane that moves and jumps at breakpoints: solved by hand."""

import numpy as np

import bouligand as bd


def system(m, legs, **options):
    """m states and guards. Parameters: x' for each leg and word, the guards' normals, levels and speeds for each leg, breaks."""
    words = 2**m
    normals, levels = legs * words * m, legs * words * m + m * m
    breaks = levels + 2 * legs * m

    def f(t, x, b, p, out):
        leg, word = 0, 0
        for q in range(legs - 1):
            leg += 1 if t >= p[breaks + q] else 0
        for k in range(m):
            word += 2**k if b[k] > 0 else 0
        for i in range(m):
            out[i] = p[(leg * words + word) * m + i]

    def h(t, x, p, out):
        leg = 0
        for q in range(legs - 1):
            leg += 1 if t >= p[breaks + q] else 0
        for k in range(m):
            value = -p[levels + 2 * leg * m + k] - p[levels + (2 * leg + 1) * m + k] * t
            for i in range(m):
                value += p[normals + k * m + i] * x[i]
            out[k] = value

    return bd.System(f, h, n=m, m=m, params=np.ones(breaks + legs - 1), **options)


def parameters(tables, normals, legs, breaks):
    parts = [np.ravel(tables), np.ravel(normals), *(np.concatenate(leg) for leg in legs), np.array(breaks, dtype=float)]
    return np.concatenate(parts)


def by_hand(tables, normals, legs, breaks, x, t, end, word=None):
    """The state at the end, the word, and the events (time, guard, sign): from guard to guard, from leg to leg."""
    powers, events, x = 2 ** np.arange(len(normals)), [], np.array(x)
    b = None if word is None else np.array(word)
    for table, (level, speed), stop in zip(tables, legs, [*breaks, end], strict=True):
        h = normals @ x - level - speed * t
        b = np.where(h > 0, 1, -1) if b is None else b
        for jumped in np.flatnonzero(b * h < -1e-11):
            b[jumped] = -b[jumped]
            events.append((t, int(jumped), b[jumped]))
        while True:
            f = table[(b > 0) @ powers]
            rates = normals @ f - speed
            when = np.where(b * rates < 0, np.maximum(-(normals @ x - level - speed * t) / rates, 0.0), np.inf)
            k = int(np.argmin(when))
            if t + when[k] > stop:
                x, t = x + (stop - t) * f, stop
                break
            x, t = x + when[k] * f, t + when[k]
            b[k] = -b[k]
            events.append((t, k, b[k]))
    return x, b, events
