"""The two entries of the core that integrate: the loop, and spanning steps. Their machine code is kept after the first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.entries import say_if_compiling

# given the address of a workspace, each returns a code; None before the first call
loop: Callable[[int], int] | None = None
spans: Callable[[int], int] | None = None


def load_loop() -> Callable[[int], int]:
    """The loop, for its first call."""
    from ..core.steps.loop import run

    def keep(code: Callable[[int], int]) -> None:
        global loop
        loop = code

    return _compiled_on_call(run, "the integrator", keep, quickly=True)


def load_spans() -> Callable[[int], int]:
    """The spanning steps, for their first call."""
    from ..core.spans.span import span

    def keep(code: Callable[[int], int]) -> None:
        global spans
        spans = code

    return _compiled_on_call(span, "steps across many contacts", keep)


def _compiled_on_call(
    function: Any, what: str, keep: Callable[[Callable[[int], int]], None], quickly: bool = False
) -> Callable[[int], int]:
    """An entry of the core for its first call: Numba compiles it then (or loads it from the cache), and ``keep`` receives the
    machine code for all later calls."""
    from ..core.compiler.compiling import compile_for
    from ..core.compiler.jit import direct

    say_if_compiling(function, what)

    def call(*arguments: int) -> int:
        compile_for(function, arguments, quickly)
        code: int = function(*arguments)
        keep(direct(function))
        return code

    return call
