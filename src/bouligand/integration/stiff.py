"""Stiff steps of an integration: what they need, and whether they are needed (see `core.stiff`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import codes
from ..core.entries import Kernel
from ..core.schemes import STIFF
from ..core.state import AT_HAND
from ..memory.pool import pool_of
from .options import NEVER

if TYPE_CHECKING:
    from .._typing import Method
    from ..memory.extras import StiffMemory
    from .stepper import Stepper

LARGEST = 256  # states up to which stiff steps are taken unasked: their matrices are dense
LIMITED = 2.0  # length of a step times rate from which on stability may limit it
LONGEST = 4_096  # steps between two looks, at most

_rate = Kernel("stiff.choice", "measure_by_differences", "what stiff systems need", quickly=True)


def prepare(stepper: Stepper, method: Method) -> None:
    """Before the first step: provide what stiff steps need, where they are asked for or expected; or see to it that none is
    taken, where they would not be possible."""
    system, s = stepper.system, stepper._memory.s
    if method == "stiff":
        provide(stepper)
    elif s.bands or s.may_span or system.n > LARGEST:
        s.weigh_at = NEVER
    elif system._expects_stiff and method == "auto":
        provide(stepper)
        s.stiffness = AT_HAND


def provide(stepper: Stepper, evaluated: int = -1) -> StiffMemory:
    """Take a workspace for stiff steps from the pool, with the Jacobians of the system. ``evaluated``: its ``A_at``."""
    stiff = stepper._stiff = pool_of(stepper.system).borrow("stiff", stepper.system)
    stepper._memory.put("stiff", stiff)
    stepper._memory.put("tangents", stiff.tangents)
    stepper._memory.s.A_at = evaluated
    return stiff


def weigh(stepper: Stepper) -> None:
    """Stability may limit the steps: measure it, and go on with stiff steps if that is so."""
    s = stepper._memory.s
    s.question = 0
    rate = _rate(stepper._memory.address)
    if rate < 0.0:  # (f fails near here: explicit steps go on, and find out)
        stepper.system._bind().failures.take()
        s.status = codes.GO_ON
    if rate * s.dt > LIMITED:
        provide(stepper)
        s.stiffness, s.scheme = AT_HAND, STIFF
    else:
        s.wait = min(2 * max(s.wait, 8), LONGEST)
        s.weigh_at = s.step_count + s.wait
