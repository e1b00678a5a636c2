"""The entries of the compiled core that integrate. Each is given the address of a workspace and returns a code."""

from __future__ import annotations

from ..core.entries import Kernel

loop = Kernel("steps.loop", "run", "the integrator", quickly=True, direct=True)
spans = Kernel("spans.span", "span", "steps across many contacts", direct=True)
judge = Kernel("steps.judge", "judge", "breakpoints and grazing", quickly=True, direct=True)
find_word = Kernel("steps.start_word", "find_word", "starts on guards", direct=True)
# called by the loop itself, when they are compiled
jump = Kernel("jumps.instant", "jump", "jumps of the state")
slide = Kernel("sliding.modes", "slide", "sliding modes")
