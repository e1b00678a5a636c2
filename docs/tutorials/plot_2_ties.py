"""
Contacts at the same instant
============================

A plate lands level on springs: all of them touch at once. If the plate is tilted a little, they touch within microseconds. Neither is a special case here.
"""

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd

plate = bd.models.plate(12)
plate.states, plate.guards[:3]

# %%
# The start: 2 m high, level, at rest.

level = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
sol = bd.solve(plate, (0.0, 1.5), level, rtol=1e-9)
first = sol.events.t[:12]
print(f"12 events within {np.ptp(first):.1e} s")

# %%
# Now with a tilt of 1e-6 rad, and of 1e-2 rad. The events come in the order of the springs, however close they are.

for tilt in (1e-6, 1e-2):
    start = level + np.array([0.0, 0.0, tilt, 0.0, 0.0, 0.0])
    tilted = bd.solve(plate, (0.0, 1.5), start, rtol=1e-9)
    landing = tilted.events.t[:12]
    print(f"tilt {tilt:.0e} rad: 12 events within {np.ptp(landing):.1e} s, the first of {tilted.events.name[0]}")

# %%
# The gait diagram has a bar for each interval in which a spring is touched.

figure, ax = plt.subplots(layout="constrained")
bd.plot.contacts(tilted, ax=ax)
ax.set_xlabel("time (s)")

# %%
# The final tilt depends continuously on the initial tilt: there is no jump at zero, where all springs touch at once and the order of the contacts changes.

tilts = np.linspace(-2e-3, 2e-3, 41)
starts = np.zeros((41, 6))
starts[:, 1], starts[:, 2] = 2.0, tilts
ends = bd.solve_many(plate, (0.0, 1.5), starts, rtol=1e-9).x

figure, ax = plt.subplots(layout="constrained")
ax.plot(1e3 * tilts, 1e3 * ends[:, 2], "o-", ms=3)
ax.set(xlabel="tilt at the start (mrad)", ylabel="tilt at the end (mrad)")
