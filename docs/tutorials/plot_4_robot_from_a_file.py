"""
A robot from a file
===================

An MJCF or URDF file becomes a system; MuJoCo computes the smooth motion, contacts are guards with laws of your own. (This needs the extra ``mujoco``.)
"""

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd
from bouligand.bridges import mujoco as mj

# %%
# A table on four legs, as MJCF. Files of your own are loaded by their path.

LEGS = "".join(
    f'<geom name="leg{x:+d}{y:+d}" type="capsule" fromto="{0.4 * x} {0.3 * y} 0 {0.4 * x} {0.3 * y} -0.6" size="0.03" mass="0.5"/>'
    for x in (-1, 1)
    for y in (-1, 1)
)
FEET = "".join(f'<site name="foot{x:+d}{y:+d}" pos="{0.4 * x} {0.3 * y} -0.63"/>' for x in (-1, 1) for y in (-1, 1))
XML = f"""<mujoco><worldbody><body name="table" pos="0 0 1"><freejoint name="base"/>
<geom name="top" type="box" size="0.5 0.4 0.02" mass="4"/>{LEGS}{FEET}</body></worldbody></mujoco>"""

table = mj.load(
    XML, contacts="foot*", law=mj.Spring(stiffness=8000.0, damping=40.0), friction=mj.Coulomb(0.6, slip_speed=0.05)
)
table.guards[:4]

# %%
# Dropped level, its four feet land at the same instant: four events.

level = bd.solve(table, (0.0, 0.6), table.neutral(), rtol=1e-6)
touches = np.array(["touches" in name for name in level.events.name])
print(f"the first four touches within {np.ptp(level.events.t[touches][:4]):.1e} s")

# %%
# Dropped with a tilt, one foot after the other.

tilted = table.neutral()
tilted[3:7] = [np.cos(0.05), np.sin(0.05), 0.0, 0.0]
sol = bd.solve(table, (0.0, 0.6), tilted, rtol=1e-6)

figure, axes = plt.subplots(2, 1, sharex=True, layout="constrained", height_ratios=[2, 1.4])
t = np.linspace(0.0, 0.6, 601)
for start, solution in (("level", level), ("tilted", sol)):
    axes[0].plot(t, solution(t)[:, 2], label=start)
axes[0].set(ylabel="height of the table (m)")
axes[0].legend(frameon=False)
bd.plot.contacts(sol, "foot*touches", ax=axes[1])
axes[1].set_xlabel("time (s)")

# %%
# The forces at the contacts, in N, and the derivative through all of it:

print(table.forces(sol.x[-1], sol.b[-1].astype(float)).round(1))
print("derivative:", sol.bderivative().matrix().shape)
