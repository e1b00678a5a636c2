"""Dormand-Prince 5(4) with error control, compiled, the contact test inside f; it knows of no guards.

Coefficients, error norm, controller and continuous extension are those of Hairer, Norsett and Wanner (II.4 to II.6).
"""

import numpy as np
from numba import njit

from . import Arm, decades, plain_fields

NAME, PACKAGE = "dopri5, guards ignored", None
TIES = 1e-8  # its setting in the table of ties
GIVEN = "compiled with f inlined; adaptive steps, at most 50 ms"

A = np.zeros((7, 6))
A[1, :1] = [1 / 5]
A[2, :2] = [3 / 40, 9 / 40]
A[3, :3] = [44 / 45, -56 / 15, 32 / 9]
A[4, :4] = [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]
A[5, :5] = [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]
A[6, :6] = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
C = A.sum(axis=1)
E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
D = np.array(
    [
        -12715105075 / 11282082432,
        0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)


@njit(nogil=True, error_model="numpy")
def integrate(f, x, p, tf, rtol, atol, longest, times, out):
    """From x to tf, in place; rows of ``out`` get the states at ``times``. Returns the evaluations of f."""
    n = x.size
    K, y = np.empty((7, n)), np.empty(n)
    t, dt, row, count = 0.0, 1e-3, 0, 1
    f(t, x, p, K[0])
    while t < tf:
        dt = min(dt, longest)
        last = t + dt >= tf
        if last:
            dt = tf - t
        for s in range(1, 7):
            for i in range(n):
                total = 0.0
                for q in range(s):
                    total += A[s, q] * K[q, i]
                y[i] = x[i] + dt * total
            f(t + C[s] * dt, y, p, K[s])
            count += 1
        error = 0.0
        for i in range(n):
            total = 0.0
            for s in range(7):
                total += E[s] * K[s, i]
            scaled = dt * total / (atol + rtol * max(abs(x[i]), abs(y[i])))
            error += scaled * scaled
        error = np.sqrt(error / n)
        if error <= 1.0:
            while row < out.shape[0] and times[row] <= t + dt * (1.0 + 1e-12):
                u = (times[row] - t) / dt
                for i in range(n):
                    difference = y[i] - x[i]
                    bulge = dt * K[0, i] - difference
                    quartic = 0.0
                    for s in range(7):
                        quartic += D[s] * K[s, i]
                    third = difference - dt * K[6, i] - bulge
                    inner = third + (1.0 - u) * dt * quartic
                    out[row, i] = x[i] + u * (difference + (1.0 - u) * (bulge + u * inner))
                row += 1
            t = tf if last else t + dt
            for i in range(n):
                x[i] = y[i]
                K[0, i] = K[6, i]
        dt *= min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
    return count


def settings(problem):
    return decades(-2, -12)


def build(problem, rtol):
    f, no_times, none = plain_fields.compiled(problem.kind), np.empty(0), np.empty((0, problem.n))

    def run():
        x = problem.x0.copy()
        integrate(f, x, problem.p, problem.tf, rtol, 0.01 * rtol, problem.max_step, no_times, none)
        return x

    def sample():
        out = np.empty((len(problem.times), problem.n))
        integrate(f, problem.x0.copy(), problem.p, problem.tf, rtol, 0.01 * rtol, problem.max_step, problem.times, out)
        return out

    return Arm(f"rtol={rtol:.0e}", run, sample)
