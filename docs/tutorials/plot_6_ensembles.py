"""
Many trajectories
=================

A sweep over starts and parameters runs as one compiled loop on all cores; each trajectory has the same bits as a single solve.
"""

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd

# %%
# A hopping mass on springs of different stiffness, dropped from different heights: all combinations.

hopper = bd.models.hopper()
sweep = bd.grid(k=np.linspace(100.0, 1000.0, 60), z=np.linspace(1.1, 3.0, 60))
ens = bd.solve_many(hopper, (0.0, 3.0), [2.0, 0.0], sweep)
ens

# %%
# The number of events of each trajectory:

figure, ax = plt.subplots(layout="constrained")
bd.plot.map(ens, "events", ax=ax)

# %%
# One of them as a solution of its own, with events and derivative:

one = ens[1234]
one.events

# %%
# The spread of a state over time, for starts that are not known exactly:

rng = np.random.default_rng(0)
starts = np.column_stack([2.0 + 0.05 * rng.standard_normal(400), 0.1 * rng.standard_normal(400)])
cloud = bd.solve_many(hopper, (0.0, 3.0), starts, t_eval=np.linspace(0.0, 3.0, 121))
figure, ax = plt.subplots(layout="constrained")
bd.plot.fan(cloud, state="z", ax=ax)
ax.set(xlabel="time (s)", ylabel="height z (m)")
