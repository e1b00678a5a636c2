"""Run the core for a number of steps, and respond to each code that it returns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from .._made import make
from ..core import codes
from ..memory.pool import pool_of
from ..solution.solution import Solution
from ..system import interrupts
from . import compiled_entries, stiff
from .compiled_entries import find_word, judge, let_enter, loop
from .failures import failure

if TYPE_CHECKING:
    from ..memory.extras import SpanMemory
    from ..memory.working import IntegrationMemory
    from .stepper import Stepper

# entries that the loop calls itself, when they are compiled
ENTERED = {codes.JUMP: "enter_jump", codes.SLIDE: "enter_slide"}
# which table is to grow when the core reports that it is full
_FULL = {codes.RECORDS_FULL: "record", codes.EVENTS_FULL: "events"}
_FINISHED = codes.FINISHED


def advance(stepper: Stepper, look: Callable[[], None] | None = None) -> None:
    """Run the core until it has finished, failed, or spent its budget of steps, and see to it that no Ctrl-C is lost in
    callbacks. The core returns every 0.05 s at least, so that Python handles signals; ``look`` is then called."""
    bound = stepper.system._bound or stepper.system._bind()
    if bound.calls_python:
        with interrupts.answered(bound):
            _run(stepper, look)
    else:
        _run(stepper, look)


def advance_with_bar(stepper: Stepper, title: bool | str) -> None:
    """Run the core to the end, and show a progress bar (with this title)."""
    from tqdm import tqdm

    start, total = stepper.t, stepper._memory.s.now.tf - stepper.t
    with tqdm(
        total=total,
        desc=title if isinstance(title, str) else None,
        bar_format="{l_bar}{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]",
    ) as bar:

        def show() -> None:
            bar.update(stepper.t - start - bar.n)

        advance(stepper, show)
        show()


def _run(stepper: Stepper, look: Callable[[], None] | None) -> None:
    """The same, without a care for Ctrl-C in callbacks."""
    run = loop.code or loop.of_workspace()  # (without a call, once it is there)
    memory, table = stepper._memory, stepper._memory.address
    while (code := run(table)) != _FINISHED:
        if code == codes.NEED_SPAN:
            code = _span(stepper, look)
        elif code == codes.NEED_WORD:
            code = find_word(table)
        if codes.FIRST_QUESTION <= code <= codes.LAST_QUESTION:
            if code == codes.CHANGED:
                if stepper._until is not None and pauses(memory, stepper._until):
                    return  # (the question stays: the judge answers it when the integration goes on)
            else:
                let_enter(stepper, "enter_judge")  # (next time the loop asks it itself)
            code = judge(table)
        if code == codes.LOOK:
            if look is not None:
                look()
        elif code in _FULL:
            memory.grow(_FULL[code])
        elif code == codes.WEIGH:
            stiff.weigh(stepper)
        elif code in ENTERED:
            let_enter(stepper, ENTERED[code])
        elif code == codes.BUDGET_SPENT:
            return
        elif code == codes.TERMINATED:
            stepper.status = "terminated"
            return
        elif code == _FINISHED:
            break
        elif code >= codes.FIRST_FAILURE:
            _fail(stepper, failure(stepper, code))
            return
    stepper.status = "finished"


def next_stop(memory: IntegrationMemory) -> float:
    """The next breakpoint, or the end."""
    s, breaks = memory.s, memory.breaks
    return float(breaks[s.rows.breaks]) if s.rows.breaks < breaks.size else s.now.tf


def pauses(memory: IntegrationMemory, until: float) -> bool:
    """At a breakpoint, or where the integration is to pause: whether the latter. If not, the next leg does not go beyond."""
    s, breaks = memory.s, memory.breaks
    if s.now.t < until:
        s.now.stop = min(next_stop(memory), until)
        return False
    passed = s.rows.breaks - 1  # (the core has counted a breakpoint here: is there one?)
    if not (0 <= passed < breaks.size and breaks[passed] == s.now.t):
        s.rows.breaks = passed
        if passed >= breaks.size:
            s.ask.question = 0  # nothing changes here unless the parameters do
    return True


def _span(stepper: Stepper, look: Callable[[], None] | None) -> int:
    """Take spanning steps, across many crossings. Returns the code of the core."""
    span = compiled_entries.spans.of_workspace()
    if stepper._spans is None:
        borrow_spans(stepper)
    memory = stepper._memory
    while True:
        code: int = span(memory.address)
        if code in _FULL:
            memory.grow(_FULL[code])
        elif code != codes.LOOK:
            return code
        elif look is not None:
            look()


def borrow_spans(stepper: Stepper) -> SpanMemory:
    """Take a workspace for spanning steps from the pool."""
    spans: SpanMemory = pool_of(stepper.system).borrow("spans", stepper.system)
    spans.use(stepper._lease)
    stepper._memory.put("spans", spans)
    stepper._spans = spans  # (last: after a Ctrl-C on the way, it is borrowed again)
    return spans


def give_back(stepper: Stepper) -> None:
    """Give back what an integration has borrowed besides its memory."""
    if stepper._spans is not None:
        pool_of(stepper.system).give_back("spans", stepper._spans)
        stepper._spans = None
    if stepper._stiff is not None:
        pool_of(stepper.system).give_back("stiff", stepper._stiff)
        stepper._stiff = None
    stepper._lease.give_back()


def _fail(stepper: Stepper, error: BaseException) -> None:
    """Set the status to "failed", and give the error the solution up to here."""
    stepper.status, stepper.error = "failed", error
    with contextlib.suppress(AttributeError):  # (an exception with slots has no place for it)
        error.solution = make(Solution, stepper)  # type: ignore[attr-defined]
