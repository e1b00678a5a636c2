"""Mistakes in the options of any command, found before anything is computed."""

import math

from .errors import CommandError
from .ready_models import find
from .robot_files import is_robot_file

PLACES = ("model", "experiment", "what")  # arguments that are no options

# the most that numbers may be, which are positive, and counts, which are at least 1
NUMBERS = {
    "tf": math.inf,
    "rtol": math.inf,
    "atol": math.inf,
    "speed": math.inf,
    "period": math.inf,
    "fps": 100.0,
    "step": 1.0,
}
MANY, BUSY = 10_000_000, 10_000  # rows; processes
COUNTS = {
    "points": MANY, "block": MANY, "segments": MANY, "crossings": MANY, "threads": BUSY, "workers": BUSY, "processes": BUSY,
}  # fmt: skip


def check(arguments):
    """Raise a CommandError that names the option with a value that no command can use; a model that there is not comes first."""
    given = vars(arguments)
    options = {name: name.upper() if name in PLACES else "--" + name.replace("_", "-") for name in given}
    for name, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and (not one.strip() or "\0" in one):
                raise CommandError(f"{options[name]} must not be empty; got {one!r}")
    model = given.get("model")
    if model is not None and not given.get("list") and not is_robot_file(model):
        find(model)
    for name, value in given.items():
        if value is not None and name in COUNTS and not 1 <= value <= COUNTS[name]:
            raise CommandError(f"{options[name]} must be at least 1 and at most {COUNTS[name]}; got {value}")
        if value is not None and name in NUMBERS and not (math.isfinite(value) and value > 0.0):
            raise CommandError(f"{options[name]} must be positive; got {value:g}")
        if value is not None and name in NUMBERS and value > NUMBERS[name]:
            raise CommandError(f"{options[name]} must not be above {NUMBERS[name]:g}; got {value:g}")
