"""Runge-Kutta schemes, one a file, as data (`scheme`); `table` and `stages` make compiled code of them.

The number of a scheme in the core is its place in ``SCHEMES``, counted from 1. To add one, write its file and put it there. The
number after the last is that of stiff steps (`ros34pw2`).
"""

from . import ros34pw2
from .bosh3 import BOSH3
from .dop853 import DOP853
from .dopri5 import DOPRI5
from .scheme import Control, Scheme

SCHEMES = (DOPRI5, BOSH3, DOP853)
STIFF = len(SCHEMES) + 1
METHODS = {**{scheme.name: number for number, scheme in enumerate(SCHEMES, 1)}, ros34pw2.NAME: STIFF}

__all__ = ["BOSH3", "DOP853", "DOPRI5", "METHODS", "SCHEMES", "STIFF", "Control", "Scheme"]
