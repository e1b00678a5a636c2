"""Drawings of the ready models by the models' names, for `animate`: ``mechanisms.hopper(ax, t, x, b, p)``.

Each drawing is in its model's file (``bouligand/models/hopper.py``); what they share is here too, for drawings of your own.
"""

from .. import models
from ..models.drawing import BODY, EDGE, FLOOR, FREE, TOUCHING, frame, project, spring

__all__ = ["BODY", "EDGE", "FLOOR", "FREE", "TOUCHING", "frame", "project", "spring"]


def __getattr__(name):
    model = models.available().get(name)
    if model is None or model.draw is None:
        raise AttributeError(f"there is no drawing of {name!r}; there are {', '.join(_drawings())}")
    return model.draw


def __dir__():
    return [*__all__, *_drawings()]


def _drawings():
    return [name for name, model in models.available().items() if model.draw is not None]
