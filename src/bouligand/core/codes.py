"""The codes that entries of the core return, and the one table of what each failure means (``FAILURES``).

From ``FIRST_FAILURE`` on a code is a failure, which the caller turns into an exception.
"""

from typing import NamedTuple

GO_ON = 0  # nothing to report: the core may be called again, or is done with what it was asked for

# --- for the caller of ``run``
FINISHED = 1  # tf was reached
TERMINATED = 2  # a terminal event
RECORDS_FULL = 3
EVENTS_FULL = 4
BUDGET_SPENT = 5  # the number of steps that the caller allowed
NEED_WORD = 6  # a guard is zero at the start and no word was given
NEED_SPAN = 7  # many guards are ahead: a spanning step
AT_CORNER = 8  # of the derivative: crossings that belong together, to be passed by the caller

# --- questions for the judge
STUCK = 10  # a guard was crossed and is not being left
TURNED = 11  # a guard at hand recedes since another was crossed
NEAR = 12  # a guard came near and turned back
BACK_SOON = 13  # a guard was crossed back after a very short time
CHANGED = 14  # f or h may have changed: a breakpoint, or other parameters
REFILL = 15  # the paper's printed rule, after each integrated step
FIRST_QUESTION, LAST_QUESTION = STUCK, REFILL

# --- failures
FIRST_FAILURE = 20
F_FAILED = 20
H_FAILED = 21
DH_FAILED = 22  # a Jacobian of h
G_FAILED = 23
DF_FAILED = 24  # a Jacobian of f
NOT_FINITE = 25
STEP_TOO_SMALL = 26
TOO_MANY_STEPS = 27
SLIDING = 28
GRAZING = 29
NOT_EVENT_SELECTED = 30
CHATTERING = 31
WRONG_WORD = 32  # b0 contradicts the sign of h


class Failure(NamedTuple):
    """What a failure means to the user.

    ``error`` is the name of the exception in `bouligand.errors`. In ``message`` the caller fills in {where}, {x}, {dt},
    {max_steps}, {margin} and, of the guard concerned, {guard}, {sign} and {h}. ``function`` is the user's function that failed,
    by its name in `System`; empty if none did.
    """

    error: str
    message: str
    function: str = ""


FAILURES = {
    F_FAILED: Failure("FunctionError", "f failed {where}", "f"),
    H_FAILED: Failure("FunctionError", "h failed {where}", "h"),
    DH_FAILED: Failure("FunctionError", "a Jacobian of h failed {where}", "Dh"),
    G_FAILED: Failure("FunctionError", "g failed {where}", "g"),
    DF_FAILED: Failure("FunctionError", "a Jacobian of f failed {where}", "Df"),
    NOT_FINITE: Failure("NotFiniteError", "f or h is not finite {where}, however short the step; x = {x}"),
    STEP_TOO_SMALL: Failure(
        "StepSizeError",
        "the step became too small {where} (dt = {dt:.1e}): the field is too stiff for an explicit method, or singular "
        "there. Loosen the tolerances, or look at f near x = {x}.",
    ),
    TOO_MANY_STEPS: Failure(
        "TooManyStepsError",
        "max_steps = {max_steps} reached {where}, before the end. Give a larger max_steps, or look for a mode that is "
        "faster than what you want to see.",
    ),
    SLIDING: Failure(
        "SlidingError",
        "sliding on guard {guard!r} {where}: hdot points to it under both words. Such a system is not event-selected; "
        "regularise the law there.",
    ),
    GRAZING: Failure(
        "GrazingError",
        "guard {guard!r} is grazed {where}: h comes within {margin:.1e} of zero, too near to tell at this tolerance whether "
        "it is crossed, and it matters. Tighten rtol and atol, or move the start.",
    ),
    NOT_EVENT_SELECTED: Failure(
        "NotEventSelectedError",
        "the corner {where} is not event-selected: guard {guard!r}, about to be crossed, is turned away by another's "
        "crossing, so that the outcome depends on their order.",
    ),
    CHATTERING: Failure(
        "ChatteringError",
        "guard {guard!r} is crossed over and over {where}: chattering, or crossings that accumulate. Regularise the law "
        "there, or stop before with terminal=.",
    ),
    WRONG_WORD: Failure(
        "StartError",
        "b0 says {sign:+.0f} for guard {guard!r}, but h = {h:.3g} at the start: b0 decides only guards that are zero there.",
    ),
}
