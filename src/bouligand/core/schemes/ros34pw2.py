"""ROS34PW2, a Rosenbrock W-method of order 3 for stiff fields (Rang & Angermann, BIT 45 (2005) 761-787).

With ``k_i = (I - gamma s A)^-1 (F_i + c_i) - c_i``, ``F_i = f(t + a_i s, x + s sum_j ALPHA_ij k_j)`` and
``c_i = sum_j GAMMA_ij k_j`` (j < i), the result is ``x + s sum b_i k_i``. Its order is 3 for every matrix A; where A is near Df,
fast decaying modes do not limit the step: it is L-stable. (The coefficients there; the extension is ours.)
"""

import numpy as np

NAME = "stiff"
ORDER = 3
STAGES = 4
DIAGONAL = 0.43586652150845900
ALPHA = np.array(
    [
        [0.0, 0.0, 0.0, 0.0],
        [0.87173304301691801, 0.0, 0.0, 0.0],
        [0.84457060015369423, -0.11299064236484185, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ]
)
_GAMMA = np.array(
    [
        [0.0, 0.0, 0.0, 0.0],
        [-0.87173304301691801, 0.0, 0.0, 0.0],
        [-0.90338057013044082, 0.054180672388095326, 0.0, 0.0],
        [0.24212380706095346, -1.2232505839045147, 0.54526025533510214, 0.0],
    ]
)
GAMMA = _GAMMA / DIAGONAL
TIMES = ALPHA.sum(1)
WEIGHTS = np.array([0.24212380706095346, -1.2232505839045147, 1.5452602553351020, 0.43586652150845900])
_SECOND = np.array([0.37810903145819369, -0.096042292212423178, 0.5, 0.21793326075422950])  # of order 2
ERROR = WEIGHTS - _SECOND


def _extension():
    """Inside the step, at theta of it, x + s sum_q k_q sum_d EXTENSION[q, d] theta^(d+1): of order 2 for every A, as the second
    result, and a solution of x' = t^2 is exact. The stages are smooth where f is not, along modes that have decayed: so is this,
    unlike the cubic through x' at both ends."""
    one, g = np.ones(STAGES), _GAMMA.sum(1) + DIAGONAL
    inverse = np.linalg.inv([one, TIMES, g, TIMES**2])
    return np.stack([inverse[:, 0], inverse[:, 1] / 2.0, inverse[:, 3] / 3.0], axis=1)


EXTENSION = _extension()


def check():
    """Raise ValueError unless the conditions of order 3 hold for every A, and those of order 2 for the second result."""
    one, G = np.ones(STAGES), _GAMMA + DIAGONAL * np.eye(STAGES)
    a, g = ALPHA @ one, G @ one
    second = [(one, 1.0), (a, 0.5), (g, 0.0)]
    third = [(a * a, 1 / 3), (ALPHA @ a, 1 / 6), (ALPHA @ g, 0.0), (G @ a, 0.0), (G @ g, 0.0)]
    for weights, conditions in ((WEIGHTS, second + third), (_SECOND, second)):
        for vector, value in conditions:
            if abs(weights @ vector - value) > 1e-14:
                raise ValueError("ROS34PW2: a condition of its order does not hold")
    if not np.allclose(EXTENSION.sum(1), WEIGHTS, rtol=0.0, atol=1e-12):
        raise ValueError("ROS34PW2: its extension does not end at the result")


check()
