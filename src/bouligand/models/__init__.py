"""Ready systems with known answers, one mechanism a file: for examples, tests and benchmarks.

Each module has the function that makes its system, a usual START, and the exact solution where there is one:
`hopping` (`hopper`), `falling` (`plate`), `tripod` (`three_legs`), `running` (`hexapod`), `grasp` (`hand`), `octants`
(`order_test`), `spiral` (`circle`), `relays` (`oscillators`).
"""

from . import falling, grasp, hopping, octants, relays, running, spiral, tripod
from .falling import plate
from .grasp import hand
from .hopping import hopper
from .octants import order_test
from .relays import oscillators
from .running import hexapod
from .spiral import circle
from .tripod import three_legs

__all__ = [
    "circle",
    "falling",
    "grasp",
    "hand",
    "hexapod",
    "hopper",
    "hopping",
    "octants",
    "order_test",
    "oscillators",
    "plate",
    "relays",
    "running",
    "spiral",
    "three_legs",
    "tripod",
]
