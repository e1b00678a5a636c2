"""Outcomes of a trial step."""

FAILED = -1  # a user's function failed
REJECTED = 0  # try again, shorter
STEPPED = 1  # a step without a landing
LANDED = 2  # on the guard s.step.target (or the edge of its band)
TURNS = 3  # a projection found its guard receding
NOT_FINITE = 4  # rejected, because f or h is not finite
NO_HOP = 5  # no hop fits: take a smooth step instead

# of a spanning step
TAKEN = 1
LEAVE_TO_HOPS = 2  # it needs hops, which land on one guard at a time
TOO_FEW = 3  # crossings for a spanning step

# instead of the rung of a hop
NO_RUNG = 0  # none is accurate enough
RUNG_FAILED = -1  # f failed
