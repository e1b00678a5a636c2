"""Random systems x' = c - G sign(x): piecewise constant fields that cross and slide, against an exact solution event by event."""

import itertools

import numpy as np
import pytest

import bouligand as bd


def field(t, x, b, p, dx):
    n = x.size
    for i in range(n):
        dx[i] = p[i]
        for j in range(n):
            dx[i] -= p[n + n * i + j] * b[j]


def components(t, x, p, out):
    for i in range(out.size):
        out[i] = x[i]


SYSTEMS = {
    n: bd.System(field, components, n=n, m=n, params=np.zeros(n + n * n), sliding="filippov") for n in range(1, 5)
}


def consistent_modes(x, c, G, on):
    """Every mode of the components that are zero that agrees with its own field: its field, and the signs or multipliers."""
    found = []
    for choice in itertools.product((-1.0, 0.0, 1.0), repeat=len(on)):
        u = np.sign(x)
        u[on] = choice
        slides = [k for k, sign in zip(on, choice, strict=True) if sign == 0.0]
        if slides:
            u[slides] = np.linalg.solve(G[np.ix_(slides, slides)], (c - G @ u)[slides])
        v = c - G @ u
        if (np.abs(u[slides]) <= 1.0).all() and all(v[k] * s > 0.0 for k, s in zip(on, choice, strict=True) if s):
            found.append((v, u))
    return found


def exact(x, c, G, until):
    """The state at a time; how near it came to something that cannot be told apart. None where the mode is not unique."""
    t, margin = 0.0, np.inf
    on: list[int] = []
    for _ in range(200):
        modes = consistent_modes(x, c, G, on)
        if len(modes) != 1:
            return None
        v, u = modes[0]
        slides = [k for k in on if abs(u[k]) < 1.0]
        margin = min([margin, *(1.0 - np.abs(u[slides])), *(abs(v[k]) for k in on if k not in slides)])
        ahead = {-x[k] / v[k]: k for k in range(len(x)) if x[k] * v[k] < 0.0}
        first = min(ahead, default=np.inf)
        step = min(first, until - t)
        x, t = x + step * v, t + step
        x[slides] = 0.0
        if first > step:
            return x, margin
        x[ahead[first]] = 0.0
        on, margin = [k for k in range(len(x)) if x[k] == 0.0], min(margin, 10.0 * step)
    return None


@pytest.mark.parametrize("seed", range(4))
def test_random_fields_with_signs(seed):
    chance, done = np.random.default_rng(seed), 0
    while done < 40:
        n = int(chance.integers(1, 5))
        G = chance.normal(0.0, 0.4, (n, n))
        G[np.diag_indices(n)] = chance.uniform(0.5, 2.0, n) + np.abs(G).sum(axis=1)
        c, x0, until = chance.normal(0.0, 1.5, n), chance.normal(size=n), chance.uniform(0.5, 4.0)
        dx, dc, dG = chance.normal(size=n), chance.normal(size=n), chance.normal(size=(n, n))
        outcome = exact(x0, c, G, until)
        if outcome is None or outcome[1] < 1e-4:
            continue
        done += 1
        sol = bd.solve(SYSTEMS[n], (0.0, until), x0, p=[*c, *G.ravel()], rtol=1e-9)
        assert np.allclose(sol.x[-1], outcome[0], atol=1e-6)
        one, two = (exact(x0 + s * dx, c + s * dc, G + s * dG, until) for s in (1e-7, -1e-7))
        if one is not None and two is not None:
            B = sol.bderivative(params=True)
            assert np.allclose(B(dx, [*dc, *dG.ravel()]), (one[0] - two[0]) / 2e-7, rtol=1e-4, atol=1e-4)
