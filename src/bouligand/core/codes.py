"""The codes that entries of the core return, and the one table of what each failure means (``FAILURES``).

From ``FIRST_FAILURE`` on a code is a failure, which the caller turns into an exception.
"""

from typing import NamedTuple

GO_ON = 0  # nothing to report: the core may be called again, or has done what it was called for

# --- for the caller of ``run``
FINISHED = 1  # tf was reached
TERMINATED = 2  # a terminal event
RECORDS_FULL = 3
EVENTS_FULL = 4
BUDGET_SPENT = 5  # the number of steps that the caller allowed
NEED_WORD = 6  # a guard is zero at the start and no mode was given
NEED_SPAN = 7  # many guards are ahead: the caller is to take spanning steps
AT_CORNER = 8  # of the derivative: simultaneous crossings, through which the caller takes the tangents
LOOK = 9  # some time has passed: the caller may handle signals, then call again

# --- questions for the judge
STUCK = 10  # a guard was crossed, and the flow does not leave it
TURNED = 11  # a guard within the tolerance is no longer approached since another was crossed
NEAR = 12  # h of a guard came near zero and receded again
BACK_SOON = 13  # a guard was crossed back after a very short time
CHANGED = 14  # f or h may have changed: a breakpoint, or other parameters
REFILL = 15  # the paper's printed rule, after each integrated step
BARELY = 16  # a guard was crossed that would have turned back soon
FIRST_QUESTION, LAST_QUESTION = STUCK, BARELY

# --- again for the caller of ``run``
WEIGH = 17  # stability may limit the steps: the caller is to find out, and to provide Jacobians for stiff steps

JUMP = 18  # guards have fired whose jumps are to be applied

SLIDE = 20  # a sliding mode begins, ends or changes

EVENTS_KEPT = 19  # of a block of trajectories: no room for the events of the present one

# --- failures
FIRST_FAILURE = 30
F_FAILED = 30
H_FAILED = 31
DH_FAILED = 32  # a Jacobian of h
G_FAILED = 33
DF_FAILED = 34  # a Jacobian of f
NOT_FINITE = 35
STEP_TOO_SMALL = 36
TOO_MANY_STEPS = 37
SLIDING = 38
GRAZING = 39
NOT_EVENT_SELECTED = 40
CHATTERING = 41
WRONG_WORD = 42  # b0 contradicts the sign of h
ESCAPES = 43  # a graze beyond which the flow leads away from the guard
JUMP_FAILED = 44
JUMP_NOT_FINITE = 45
CASCADE = 46  # jumps that make guards fire, whose jumps make guards fire, without an end
JUMP_ORDER = 47  # jumps at one instant whose order matters
ZENO = 48  # jumps at ever shorter intervals
JUMPS_BACK = 49  # a jump leaves the state on its guard, and the flow leads back to it on both sides
NOT_AFFINE = 50  # sliding on several guards, and f is not affine in their signs
NO_SLIDING_MODE = 51  # no mode, sliding or not, is consistent
NO_WORD = 52  # guards are zero at the start, and no mode is consistent
SEVERAL_WORDS = 53  # and several are
JUMPS_THROUGH = 54  # a jump leads through a contact on which the trajectory may rest
NO_FORCE = 55  # of a contact at rest whose friction changes that force
JUMP_TURNS = 56  # the direction of a contact's impulse depends on velocities, and f has friction by its force at rest


