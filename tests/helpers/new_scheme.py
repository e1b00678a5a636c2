"""A scheme that the library does not have, added to a copy of its package as docs/extending.md says."""

# Kutta's third-order method with a fourth stage at the result, and the cubic through both ends as its extension
KUTTA3 = '''
"""Kutta, order 3."""

import numpy as np

from .scheme import Control, Scheme

KUTTA3 = Scheme(
    name="kutta3",
    order=3,
    error_order=2,
    dense_order=3,
    stages=4,
    c=np.array([0, 1 / 2, 1, 1]),
    A=np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [-1, 2, 0, 0], [1 / 6, 2 / 3, 1 / 6, 0]]),
    errors=np.array([[1 / 12, -1 / 6, 1 / 12, 0]]),
    P=np.array([[1, -3 / 2, 2 / 3], [0, 2, -4 / 3], [0, 1 / 2, -1 / 3], [0, -1, 1]]),
    source="Kutta, Z. Math. Phys. 46 (1901) 435-453",
    control=Control(late=1),
)
'''

NAME = "kutta3"


def add_scheme(package):
    """Add it: a file of its own, and its place in the list."""
    schemes = package / "core" / "schemes"
    (schemes / "kutta3.py").write_text(KUTTA3.lstrip())
    init = schemes / "__init__.py"
    text = init.read_text()
    assert text.count("SCHEMES = (DOPRI5, BOSH3, DOP853)") == 1
    text = text.replace("SCHEMES = (DOPRI5, BOSH3, DOP853)", "SCHEMES = (DOPRI5, BOSH3, DOP853, KUTTA3)")
    init.write_text(text.replace("from .scheme import", "from .kutta3 import KUTTA3\nfrom .scheme import"))
