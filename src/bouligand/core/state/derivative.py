"""Memory of derivatives along a record, and of corners."""

import math

from .functions import JACOBIANS
from .layout import Rows, Table, record
from .trajectory import EVENT, STEP

# of the derivative: its position on the record
POSITION = record(
    *(
        f"{name}: int"
        for name in (
            "record",  # the tangents are those at this record, before the rest of its events
            "event",  # the next row of ``events``
            "leg",  # the parameters in force
            "begin",  # what these two are at the start of the stretch
            "begin_leg",
            "rows_at",  # record at which the guards' rows were evaluated, -1: none
            "first",  # of a corner: its first row of ``events``,
            "many",  # the number of its rows,
            "near_end",  # 1: it is at the end, within the tolerances
            "wanted",  # row of ``events`` at which to stop, -1: none
            "culprit",  # guard of a failure
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
    "settled",  # the rate that the vector of the power iteration has shown last; 0: it has been mixed since
    "growth",  # how much that has grown in the last iteration,
    "before",  # and in the one before; negative: it has been mixed since
    "worst",  # largest ratio of a step's length to its bound
    "looked: int",  # number of sides of guards that were looked at (see `tangents.rough_sides`),
    "rough: int",  # and of those that are rough
)
# of a side of a guard (see `tangents.rough_sides`):
GUARD_SIDE = record(
    "tried: int",  # 1: it was looked at
    "power",  # of the time, with which Df changes there; 0: it is smooth,
    "strength",  # and the factor before it
)
DERIVATIVE_ROWS = Rows(
    "derivative",
    "largest",  # the largest size of each state along the trajectory
    "f_before x 2",  # x' before a crossing that is examined (see ``guard_rows``)
    "mode",  # the eigenvector of the fastest mode, found by iteration;
    "image",  # Df times it;
    "per_step",  # 1 / the steps for differences, its unit of length
    "sizes",  # of the eigenvalues of Df,
    "decays",  # and how fast these modes decay; 0: not at all
)
# how steps that are too long for perturbations are divided (see `tangents.long_steps`). For each kind of step:
LIMITS = Rows(
    "limit",
    "accurate",  # the longest that is accurate, in units of the time of the fastest mode,
    "stable",  # and the longest that is stable for damped modes
    "order",
)
# for each row of the record, of the step to it:
DIVIDED = record(
    "rate",  # of the fastest mode in it,
    "measured: int",  # 1: measured there, not before
    "kind: int",  # of the steps that perturbations take
    "parts",  # how many these are
    "long: int",  # 1: it is too long
    "begin: int",  # row at which its stretch begins; a stretch is what the trajectory does in one mode
    # of the stretch that begins at this row:
    "more",  # steps that dividing adds,
    "many: int",  # steps that are too long,
    "sample: int",  # and which one of the samples of Df is in it, -1: none
)
DIVISION_PLAN = record(
    "rtol",  # to which steps are divided
    "samples: int",  # of Df
    "total",  # steps after division,
    "longest: int",  # row of the step that has the most parts,
    "count: int",  # and number of times at which steps are divided
    # of the stretch that is cut out:
    "since",  # its times,
    "until",
    "first: int",  # the row of the record at or after its start,
    "wanted: int",  # the row of its events at which the outcome is taken; -1: at a fixed time
    "observers: int",  # 1: events of observers get a row
    "fresh: int",  # its new rows whose states are dense output,
    "inside_spans: int",  # of which so many (the first one, or none) are inside spanning steps
    "rows: int",  # all of its rows,
    "row: int",  # and, of the states inside spanning steps: the next row,
    "event: int",  # the next of its events,
    "span: int",  # the row of the record to which a spanning step leads that was measured,
    "pace",  # and how fast the slope of the trajectory changes in it, as the rate of a mode
)
DIVISION = Table(
    "division",
    plan=DIVISION_PLAN,
    limits=LIMITS,
    rungs="vector",  # of a hop: the longest of each in place of a part of a step, in the same units
    rows=[DIVIDED],
    samples="integers",  # the row of each sample of Df,
    eigenvalues="matrix",  # and its eigenvalues there: real part, imaginary part, ...
    density="matrix",  # of steps along a stretch: places, and the rates there
    times="vector",  # at which steps are divided
    moments="vector",  # other times at which there are rows
    # a stretch with rows at all of these: its rows, its events, the row of the record that each row is (-1 - row: it is new, and
    # inside the step to that row), and the new ones whose states are dense output, with their times
    steps=[STEP],
    states="matrix",
    events=[EVENT],
    owners="integers",
    fresh="integers",
    fresh_times="vector",
)
TANGENTS = Table(
    "tangents",
    at=POSITION,
    modes=MODES_POSITION,
    division=DIVISION,
    jacobians=JACOBIANS,
    rows=DERIVATIVE_ROWS,
    word="vector",  # at the start of the stretch
    differences="vector",  # steps for differences of f: of each state, each parameter, and time;
    differences_h="vector",  # the same for h
    Dh="matrix",
    Dp_h="matrix",
    Dt_h="vector",
    Df="matrix",
    Dp_f="matrix",
    guard_sides=[GUARD_SIDE],  # of each guard, the negative side and the positive one
    guard_rows="matrix",  # rows of Dh and Dp_h of two guards that are examined;
    reach="indices",  # the states that each depends on are from the first of these up to the second
    sides="matrix",  # parameters perturbed to either side
    # the pattern of Dh, for systems with many states: row k has entries in columns[row_starts[k]:row_starts[k + 1]]; columns of
    # one colour have no row in common
    row_starts="integers",
    columns="integers",
    colours="integers",
    check="vector",  # a vector whose product with a row shows whether the pattern holds
    # a row for each evaluation of h: the state as dual numbers with many tangents, or few, which are those of its colours
    coloured="matrix",
    # Dh and Dp_h as h_dual leaves them, a row for each evaluation: with many states, a tangent for each colour and that product
    dual_rows="matrix",
    dual_rows_p="matrix",
    dual_t="vector",  # arguments of f_dual and h_dual, and their result
    dual_x="vector",
    dual_p="vector",
    dual_out="vector",
    plain_p="vector",  # the parameters in force as dual numbers without tangents,
    few_p="vector",  # as those that have two,
    one_p="vector",  # and as those that have one
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

# rows of tangents: their values, those of a stage's state, those of the stages; backwards, also a stage's weight
TANGENT_ROWS = Rows("tangent", "own", "state", "slopes x 16", "weight", state_and_slopes=("state", 0, 17))
OF_X, OF_P, OF_T = 0, 1, 2  # what differences vary
STEP_RATIO = math.sqrt(10.0)  # between neighbouring steps of a ladder of differences
LANES = 8  # tangents of a dual number,
DUAL = 1 + LANES  # which has its value before them
FEW_LANES = 2  # tangents of those for two directions,
FEW_DUAL = 1 + FEW_LANES  # and their size
ONE_LANE = 1  # for a single direction
ONE_DUAL = 1 + ONE_LANE
DUAL_NAMES = {"dual ": LANES, "few ": FEW_LANES, "one ": ONE_LANE}  # in the shapes of arguments
MOST_ALONG = 4  # tangents up to which a bridge's product of Df with these is faster than Df
SMALL = 64  # up to this many states Df is formed as a matrix by differences
WORTH = 1.7  # a step that is too long by less than this factor is not divided: dividing means copying the whole record
DAMPED = 0.5  # of a damped mode, the largest ratio of frequency to decay
MOST_SAMPLES = 24  # of Df, one for each stretch of the trajectory in one mode
DENSITY_PLACES = 32  # of a stretch, at which the density of steps is known

# how a corner is passed
WHOLE = 0  # all guards are crossed
AT_START = 1  # the trajectory starts here: whether a guard is crossed depends on the side of the perturbed start
AT_END = 2  # it ends here: only crossings before the end count
TO_GUARD = 3  # up to the crossing of one guard, at which the state is requested
