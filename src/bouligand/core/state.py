"""What the core works on, by name: records of scalars, rows of vectors, tables of arrays.

All memory belongs to Python and lives as long as an integration does, so that the core can stop anywhere and go on later. It
reaches the core as the address of a table (`Table`), in which every array has its place. Inside the core that address is
``w``, and an array is an attribute of it:

    w.s    scalars and counters, a record:                w.s.t, w.s.dt, w.s.status
    w.v    vectors of the state's size, by row:           w.v.x[i], w.v.stages[2, i]
    w.g    a value for each guard, by row:                w.g.b[k], w.g.hdot[k], w.g.held[k]
    w.fn   addresses of the user's functions, a record:   w.fn.f, w.fn.h

To add a scalar, a row or an array, add its line here: nothing else has to know where it is.
"""

import numpy as np


def record(*fields):
    """A dtype of 8-byte fields, each written as ``"name"`` (a float) or ``"name: int"``."""
    return np.dtype([(f.partition(":")[0], np.int64 if f.endswith("int") else np.float64) for f in fields], align=True)


class Rows:
    """Names for the rows of a matrix: a mapping from name to (first row, number of rows; 0: a single one, a vector).

    Rows are counted from zero in the order in which they are given; ``name=(first, count)`` is another name for some of them.
    """

    def __init__(self, kind, *names, dtype=np.float64, **others):
        self.kind, self.dtype = kind, np.dtype(dtype)
        self.places = {}
        first = 0
        for name in names:
            name, _, count = name.partition(" x ")
            self.places[name] = first, int(count or 0)
            first += int(count or 1)
        self.count = first
        for name, (of, place, count) in others.items():
            self.places[name] = self.places[of][0] + place, count


# ------------------------------------------------------------------------------------------------------ scalars

SCALARS = record(
    "status: int",  # the last code, or that of a failed evaluation
    "started: int",
    "scheme: int",  # of the smooth steps: its number in `schemes`
    "projection: int",  # 0: by tolerance; else the fixed rung of a projection: 1 tangent, 2 midpoint, 4 Runge-Kutta
    "f_calls: int",
    "h_calls: int",
    "Dh_calls: int",
    "step_count: int",  # accepted steps, of all kinds
    "rejected: int",
    "hops: int",  # steps that landed on a guard or on the edge of its band
    "spans: int",  # spanning steps taken
    "event_count: int",  # rows of ``events``
    "record_count: int",  # rows of ``steps`` and ``states``
    "eval_count: int",  # requested times done
    "break_count: int",  # breakpoints done
    "fresh: int",  # 1: the first step after an event, nothing known about its size
    "rates_known: int",  # 1: g.hdot is that of the present state
    "age: int",  # hops since ``growth`` was measured
    "target: int",  # guard that the step is to land on, or of a failure
    "max_steps: int",
    "budget: int",  # steps that may still be taken before the core returns
    "word_given: int",  # 1: the word at the start was given
    "one_sided: int",  # number of one-sided guards
    "observers: int",  # number of observers
    "tries: int",  # attempts since the last accepted step
    "pool: int",  # 1: the paper's printed rule, guards are armed again when all have been crossed
    "kind: int",  # of the present step, see below
    "use_Dh: int",  # 1: hdot from Dh (autonomous guards), 0: from one more evaluation of h
    "may_span: int",  # 1: f is a sum over contacts, and nothing was asked for that a spanning step cannot do
    "bands: int",  # 1: some eps > 0
    "last: int",  # the guard crossed last, -1 before the first
    "ending: int",  # 1: a terminal event has happened
    "ended_by: int",  # the guard of the terminal event
    "question: int",  # to be judged before the next step: a code of `codes`, or 0
    "judged: int",  # 1: the guards at hand have been judged at this very state
    "stale: int",  # 1: p was changed, what was saved from the last step is void
    "trial_not_finite: int",  # 1: the last refused trial was not finite
    "held_count: int",  # entries in g.held_list
    "no_landing: int",  # 1: the guard ahead is beyond the end of the leg
    "middle_known: int",  # 1: g.h_middle is h in the middle of the step that was taken
    "winding: int",  # 1: along that step x is far from a cubic
    "dt",  # the natural length of a smooth step, which survives events
    "rtol",
    "atol",  # the absolute tolerance of all components; negative: the row v.atol is given
    "dt_max",
    "growth",  # how fast x'' changes, 1/time (0: not measured): chooses the order of a hop
    "bend",  # size of x'', in tolerances
    "t_failed",  # time of a failed evaluation
    "length",  # of the present step: its first part,
    "back",  # the way back to the guard,
    "correction",  # and the last correction
    "cap",  # latest time a stage may see: just before a breakpoint in a step that ends there
    "margin",  # of a refused grazing: the smallest |h| found
    "probe",  # of dt: how far ahead h is evaluated for hdot
    "asked_t",  # of a question: its time,
    "asked_value",  # how long a guard was crossed,
    "asked_bend",  # and how fast it is left
    "soon",  # the time in which the state moves by its tolerance
    "gap",  # time that the last landing stopped short of its guard: nearer ties than that are resolved on the spot
    "reach",  # how far ahead a landing may be looked for, where two stages saw a step that could be longer; else 0
    "dt_span",  # the natural length of a spanning step (0: not known yet)
    "hops_until",  # no spanning step before this time: one was refused here
    # the last are written together with the state, which follows in memory: see `memory.working`
    "t",
    "t0",
    "tf",
    "stop",  # end of the present leg: tf or the next breakpoint
)
START_SIZE = 4  # scalars that are written together with the state

