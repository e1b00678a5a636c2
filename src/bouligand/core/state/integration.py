"""What an integration keeps at hand: scalars and counters, vectors of the state's size, a value for each guard."""

from .layout import Rows, records

SCALARS = records(
    # what was asked for: written before the start, by Python only
    options=(
        "max_steps: int",
        "projection: int",  # 0: by tolerance; else the fixed rung of a projection: 1 tangent, 2 midpoint, 4 Runge-Kutta
        "word_given: int",  # 0: the word at the start follows from h; GIVEN; FOUND
        "one_sided: int",  # number of one-sided guards
        "observers: int",  # number of observers
        "pool: int",  # 1: the paper's printed rule, guards are re-armed when all have been crossed
        "use_Dh: int",  # 1: hdot from Dh (autonomous guards), 0: from one more evaluation of h
        "may_span: int",  # 1: f is a sum over contacts, and all options are possible with spanning steps
        "on_graze: int",  # 1: a graze with a finite jump is taken as it was computed, 0: refused
        "jumps: int",  # the number of guards whose events change the state
        "may_slide: int",  # 1: sliding modes are computed
        "dependent: int",  # the number of guards that matter in some modes only (g.needs)
        "order_given: int",  # 1: jumps at one instant are applied in the order w.jump_order, whether they commute or not
        "rtol",
        "atol",  # the absolute tolerance of all components; negative: the row v.atol is given
        "dt_max",
        "probe",  # of dt: how far ahead h is evaluated for hdot
    ),
    # what was done so far, for `Solution.counts`
    counts=(
        "f_calls: int",
        "h_calls: int",
        "Dh_calls: int",
        "steps: int",  # accepted steps, of all kinds
        "rejected: int",
        "hops: int",  # steps that landed on a guard or on the edge of its band
        "spans: int",  # spanning steps taken
    ),
    # how many rows of the tables are written
    rows=(
        "events: int",  # rows of ``events``
        "shown: int",  # of a finished integration: how many of these are events, whose times stand in ``event_times``
        "records: int",  # rows of ``steps`` and ``states``
        "requested: int",  # requested times done
        "breaks: int",  # breakpoints done
    ),
    # between the core and its caller
    run=(
        "status: int",  # the last code, or that of a failed evaluation
        "started: int",
        "budget: int",  # steps that may still be taken before the core returns
        "stale: int",  # 1: p was changed, values kept from the last step are invalid
        "ended_by: int",  # the guard whose terminal event was reached; NO_GUARD: none was
        "culprit: int",  # of a failure: the guard concerned
        "other: int",  # and another one, whose jump does not commute with it
        "t_failed",  # time of a failed evaluation
        "cap",  # the latest time that f and h may see: just before the breakpoint at which the present leg ends
    ),
    # when to return to the caller
    clock=(
        "look_at: int",  # count of evaluations of f at which to look at the clock again
        "looked_at: int",  # and at which it was looked at since when time is taken
        "looked",  # the clock at the first look since the caller was returned to; 0: none yet
    ),
    # a question, to whom it may concern: the judge, jumps, sliding
    ask=(
        "question: int",  # for the judge, before the next step: a code of `codes`, or 0
        "about: int",  # the guard concerned; NO_GUARD: none
        "t",  # of a question to the judge: its time
        "since",  # how long a guard was crossed
        "speed",  # and how fast it is left
        "judged: int",  # 1: the judge has been called at this state
        "soon",  # the time in which the state moves by its tolerance
    ),
    # of the last graze that was judged
    verdict=(
        "margin",  # of a refused grazing: the smallest |h| found
        "effect",  # what crossing it or not makes a difference of, in tolerances
        "returns: int",  # of the last graze that was judged: 1 if a trajectory beyond the guard comes back
    ),
    # what is known at the present state
    here=(
        "fresh: int",  # 1: the first step after an event, nothing known about its size
        "rates_known: int",  # 1: g.hdot is that of the present state
        "last: int",  # the guard crossed last, -1 before the first
        "held: int",  # entries in g.held_list
        "kept: int",  # the number of guards on which the trajectory stays: those that it slides on, and those that it rests on
    ),
    # the step that is being taken, and its trials
    step=(
        "kind: int",  # of the present step, see below
        "target: int",  # the guard that it is to land on, or has landed on; -1: none
        "length",  # of the present step: its first part
        "back",  # the way back to the guard
        "correction",  # and the last correction
        "middle_known: int",  # 1: g.h_middle is h in the middle of the step that was taken
        "winding",  # 1: along the step that was taken x is far from a cubic
        "tries: int",  # attempts since the last accepted step
        "not_finite: int",  # 1: the last rejected trial step was not finite
    ),
    # of the last landing, and whether to try one
    landing=(
        "slope",  # of the guard's distance at the last landing
        "gap",  # residual of the last landing, as a time: guards nearer than that are crossed at the same state
        "none: int",  # 1: the guard ahead is beyond the end of the leg, or hops keep falling short of it
        "short: int",  # hops in a row that have fallen short of their guard
    ),
    # what the length of the next smooth step is chosen by
    next=(
        "scheme: int",  # of the smooth steps: its number in `schemes`
        "too_long: int",  # where there are jumps: 1 if a trial since the last accepted smooth step was rejected for its error
        "dt",  # the natural length of a smooth step, which survives events
        "natural",  # where there are jumps: the natural length by the last smooth step; 0: it was the first after an event
        "behind",  # the same by the last step that was the first after an event
        "reach",  # how far ahead to look for a landing, if two stages have shown that the step could be longer; else 0
    ),
    # what hops have measured
    hop=(
        "age: int",  # hops since ``growth`` was measured
        "growth",  # how fast x'' changes, 1/time (0: not measured): chooses the order of a hop
        "bend",  # size of x'', in tolerances
        "measured_over",  # the length of the longest step over which v.second was measured since it was cleared
    ),
    # stiff steps
    stiff=(
        "allowed: int",  # whether stiff steps may be taken: EXPLICIT_ONLY, IF_NEEDED, AT_HAND (A is at hand), ALWAYS
        "explicit: int",  # the scheme of steps that are not stiff
        "weigh_at: int",  # count of steps at which to see again whether stability limits them
        "wait: int",  # and how many steps later after that
        "A_at: int",  # where w.stiff.A was evaluated: see `stiff.jacobian.step_number`; -1: not at all
        "task: int",  # what `stiff.entry` is asked for
        "run: int",  # stiff steps accepted since explicit ones, or since an event
        "rate",  # of the fastest mode, from A
        "length",  # what `stiff.entry` is asked about: the length of a step;
        "error",  # its answers: the step's error in tolerances
        "factor",  # and the factor to change the length by
        "dt_explicit",  # the length of the explicit steps before stiff ones were tried; 0: more than a few were accepted since
    ),
    # spanning steps
    span=(
        "on: int",  # 1: between two spanning steps
        "tries: int",  # attempts since the last spanning step
        "dt",  # the natural length of a spanning step (0: not known yet)
        "hops_until",  # no spanning step before this time: one was rejected here
    ),
    # jumps of the state at this instant
    jump=(
        "on: int",  # 1: guards have fired at this instant whose jumps are to be applied
        "generation: int",  # of jumps at this instant: how many were applied before
    ),
    # where the integration is, and where it goes
    # (last, and written together with the state, which follows in memory: see `memory.working`)
    now=(
        "t",
        "t0",
        "tf",
        "stop",  # end of the present leg: the next breakpoint, or tf
    ),
)
START_SIZE = 4  # scalars that are written together with the state

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
    # in `steps.verdict`: the state that is moved to where it grazes, f there on both sides, and another state
    x_graze=("x_smooth", 0, 0),
    f_here=("hop_stages", 1, 0),
    f_beyond=("hop_stages", 2, 0),
    f_jump=("hop_stages", 3, 0),
    x_moved=("hop_stages", 4, 0),
    f_moved=("hop_stages", 5, 0),
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
    "fired",  # at this instant: FIRED, FIRES_NEXT or WAITS; 0: not
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
    # memory that is used for something else where its first use has no say:
    arrival=("h_trial", 0, 0),  # in `guards`: when it is reached if hdot stays constant
    multiplier=("h_trial", 0, 0),  # in `sliding.modes`: of a guard that is stayed on
    just_ended=("fired", 0, 0),  # there: 1: sliding on it has just ended
    b_before=("former", 0, 0),  # there and in `steps.sleep`: the mode before
    b_present=("lowest", 0, 0),  # there: the mode at the start of the search
    b_found=("former", 0, 0),  # in `steps.start_word`: the first consistent word,
    moves_to=("lowest", 0, 0),  # and the side to which it moves;
    given=("h_before", 1, 0),  # there, too: 1: b0 says on which side it is
    b_kept=("lowest", 0, 0),  # in `tangents.crossing_rows`: the word, to be restored
)
# values of s.options.word_given
GIVEN = 1  # as b0
FOUND = 2  # by `steps.start_word`, which has also decided which guards are zero
# values of g.fired
FIRED = 1.0  # the jump of this guard is applied in the present generation,
FIRES_NEXT = 2.0  # in the next one,
WAITS = 3.0  # or when another guard's jump has been applied
