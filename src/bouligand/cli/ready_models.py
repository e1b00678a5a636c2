"""Ready models for ``bouligand run``: the files of `bouligand.models`, by name."""

import difflib

from .. import models
from .errors import CommandError
from .robot_files import refuse_robot_options
from .simulation import Simulation


def find(name):
    """The model with this name."""
    known = models.available()
    if name not in known:
        similar = difflib.get_close_matches(name, known, n=1)
        guess = f"; did you mean {similar[0]!r}?" if similar else ""
        raise CommandError(
            f"no model is called {name!r}{guess}\nthere are {', '.join(known)} (`bouligand run --list` says what they are), "
            "or give a robot file (.xml, .urdf)"
        )
    return known[name]


def listing():
    """The models as text, one a line."""
    known = models.available()
    width = max(map(len, known))
    lines = [
        f"  {name:<{width}}  {model.about}"
        + (f" (--size {model.size})" if model.size else "")
        + ("" if model.draw else "; no animation")
        for name, model in known.items()
    ]
    return "\n".join(["Ready models:", *lines, "or a robot file: MJCF (.xml, .mjcf), URDF (.urdf), through MuJoCo"])


class ReadyModel(Simulation):
    """A model of `bouligand.models`, with the arguments of the command."""

    def __init__(self, arguments):
        model = find(arguments.model)
        refuse_robot_options(arguments)
        super().__init__(*_build(arguments.model, model, arguments.size))
        self.name = arguments.model
        self.tf = model.tf if arguments.tf is None else arguments.tf
        self.gait = arguments.contacts or model.gait
        self.speed = arguments.speed or model.speed
        self.has_animation = model.draw is not None
        self._model = model
        _check_guards(self.system, self.gait)

    def unit(self, name):
        return self._model.unit(name)

    def animate(self, solution, path, **options):
        from ..plot import animate

        animate(solution, self._model.draw, path, gait=self.gait or True, **options)


def _build(name, model, size):
    """The system and its start, in the size that --size asks for."""
    if size is None:
        return model.build()
    if model.size is None:
        sized = ", ".join(other for other, candidate in models.available().items() if candidate.size)
        raise CommandError(f"{name} has no --size; these have: {sized}")
    try:
        return model.build(size)
    except ValueError as error:
        raise CommandError(f"--size {size}: {error}") from None


def _check_guards(system, patterns):
    """An error if --contacts matches no guard."""
    from ..plot.gait import select

    try:
        select(system, patterns)
    except ValueError as error:
        raise CommandError(f"--contacts: {error}") from None
