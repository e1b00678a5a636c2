"""Where everything is: the names of the core's rows, slots and codes.

The core works on a handful of plain arrays, which live as long as an integration does, so that it can stop anywhere and
go on later:

    V  (rows, n)   vectors of the state's size: states, stages, scratch
    H  (rows, m)   one value for each guard: h, hdot, the word and its flags
    S  (slots,)    floating point scalars: time, step size, tolerances
    I  (slots,)    integers: what to do, counts, where the output stands
    R  (cap, 5+n)  the record: a row for each accepted step
    E  (cap, 6)    the events, a row each

``run`` finds these, and what else it works on, in a table: address, rows and columns of each.
"""

# --- the table of arrays
IN_FN, IN_P, IN_S, IN_I, IN_V, IN_H, IN_R, IN_E, IN_TQ, IN_Y, IN_BREAKS, IN_RESET, IN_JACOBIAN = range(13)
TABLE = ("fn", "p", "S", "I", "V", "H", "R", "E", "TQ", "Y", "breaks", "reset", "jacobian")

# --- V: rows of the state's size
X = 0  # the state at the present time
XN = 1  # the trial state at the end of a step
XF = 2  # the end of the whole smooth step, when it is cut back to a guard
XM = 3  # the state of a stage
W = 4  # scratch
KE = 5  # x' at the end of the step, under the word of the step
KP = 6  # x'' at the end of the step (or, after two stages of the first step behind an event, at its start)
ATOL = 7  # absolute tolerance of each component
XG = 8  # the state at which a guard came near
L = 9  # 9..15: stages of a hop (L is its x' at the start)
K = 16  # 16..31: stages of a smooth step (K is x' at the present state)
KF = 32  # x' at XF
KT = 33  # x''' at the end of a smooth step, estimated from its stages
MIDDLE = 34  # the state in the middle of a spanning step
RAMP = 35  # 35, 36: how fast the jumps of the last spanning step added up, with time and with its square
NODES = 37  # 37, 38: the states in the middle and at the end at which the jumps of a pass were taken
V_ROWS = 39

# --- H: rows of the guards' size
B = 0  # the word: the side of each guard, -1 or +1
WB = 1  # the word where a crossing counts, 0 where the guard is not watched (an observer, a latch that is shut)
HX = 2  # h at the present state
HN = 3  # h at the end of the step
HP = 4  # h at a trial state
HD = 5  # hdot at the present state
HE = 6  # hdot at the end of the step
HELD = 7  # 1 while the trajectory sits on the guard it has crossed: it cannot fire again before it has left
LEVEL = 8  # where the next landing on this guard aims: 0 the guard, eps the edge of its band
EPS = 9  # width of the band as asked for (0: none)
SHRUNK = 10  # width of the band at present: smaller after a trajectory turned round inside it
DIRECTION = 11  # 0 two-sided, +1 or -1 one-sided
OBSERVER = 12  # 1: recorded, never landed on
TERMINAL = 13  # crossings left before the integration stops; 0: never
PENDING = 14  # one-sided with a reset matrix: 1 when it may be armed again
MARK = 15  # when the present burst of crossings began
BURST = 16  # crossings in that burst
TLAST = 17  # time of the last crossing
HM = 18  # h in the middle of a step, for observers
HELD_LIST = 19  # numbers of the guards with HELD = 1 (some may have been released since)
WAS, WAS_BACK = (
    20,
    21,
)  # in a spanning step: 1 - when it was crossed, and crossed back, by the list before; 0: not at all
H_ROWS = 22

