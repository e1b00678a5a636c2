"""What ``bouligand run`` can simulate by name, each with a start, an end and (where there is one) a drawing."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import models
from ..models.circle import END as CIRCLE_END
from ..models.circle import START as CIRCLE_START
from ..models.hand import start as hand_start
from ..models.hexapod import START as HEXAPOD_START
from ..models.hopper import START as HOPPER_START
from ..models.order_test import END as ORDER_TEST_END
from ..models.order_test import START as ORDER_TEST_START
from ..models.plate import START as PLATE_START
from ..models.three_legs import TILTED
from .errors import CommandError


@dataclass(frozen=True)
class Ready:
    """A system to simulate: how to make it, where it starts, when it ends, what to draw."""

    about: str
    make: Callable
    start: Callable  # of the number of contacts, if there is a size; else of nothing
    tf: float
    drawing: str | None = None  # a function of plot.mechanisms
    gait: str | None = None  # the guards that the gait diagram shows; all, if none
    size: int | None = None  # contacts, fingers, oscillators: how many, if one may choose
    speed: float = 1.0  # of the film: 0.1 is ten times slower than it happens


def _oscillators(count):
    return np.concatenate([np.linspace(-0.5, -0.4, count), np.ones(count)])


TABLE = {
    "hopper": Ready("a mass on a spring leg", models.hopper, lambda: HOPPER_START, 2.0, drawing="hopper", speed=0.5),
    "plate": Ready(
        "a plate that falls onto springs",
        models.plate,
        lambda _: PLATE_START,
        2.0,
        drawing="plate",
        size=10,
        speed=0.5,
    ),
    "three_legs": Ready(
        "a body on three preloaded legs", models.three_legs, lambda: TILTED, 1.5, drawing="three_legs", speed=0.4
    ),
    "hand": Ready(
        "a hand that closes on a disc",
        models.hand,
        lambda count: hand_start(count, 0.002, 0.001),
        0.12,
        drawing="hand",
        size=3,
        speed=0.03,
    ),
    "hexapod": Ready(
        "a hexapod in an alternating tripod", models.hexapod, lambda: HEXAPOD_START, 1.5, drawing="hexapod", speed=0.4
    ),
    "oscillators": Ready("oscillators with a relay each", models.oscillators, _oscillators, 6.0, size=10),
    "circle": Ready("a spiral that turns round at a circle", models.circle, lambda: CIRCLE_START, CIRCLE_END),
    "order_test": Ready("the paper's order test", models.order_test, lambda: ORDER_TEST_START, ORDER_TEST_END),
}


def ready(name, size=None):
    """System, start and what else the table has for a name."""
    if name not in TABLE:
        raise CommandError(
            f"no model is called {name!r}; there are {', '.join(TABLE)}, or give a robot file (.xml, .urdf); "
            "`bouligand run --list` says what they are"
        )
    entry = TABLE[name]
    if entry.size is None:
        if size is not None:
            raise CommandError(f"{name} has no --size; these have: {', '.join(k for k in TABLE if TABLE[k].size)}")
        return entry.make(), np.array(entry.start(), dtype=float), entry
    count = entry.size if size is None else size
    try:
        return entry.make(count), np.array(entry.start(count), dtype=float), replace(entry, size=count)
    except ValueError as error:
        raise CommandError(f"--size {count}: {error}") from None


def listing():
    """The table as text."""
    width = max(map(len, TABLE))
    lines = [
        f"  {name:<{width}}  {entry.about}"
        + (f" (--size {entry.size})" if entry.size else "")
        + ("" if entry.drawing else "; no animation")
        for name, entry in TABLE.items()
    ]
    return "\n".join(["Ready models:", *lines, "or a robot file: MJCF (.xml, .mjcf), URDF (.urdf), through MuJoCo"])
