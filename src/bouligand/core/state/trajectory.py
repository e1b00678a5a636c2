"""The record of a trajectory: its steps and events, and the numbers that stand for their kinds."""

from .layout import record

# a row for each accepted step; row q of ``states`` is the state at its end, row 0 the start
STEP = record("t", "kind: int", "length", "back", "correction")
# a row for each crossing (``shown``: SWITCH, SHOWN or MARGIN); ``record`` is the row of ``steps`` at which it happened
# (``jumped`` is 1 where the trajectory did not reach the guard, but h itself jumped across zero; of a MARGIN,
# ``returns`` is 1 or 0 where it was within the tolerance of h, else NOT_JUDGED, and ``effect`` is the difference that
# crossing it makes, in tolerances)
EVENT = record(
    "t", "guard: int", "sign", "residual", "record: int", "shown: int", "jumped: int", "effect", "returns: int"
)
NOT_JUDGED = -1
NO_GUARD = -1  # in place of the number of one
WITH_CROSSING = (
    2  # instead of ``jumped``: the sign changes because of the crossing in a row before, to which it belongs
)
SWITCH, SHOWN, MARGIN = (
    0,
    1,
    2,
)  # a change of the word that is no event; an event; a near-grazing, which changes nothing

# kinds of a step: a smooth step is its scheme's number, a hop is HOP + rung; a smooth step that was cut by hopping back to a
# guard adds BACK * rung of that hop
HOP = 10
BACK = 100
# A spanning step is one row; the crossings inside it are rows of ``events`` with its own number in ``record`` (they are in force
# from the next step on), in order of time, later than the row before and not later than its own.
SPAN = 20
# A jump of the state is a row of its own, at the same time as the row before, which has the state before the jump.
JUMP = 30
# what there is in a record: spanning steps, stiff steps, and near-grazings at which f jumps (by more than the tolerance)
HAS_SPANS, HAS_STIFF_STEPS, JUMPS_AT_GRAZES = 1, 2, 4
ORDERS = {**{HOP + rung: rung for rung in range(1, 6)}, SPAN: 5}  # of the formulas of these; a scheme has its own
