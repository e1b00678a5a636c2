"""The equations of the hexapod (see `hexapod.py`), compiled: imported when one is made, because importing Numba takes time."""

import math

from numba import njit

from .hexapod import ACROSS, ALONG, IX, IY, IZ, LEG, LENGTH, MASS, MU, PERIOD, PHASE, SLIP, SWING, WIDTH, C, G, K

compiled = njit(error_model="numpy", nogil=True)


@compiled
def rotation(x):
    """R = Rz(yaw) Ry(pitch) Rx(roll), by rows."""
    sr, cr, sp, cp, sy, cy = (
        math.sin(x[3]),
        math.cos(x[3]),
        math.sin(x[4]),
        math.cos(x[4]),
        math.sin(x[5]),
        math.cos(x[5]),
    )
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


@compiled
def clock(t, tripod, p):
    """Position of a tripod's legs at time t: l sin gamma, l cos gamma, and the rate of gamma."""
    phase = 2.0 * math.pi * t / p[PERIOD] + p[PHASE] + math.pi * tripod
    angle = phase - p[SWING] * math.sin(phase)
    rate = (1.0 - p[SWING] * math.cos(phase)) * 2.0 * math.pi / p[PERIOD]
    return p[LEG] * math.sin(angle), p[LEG] * math.cos(angle), rate


@compiled
def leg(i, stand, p):
    """Position of foot i in the body's frame, and its velocity there; ``stand`` is what `clock` returns for its tripod."""
    sine, cosine, rate = stand
    place = (p[LENGTH] * ALONG[i] - sine, p[WIDTH] * ACROSS[i], -cosine)
    return place, (-cosine * rate, 0.0, sine * rate)


@compiled
def velocity(x, R, place, turning):
    """Velocity of a foot in the world; ``turning`` is its velocity in the body's frame."""
    a = x[10] * place[2] - x[11] * place[1] + turning[0]
    b = x[11] * place[0] - x[9] * place[2] + turning[1]
    c = x[9] * place[1] - x[10] * place[0] + turning[2]
    return (
        x[6] + R[0][0] * a + R[0][1] * b + R[0][2] * c,
        x[7] + R[1][0] * a + R[1][1] * b + R[1][2] * c,
        x[8] + R[2][0] * a + R[2][1] * b + R[2][2] * c,
    )


@compiled
def normal(x, R, place, v, p):
    """Normal force: spring and damper, positive when it pushes."""
    return -p[K] * (x[2] + R[2][0] * place[0] + R[2][1] * place[1] + R[2][2] * place[2]) - p[C] * v[2]


@compiled
def wrench(x, R, i, stand, p):
    """Force of foot i on the body, in the world, and its moment, in the body's frame."""
    place, turning = leg(i, stand, p)
    return wrench_at(x, R, place, turning, p)


@compiled
def wrench_at(x, R, place, turning, p):
    """The same of a foot that is here in the body's frame, and moves so there."""
    v = velocity(x, R, place, turning)
    push = normal(x, R, place, v, p)
    drag = -p[MU] * push / math.sqrt(v[0] * v[0] + v[1] * v[1] + p[SLIP] * p[SLIP])
    fx, fy, fz = drag * v[0], drag * v[1], push
    bx = R[0][0] * fx + R[1][0] * fy + R[2][0] * fz
    by = R[0][1] * fx + R[1][1] * fy + R[2][1] * fz
    bz = R[0][2] * fx + R[1][2] * fy + R[2][2] * fz
    return (
        fx,
        fy,
        fz,
        place[1] * bz - place[2] * by,
        place[2] * bx - place[0] * bz,
        place[0] * by - place[1] * bx,
    )


@compiled
def free(t, x, p, dx):
    """f0: the motion while no foot touches."""
    turn = x[10] * math.sin(x[3]) + x[11] * math.cos(x[3])
    dx[0] = x[6]
    dx[1] = x[7]
    dx[2] = x[8]
    dx[3] = x[9] + turn * math.tan(x[4])
    dx[4] = x[10] * math.cos(x[3]) - x[11] * math.sin(x[3])
    dx[5] = turn / math.cos(x[4])
    dx[6] = 0.0
    dx[7] = 0.0
    dx[8] = -p[G]
    dx[9] = (p[IY] - p[IZ]) * x[10] * x[11] / p[IX]
    dx[10] = (p[IZ] - p[IX]) * x[11] * x[9] / p[IY]
    dx[11] = (p[IX] - p[IY]) * x[9] * x[10] / p[IZ]


@compiled
def add(x, R, i, stand, p, dx):
    """Add the accelerations due to foot i."""
    accelerate(wrench(x, R, i, stand, p), p, dx)


@compiled
def accelerate(wrench, p, dx):
    """Add the accelerations due to a force and a moment."""
    fx, fy, fz, mx, my, mz = wrench
    dx[6] += fx / p[MASS]
    dx[7] += fy / p[MASS]
    dx[8] += fz / p[MASS]
    dx[9] += mx / p[IX]
    dx[10] += my / p[IY]
    dx[11] += mz / p[IZ]


@compiled
def contact(t, x, k, p, dx):
    add(x, rotation(x), k, clock(t, k // 3, p), p, dx)


@compiled
def field(t, x, b, p, dx):
    """f: a foot acts while it is in the ground and, with twelve guards, while its force is positive."""
    free(t, x, p, dx)
    R = rotation(x)
    for tripod in range(2):
        stand = clock(t, tripod, p)
        for i in range(3 * tripod, 3 * tripod + 3):
            if b[i] > 0.0 and b[b.size - 6 + i] > 0.0:
                add(x, R, i, stand, p, dx)


@compiled
def guards(t, x, p, out):
    """h: depth of each foot in the ground; with twelve guards also its normal force."""
    R = rotation(x)
    for tripod in range(2):
        stand = clock(t, tripod, p)
        for i in range(3 * tripod, 3 * tripod + 3):
            place, turning = leg(i, stand, p)
            out[i] = -(x[2] + R[2][0] * place[0] + R[2][1] * place[1] + R[2][2] * place[2])
            if out.size > 6:
                out[6 + i] = normal(x, R, place, velocity(x, R, place, turning), p)


@compiled
def guard_row(t, x, k, p, out):
    """Row k of Dh, for the six depths."""
    sr, cr, sp, cp = math.sin(x[3]), math.cos(x[3]), math.sin(x[4]), math.cos(x[4])
    place, _ = leg(k, clock(t, k // 3, p), p)
    for i in range(out.size):
        out[i] = 0.0
    out[2] = -1.0
    out[3] = -cp * (cr * place[1] - sr * place[2])
    out[4] = cp * place[0] + sp * (sr * place[1] + cr * place[2])


@compiled
def guards_by_time(t, x, p, out):
    """Derivative of the six depths by time, as the legs turn."""
    R = rotation(x)
    for i in range(6):
        _, turning = leg(i, clock(t, i // 3, p), p)
        out[i] = -(R[2][0] * turning[0] + R[2][1] * turning[1] + R[2][2] * turning[2])