# ------------------------------------------------------------------------------------------------------ rows

STATE_ROWS = Rows(
    "state",
    "x",  # the state at the present time
    "x_end",  # the trial state at the end of a step
    "x_smooth",  # the end of the whole smooth step, when it is cut back to a guard
    "x_trial",  # the state of a stage, or another that is only looked at
    "scratch",
    "f_end",  # x' at the end of the step, under the word of the step
    "second",  # x'' at the end of the step (or, after two stages of the first step behind an event, at its start)
    "third",  # x''' at the end of a smooth step, estimated from its stages
    "f_smooth",  # x' at x_smooth
    "atol",  # absolute tolerance of each component
    "x_near",  # the state at which a guard came near
    "x_failed",  # the state that a failed evaluation was given
    "hop_stages x 7",  # of a hop: x' at its start first
    "stages x 16",  # of a smooth step: x' at the present state first
    "x_middle",  # the state in the middle of a spanning step
    "ramp x 2",  # how fast the jumps of the last spanning step added up, with time and with its square
    "x_nodes x 2",  # the states in the middle and at the end at which the jumps of a pass were taken
    f=("stages", 0, 0),  # x' at the present state
)

GUARD_ROWS = Rows(
    "guard",
    "b",  # the word: the side of each guard, -1 or +1
    "watched",  # the word where a crossing counts, 0 where the guard is not watched (an observer, a latch that is shut)
    "h",  # at the present state
    "h_end",  # at the end of the step
    "h_trial",  # at another state
    "h_middle",  # in the middle of a step, or at the last of several places in it
    "h_before x 2",  # at the two places before that
    "hdot",  # at the present state
    "hdot_end",  # at the end of the step
    "held",  # 1 while the trajectory sits on the guard it has crossed: it cannot fire again before it has left
    "held_list",  # numbers of the guards with held = 1 (some may have been released since)
    "level",  # where the next landing on this guard aims: 0 the guard, eps the edge of its band
    "eps",  # width of the band as asked for (0: none)
    "band",  # width of the band at present: smaller after a trajectory turned round inside it
    "direction",  # 0 two-sided, +1 or -1 one-sided
    "observer",  # 1: recorded, never landed on
    "terminal",  # crossings left before the integration stops; 0: never
    "pending",  # one-sided with a reset matrix: 1 when it may be armed again
    "burst_began",  # when the present burst of crossings began
    "burst",  # crossings in that burst
    "t_last",  # time of the last crossing
    "suspect",  # inside a step: where (0 to 1) it may have been crossed and crossed back, ROUGH: anywhere; 0: nowhere
    "lowest",  # and how near to its surface it comes there, by a cubic
    "unsure",  # values of h that are zero within the tolerance, roughly
    "near",  # of those that the judge is asked about: how near it came,
    "near_bend",  # and |h''| there; 0: it is not asked about
    "former",  # in a spanning step: 1 - when it was crossed,
    "former_back",  # and crossed back, by the list before; 0: not at all
)

# ------------------------------------------------------------------------------------------------------ the record

# a row for each accepted step; row q of ``states`` is the state at its end, row 0 the start
STEP = record("t", "kind: int", "length", "back", "correction")
# a row for each crossing (``shown`` says of which sort); ``record`` is the row of ``steps`` at which it happened
EVENT = record("t", "guard: int", "sign", "residual", "record: int", "shown: int")
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

# ------------------------------------------------------------------------------------------------------ functions

FUNCTIONS = record(*(f"{name}: int" for name in ("f", "h", "fh", "Dh", "g", "g_many", "context")))
JACOBIANS = record(*(f"{name}: int" for name in ("Df", "Dp_f", "Dh", "Dh_row", "Dt_h", "Dp_h")))  # 0: differenced
TIMELESS = -1  # in place of the address of Dt_h: h does not depend on t
CONTEXT = ("n", "m", "p", "user data", "ks")  # what a function finds at its context; the last only that of g_many
USER_DATA, LISTED = 3, 4

# ------------------------------------------------------------------------------------------------------ tables


class Table:
    """Names of arrays, each with its kind: "vector", "integers", "matrix", "indices" (a matrix of integers), a dtype (one
    record), [dtype] (an array of records), `Rows`, or another table.

    Compiled code carries what is ``kept`` along with the address; all else is loaded from the table when it is asked for.
    """

    def __init__(self, kind, kept=(), **fields):
        self.kind, self.fields, self.kept = kind, fields, kept
        self.places = {name: q for q, name in enumerate(fields)}


