"""Contacts that are hard for derivatives: errors of the state and of its derivative.

A ball falls from 0.3 m and bounces once: on Hertz' contact (depth^1.5), whose force is not smooth at the guard, and on a stiff
contact with damping that is smooth, but takes few steps. Truth: central differences of solves at 1e-12.
"""

import numpy as np

import bouligand as bd

START = np.array([0.3, 0.0])


def hertz(t, x, b, p):
    return np.array([x[1], -9.81 + (4e5 * max(-x[0], 0.0) ** 1.5 if b[0] > 0 else 0.0)])


def stiff(t, x, b, p):
    return np.array([x[1], -9.81 + (4e7 * x[0] ** 2 * (1.0 - 0.8 * x[1]) if b[0] > 0 else 0.0)])


def error(value, known):
    return np.abs(value - known).max() / np.abs(known).max()


def bounce(name, f, span, direction):
    ball = bd.System(f, lambda t, x, p: (-x[0],), states=("z", "vz"), guards=("floor",))

    def end(x, rtol=1e-12):
        return bd.solve(ball, span, x, rtol=rtol, atol=0.01 * rtol).x[-1]

    step, state, direction = 1e-6, end(START), np.array(direction)
    slope = (end(START + step * direction) - end(START - step * direction)) / (2.0 * step)
    print(f"a bounce on {name}: relative errors")
    print("   rtol   steps   state     B(dx)")
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        sol = bd.solve(ball, span, START, rtol=rtol, atol=0.01 * rtol)
        errors = error(sol.x[-1], state) if rtol > 1e-12 else np.nan, error(sol.bderivative()(direction), slope)
        print(f"  {rtol:.0e}  {sol.counts.steps:4d}   {errors[0]:.1e}   {errors[1]:.1e}".replace("nan", "   -   "))


def main():
    bounce("Hertz' contact", hertz, (0.0, 0.6), (1.0, 1.0))
    bounce("a stiff contact that is smooth", stiff, (0.0, 0.3), (1.0, 0.5))


if __name__ == "__main__":
    main()
