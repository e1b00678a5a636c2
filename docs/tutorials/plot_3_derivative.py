"""
The derivative of the outcome
=============================

How does the end of a trajectory depend on its start and on its parameters? Through single contacts the answer is a matrix; where contacts coincide it has
several linear pieces.
"""

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd

# %%
# A hopping mass. ``bderivative`` propagates perturbations along the recorded steps. Its matrix is the derivative of the final state with respect to the start:

hopper = bd.models.hopper()
sol = bd.solve(hopper, (0.0, 2.0), [2.0, 0.0], rtol=1e-10)
B = sol.bderivative(params=True)
B.matrix().round(4)

# %%
# With respect to the parameters, g, k and the rest length:

B.matrix(wrt="p").round(4)

# %%
# Compare with a difference of two solves.

dx = np.array([1e-6, 0.0])
difference = (bd.solve(hopper, (0.0, 2.0), sol.x[0] + dx, rtol=1e-12).x[-1] - sol.x[-1]) / 1e-6
print(f"derivative {B([1.0, 0.0]).round(4)}, difference {difference.round(4)}")

# %%
# Two guards that are crossed at the same instant. Which one a perturbed trajectory crosses first depends on the perturbation, and each order has its own matrix.


def f(t, x, b, p):
    one, two = b[0] > 0, b[1] > 0
    return np.array([0.5 if one and not two else 1.0, (0.5 if one else 0.75) if two else 1.0])


corner = bd.System(f, lambda t, x, p: (x[0], x[1]), states=("x", "y"), guards=("left", "right"))
B = bd.solve(corner, (0.0, 2.0), [-1.0, -1.0]).bderivative()
for piece in ([-0.25, 0.0], [0.25, 0.0]):
    print(f"{piece} -> {B(piece).round(4)}, crossed in the order {B.orders(piece)[0]}")

# %%
# A circle of perturbations and its image under B: two arcs, one for each order. Open circles are ends of trajectories from perturbed starts.

bd.plot.perturbations(B, radius=0.1)

# %%
# Trajectories through the corner:

figure, ax = plt.subplots(layout="constrained")
bd.plot.fan(B, radius=0.2, ax=ax)