# of a spanning step: a column for each crossing
CROSSING_NUMBERS = Rows("crossing number", "who", "who_scratch", "before", "place", dtype=np.int64)
CROSSING_ROWS = Rows(
    "crossing",
    "tau",  # when, 0 to 1
    "sign",  # +1 touching, -1 letting go
    "shift",  # what the cubic moved tau by
    "tau_scratch",
    "sign_scratch",
    "shift_scratch",
    "cubic",
    "former",  # tau in the list before
    "weights x 6",  # what g at the three nodes counts for
)
# sums over crossings, a column for each state
SUM_ROWS = Rows(
    "sum",
    "intervals x 24",  # four rows for each of the six intervals between stages,
    "running x 4",  # then four for the crossings before some time,
    "doubt",  # what x at the end would change by if the crossings were where they were last thought to be
    "moved",  # and by that they moved since the list before
    every=("intervals", 0, 28),
)
SPANS = Table(
    "spans",
    numbers=CROSSING_NUMBERS,
    crossings=CROSSING_ROWS,
    sums=SUM_ROWS,
    g="vector",  # what contacts add to f: a chunk of them at the three nodes
    context="integers",
)

# of the derivative: where it stands on its way along the record
POSITION = record(
    *(
        f"{name}: int"
        for name in (
            "record",  # the tangents are those at this record, before what is left of its events
            "event",  # the next row of ``events``
            "leg",  # the parameters in force
            "rows_at",  # record at which the guards' rows were evaluated, -1: none
            "first",  # of a corner: its first row of ``events``,
            "many",  # the number of its rows,
            "near_end",  # 1: it is at the end, as far as the tolerances tell
            "wanted",  # row of ``events`` at which to stop, -1: none
            "culprit",  # guard of a failure
            "quiet",  # rows of ``events`` before this one only change the word: their corner is passed by itself
            "halt",  # the record to stop at
            "end",  # the record of the time that is asked for
        )
    )
)
DERIVATIVE_ROWS = Rows(
    "derivative",
    "largest",  # how large each state has been along the trajectory
    "f_before x 3",  # x' before a crossing that is looked at (see ``guard_rows``)
    "mode",  # the fastest mode, found by iteration;
    "image",  # Df times it;
    "per_step",  # 1 / the steps for differences, its unit of length
)
TANGENTS = Table(
    "tangents",
    at=POSITION,
    jacobians=JACOBIANS,
    rows=DERIVATIVE_ROWS,
    whole="matrix",  # the states of the whole trajectory, of which a stretch is gone along
    differences="vector",  # steps for differences: of each state, each parameter, and time
    Dh="matrix",
    Dp_h="matrix",
    Dt_h="vector",
    Df="matrix",
    Dp_f="matrix",
    guard_rows="matrix",  # Dh and Dp_h of the guards that are looked at: three
    sides="matrix",  # parameters to either side
)

# of a corner; unit u is a surface: crossing it flips the guards flips[firsts[u]:firsts[u + 1]]
CORNER_PLAN = record("mode: int", "target: int", "t", "end", "culprit: int")
CORNER = Table(
    "corner",
    plan=CORNER_PLAN,
    value="matrix",  # of each unit's row of Dh and Dp_h, what is not zero,
    index="indices",  # where it is,
    count="integers",  # and how many these are
    Dt_h="vector",
    offset="vector",  # h at the corner (usually 0)
    side="vector",  # on which it is before the corner
    firsts="integers",
    flips="integers",
    done="integers",
)

# rows of tangents: their values, those of a stage's state, those of the stages; backwards, also a stage's weight
TANGENT_ROWS = Rows("tangent", "own", "state", "slopes x 12", "weight", state_and_slopes=("state", 0, 13))
SMALL = 64  # up to this many states Df is formed as a matrix by differences

WORK = Table(
    "work",
    kept=("s", "v", "g", "fn", "p"),
    s=SCALARS,
    v=STATE_ROWS,
    g=GUARD_ROWS,
    p="vector",
    fn=FUNCTIONS,
    units="indices",  # where each unit part of the state begins and stops
    steps=[STEP],
    states="matrix",
    events=[EVENT],
    t_eval="vector",
    x_eval="matrix",
    breaks="vector",
    reset="matrix",
    Dh="matrix",
    legs="integers",  # records from which on the rows of ``leg_p`` are the parameters
    leg_p="matrix",
    spans=SPANS,
    tangents=TANGENTS,
    corner=CORNER,
)

# how a corner is passed
WHOLE = 0  # all guards are crossed
AT_START = 1  # the trajectory starts here: guards are crossed or not by the side the perturbed start is on
AT_END = 2  # it ends here: only what is crossed in time counts
TO_GUARD = 3  # up to the crossing of one guard, whose state is asked for