class Failure(NamedTuple):
    """What a failure means to the user.

    ``error`` is the name of the exception in `bouligand.errors`. In ``message`` the caller fills in {where}, {x}, {dt},
    {max_steps}, {margin}, {effect}; at a start on guards, {zero} and {words}; and, of the guard concerned, {guard}, {sign} and
    {h}. ``function`` is the user's function that failed, by its name in `System`; empty if none did.
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
        "the step became too small {where} (dt = {dt:.1e}): f is singular near x = {x}, or jumps within a mode (it tests h or x "
        "instead of b).",
    ),
    TOO_MANY_STEPS: Failure(
        "TooManyStepsError",
        "max_steps = {max_steps} reached {where}, before the end. Give a larger max_steps, or look for a component of the "
        "solution that is faster than those of interest.",
    ),
    SLIDING: Failure(
        "SlidingError",
        "sliding on guard {guard!r} {where}: in the modes on both sides, the flow points towards it. Such a system is not "
        "event-selected; regularise the law there, or give the System sliding='filippov'.",
    ),
    GRAZING: Failure(
        "GrazingError",
        "guard {guard!r} is grazed {where}: h comes within {margin:.1e} of zero, too near to decide at this tolerance whether "
        "it is crossed. f jumps there, and the outcome depends on it, by about {effect:.0f} tolerances. Tighten rtol and atol, "
        "move the start, or give on_graze='go on' to take the side that was computed.",
    ),
    ESCAPES: Failure(
        "GrazingError",
        "guard {guard!r} is grazed {where}: h comes within {margin:.1e} of zero, too near to decide at this tolerance whether "
        "it is crossed. f jumps there, and a trajectory that crosses is pulled away from the guard and does not come back: "
        "the two outcomes are different motions. Tighten rtol and atol, or move the start.",
    ),
    NOT_EVENT_SELECTED: Failure(
        "NotEventSelectedError",
        "the corner {where} is not event-selected: guard {guard!r}, about to be crossed, is no longer approached once another "
        "is crossed, so that the outcome depends on their order.",
    ),
    CHATTERING: Failure(
        "ChatteringError",
        "guard {guard!r} is crossed over and over {where}: chattering, or crossings that accumulate. Regularise the law "
        "there, or stop before with terminal=.",
    ),
    JUMP_FAILED: Failure("FunctionError", "the jump at guard {guard!r} failed {where}", "jump"),
    JUMP_NOT_FINITE: Failure(
        "NotFiniteError", "the jump at guard {guard!r} gives a state that is not finite {where}, from x = {x}"
    ),
    CASCADE: Failure(
        "CascadeError",
        "jumps without an end {where}: each makes guards fire at the same instant whose jumps make others fire, {guard!r} "
        "among them. A jump should leave its own guard unfired; of guards that fire together, jump_many can treat all at once.",
    ),
    JUMP_ORDER: Failure(
        "JumpOrderError",
        "guard {guard!r} and guard {other!r} fire at the same instant {where}, and the state behind depends on whose jump is "
        "applied first: {one} or {two}. Say what happens with jump_many, or which is first with order=.",
    ),
    ZENO: Failure(
        "ZenoError",
        "the jumps at guard {guard!r} accumulate {where}: each interval is {ratio:.3g} times the one before, and they end at "
        "t = {t_end:.10g}. What comes behind is not determined by f and the jumps: give the System rest={guard!r} to let it stay "
        "there, or stop before with terminal=.",
    ),
    JUMPS_BACK: Failure(
        "SlidingError",
        "the jump at guard {guard!r} leaves the state on it {where}, and on both sides the flow leads back to it.",
    ),
    JUMPS_THROUGH: Failure(
        "FunctionError",
        "the jump at guard {guard!r} {where} leads through it, to h < 0: behind it x = {x}. A contact with rest= is open where "
        "h > 0, and its jump has to leave the state on it, or off it on that side, with a rate that is not negative.",
    ),
    NOT_AFFINE: Failure(
        "SlidingError",
        "sliding on guard {guard!r} and others at the same time {where}, and f is not affine in their signs: then the field of "
        "the sliding mode is not unique. Write f so that each of these guards adds a term of its own.",
    ),
    NO_FORCE: Failure(
        "SlidingError",
        "at guard {guard!r} {where} the forces of contacts at rest (rest=) are not found: friction that they limit changes them "
        "in turn, and none agree with it.",
    ),
    JUMP_TURNS: Failure(
        "FunctionError",
        "at guard {guard!r} {where} the jump of a contact with a force at rest (rest=) changes the state along a direction that "
        "depends on the velocities, as an impact with friction does. At rest the contact acts along that direction, and f has "
        "its friction, too: it would act twice. Write the jump without friction; or rest= without a force, and f without its "
        "friction.",
    ),
    NO_SLIDING_MODE: Failure(
        "SlidingError",
        "at guard {guard!r} {where} no mode is consistent, neither one that crosses it nor one that slides on it (a two-fold "
        "point, or grazing while sliding).",
    ),
    NO_WORD: Failure(
        "StartError",
        "{zero}, and no mode is consistent: in each, the flow leads back to the guard (sliding), or along it. "
        "Start beside the guard, or give b0.",
    ),
    SEVERAL_WORDS: Failure(
        "StartError",
        "{zero}, and {words} modes are consistent: the start is ambiguous. Give b0, a sign for each guard.",
    ),
    WRONG_WORD: Failure(
        "StartError",
        "b0 says {sign:+.0f} for guard {guard!r}, but h = {h:.3g} at the start: b0 decides only guards that are zero there "
        "(0: the trajectory stays on it).",
    ),
}
