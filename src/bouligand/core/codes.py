"""What the core answers: one name, one number and one sentence for each code.

A code is what an entry of the core returns, and nothing else: lengths, places and rows have types of their own. From
``FIRST_FAILURE`` on they are failures; the exception that a caller makes of one is chosen outside of the core, by name.
"""

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

# --- the function of the user that a failure is about
FUNCTION = {
    F_FAILED: "f",
    H_FAILED: "h",
    DH_FAILED: "a Jacobian of h",
    G_FAILED: "g",
    DF_FAILED: "a Jacobian of f",
}
