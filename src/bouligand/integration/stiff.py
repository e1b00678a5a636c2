"""Stiff steps of an integration: what they need, and whether they are needed (see `core.stiff`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.schemes import METHODS
from ..core.state import AT_HAND
from ..errors import FunctionWarning
from ..memory.pool import pool_of
from ..system.warning import warn_user
from .compiled_entries import let_enter
from .options import TO_THE_END

if TYPE_CHECKING:
    from .._typing import FloatArray, Method
    from ..memory.extras import StiffMemory
    from .stepper import Stepper

LARGEST = 256  # states up to which stiff steps are taken unasked: their matrices are dense
TIGHT = 2e-7  # relative tolerance below which nothing is expected: dop853 is as good there, and order 3 is not
WRONG = 0.2  # of the size of f's changes: a Df that is further off is wrong

_weigh = Kernel("stiff.choice", "weigh", "what stiff systems need", direct=True)


def prepare(stepper: Stepper, method: Method) -> None:
    """Before the first step: provide what stiff steps need, where they are asked for or expected; or see to it that none is
    taken, where they would not be possible."""
    system, s = stepper.system, stepper._memory.s
    if method == "stiff":
        if s.options.projection:
            raise ValueError("method='stiff' is not possible together with eps: bands are projected by explicit steps")
        provide(stepper)
    elif s.options.projection or s.options.may_span or system.n > LARGEST or (system._stays and system._expects_stiff):
        # (a robot whose friction sticks exactly has no formula for A, and differences of its f take too long)
        s.stiff.weigh_at = TO_THE_END
    elif system._expects_stiff and method == "auto" and s.options.rtol >= TIGHT:
        provide(stepper)
        s.stiff.allowed = AT_HAND
        s.next.scheme = s.stiff.explicit = METHODS["dopri5"]


def provide(stepper: Stepper, evaluated: int = -1) -> StiffMemory:
    """Take a workspace for stiff steps from the pool, with the Jacobians of the system. ``evaluated``: its ``A_at``."""
    system, memory = stepper.system, stepper._memory
    stiff: StiffMemory | None
    if system._trusts_Df is None:
        system._trusts_Df = not system.has("Df") or system._expects_stiff or _fits(stepper)
    stiff = stepper._stiff
    if stiff is None:
        stiff = pool_of(system).borrow("stiff", system)
        stiff.join(memory)
        stepper._stiff = stiff  # (last: after a Ctrl-C on the way, it is borrowed again)
    let_enter(stepper, "enter_stiff")
    stiff.rows.fill(0.0)  # (nothing of an earlier integration)
    memory.s.stiff.A_at = evaluated
    return stiff


def weigh(stepper: Stepper) -> None:
    """Stability may limit the steps: let the core measure that, and provide for stiff steps if it decides for them."""
    answer = _weigh(stepper._memory.address)
    if answer == codes.WEIGH:
        provide(stepper)
    elif answer == codes.F_FAILED:
        stepper.system._bind().failures.take()


def _fits(stepper: Stepper) -> bool:
    """Whether the user's Df at the present state is what differences of f say, as far as these agree among themselves."""
    system, t, x, b, p = stepper.system, stepper.t, stepper.x, stepper._memory.g.b.copy(), stepper._p
    f = system.function("f")
    try:
        Df = np.asarray(system.function("Df")(t, x, b, p), dtype=float)
        here = f(t, x, b, p)
        size = np.maximum(np.abs(x), 1e-3 * max(np.abs(x).max(initial=0.0), 1e-3))
        one, other = (_differences(f, t, x, b, p, here, step * size) for step in (1e-6, 1e-5))
    except Exception:  # (what fails here fails in the core as well, which reports it)
        return True
    known = np.where(np.isfinite(Df), Df, 0.0)  # (NaN is wrong, too)
    scale = (np.abs(one) @ size + np.abs(known) @ size)[:, None] + 1e-300
    off, doubt = np.abs(Df - one) * size / scale, np.abs(one - other) * size / scale
    wrong = ~(off <= WRONG) & (doubt <= 0.1 * WRONG)
    if not wrong.any():
        return True
    i, j = (int(q) for q in np.argwhere(wrong)[0])
    names = system.states
    warn_user(
        f"Df is wrong at t = {t:g}: the derivative of {names[i]}' with respect to {names[j]} is {Df[i, j]:.6g}, but differences "
        f"of f say {one[i, j]:.6g}. Stiff steps go on with differences; derivatives would use it",
        FunctionWarning,
    )
    return False


def _differences(
    f: object, t: float, x: FloatArray, b: FloatArray, p: FloatArray, here: FloatArray, steps: FloatArray
) -> FloatArray:
    columns = [(f(t, x + d, b, p) - here) / d.max() for d in np.diag(steps)]  # type: ignore[operator]
    return np.array(columns).T