# --- S: scalars
DT = 0  # the natural length of a smooth step, which survives events
RTOL = 1
DTMAX = 2
LAM = 3  # how fast x'' changes, 1/time (0: not measured): chooses the order of a hop
RATE = 4  # size of x'', in tolerances
T_FAIL = 5  # time of a failed evaluation
LAND1 = 6  # lengths of the parts of the present step: its first part,
LAND2 = 7  # the way back to the guard,
LAND3 = 8  # and the last correction
CAP = 9  # latest time a stage may see: just before a breakpoint in a step that ends there
MARGIN = 10  # of a refused grazing: the smallest |h| found
SIGMA = 11  # of DT: how far ahead h is evaluated for hdot
WHEN = 12  # time of what is to be judged
VALUE = 13  # of what is to be judged: a margin, a dwell time
BEND = 14  # h'' where a guard came near
SOON = 15  # the time in which the state moves by its tolerance
ATOL_ALL = 16  # the absolute tolerance of all components; negative: the row ATOL is given
LEFT = 17  # time that the last landing stopped short of its guard: nearer ties than that are resolved on the spot
REACH = 18  # how far ahead a landing may be looked for, where two stages saw a step that could be longer; else 0
DTS = 19  # the natural length of a spanning step (0: not known yet)
HOPS_UNTIL = 20  # no spanning step before this time: one was refused here
# the last are written together with the state, which follows in memory: see `workspace`
T = 21
T0 = 22
TF = 23
STOP = 24  # end of the present leg: tf or the next breakpoint
S_SIZE = 25
S_OWN = 4

# --- I: integers
STATUS = 0
STARTED = 1
METHOD = 2
PROJECTION = 3  # 0: by tolerance; else the fixed rung of a projection: 1 tangent, 2 midpoint, 4 Runge-Kutta
NF = 4
NH = 5
NDH = 6
NSTEPS = 7  # accepted steps, of all kinds
NREJECTED = 8
NHOPS = 9  # steps that landed on a guard or on the edge of its band
NEVENTS = 10  # rows of E
NRECORDS = 11  # rows of R
NQ = 12  # requested times done
NBREAKS = 13  # breakpoints done
FRESH = 14  # 1: the first step after an event, nothing known about its size
RATES = 15  # 1: HD is that of the present state
AGE = 16  # hops since LAM was measured
TARGET = 17  # guard that the step is to land on, or of a failure
FAIL_ROW = 18  # row of V that a failed evaluation was given
MAX_STEPS = 19
BUDGET = 20  # steps that may still be taken before the core returns
HAVE_WORD = 21  # 1: the word at the start was given
ONE_SIDED = 22  # number of one-sided guards
OBSERVERS = 23
TRIES = 24  # attempts since the last accepted step
POOL = 25  # 1: the paper's printed rule, guards are armed again when all have been crossed
KIND = 26  # of the present step, see below
USE_DH = 27  # 1: hdot from Dh (autonomous guards), 0: from one more evaluation of h
SPANS = 28  # 1: f is a sum over contacts, and nothing was asked for that a spanning step cannot do
NSPANS = 29  # spanning steps taken
BANDS = 30  # 1: some eps > 0
LAST = 31  # the guard crossed last, -1 before the first
ENDING = 32  # 1: a terminal event has happened
ASK = 33  # a question to be judged before the next step: one of the ASK_ codes, or 0
JUDGED = 34  # 1: the guards at hand have been judged at this very state
STALE = 35  # 1: p was changed, what was saved from the last step is void
BAD_TRIAL = 36  # 1: the last refused trial was not finite
NHELD = 37  # entries in HELD_LIST
NO_LANDING = 38  # 1: the guard ahead is beyond the end of the leg
ENDED_BY = 39  # the guard of the terminal event
I_SIZE = 40

# --- fn: addresses of the user's functions, and of their context
F, HH, FH, DH, DH_ROW, CTX, GG, GG_MANY = 0, 1, 2, 3, 4, 5, 6, 7
UNITS = 8  # number of unit parts of the state; where each begins and stops follows from FN_SIZE on
FN_SIZE = 9

# --- the workspace of spanning steps: the crossings inside one, in N (integers), Z (numbers), a column each; M (sums) and G
# (what contacts add to f, a chunk of them at the three nodes) have a column for each state
WHO, WHO2 = 0, 1  # N: the guards; scratch
COUNT, PLACE = 2, 3  # N: crossings before the end of each interval between stages; scratch
N_ROWS = 4
TAU, SIGN, SHIFT = 0, 1, 2  # Z: when (0 to 1); +1 touching, -1 letting go; what the cubic moved TAU by
TAU2, SIGN2, SHIFT2, CUBIC = 3, 4, 5, 6  # scratch
FORMER = 7  # TAU in the list before
WEIGHTS = 8  # six rows: what g at the three nodes counts for
Z_ROWS = 14
RUNNING = 24  # M: four rows of sums for each of the six intervals, then four for the crossings before some time,
DOUBT = 28  # and what x at the end would change by if the crossings were where they were last thought to be
MOVED = 29  # and by that they moved since the list before
M_ROWS = 30
USER_DATA = 3  # place, in a context (n, m, np, user data), of what low-level functions work in
LISTED = 4  # place, in a context of its own, of the number of contacts that g_many is asked for

