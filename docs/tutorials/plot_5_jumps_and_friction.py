"""
Jumps and dry friction
======================

Two kinds of motion that a switching vector field alone does not give: a velocity that jumps at an impact, and a mass that sticks.
"""

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd

# %%
# **A jump** changes the state at an event. A ball with restitution e:


def f(t, x, b, p):
    return x[1], -p[0]


def bounce(t, x, b, p):
    return x[0], -p[1] * x[1]


ball = bd.System(
    f,
    lambda t, x, p: (x[0],),
    states=("z", "vz"),
    guards=("floor",),
    params={"g": 9.81, "e": 0.8},
    jumps={"floor": bounce},
)
sol = bd.solve(ball, (0.0, 3.0), [1.0, 0.0], rtol=1e-9)
print("times of the bounces:", sol.events.t.round(4))
print("speeds before and after the first:", sol.events.x[0, 1].round(4), sol.events.x_after[0, 1].round(4))

# %%
# **Sliding**: where the flow points towards a guard on both sides, the trajectory stays on the guard. A mass on a spring with dry friction: the guard is its velocity, whose
# sign gives the direction of friction. (The mass and the stiffness of the spring are 1.)

block = bd.System(
    lambda t, x, b, p: (x[1], -x[0] - p[0] * b[0]),
    lambda t, x, p: (x[1],),
    states=("x", "v"),
    guards=("reversal",),
    params={"mu": 0.4},
    sliding="filippov",
)
stops = bd.solve(block, (0.0, 16.0), [3.0, 0.0], b0=[-1], rtol=1e-9)
print("it reverses at", stops.events.t.round(4), "and then sticks at x =", stops["x"][-1].round(6))

# %%
# While it sticks, the entry of the mode is 0.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
t = np.linspace(0.0, 3.0, 1001)
axes[0].plot(t, sol(t)[:, 0])
axes[0].set(title="a ball with restitution", xlabel="time (s)", ylabel="height (m)")
t = np.linspace(0.0, 16.0, 1001)
axes[1].plot(t, stops(t)[:, 0])
stuck = stops.word(t)[:, 0] == 0
axes[1].plot(t[stuck], stops(t)[stuck, 0], lw=4, alpha=0.5, label="sticks")
axes[1].set(title="dry friction", xlabel="time (s)", ylabel="position (m)")
axes[1].legend(frameon=False)
