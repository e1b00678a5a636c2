"""The entries of the compiled core that integrate. Each is given the address of a workspace and returns a code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.entries import Kernel

if TYPE_CHECKING:
    from .stepper import Stepper

loop = Kernel("steps.loop", "run", "the integrator", direct=True)
spans = Kernel("spans.span", "span", "steps across many contacts", direct=True)
judge = Kernel("steps.judge", "judge", "breakpoints and grazing", direct=True)
find_word = Kernel("steps.start_word", "find_word", "starts on guards", direct=True)
# called by the loop itself, when they are compiled
_ENTERED = {
    "enter_jump": Kernel("jumps.instant", "jump", "jumps of the state"),
    "enter_slide": Kernel("sliding.modes", "slide", "sliding modes"),
    "enter_judge": judge,
    "enter_stiff": Kernel("stiff.entry", "stiff", "stiff steps"),
}


def let_enter(stepper: Stepper, name: str) -> None:
    """Compile one of the entries that the loop calls itself: it does so from now on, also in later integrations."""
    if not stepper._memory.fn[name]:
        stepper.system._bind().fn[name] = stepper._memory.fn[name] = _ENTERED[name].address()