# --- dfn: addresses of the Jacobians, for the derivative (0: not given, differenced)
DF, DP_F, DH_ALL, DH_K, DT_H, DP_H = 0, 1, 2, 3, 4, 5
DFN_SIZE = 6
STANDS = -1  # in place of an address of Dt_h: h does not depend on t

# --- C: where the derivative stands on its way along the record
AT_RECORD = 0  # the tangents are those at this record, before what is left of its events
AT_EVENT = 1  # the next row of E
AT_LEG = 2  # the parameters in force
ROWS_AT = 3  # record at which the guards' rows were evaluated, -1: none
FIRST = 4  # of a corner: its first row of E,
MANY = 5  # the number of its rows,
NEAR_END = 6  # 1: it is at the end, to what can be told
WANTED = 7  # row of E at which to stop, -1: none
CULPRIT = 8  # guard of a failure
QUIET = 9  # rows of E before this one only change the word: their corner is gone through by itself
HALT = 10  # the record to stop at
END = 11  # the record of the time that is asked for
C_SIZE = 12

# --- how a corner is gone through
WHOLE = 0  # all guards are crossed
AT_START = 1  # the trajectory starts here: guards are crossed or not by the side the perturbed start is on
AT_END = 2  # it ends here: only what is crossed in time counts
TO_GUARD = 3  # up to the crossing of one guard, whose state is asked for

SMALL = 64  # up to this many states Df is formed as a matrix by differences

# --- TV: rows of tangents: their values, those of a stage's state, those of the stages; backwards, also a stage's weight
OWN, STATE, SLOPES, WEIGHT, ROWS = 0, 1, 2, 14, 15

# --- R and E: columns
R_T, R_KIND, R_S1, R_S2, R_S3, R_X = 0, 1, 2, 3, 4, 5
# SHOWN: 1 an event, 0 a change of the word that is none (a guard armed again, a crossing taken back), 2 a near-grazing
E_T, E_GUARD, E_SIGN, E_RESIDUAL, E_RECORD, E_SHOWN = 0, 1, 2, 3, 4, 5
E_SIZE = 6

# --- kinds of a step: a smooth step is its method's number, a hop is HOP + rung; a smooth step that was cut by hopping
# back to a guard adds BACK * rung of that hop.
HOP = 10
BACK = 100
# A spanning step is one row of R, S1 its length; the crossings inside it are rows of E with its own number in RECORD (they
# are in force from the next step on), in order of time, E_T in (R_T of the row before, R_T].
SPAN = 20

# --- codes that the core returns: 1 to 6 are for the caller, 7 to 12 for the judge and 13 for ``span`` (then the core goes
# on), from 20 on failures
GO_ON = 0
AT_CORNER = 1  # of the derivative: somebody has to say which piece is wanted
FINISHED = 1  # tf reached
TERMINATED = 2  # a terminal event
RECORDS_FULL = 3
EVENTS_FULL = 4
BUDGET_SPENT = 5
NEED_WORD = 6  # a guard is zero at the start and no word was given
ASK_STUCK = 7  # a guard was crossed and is not being left
ASK_TURNED = 8  # a guard at hand recedes since another was crossed
ASK_NEAR = 9  # a guard came near and turned back
ASK_BACK = 10  # a guard was crossed back after a very short time
ASK_ANEW = 11  # f or h may have changed: a breakpoint, or other parameters
ASK_REFILL = 12  # the paper's printed rule, after each integrated step
NEED_SPAN = 13  # many guards are ahead: a spanning step
F_FAILED = 20
H_FAILED = 21
DH_FAILED = 22
NOT_FINITE = 23
STEP_TOO_SMALL = 24
TOO_MANY_STEPS = 25
SLIDING = 26
GRAZING = 27
NOT_EVENT_SELECTED = 28
CHATTERING = 29
WRONG_WORD = 30  # b0 contradicts the sign of h
G_FAILED = 31
