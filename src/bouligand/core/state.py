"""The core's memory, by name: records of scalars, rows of vectors, tables of arrays.

All memory belongs to Python and lives as long as an integration does, so that the core can stop anywhere and continue later. It
is passed to the core as the address of a table (`Table`), which holds the addresses of all arrays. Inside the core it is ``w``,
the workspace, and an array is an attribute of it:

    w.s    scalars and counters, a record:                w.s.t, w.s.dt, w.s.status
    w.v    vectors of the state's size, by row:           w.v.x[i], w.v.stages[2, i]
    w.g    a value for each guard, by row:                w.g.b[k], w.g.hdot[k], w.g.held[k]
    w.fn   addresses of the user's functions, a record:   w.fn.f, w.fn.h

To add a scalar, a row or an array, add its line here: no other file contains an offset.
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
    "pool: int",  # 1: the paper's printed rule, guards are re-armed when all have been crossed
    "kind: int",  # of the present step, see below
    "use_Dh: int",  # 1: hdot from Dh (autonomous guards), 0: from one more evaluation of h
    "may_span: int",  # 1: f is a sum over contacts, and all options are possible with spanning steps
    "bands: int",  # 1: some eps > 0
    "last: int",  # the guard crossed last, -1 before the first
    "ending: int",  # 1: a terminal event has happened
    "ended_by: int",  # the guard of the terminal event
    "question: int",  # for the judge, before the next step: a code of `codes`, or 0
    "judged: int",  # 1: the judge has been called at this state
    "stale: int",  # 1: p was changed, values kept from the last step are invalid
    "trial_not_finite: int",  # 1: the last rejected trial step was not finite
    "held_count: int",  # entries in g.held_list
    "no_landing: int",  # 1: the guard ahead is beyond the end of the leg
    "spanning: int",  # 1: between two spanning steps
    "span_tries: int",  # attempts since the last spanning step
    "look_at: int",  # count of evaluations of f at which to look at the clock again,
    "looked_at: int",  # and at which it was looked at since when time is taken
    "on_graze: int",  # 1: a graze with a finite jump is taken as it was computed, 0: refused
    "returns: int",  # of the last graze that was judged: 1 if a trajectory beyond the guard comes back,
    "middle_known: int",  # 1: g.h_middle is h in the middle of the step that was taken
    "stiffness: int",  # whether stiff steps may be taken: EXPLICIT_ONLY, IF_NEEDED, AT_HAND (A is at hand), ALWAYS
    "explicit: int",  # the scheme of steps that are not stiff
    "weigh_at: int",  # count of steps at which to see again whether stability limits them,
    "wait: int",  # and how many steps later after that
    "A_at: int",  # where w.stiff.A was evaluated: see `stiff.jacobian.step_number`; -1: not at all
    "stiff_run: int",  # stiff steps accepted since explicit ones, or since an event
    "jumping: int",  # 1: guards have fired at this instant whose jumps are to be applied
    "generation: int",  # of jumps at this instant: how many were applied before
    "may_slide: int",  # 1: sliding modes are computed
    "dependent: int",  # the number of guards that matter in some modes only (g.needs)
    "kept: int",  # the number of guards on which the trajectory stays: those that it slides on, and those that it rests on
    "order_given: int",  # 1: jumps at one instant are applied in the order w.jump_order, whether they commute or not
    "dt",  # the natural length of a smooth step, which survives events
    "rtol",
    "atol",  # the absolute tolerance of all components; negative: the row v.atol is given
    "dt_max",
    "growth",  # how fast x'' changes, 1/time (0: not measured): chooses the order of a hop
    "bend",  # size of x'', in tolerances
    "t_failed",  # time of a failed evaluation
    "winding",  # 1: along the step that was taken x is far from a cubic
    "length",  # of the present step: its first part,
    "back",  # the way back to the guard,
    "correction",  # and the last correction
    "cap",  # the latest time that f and h may see: just before the breakpoint at which the present leg ends
    "margin",  # of a refused grazing: the smallest |h| found
    "effect",  # what crossing it or not makes a difference of, in tolerances
    "probe",  # of dt: how far ahead h is evaluated for hdot
    "asked_t",  # of a question to the judge: its time,
    "asked_value",  # how long a guard was crossed,
    "asked_bend",  # and how fast it is left
    "soon",  # the time in which the state moves by its tolerance
    "slope",  # of the guard's distance at the last landing
    "gap",  # residual of the last landing, as a time: guards nearer than that are crossed at the same state
    "reach",  # how far ahead to look for a landing, if two stages have shown that the step could be longer; else 0
    "dt_span",  # the natural length of a spanning step (0: not known yet)
    "hops_until",  # no spanning step before this time: one was rejected here
    "rate",  # of the fastest mode, from A
    "dt_explicit",  # the length of the explicit steps before stiff ones were tried; 0: more than a few were accepted since
    "looked",  # the clock at the first look since the caller was returned to; 0: none yet
    # the last ones are written together with the state, which follows in memory: see `memory.working`
    "t",
    "t0",
    "tf",
    "stop",  # end of the present leg: the next breakpoint, or tf
)
START_SIZE = 4  # scalars that are written together with the state

# ------------------------------------------------------------------------------------------------------ rows

STATE_ROWS = Rows(
    "state",
    "x",  # the state at the present time
    "x_end",  # the trial state at the end of a step
    "x_smooth",  # the end of the whole smooth step, when it is cut back to a guard
    "x_trial",  # the state of a stage, or another at which functions are evaluated
    "scratch",
    "f_end",  # x' at the end of the step, under the word of the step
    "second",  # x'' at the end of the step (or, after two stages of the first step after an event, at its start)
    "third",  # x''' at the end of a smooth step, estimated from its stages
    "f_smooth",  # x' at x_smooth
    "atol",  # absolute tolerance of each component
    "x_near",  # the state at which a guard came near
    "off",  # where a graze is judged: by how much each component may be off
    "x_failed",  # the state that a failed evaluation was given
    "hop_stages x 7",  # of a hop: x' at its start first
    "stages x 16",  # of a smooth step: x' at the present state first
    "x_middle",  # the state in the middle of a spanning step
    "ramp x 2",  # sum of the jumps of the last spanning step over time: coefficients of t and t^2
    "x_nodes x 2",  # the states in the middle and at the end at which the jumps of a pass were evaluated
    f=("stages", 0, 0),  # x' at the present state
)

GUARD_ROWS = Rows(
    "guard",
    "b",  # the word: the side of each guard, -1 or +1; 0 while the trajectory stays on it (sliding, or at rest)
    "watched",  # b where a crossing is to be found, 0 where it is not (an observer, a one-sided guard that is not armed)
    "h",  # at the present state
    "h_end",  # at the end of the step
    "h_trial",  # at another state
    "h_middle",  # in the middle of a step, or at the last of several places in it
    "h_before x 2",  # at the two places before that
    "hdot",  # at the present state
    "hdot_end",  # at the end of the step
    "held",  # 1 while the trajectory is on a guard that it has crossed: it cannot be crossed again before it is left
    "held_list",  # numbers of the guards with held = 1 (some may have been released since)
    "level",  # where the next landing on this guard aims: 0 the guard, eps the edge of its band
    "eps",  # width of the band as given (0: none)
    "band",  # width of the band at present: smaller after a trajectory receded inside it
    "direction",  # 0 two-sided, +1 or -1 one-sided
    "observer",  # 1: recorded, never landed on
    "terminal",  # crossings left before the integration stops; 0: never
    "pending",  # one-sided with a reset matrix: 1 when it may be re-armed
    "burst_began",  # when the present burst of crossings began
    "burst",  # crossings in that burst
    "t_last",  # time of the last crossing
    "suspect",  # inside a step: where (0 to 1) it may have been crossed and crossed back, ROUGH: anywhere; 0: nowhere
    "lowest",  # and how near to its surface it comes there, by a cubic
    "unsure",  # values of h that are zero within the tolerance, roughly
    "near",  # of those that the judge is asked about: how near it came,
    "near_bend",  # and |h''| there; 0: it is not asked about
    "settled",  # until when what was found where it came near holds,
    "settled_h",  # and how near that was
    "former",  # in a spanning step: 1 - tau of its crossing in the previous list,
    "former_back",  # and of its crossing back; 0: none
    "jump",  # 1: its events change the state
    "fired",  # at this instant: 1 in the present generation of jumps, 2 in the next one, 3: its turn comes behind another's
    "interval",  # time between its last two jumps,
    "ratio",  # that to the interval before,
    "shrinking",  # and how many times that ratio was nearly the same, and below 1
    "rest",  # 1: the trajectory may come to rest on it,
    "still",  # and is on it without a rate
    "slow",  # (a rate up to this is none, within the tolerances)
    "t_ended",  # when sliding on it ended last
    "needs",  # the number, plus 1, of a guard that must be on its + side for this one to matter (0: none),
    "needs_too",  # and of another one
    "asleep",  # 1: this one does not matter in the present mode: it is not watched, and its sign is +1
    "woken",  # at this instant: 1 since it matters from now on, -1 since it no longer does
    "left",  # 1: the trajectory stayed on it before the jumps of this instant
)

# ------------------------------------------------------------------------------------------------------ the record

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
ORDERS = {**{HOP + rung: rung for rung in range(1, 6)}, SPAN: 5}  # of the formulas of these; a scheme has its own

# ------------------------------------------------------------------------------------------------------ functions

_CALLED = ("f", "h", "fh", "Dh", "g", "g_many", "jump_many", "multipliers", "project", "contact_rates")
_ENTERED = ("enter_jump", "enter_slide")  # entries of the core that the loop calls; 0: not compiled yet
FUNCTIONS = record(*(f"{name}: int" for name in (*_CALLED, "context", *_ENTERED)))
# addresses; f_dual and h_dual are f and h of dual numbers, for the Jacobians that were not given. 0: differenced. A, of a
# bridge, is a matrix near Df for stiff steps; it is called directly after f with the same arguments, and may use what f has left
JACOBIANS = record(
    *(f"{name}: int" for name in ("Df", "Dp_f", "Dh", "Dh_row", "Dt_h", "Dp_h", "f_dual", "f_few", "h_dual", "A"))
)
TIMELESS = -1  # in place of the address of Dt_h: h does not depend on t
# the words of a function's context; "ks" for g_many only, what follows it where sliding modes are computed: addresses of the
# user's f and h, of h of dual numbers, of the word, of the guards on which the trajectory may come to rest (0: none), of the
# addresses of their jumps, and of jump_many
CONTEXT = ("n", "m", "p", "user data", "ks", "f", "h", "h_dual", "b", "rests", "jumps", "jump_many")
USER_DATA, LISTED, USERS_F, USERS_H, USERS_H_DUAL, WORD, RESTS, JUMPS, JUMP_MANY = range(3, 12)

# ------------------------------------------------------------------------------------------------------ tables


class Table:
    """Names of arrays, each with its kind: "vector", "integers", "matrix", "indices" (a matrix of integers), a dtype (one
    record), [dtype] (an array of records), `Rows`, or another table.

    Compiled code passes the ``kept`` arrays along with the address; all others are loaded from the table when they are used.
    """

    def __init__(self, kind, kept=(), **fields):
        self.kind, self.fields, self.kept = kind, fields, kept
        self.places = {name: q for q, name in enumerate(fields)}


# of a spanning step: a column for each crossing
CROSSING_NUMBERS = Rows("crossing number", "guard", "guard_scratch", "before", "place", dtype=np.int64)
CROSSING_ROWS = Rows(
    "crossing",
    "tau",  # its time, as a fraction of the step
    "sign",  # +1 touching, -1 releasing
    "shift",  # how much the cubic moved tau
    "tau_scratch",
    "sign_scratch",
    "shift_scratch",
    "cubic",
    "former",  # tau in the previous list
    "weights x 6",  # quadrature weights of g at the three nodes
)
# sums over crossings, a column for each state
SUM_ROWS = Rows(
    "sum",
    "intervals x 24",  # four rows for each of the six intervals between stages,
    "running x 4",  # then four for the crossings before some time,
    "doubt",  # the change of x at the end due to the uncertainty of the crossing times,
    "moved",  # and due to their move since the previous list
    every=("intervals", 0, 28),
)
SPANS = Table(
    "spans",
    numbers=CROSSING_NUMBERS,
    crossings=CROSSING_ROWS,
    sums=SUM_ROWS,
    g="vector",  # g of a chunk of contacts at the three nodes
    context="integers",
)

# of the derivative: its position on the record
POSITION = record(
    *(
        f"{name}: int"
        for name in (
            "record",  # the tangents are those at this record, before the rest of its events
            "event",  # the next row of ``events``
            "leg",  # the parameters in force
            "rows_at",  # record at which the guards' rows were evaluated, -1: none
            "first",  # of a corner: its first row of ``events``,
            "many",  # the number of its rows,
            "near_end",  # 1: it is at the end, within the tolerances
            "wanted",  # row of ``events`` at which to stop, -1: none
            "culprit",  # guard of a failure
            "quiet",  # rows of ``events`` before this one only change the word: their corner is handled by the caller
            "halt",  # the record to stop at
            "frozen",  # 1: steps with one Jacobian each (see `tangents.frozen`)
            "end",  # the record of the requested time
        )
    )
)
# of the measurement of the fastest modes: how far it has come
MODES_POSITION = record(
    "step: int",  # the next one; 0: nothing is measured yet
    "event: int",  # the next row of ``events``
    "leg: int",  # the parameters in force
    "last: int",  # the last step that was measured,
    "longest",  # its length,
    "until",  # and its end
    "wait: int",  # steps until the next measurement
    "changed: int",  # 1: the word or the field has changed since
    "seen: int",  # record at which a rate is known,
    "ahead",  # and that rate
    "rate",  # in the last step that was measured
    "worst",  # largest ratio of a step's length to its bound
)
DERIVATIVE_ROWS = Rows(
    "derivative",
    "largest",  # the largest size of each state along the trajectory
    "f_before x 3",  # x' before a crossing that is examined (see ``guard_rows``)
    "mode",  # the eigenvector of the fastest mode, found by iteration;
    "image",  # Df times it;
    "per_step",  # 1 / the steps for differences, its unit of length
)
TANGENTS = Table(
    "tangents",
    at=POSITION,
    modes=MODES_POSITION,
    jacobians=JACOBIANS,
    rows=DERIVATIVE_ROWS,
    differences="vector",  # steps for differences of f: of each state, each parameter, and time;
    differences_h="vector",  # the same for h
    Dh="matrix",
    Dp_h="matrix",
    Dt_h="vector",
    Df="matrix",
    Dp_f="matrix",
    guard_rows="matrix",  # rows of Dh and Dp_h of up to three guards that are examined
    sides="matrix",  # parameters perturbed to either side
    # the pattern of Dh, for systems with many states: row k has entries in columns[row_starts[k]:row_starts[k + 1]]; columns of
    # one colour have no row in common
    row_starts="integers",
    columns="integers",
    colours="integers",
    check="vector",  # a vector whose product with a row shows whether the pattern holds
    # Dh and Dp_h as h_dual leaves them, a row for each evaluation: with many states, a tangent for each colour and that product
    dual_rows="matrix",
    dual_rows_p="matrix",
    dual_t="vector",  # arguments of f_dual and h_dual, and their result
    dual_x="vector",
    dual_p="vector",
    dual_out="vector",
)

# of a corner; unit u is a surface: crossing it flips the guards flips[firsts[u]:firsts[u + 1]]
CORNER_PLAN = record("mode: int", "target: int", "t", "end", "culprit: int")
CORNER = Table(
    "corner",
    plan=CORNER_PLAN,
    value="matrix",  # of each unit's row of Dh and Dp_h: the entries that are not zero,
    index="indices",  # their columns,
    count="integers",  # and their number
    Dt_h="vector",
    offset="vector",  # h at the corner (usually 0)
    side="vector",  # the side of it, -1 or +1, before the corner
    firsts="integers",
    flips="integers",
    done="integers",
)

# of stiff steps: A is Df, or near it; factors of I - gamma s A, with the rows in the order of ``pivots``
STIFF_ROWS = Rows(
    "stiff",
    "mode",  # the eigenvector of the fastest mode, found by iteration;
    "image",  # A times it
    "before",  # of a stage: the sum over the stages before it
)
STIFF = Table("stiff", A="matrix", factors="matrix", pivots="integers", columns="integers", rows=STIFF_ROWS)
EXPLICIT_ONLY, IF_NEEDED, AT_HAND, ALWAYS = 0, 1, 2, 3  # whether stiff steps may be taken

# rows of tangents: their values, those of a stage's state, those of the stages; backwards, also a stage's weight
TANGENT_ROWS = Rows("tangent", "own", "state", "slopes x 16", "weight", state_and_slopes=("state", 0, 17))
OF_X, OF_P, OF_T = 0, 1, 2  # what differences vary
LANES = 8  # tangents of a dual number,
DUAL = 1 + LANES  # which has its value before them
FEW_LANES = 2  # tangents of those for single directions,
FEW_DUAL = 1 + FEW_LANES  # and their size
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
    # the record (these stand together: see `memory.tables.Placed`)
    steps=[STEP],
    states="matrix",
    events=[EVENT],
    breaks="vector",
    leg_p="matrix",
    legs="integers",  # records from which on the rows of ``leg_p`` are the parameters
    t_eval="vector",
    x_eval="matrix",
    reset="matrix",
    jumps="integers",  # the address of each guard's jump; 0: none
    jump_order="integers",  # guards, in the order in which their jumps are applied
    Dh="matrix",
    spans=SPANS,
    stiff=STIFF,
    tangents=TANGENTS,
    corner=CORNER,
)

# how a corner is passed
WHOLE = 0  # all guards are crossed
AT_START = 1  # the trajectory starts here: whether a guard is crossed depends on the side of the perturbed start
AT_END = 2  # it ends here: only crossings before the end count
TO_GUARD = 3  # up to the crossing of one guard, at which the state is requested

# of a block of trajectories, integrated one after the other in the same memory (see `steps.block`)
BLOCK_PLAN = record(
    *(
        f"{name}: int"
        for name in (
            "work",  # the address of the memory in which all of them are integrated
            "run",  # the addresses of the entries; 0: not compiled yet
            "judge",
            "span",
            "find_word",
            "next",  # the present trajectory, counted from the beginning of the block,
            "count",  # of so many
            "phase",  # of it: see below
            "code",  # with which it ended,
            "guard",  # and the guard concerned, -1: none
            "first",  # row of the first one in ``x0`` and ``p``,
            "x0_step",  # 1, or 0 where all have the same
            "p_step",
            "x_eval",  # the address of its states at the requested times
            "events",  # rows of ``event_t``, ``event_guard`` and ``event_sign`` written
        )
    )
)
TO_BEGIN, RUNNING, TO_KEEP = 0, 1, 2  # phases
COUNTED = ("f_calls", "h_calls", "Dh_calls", "step_count", "rejected", "hops", "spans")  # then the events
BLOCK = Table(
    "block",
    plan=BLOCK_PLAN,
    work_table="indices",  # that of the memory: the place of ``x_eval`` is written to it
    scalars="integers",  # the memory's scalars,
    scalars_start="integers",  # and what they are before the start
    guards="matrix",  # the same of the guards' rows
    guards_start="matrix",
    x0="matrix",
    p="matrix",
    # a row for each trajectory of the block
    t="vector",
    x="matrix",
    b="matrix",
    outcome="indices",  # code and guard
    counts="indices",
    event_t="vector",
    event_guard="integers",
    event_sign="vector",
)
