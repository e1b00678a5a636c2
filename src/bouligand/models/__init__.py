"""Ready models with known answers, one mechanism a file: for examples, tests, benchmarks and ``bouligand run``.

``plate.py`` has the function `plate`, which makes the system, a usual START, the exact solution where there is one, and so on:

>>> import bouligand as bd
>>> from bouligand.models.hopper import START, exact
>>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), START, rtol=1e-10)
>>> bool(abs(sol.x[-1] - exact(2.0)[0]).max() < 1e-7)
True

To add a model, add a file that declares a ``MODEL`` (see `Model`); nothing else has to be changed.
"""

import warnings as _warnings
from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules
from typing import TYPE_CHECKING

from .model import Model

if (
    TYPE_CHECKING
):  # a help for editors and type checkers, which do not run `available`; models work without being listed here
    from .adex import adex as adex
    from .ball_row import ball_row as ball_row
    from .bipedal_slip import bipedal_slip as bipedal_slip
    from .bouncing_ball import bouncing_ball as bouncing_ball
    from .buck_converter import buck_converter as buck_converter
    from .chua import chua as chua
    from .circle import circle as circle
    from .cuba import cuba as cuba
    from .driven_hexapod import driven_hexapod as driven_hexapod
    from .exciter import exciter as exciter
    from .friction_oscillator import friction_oscillator as friction_oscillator
    from .gear_rattle import gear_rattle as gear_rattle
    from .glass_ring import glass_ring as glass_ring
    from .goodwin import goodwin as goodwin
    from .hand import hand as hand
    from .hexapod import hexapod as hexapod
    from .hicks import hicks as hicks
    from .hopper import hopper as hopper
    from .load_shedding import load_shedding as load_shedding
    from .neurons import neurons as neurons
    from .order_test import order_test as order_test
    from .oscillators import oscillators as oscillators
    from .plate import plate as plate
    from .predator_prey import predator_prey as predator_prey
    from .relay_feedback import relay_feedback as relay_feedback
    from .rimless_wheel import rimless_wheel as rimless_wheel
    from .rocking_block import rocking_block as rocking_block
    from .shaking_table import shaking_table as shaking_table
    from .simplest_walker import simplest_walker as simplest_walker
    from .slip import slip as slip
    from .stick_slip import stick_slip as stick_slip
    from .swing import swing as swing
    from .tap_changer import tap_changer as tap_changer
    from .three_blocks import three_blocks as three_blocks
    from .three_legs import three_legs as three_legs
    from .threshold_harvest import threshold_harvest as threshold_harvest
    from .two_relays import two_relays as two_relays

_RENAMED = {  # modules: old name, new name
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


def available() -> dict[str, Model]:
    """All models by name: the files of this folder that declare a ``MODEL``.

    Returns
    -------
    dict from str to Model

    Examples
    --------
    >>> import bouligand as bd
    >>> sorted(bd.models.available())[:4]
    ['adex', 'ball_row', 'bipedal_slip', 'bouncing_ball']
    """
    # (files whose names begin with an underscore are not imported here: those may import Numba, which takes time)
    found = {}
    for file in _iter_modules(__path__):
        if file.name.startswith("_"):
            continue
        model = getattr(_import_module(f"{__name__}.{file.name}"), "MODEL", None)
        if model is not None:
            found[file.name] = model
            globals()[file.name] = model.make  # the import has set this name to the module; it is to be the function
    return found


__all__ = ["Model", "available", *available()]

if not TYPE_CHECKING:  # (a type checker would take any misspelt name for a module)

    def __getattr__(name):
        """Modules by their old names, from before they were named after their models."""
        if name not in _RENAMED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        new = f"{__name__}.{_RENAMED[name]}"
        message = f"{__name__}.{name} is now {new}: write 'from {new} import ...'"
        _warnings.warn(message, DeprecationWarning, stacklevel=2)
        return _import_module(new)


def __dir__() -> list[str]:
    return sorted(__all__)
