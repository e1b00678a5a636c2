"""A force that is not smooth at its guard (Hertz' contact, depth^1.5): errors of the state and of its derivative.

A ball falls from 0.3 m onto such a floor and bounces once. Truth: central differences of solves at 1e-12.
"""

import numpy as np

import bouligand as bd

SPAN, START, DIRECTION = (0.0, 0.6), np.array([0.3, 0.0]), np.ones(2)


def f(t, x, b, p):
    return np.array([x[1], -9.81 + (4e5 * max(-x[0], 0.0) ** 1.5 if b[0] > 0 else 0.0)])


def main():
    ball = bd.System(f, lambda t, x, p: (-x[0],), states=("z", "vz"), guards=("floor",))

    def end(x, rtol=1e-12):
        return bd.solve(ball, SPAN, x, rtol=rtol, atol=0.01 * rtol).x[-1]

    def error(value, known):
        return np.abs(value - known).max() / np.abs(known).max()

    step, state = 1e-6, end(START)
    slope = (end(START + step * DIRECTION) - end(START - step * DIRECTION)) / (2.0 * step)
    print("a bounce on Hertz' contact: relative errors")
    print("   rtol   steps   state     B(dx)")
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        sol = bd.solve(ball, SPAN, START, rtol=rtol, atol=0.01 * rtol)
        errors = error(sol.x[-1], state) if rtol > 1e-12 else np.nan, error(sol.bderivative()(DIRECTION), slope)
        print(f"  {rtol:.0e}  {sol.counts.steps:4d}   {errors[0]:.1e}   {errors[1]:.1e}".replace("nan", "   -   "))


if __name__ == "__main__":
    main()
