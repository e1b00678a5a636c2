"""Layout of the memory of the compiled functions: slots of the block of addresses and sizes, columns of the contact tables.

The block is an array of int64; its address reaches the functions as the user data of their context. Each integration has a
block of its own, with an mjData of its own; mjModel and the tables are shared.
"""

from itertools import count

_slot = count()

# --- MuJoCo's model and data, and arrays in them (addresses)
MODEL, DATA = next(_slot), next(_slot)
LIGHT_MODEL = next(_slot)  # one in which centres of mass are not placed: for guards
QPOS, QVEL, ACT, ACT_DOT, CTRL, APPLIED, QACC = (next(_slot) for _ in range(7))
XPOS, XMAT, COM, CVEL, CDOF = (next(_slot) for _ in range(5))
BODY_ROOT, DOF_PARENT = next(_slot), next(_slot)  # int32

# --- sizes
N, NQ, NV, NA, NU = (next(_slot) for _ in range(5))
HAS_TENDON, HAS_ACTUATORS = next(_slot), next(_slot)

HERE = next(_slot)  # doubles: qpos and qvel of the state at which MuJoCo's data are, and 1 if they are complete there

# --- coordinates: tables of int64
SCALARS, SCALAR_COUNT = next(_slot), next(_slot)  # pairs (index in qpos, dof): q' = v
QUATS, QUAT_COUNT = next(_slot), next(_slot)  # pairs (index in qpos, first dof): q' = q (0, w) / 2
BODY_LAST_DOF = next(_slot)  # last dof of the chain that moves a body, -1 if none does
DOF_FIRST = next(_slot)  # first dof of the ball that a dof belongs to, or itself
DOF_JOINT, JOINT_KIND, JOINT_DOF = (
    next(_slot) for _ in range(3)
)  # int32: a dof's joint; a joint's kind, its first dof
JOINT_AXIS, JOINT_ANCHOR = next(_slot), next(_slot)  # in the world
FREE, SLIDE, HINGE = 0, 2, 3  # kinds of a joint, as MuJoCo has them; 1 is a ball

# --- contacts
CONTACT_COUNT, CONTACTS, PLACES = next(_slot), next(_slot), next(_slot)
NEEDS_TENDON = next(_slot)  # whether any guard is a tendon's limit
TENDON_LENGTH, TENDON_SLOPES = (
    next(_slot),
    next(_slot),
)  # of each tendon; by the dofs that move it, one tendon after the other
TENDON_FIRST, TENDON_NUMBER, TENDON_DOFS = (
    next(_slot) for _ in range(3)
)  # int32: where a tendon's slopes are, and their dofs
SCRATCH = next(_slot)  # doubles: room for one contact, then two rows of nv

# --- dry friction of joints: a row of LOSS_DOUBLES for each dof that has some, and where its parameters begin
LOSSES, LOSS_COUNT, LOSS_PARAMETERS = next(_slot), next(_slot), next(_slot)

# --- joints that follow others: rows of nv doubles (J q = offsets), their dofs, and memory to work in
COUPLING_COUNT, COUPLINGS, COUPLING_OFFSETS, COUPLED = (next(_slot) for _ in range(4))
COUPLING_W, COUPLING_S, COUPLING_Z, SUBSTITUTED = (next(_slot) for _ in range(4))

# --- control
CONTROL, CONTROL_FN, CONTROL_CTX, CONTROL_TABLE, CONTROL_SIZE = (next(_slot) for _ in range(5))
HELD = next(_slot)  # the parameter at which inputs that are held begin
COST, COST_FN, COST_CTX = (next(_slot) for _ in range(3))  # index of the running cost in x (-1: none), and its function
INPUTS, INPUT_DOFS = next(_slot), next(_slot)  # where u is written; for torques on joints, their dofs (0: u is ctrl)

# --- Jacobians: more of MuJoCo's arrays (addresses), constants of joints and actuators, and memory to work in
CDOF_DOT, CINERT, CRB, BODY_CENTRE, GEOM_POS, GEOM_MAT, GEOM_REACH = (next(_slot) for _ in range(7))
BODY_PARENT, DOF_BODY = next(_slot), next(_slot)  # int32
NBODY = next(_slot)
GRAVITY, STIFFNESS, DAMPING = next(_slot), next(_slot), next(_slot)  # 3 doubles; of each dof its spring and its damper
COMPENSATED, HAS_COMPENSATION = next(_slot), next(_slot)  # of each body the mass whose weight is compensated (gravcomp)
COLUMN = next(_slot)  # int64: the row of FORCES that belongs to a dof's position
ACTUATORS = next(_slot)  # doubles, a row of ACTUATOR_DOUBLES for each input
BODY_WORK, DOF_WORK, LAW_WORK = next(_slot), next(_slot), next(_slot)
MARKS = next(_slot)  # a double for each dof: which of a contact's two bodies it moves
FORCES, SOLVED = next(_slot), next(_slot)  # rows of nv: joint forces by one state (or parameter) each, and M^-1 of that
GUARD_ROWS = next(_slot)  # Dh, Dp_h, p and h, where friction sticks exactly
SHIFTED = next(_slot)  # a state, parameters and two rows of inputs, to vary a feedback function

