"""Ready systems with known answers, one mechanism a file: for examples, tests and benchmarks.

Each module has the function that makes its system, a usual START, and the exact solution where there is one:
`hopping` (`hopper`), `falling` (`plate`), `octants` (`order_test`), `spiral` (`circle`), `relays` (`oscillators`),
`running` (`hexapod`).
"""

from . import falling, hopping, octants, relays, running, spiral
from .falling import plate
from .hopping import hopper
from .octants import order_test
from .relays import oscillators
from .running import hexapod
from .spiral import circle

__all__ = [
    "circle",
    "falling",
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
]
