"""A look at f and h before the first integration of a system: what would give wrong results silently is told at once.

It costs a few dozen evaluations, once.
"""

from __future__ import annotations

from itertools import product
from math import inf
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FunctionWarning
from .addresses import WritesArgumentError
from .switching import message, switches_itself
from .warning import warn_user

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .system import System

_JACOBIANS = ("Dh", "Dh_row", "Df", "Dt_h", "Dp_f", "Dp_h")
FEW = 4  # guards of which all modes are tried; of more, those that differ in one guard
MOST = 16  # guards that are tried one by one
PATIENCE = (
    0.02  # seconds of this thread (so that a busy machine looks as far): a slow f is not asked any more after that
)


def probe(system: System, t: float, x: FloatArray, p: FloatArray) -> None:
    """Call f and h from Python: wrong shapes, exceptions, outputs that are not written, tests of h inside f."""
    began = thread_time()
    word = np.empty(0)
    for name in ("h", "f"):
        user = system._functions[name]
        arguments = (x, p) if name == "h" else (x, word, p)
        try:
            values = user(system.sizes, t, *arguments)
            user.check_shape(system.sizes, values, t, x)
        except Exception as error:
            error.add_note(f"in {name}(t = {t:g}, x = {x}), called once to check it before the integration")
            raise
        word = np.where(values.ravel() >= 0.0, 1.0, -1.0)
    if not np.isfinite(x).all() or not system._modes_tried:
        return
    h = system.function("h")(t, x, p).ravel()
    word = np.where(h >= 0.0, 1.0, -1.0)
    refuse_unset_outputs(system, t, x, word, p, began + PATIENCE)
    if thread_time() - began < PATIENCE:
        for k, sign in switches_itself(system, t, x, p, began + PATIENCE)[:1]:
            warn_user(message(system, k, sign), FunctionWarning)


def refuse_unset_outputs(
    system: System, t: float, x: FloatArray, word: FloatArray, p: FloatArray, until: float = inf
) -> None:
    """Raise if f does not write all of its output in some mode around that at x. ``until``: when to stop looking."""
    user = system._functions["f"]
    if not user.in_place or user.is_low_level:
        return
    for other in words_around(word):
        if thread_time() > until:
            return
        try:
            with np.errstate(all="ignore"):
                if not np.isnan(user(system.sizes, t, x, other, p)).any():
                    continue
                one, two = (user(system.sizes, t, x, other, p, fill=fill) for fill in (0.0, 1.0))
        except WritesArgumentError:
            raise
        except Exception:  # it may fail in a mode that is never reached there
            continue
        user.refuse_unset(one, two, t, other)


def probe_jacobians(system: System, t: float, x: FloatArray, word: FloatArray, p: FloatArray, params: bool) -> None:
    """Call the Jacobians that were given once from Python, before the first derivative: wrong shapes, and what is not written."""
    for name, user in system._functions.items():
        if name not in _JACOBIANS or user.is_low_level or (name.startswith("Dp") and not params):
            continue
        if name == "Dh_row" and not system.m:
            continue
        arguments = (x, word, p) if name in ("Df", "Dp_f") else (x, 0, p) if name == "Dh_row" else (x, p)
        values = user(system.sizes, t, *arguments, fill=0.0)
        user.check_shape(system.sizes, values, t, x)
        if user.in_place:
            user.refuse_unset(values, user(system.sizes, t, *arguments, fill=1.0), t)


def words_around(word: FloatArray) -> list[FloatArray]:
    """Modes to be tried: all of a few guards; of more, those in which one guard is on its other side, and all or none."""
    m = word.size
    if m <= FEW:
        return [np.array(signs) for signs in product((-1.0, 1.0), repeat=m)]
    flipped = [np.where(np.arange(m) == k, -word, word) for k in some_of(m, MOST)]
    return [word, -word, np.ones(m), -np.ones(m), *flipped]


def some_of(m: int, most: int) -> list[int]:
    """Numbers of guards, evenly spread."""
    return sorted({int(k) for k in np.linspace(0, m - 1, min(m, most))}) if m else []