# --- derivatives along a few directions (see `directions`), a part for each: the direction, in x and in tangent coordinates of
# qpos; rows of dofs and of bodies
ALONG_X, ALONG_Q, ALONG_DOFS, ALONG_BODIES = (next(_slot) for _ in range(4))

BLOCK_SIZE = next(_slot)

# --- dry friction of a dof: the dof, the friction, the speed below which |v| is rounded off, the index of its bristle in x (-1:
# none; the friction itself is then rounded off), the inertia of the joint, the guard whose sign it opposes (-1: none)
LOSS_DOF, LOSS, LOSS_SPEED, LOSS_BRISTLE, LOSS_INERTIA, LOSS_GUARD, LOSS_DOUBLES = range(7)

# --- kinds of a contact
POINT, PAIR, LIMIT, TENDON = 0, 1, 2, 3

# --- a contact: columns of int64
KIND, BODY1, BODY2, GEOM1, GEOM2, TOUCH, PULL, NORMAL, P_NORMAL, FRICTION, P_FRICTION, BRISTLE = range(12)
SLIPS = 12  # two: the guards of the slip along and across, of friction that sticks exactly (-1: none)
BALLS = 14  # PAIR: 2 if both geoms are balls, 1 if the first is
CONTACT_INTS = 15
DOF, QADR = BODY1, BODY2  # of a joint's limit
ROPE = BODY1  # of a tendon's limit, the tendon

# --- a contact: columns of doubles
# POINT: in the body's frame; the plane and its two directions
AT, RADIUS, AXIS, OFFSET, ALONG, ACROSS = 0, 3, 4, 7, 8, 11
CONTACT_DOUBLES = 14
PAD = RADIUS  # PAIR: by how much the two geoms were shrunk; of two balls, their radii
SIGN, BOUND, INERTIA = 0, 1, 2  # LIMIT, TENDON

# --- scratch: compression, direction of the push on body 1, where, and the segment from MuJoCo
DEPTH, PUSH, WHERE, SEGMENT, ROW = 0, 1, 4, 7, 13

# --- controls
NO_CONTROL, CONSTANT, FEEDBACK, PD, HOLD = 0, 1, 2, 3, 4

# --- a body's row in BODY_WORK: the force that moves it, the matrix and the momentum of its velocity products
FORCE, GYRATION, MOMENTUM, BODY_DOUBLES = 0, 6, 15, 18

# --- a dof's row in DOF_WORK: velocity and acceleration before its joint and after it; how both change with its speed and its
# angle; its axis times the inertia of all that it moves, and times that's velocity products
V_BEFORE, A_BEFORE, V_AFTER, A_AFTER, BY_SPEED, BY_ANGLE, INERTIAL, GYRAL, DOF_DOUBLES = (
    0,
    6,
    12,
    18,
    24,
    30,
    36,
    42,
    45,
)

# --- a dof's row in ALONG_DOFS: behind its joint, the displacement, and by what velocity and acceleration change beside being
# carried along by that. A body's row in ALONG_BODIES: the same of the force that moves it
SHIFT, V_CHANGE, A_CHANGE, ALONG_DOF_DOUBLES, ALONG_BODY_DOUBLES = 0, 6, 12, 18, 6

# --- LAW_WORK: the derivatives of a contact's force in its depth (3), in the slip and in the normal (3, 3); those of the rates of
# its bristles in the slip (2, 3), of the force in the bristles (2, 3); those of a pair's normal and place in the motion of geom 1
BY_DEPTH, BY_SLIP, BY_NORMAL, BRISTLES_BY_SLIP, BY_BRISTLES, FADE = 0, 3, 12, 21, 27, 33
PAIR_TURNS, PAIR_SHIFTS, PAIR_KEPT, LAW_DOUBLES = 34, 52, 70, 88

# --- an input's row in ACTUATORS: the dof that it drives and that one's index in qpos, gear, gain and bias (each: constant, by
# length, by speed), limits of the input, of the force and of the joint's force; index of its activation in x (-1: none), and how
# fast that follows (0: it is integrated)
DRIVEN, DRIVEN_Q, GEAR, GAIN, BIAS, INPUT_RANGE, FORCE_RANGE, JOINT_RANGE, ACTIVATION, FOLLOWS = (
    0,
    1,
    2,
    3,
    6,
    9,
    11,
    13,
    15,
    16,
)
ACTUATOR_DOUBLES = 17
