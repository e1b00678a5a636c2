"""Systems that tests share, at module level so that nothing is compiled twice."""

import math

import numpy as np

import bouligand as bd


def _balls(t, x, b, p, dx):
    m = b.size
    for i in range(m):
        dx[i] = x[m + i]
        dx[m + i] = (p[1] * (0.0 - x[i]) if b[i] > 0.0 else 0.0) - p[0]


def _floor(t, x, p, out):
    for i in range(out.size):
        out[i] = -x[i]


_ball_systems: dict = {}


def balls(count):
    """Balls side by side on a springy floor at 0: independent hoppers, params g and k."""
    if count not in _ball_systems:
        _ball_systems[count] = bd.System(_balls, _floor, n=2 * count, m=count, params={"g": 9.81, "k": 1000.0})
    return _ball_systems[count]


def _twin_field(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] = (500.0 * (0.0 - x[0]) if b[0] > 0.0 else 0.0) + (500.0 * (0.0 - x[0]) if b[1] > 0.0 else 0.0) - 9.81


def _twin_guards(t, x, p, out):
    out[0] = -x[0]
    out[1] = -x[0]


twins = bd.System(_twin_field, _twin_guards, n=2, m=2)  # the same guard listed twice


def _corner_field(t, x, b, p, dx):
    one, two = b[0] > 0.0, b[1] > 0.0
    dx[0] = 0.5 if one and not two else 1.0
    dx[1] = 1.0 if (one != two and one) or not (one or two) else (0.75 if two and not one else 0.5)


def _corner_guards(t, x, p, out):
    out[0] = x[0]
    out[1] = x[1]


# F-- = (1, 1), F-+ = (1, .75), F+- = (.5, 1), F++ = (1, .5)
corner = bd.System(_corner_field, _corner_guards, n=2, m=2)


def _slab_field(t, x, b, p, dx):
    inside = b[0] > 0.0 and b[1] < 0.0
    dx[0] = 1.0
    dx[1] = 1.0 / p[0] if inside else 0.0


def _slab_guards(t, x, p, out):
    out[0] = x[0]
    out[1] = x[0] - p[0]


slab = bd.System(_slab_field, _slab_guards, n=2, m=2, params={"width": 1e-6})


def _moving_field(t, x, b, p, dx):
    dx[0] = 2.0 if b[0] < 0.0 else 0.7


def _moving_guard(t, x, p, out):
    out[0] = x[0] - 0.5 * t - 1.0


moving = bd.System(_moving_field, _moving_guard, n=1, m=1)


def _slope_field(t, x, b, p, dx):
    dx[0] = -p[0]
    dx[1] = p[1] if b[0] > 0.0 else 0.0


def _slope_guard(t, x, p, out):
    out[0] = x[0]


slope = bd.System(_slope_field, _slope_guard, n=2, m=1, params={"a": 2.0, "c": 1.0})


def _wave_field(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] = -x[0]
    dx[2] = p[1] if b[0] > 0.0 else 0.0


def _wave_guard(t, x, p, out):
    out[0] = x[0] - p[0]


# cos t against a level: touches it near t = 2 pi k, for a time that the level decides; x[2] adds up the time beyond it
wave = bd.System(_wave_field, _wave_guard, n=3, m=1, params={"level": 0.99, "rate": 1.0})


def _relay_field(t, x, b, p, dx):
    dx[0] = -p[0] * b[0]
    dx[1] = 1.0


def _relay_guard(t, x, p, out):
    out[0] = x[0]


relay = bd.System(_relay_field, _relay_guard, n=2, m=1, params=[1.0])  # slides on x = 0


def _zeno_field(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] = -b[0] * (1.0 + 0.5 * b[0] * b[1])


def _zeno_guards(t, x, p, out):
    out[0] = x[0]
    out[1] = x[1]


# pushed back to q = 0 harder on the way out than on the way in: crossings of q and v that accumulate in finite time
zeno = bd.System(_zeno_field, _zeno_guards, n=2, m=2, guards=("q", "v"))


def _turned_field(t, x, b, p, dx):
    dx[0] = 1.0
    dx[1] = 1.0 if b[0] < 0.0 else -1.0


def _turned_guards(t, x, p, out):
    out[0] = x[0]
    out[1] = x[1]


turned = bd.System(_turned_field, _turned_guards, n=2, m=2)  # crossing x reverses the approach to y


def _domain_field(t, x, b, p, dx):
    dx[0] = -1.0
    dx[1] = math.sqrt(x[0]) if b[0] > 0.0 else 0.0


