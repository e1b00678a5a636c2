"""Random rooms with inclined walls in which a ball bounces under gravity: events, states, derivatives against closed forms."""

import numpy as np
import pytest

import bouligand as bd


def field(t, x, b, p, dx):
    dx[0], dx[1], dx[2], dx[3] = x[2], x[3], 0.0, -p[0]


def distances(t, x, p, out):
    for k in range(out.size):
        out[k] = p[2 + 3 * k + 2] - p[2 + 3 * k] * x[0] - p[2 + 3 * k + 1] * x[1]


def bounce(t, x, fired, b, p, xnew):
    for k in range(b.size):
        if fired[k] > 0.0:
            a, c = p[2 + 3 * k], p[2 + 3 * k + 1]
            v = a * xnew[2] + c * xnew[3]
            if v > 0.0:
                xnew[2] -= (1.0 + p[1]) * v * a
                xnew[3] -= (1.0 + p[1]) * v * c


SYSTEMS = {m: bd.System(field, distances, n=4, m=m, params=np.zeros(2 + 3 * m), jump_many=bounce) for m in range(3, 7)}


def next_wall(x, g, walls, within):
    """When and where the ball hits next: the roots of a quadratic for each wall."""
    first, wall = within, None
    for a, c, d in walls:
        roots = np.roots([0.5 * c * g, -(a * x[2] + c * x[3]), d - a * x[0] - c * x[1]])
        for s in roots[np.abs(roots.imag) < 1e-13].real:
            if 1e-9 < s < first and c * g * s - (a * x[2] + c * x[3]) < 0.0:
                first, wall = s, (a, c)
    return first, wall


def bounced(x, g, e, walls, until):
    """The state at a time, the number of bounces, and the shortest time between two."""
    t, count, shortest = 0.0, 0, np.inf
    while True:
        s, wall = next_wall(x, g, walls, until - t)
        x = np.array([x[0] + s * x[2], x[1] + s * x[3] - 0.5 * g * s * s, x[2], x[3] - g * s])
        t += s
        if wall is None or count > 400:
            return x, count, shortest
        v = wall[0] * x[2] + wall[1] * x[3]
        x[2:] -= (1.0 + e) * v * np.array(wall)
        count, shortest = count + 1, min(shortest, s)


def rooms(seed):
    """Closed rooms, and flights in them in which no two bounces are too near to each other to tell them apart."""
    chance = np.random.default_rng(seed)
    while True:
        angles = np.sort(chance.uniform(0.0, 2.0 * np.pi, int(chance.integers(3, 7))))
        if np.diff(np.append(angles, angles[0] + 2.0 * np.pi)).max() > 2.8:
            continue
        walls = [(np.cos(angle), np.sin(angle), chance.uniform(0.5, 1.5)) for angle in angles]
        g, e, until = chance.choice([0.0, 1.0, 9.81]), chance.choice([1.0, 0.95, 0.8]), chance.uniform(0.5, 3.0)
        x0 = np.array([*chance.uniform(-0.2, 0.2, 2), *chance.normal(0.0, 2.0, 2)])
        end, count, shortest = bounced(x0, g, e, walls, until)
        if count <= 400 and shortest > 1e-6:
            yield walls, g, e, x0, until, end, count, chance.normal(size=4)


@pytest.mark.parametrize("seed", range(4))
def test_random_rooms(seed):
    found = rooms(seed)
    for _ in range(40):
        walls, g, e, x0, until, end, count, dx = next(found)
        sol = bd.solve(SYSTEMS[len(walls)], (0.0, until), x0, p=[g, e, *np.ravel(walls)], rtol=1e-10, atol=1e-12)
        B = sol.bderivative()
        growth = max(np.abs(B.matrix(dx)).max(), 1.0)
        assert len(sol.events) == count
        assert np.abs(sol.x[-1] - end).max() <= 1e-9 * growth * max(count, 1)
        (one, n1, _), (two, n2, _) = (bounced(x0 + s * dx, g, e, walls, until) for s in (1e-7, -1e-7))
        if n1 == n2 == count and growth < 1e4:
            assert np.abs(B(dx) - (one - two) / 2e-7).max() <= 1e-4 * growth
