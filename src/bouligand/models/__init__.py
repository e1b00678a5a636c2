"""Ready models with known answers, one mechanism a file: for examples, tests and benchmarks.

Each file is named after its model and has the function that makes it, a usual START, and the exact solution where there is one:
``bouligand.models.plate(10)`` makes the plate on ten springs, and ``from bouligand.models.plate import START`` is where it
usually starts.
"""

import warnings
from importlib import import_module

from .circle import circle
from .hand import hand
from .hexapod import hexapod
from .hopper import hopper
from .order_test import order_test
from .oscillators import oscillators
from .plate import plate
from .three_legs import three_legs

__all__ = ["circle", "hand", "hexapod", "hopper", "order_test", "oscillators", "plate", "three_legs"]

RENAMED = {
    "falling": "plate",
    "feet": "_hexapod_compiled",
    "grasp": "hand",
    "hopping": "hopper",
    "octants": "order_test",
    "relays": "oscillators",
    "running": "hexapod",
    "spiral": "circle",
    "tripod": "three_legs",
}


def __getattr__(name):
    """The modules by the names they had before they were named after their models."""
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = f"{__name__}.{RENAMED[name]}"
    warnings.warn(f"{__name__}.{name} is now {new}: write 'from {new} import ...'", DeprecationWarning, stacklevel=2)
    return import_module(new)
