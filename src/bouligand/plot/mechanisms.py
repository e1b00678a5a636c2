"""Drawings of the ready models by the models' names, for `animate`: ``mechanisms.hopper(ax, t, x, b, p)``.

Each drawing is in its model's file (``bouligand/models/hopper.py``); what they share is here too, for drawings of your own.
"""

from functools import cache as _cache
from functools import wraps as _wraps

from .. import models as _models
from .._optional import need as _need
from ..models.drawing import BODY, EDGE, FLOOR, FREE, TOUCHING, frame, project, spring
from ..system import arguments as _arguments

__all__ = ["BODY", "EDGE", "FLOOR", "FREE", "TOUCHING", "frame", "project", "spring"]


def __getattr__(name):
    if name not in _drawings():
        raise AttributeError(f"there is no drawing of {name!r}; there are {', '.join(_drawings())}")
    return _drawing(name)


def __dir__():
    return [*__all__, *_drawings()]


def _drawings():
    return [name for name, model in _models.available().items() if model.draw is not None]


@_cache
def _drawing(name):
    """The drawing of a model, which first looks at its arguments."""
    drawn = _models.available()[name].draw
    assert drawn is not None

    @_wraps(drawn)
    def draw(ax, t, x, b, p):
        ax, t = _axes("ax", ax), _arguments.number("t", t)
        x, b, p = (_vector(what, value) for what, value in (("x", x), ("b", b), ("p", p)))
        n, m, count = _sizes(name) or (x.size, 1, p.size)
        if x.size != n or b.size < m or p.size != count:
            given = f"x, b and p have {x.size}, {b.size} and {p.size} values"
            raise ValueError(
                f"x, b and p must be state, mode and parameters of {name} ({n}, {m}, {count} values); {given}"
            )
        try:
            return drawn(ax, t, x, b, p)
        except (IndexError, ValueError) as error:
            raise ValueError(f"x, b and p must be state, mode and parameters of {name} ({error})") from error

    draw.__module__, draw.__qualname__ = __name__, name  # (for pickle)
    return draw


def _axes(what, value):
    return _arguments.instance(what, value, _need("matplotlib.axes", "plot").Axes, "plt.subplots()")


def _vector(what, value):
    out = _arguments.numbers(what, value)
    if out.ndim != 1:
        raise ValueError(f"{what} must be a vector; got shape {out.shape}")
    return out


@_cache
def _sizes(name):
    """The numbers of states, guards and parameters of a model, where there is no size to choose."""
    model = _models.available()[name]
    if model.size is not None:
        return None
    system = model.build()[0]
    return system.n, system.m, len(system.defaults)
