"""Layout of the memory of the compiled functions: slots of the block of addresses and sizes, columns of the contact tables.

The block is an array of int64; its address reaches the functions as the user data of their context. Each integration has a
block of its own, with an mjData of its own; mjModel and the tables are shared.
"""

from itertools import count

_slot = count()

# --- MuJoCo's model and data, and arrays in them (addresses)
MODEL, DATA = next(_slot), next(_slot)
QPOS, QVEL, ACT, ACT_DOT, CTRL, APPLIED, QACC = (next(_slot) for _ in range(7))
XPOS, XMAT, COM, CVEL, CDOF = (next(_slot) for _ in range(5))
BODY_ROOT, DOF_PARENT = next(_slot), next(_slot)  # int32

# --- sizes
NQ, NV, NA, NU = (next(_slot) for _ in range(4))
HAS_TENDON, HAS_ACTUATORS = next(_slot), next(_slot)

# --- coordinates: tables of int64
SCALARS, SCALAR_COUNT = next(_slot), next(_slot)  # pairs (index in qpos, dof): q' = v
QUATS, QUAT_COUNT = next(_slot), next(_slot)  # pairs (index in qpos, first dof): q' = q (0, w) / 2
BODY_LAST_DOF = next(_slot)  # last dof of the chain that moves a body, -1 if none does
DOF_FIRST = next(_slot)  # first dof of the ball that a dof belongs to, or itself

# --- contacts
CONTACT_COUNT, CONTACTS, PLACES = next(_slot), next(_slot), next(_slot)
NEEDS_VELOCITY = next(_slot)  # whether any guard is a force
SCRATCH = next(_slot)  # doubles: room for one contact, then a row of nv

# --- dry friction of joints: triples of doubles (dof, friction, speed below which it is rounded off)
LOSSES, LOSS_COUNT = next(_slot), next(_slot)

# --- control
CONTROL, CONTROL_FN, CONTROL_CTX, CONTROL_TABLE, CONTROL_SIZE = (next(_slot) for _ in range(5))
INPUTS, INPUT_DOFS = next(_slot), next(_slot)  # where u is written; for torques on joints, their dofs (0: u is ctrl)

BLOCK_SIZE = next(_slot)

# --- kinds of a contact
POINT, PAIR, LIMIT = 0, 1, 2

# --- a contact: columns of int64
KIND, BODY1, BODY2, GEOM1, GEOM2, TOUCH, PULL, NORMAL, P_NORMAL, FRICTION, P_FRICTION, BRISTLE = range(12)
CONTACT_INTS = 12
DOF, QADR = BODY1, BODY2  # of a joint's limit

# --- a contact: columns of doubles
AT, RADIUS, AXIS, OFFSET, ALONG, ACROSS = (
    0,
    3,
    4,
    7,
    8,
    11,
)  # POINT: in the body's frame; the plane and its two directions
CONTACT_DOUBLES = 14
PAD = RADIUS  # PAIR: by how much the two geoms were shrunk
SIGN, BOUND, INERTIA = 0, 1, 2  # LIMIT

# --- scratch: compression, direction of the push on body 1, where, and the segment from MuJoCo
DEPTH, PUSH, WHERE, SEGMENT, ROW = 0, 1, 4, 7, 13

# --- controls
NO_CONTROL, CONSTANT, FEEDBACK, PD = 0, 1, 2, 3
