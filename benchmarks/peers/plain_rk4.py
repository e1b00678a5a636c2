"""The classical Runge-Kutta method with a fixed step, compiled, the contact test inside f; it knows of no guards."""

import numpy as np
from numba import njit
from scipy.interpolate import CubicHermiteSpline

from . import Arm, plain_fields

NAME, PACKAGE = "RK4, guards ignored", None
TIES = 2000  # its setting in the table of ties
GIVEN = "compiled with f inlined; fixed steps"


@njit(nogil=True, error_model="numpy")
def integrate(f, x, p, tf, steps, every, out):
    """From x to tf in so many steps; rows of ``out`` get every ``every``-th state."""
    n, dt = x.size, tf / steps
    k1, k2, k3, k4 = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    y = np.empty(n)
    row = 0
    for step in range(steps):
        t = step * dt
        f(t, x, p, k1)
        for i in range(n):
            y[i] = x[i] + 0.5 * dt * k1[i]
        f(t + 0.5 * dt, y, p, k2)
        for i in range(n):
            y[i] = x[i] + 0.5 * dt * k2[i]
        f(t + 0.5 * dt, y, p, k3)
        for i in range(n):
            y[i] = x[i] + dt * k3[i]
        f(t + dt, y, p, k4)
        for i in range(n):
            x[i] += dt / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])
        if out.shape[0] and (step + 1) % every == 0:
            for i in range(n):
                out[row, i] = x[i]
            row += 1


def settings(problem):
    return [250, 500, 1000, 2000, 5000, 20_000, 100_000]


def build(problem, steps):
    f, none = plain_fields.compiled(problem.kind), np.empty((0, problem.n))

    def run():
        x = problem.x0.copy()
        integrate(f, x, problem.p, problem.tf, steps, 1, none)
        return x

    def sample():
        if steps < len(problem.times):
            return between()
        out = np.empty((len(problem.times), problem.n))
        integrate(f, problem.x0.copy(), problem.p, problem.tf, steps, steps // len(problem.times), out)
        return out

    def between():
        """Steps longer than the samples' distance: cubics through states and slopes, as accurate as the steps."""
        states, slopes = np.empty((steps + 1, problem.n)), np.empty((steps + 1, problem.n))
        states[0] = problem.x0
        integrate(f, problem.x0.copy(), problem.p, problem.tf, steps, 1, states[1:])
        for x, slope in zip(states, slopes, strict=True):
            f(0.0, x, problem.p, slope)
        return CubicHermiteSpline(np.linspace(0.0, problem.tf, steps + 1), states, slopes)(problem.times)

    return Arm(f"dt={problem.tf / steps * 1e3:.2g} ms", run, sample)