def _domain_guard(t, x, p, out):
    out[0] = x[0]


domain = bd.System(_domain_field, _domain_guard, n=2, m=1)  # f is NaN behind the guard unless the word has changed


def _circling_field(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] = -x[0]


circling = bd.System(_circling_field, lambda t, x, p: (x[0],), n=2, m=1)  # returns for ever


def close(a, b, tol):
    """Largest difference, as a plain assertion that shows both."""
    difference = np.abs(np.asarray(a) - np.asarray(b)).max()
    assert difference <= tol, f"{a} against {b}: {difference:.3e} > {tol:.3e}"


# --------------------------------------------------------------------------------------- for derivatives


def _six_field(t, x, b, p, dx):
    one = 1.0 if b[0] > 0.0 else 0.0
    two = 1.0 if b[1] > 0.0 else 0.0
    three = 1.0 if b[2] > 0.0 else 0.0
    dx[0] = 1.0 - 0.25 * two + 0.5 * three
    dx[1] = 1.0 + 0.5 * one - 0.25 * three
    dx[2] = 1.0 - 0.25 * one + 0.5 * two


def _planes(t, x, p, out):
    for i in range(out.size):
        out[i] = x[i]


six = bd.System(_six_field, _planes, n=3, m=3)  # three guards, six different orders


def _chair_force(t, x, k, p, dx):
    angle = 0.25 * math.pi - x[2] if k == 0 else 0.25 * math.pi + x[2]
    side = 1.0 if k == 0 else -1.0
    reach = x[0] + side * 0.5 * math.cos(angle)
    depth = -(reach * reach + x[1] - 0.5 * math.sin(angle))
    by_x = -2.0 * reach
    # d angle / d w is -side, so that d reach / d w = side * 0.5 * sin(angle) * side and d sin / d w = -side * cos
    by_w = -(2.0 * reach * 0.5 * math.sin(angle) + side * 0.5 * math.cos(angle))
    rate = by_x * x[3] - x[4] + by_w * x[5]
    push = depth + rate
    dx[3] -= push * by_x
    dx[4] += push
    dx[5] -= push * by_w


def _chair_free(t, x, p, dx):
    for i in range(3):
        dx[i] = x[3 + i]
        dx[3 + i] = 0.0
    dx[4] = -9.8


def _chair_guards(t, x, p, out):
    for k in range(2):
        angle = 0.25 * math.pi - x[2] if k == 0 else 0.25 * math.pi + x[2]
        reach = x[0] + (0.5 if k == 0 else -0.5) * math.cos(angle)
        out[k] = -(reach * reach + x[1] - 0.5 * math.sin(angle))


chair = bd.System(f0=_chair_free, g=_chair_force, h=_chair_guards, n=6, m=2, guards=("left", "right"))


def _sum_free(t, x, p, dx):
    n = x.size
    for i in range(n):
        dx[i] = 1.0 + 0.2 * math.sin(p[i] + x[(i + 1) % n])


def _sum_contact(t, x, k, p, dx):
    n = x.size
    for i in range(n):
        dx[i] += p[n + n * k + i] * (1.0 + 0.1 * x[(i + k) % n])


def _sum_guards(t, x, p, out):
    n = x.size
    for k in range(out.size):
        out[k] = x[k] + 0.05 * x[(k + 1) % n] * x[(k + 1) % n]


# any field near (1, 1, 1, 1), with jumps by p: all guards are zero at the origin
sums = bd.System(f0=_sum_free, g=_sum_contact, h=_sum_guards, n=4, m=4, params=[0.0] * 20)


def _apex_field(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] = -p[0] + (p[1] * (p[2] - x[0]) if b[0] > 0.0 else 0.0)


def _apex_guards(t, x, p, out):
    out[0] = p[2] - x[0]
    out[1] = x[1]


# the hopper with a guard that watches for the apex
watched = bd.System(
    _apex_field,
    _apex_guards,
    states=("z", "vz"),
    guards=("foot", "apex"),
    params={"g": 9.81, "k": 1000.0, "rest": 1.0},
    observers=("apex",),
    direction={"apex": -1},
)


# a ball that takes the speed of a table that moves up and down, and rests on it until it is thrown
moving_table = bd.System(
    lambda t, x, b, p: (x[1], -9.81),
    lambda t, x, p: (x[0] - 0.05 * np.sin(20 * t + 3.0),),
    states=("z", "v"),
    guards=("table",),
    jumps={"table": lambda t, x, b, p: (x[0], np.cos(20 * t + 3.0))},
    rest="table",
)
