"""
Planning through contacts
=========================

Which controls bring a system where we want it, if contacts decide when the controls have an effect? A mass hops on a springy leg with a motor. The motor
can push only while the foot is on the ground. The times of contact are not given: they are part of the plan.
"""

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd

# %%
# Controls are parameters of a system: here ``u``, the force of the motor per mass. The leg has a damper, so that without the motor each hop is lower than the last.


def f(t, x, b, p):
    g, k, c, u = p
    push = k * (1.0 - x[0]) - c * x[1] + u if b[0] > 0 else 0.0
    return np.array([x[1], push - g])


def h(t, x, p):  # > 0 while the leg is shorter than 1 m: the foot is on the ground
    return np.array([1.0 - x[0]])


leg = bd.System(f, h, states=("z", "vz"), guards=("foot",), params={"g": 9.81, "k": 600.0, "c": 2.0, "u": 0.0})

# %%
# The task: dropped from 1.3 m, be at rest at a height of 1.6 m after 1.4 s, the top of a hop. The end cost penalises the distance from that state, the running cost the effort
# of the motor. Controls are held over 35 intervals of 40 ms and are limited to 30 N/kg.

P = bd.planning
plan = P.Plan(
    leg,
    np.linspace(0.0, 1.4, 36),
    running=P.Quadratic(u=1e-5),
    end=P.Quadratic({"z": 1.6, "vz": 0.0}, x={"z": 100.0, "vz": 10.0}),
    inputs="u",
    limits=(-30.0, 30.0),
    rtol=1e-8,
)
found = plan.solve({"z": 1.3, "vz": 0.0})
print(found)
print("at the end:", found.x[-1].round(3))

# %%
# The plan pushes in both contacts, and thereby chooses their times: a higher hop makes the next landing later.

passive = bd.solve(leg, (0.0, 1.4), {"z": 1.3, "vz": 0.0}, rtol=1e-8)
figure, axes = plt.subplots(3, 1, figsize=(7, 6), sharex=True, layout="constrained", height_ratios=[3, 2, 1])
t = np.linspace(0.0, 1.4, 801)
axes[0].plot(t, passive(t)[:, 0], color="0.6", label="motor off")
axes[0].plot(t, found.solution(t)[:, 0], label="plan")
axes[0].plot(1.4, 1.6, "o", color="black", label="target", clip_on=False)
axes[0].set(ylabel="height (m)")
axes[0].legend(frameon=False, loc="upper left", ncols=3)
axes[1].stairs(found.u[:, 0], found.t, baseline=None)
axes[1].set(ylabel="motor (N/kg)")
bd.plot.contacts(found.solution, ax=axes[2])
axes[2].set_xlabel("time (s)")

# %%
# ``found.K`` are feedback gains, a by-product of the method (iLQR). Started 2 cm too high, the foot lands later than planned: the
# controls alone miss the target, with feedback they reach it.


def final_height(start, feedback):
    x, times = np.array(start), found.t
    for k in range(len(found.u)):
        u = found.u[k] + feedback * found.K[k] @ (x - found.x[k])
        x = bd.rollout(leg, x, [np.clip(u, -30.0, 30.0)], times[k : k + 2], inputs="u", rtol=1e-8).x[-1]
    return x[0]


for feedback in (0, 1):
    print(f"feedback {'on' if feedback else 'off'}: {final_height([1.32, 0.0], feedback):.3f} m")

# %%
# For larger disturbances plan again at each sample, with `bouligand.planning.MPC`. That is also the way to longer horizons: with each further hop the cost has more local
# minima, and a plan ends in one of them.
