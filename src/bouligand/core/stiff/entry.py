"""Stiff steps, and the choice between these and explicit ones, as an entry of their own (see `asking`)."""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..schemes import STIFF
from ..schemes.step_size import step_factor
from .asking import CHOOSE, LOOK_AT_A, STEP
from .choice import after_stiff, choose_scheme, look_again, look_at_A
from .step import EVALUATION_FAILED, stiff_step


@core(entry=True)
def stiff(pointer):
    """Do what s.stiff.task says."""
    compact()
    w = work(pointer)
    s = w.s
    if s.stiff.task == STEP:
        s.stiff.error, s.stiff.factor = try_step(w, s.stiff.length)
    elif s.stiff.task == CHOOSE:
        s.stiff.factor = choose_scheme(w, s.stiff.length)
    elif s.stiff.task == LOOK_AT_A:
        look_at_A(w, s.stiff.length)
    else:
        look_again(w, s.stiff.length)
    return codes.GO_ON


@core
def try_step(w, length):
    """Try a stiff step of this length. Returns its error in tolerances and the factor to change the length by."""
    compact()
    s = w.s
    error = stiff_step(w, length)
    if error == EVALUATION_FAILED:
        return error, 0.0
    most = 10.0 if s.here.fresh == 1 else 5.0
    factor = most if error < 1e-10 else min(most, 0.9 * step_factor(error, STIFF)) if error < math.inf else 0.1
    factor = max(factor, 0.15 if s.here.fresh == 1 else 0.2)
    return error, after_stiff(w, error, length * factor) / length
