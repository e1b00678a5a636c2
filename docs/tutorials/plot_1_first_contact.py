"""
First contact
=============

A ball falls onto an elastic floor with a damper. We write the system, solve it, and look at its contacts.
"""

# %%
# A system is a vector field ``f(t, x, b, p)`` and guards ``h(t, x, p)``. The guard is zero where the ball begins to touch, and positive while it is in
# the floor. ``b[0]`` is the side of the guard on which the trajectory is: +1 inside the floor, -1 in the air. The law switches on ``b``, never on the sign of h.

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd


def f(t, x, b, p):
    g, k, c = p
    push = -k * x[0] - c * x[1] if b[0] > 0 else 0.0
    return np.array([x[1], push - g])


def h(t, x, p):
    return np.array([-x[0]])


ball = bd.System(f, h, states=("z", "vz"), guards=("floor",), params={"g": 9.81, "k": 5000.0, "c": 4.0})

# %%
# One call integrates through all contacts. Only the tolerance has to be chosen.

sol = bd.solve(ball, (0.0, 3.0), [1.0, 0.0], rtol=1e-8)
sol

# %%
# Events have names, times and states. +1: the ball reaches the floor; -1: it leaves it.

sol.events

# %%
# The first touch is known: the ball falls 1 m.

print(f"error of the first touch: {abs(sol.events.t[0] - np.sqrt(2.0 / 9.81)):.1e} s")

# %%
# States over time, and when the ball touches. ``sol["z"]`` is a state by name, ``sol(t)`` the state at any time.

figure, axes = plt.subplots(2, 1, sharex=True, layout="constrained", height_ratios=[3, 1])
bd.plot.trajectory(sol, ["z"], ax=axes[0])
axes[0].set(ylabel="height z (m)", xlabel="")
bd.plot.contacts(sol, ax=axes[1])
axes[1].set_xlabel("time (s)")

# %%
# New parameter values need no new compilation. How fast does the ball leave the floor with other dampers? ``terminal`` stops at the second event, where it does.

for c in (0.0, 4.0, 20.0):
    bounce = bd.solve(ball, (0.0, 3.0), [1.0, 0.0], p={"c": c}, rtol=1e-8, terminal={"floor": 2})
    print(f"c = {c:4.1f} N s/m: it leaves with {bounce['vz'][-1]:.3f} m/s")
