"""Bogacki and Shampine, order 3."""

import numpy as np

from .scheme import Control, Scheme

BOSH3 = Scheme(
    name="bosh3",
    order=3,
    error_order=2,
    dense_order=3,
    stages=4,
    c=np.array([0, 1 / 2, 3 / 4, 1]),
    A=np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 3 / 4, 0, 0], [2 / 9, 1 / 3, 4 / 9, 0]]),
    errors=np.array([[5 / 72, -1 / 12, -1 / 9, 1 / 8]]),
    P=np.array([[1, -4 / 3, 5 / 9], [0, 1, -2 / 3], [0, 4 / 3, -8 / 9], [0, -1, 1]]),
    source="Bogacki & Shampine, Appl. Math. Lett. 2 (1989) 321-325",
    control=Control(late=2),
)
