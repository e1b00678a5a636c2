"""The memory of the compiled functions by name: ``r.cdof[k]``, ``r.contacts[i].radius`` (see `core.compiler.tables`).

Each integration has a table of its own, with an mjData of its own, whose address reaches the functions as the user data of
their context. Arrays of the model, and what is made of it once, are shared. `memory` fills in what has its names here.
"""

import functools

import numpy as np

from ...core.compiler import jit
from ...core.compiler.tables import integers_at, opener
from ...core.state import USER_DATA, Table

core = functools.partial(jit.core, natural=True)  # the decorator of compiled functions here: none has a negative index

# what is found by a number in a record
FREE, SLIDE, HINGE = 0, 2, 3  # kinds of a joint, as MuJoCo has them; 1 is a ball
POINT, PAIR, LIMIT, TENDON = 0, 1, 2, 3  # kinds of a contact
NO_CONTROL, CONSTANT, FEEDBACK, PD, HOLD = 0, 1, 2, 3, 4  # kinds of a control
BOTH_BALLS, FIRST_BALL = 2, 1  # of a contact of two geoms


def record(*fields):
    """A dtype of 8-byte numbers, each written as ``"name"`` (a float), ``"name: int"``, or several as ``"name x 2 x 3"``."""

    def field(text):
        name, _, kind = text.partition(": ")
        name, *shape = name.split(" x ")
        return name, np.int64 if kind == "int" else np.float64, tuple(map(int, shape))

    return np.dtype([field(text) for text in fields], align=True)


MUJOCO = record(
    "model: int",  # addresses of mjModel and mjData
    "data: int",
    "light_model: int",  # a model in which centres of mass are not placed: for guards
    "complete: int",  # 1: the data have all that positions and velocities determine at the state ``here``
)
SIZES = record(
    "n: int",
    "nq: int",
    "nv: int",
    "na: int",
    "nu: int",  # inputs
    "tendons: int",
    "actuators: int",
    "tendon_guards: int",  # 1: some guard is a tendon's limit
    "compensated: int",  # 1: the weight of some body is compensated
    "friction_parameters: int",  # where those of joints' friction begin
)
CONTROL = record(
    "kind: int",
    "function: int",  # the address of a feedback, and its context
    "context: int",
    "held: int",  # the parameter at which inputs that are held begin
    "cost: int",  # index of the running cost in x (-1: none), and the address of its function
    "cost_function: int",
)

CONTACT = record(
    "kind: int",
    "touch: int",  # the guard that is positive while it touches,
    "pull: int",  # and the one that is positive while it pushes (-1: it never pulls)
    "normal: int",  # the kind of its normal force, and where the numbers of that begin among the parameters
    "p_normal: int",
    "friction: int",
    "p_friction: int",
    "bristle: int",  # LuGre: index in x of the first of two bristles
    "slips x 2: int",  # the guards of the slip along and across, of friction that sticks exactly (-1: none)
    "body1: int",
    "body2: int",  # 0: the world
    # POINT: a place in the body's frame, and a plane in the world with two directions, along and across
    "point x 3",
    "radius",
    "axis x 3",
    "offset",
    "ways x 2 x 3",
    # PAIR
    "geom1: int",
    "geom2: int",
    "balls: int",
    "pads x 2",  # by how much each of them was shrunk; of two balls, their radii
    # LIMIT: of a joint; TENDON: of a tendon
    "dof: int",
    "place: int",  # in qpos
    "tendon: int",
    "sign",
    "bound",
    "inertia",
)
PLACED = record(
    "depth",  # how deep the contact is pressed
    "push x 3",  # the direction of the push on body 1,
    "where x 3",
    "segment x 6",  # between the nearest points of two geoms, from MuJoCo
)
LOSS = record(
    "dof: int",
    "loss",  # its dry friction,
    "speed",  # and the speed below which |v| is rounded off (without a bristle: the friction itself)
    "bristle: int",  # index in x, -1: none
    "inertia",  # of the joint
    "guard: int",  # whose sign the friction opposes, -1: none
)
ACTUATOR = record(
    "dof: int",  # that it drives,
    "place: int",  # and where its angle is in qpos
    "gear",
    "gain x 3",  # constant, by length, by speed
    "bias x 3",
    "input_range x 2",
    "force_range x 2",
    "joint_range x 2",
    "activation: int",  # index in x, -1: none
    "follows",  # how fast the activation follows the input; 0: it is integrated
)
GAIT = record(
    "angle: int",  # of the joint that an input drives: index in x, and that of its speed
    "speed: int",
    "kp: int",  # the gains among the parameters; -1: this input is not held
    "kd: int",
    "factor",  # from torque to input
    "frequency",
    "centre",
    "amplitude",
    "phase",
)

# --- what Jacobians work in
BODY = record(
    "force x 6",  # that moves it,
    "gyration x 9",  # and the matrix and the momentum of its velocity products
    "momentum x 3",
)
DOF = record(
    "v_before x 6",  # velocity and acceleration before its joint,
    "a_before x 6",
    "v_after x 6",  # and after it
    "a_after x 6",
    "by_speed x 6",  # how both change with its speed,
    "by_angle x 6",  # and with its angle
    "inertial x 6",  # its axis times the inertia of all that it moves,
    "gyral x 3",  # and times the velocity products of that
)
DOF_ALONG = record(
    "shift x 6",  # of a direction, after the joint: the displacement,
    "v_change x 6",  # and by what velocity and acceleration change beside being carried along by that
    "a_change x 6",
)
BODY_ALONG = record("change x 6")  # the same of the force that moves it
SLOPES = record(
    "by_depth x 3",  # of the force of a contact: its derivatives in the depth, the slip and the normal
    "by_slip x 3 x 3",
    "by_normal x 3 x 3",
    "bristles_by_slip x 2 x 3",  # of the rates of its bristles in the slip,
    "by_bristles x 2 x 3",  # and of the force in the bristles
    "fade",
    "turns x 6 x 3",  # of the normal of two geoms in the motion of the first one,
    "shifts x 6 x 3",  # and of their place
    "kept x 9",
)

COUPLINGS = Table(
    "couplings",
    J="matrix",  # J q = offsets, a row for each joint that follows
    offsets="vector",
    dofs="integers",  # the dof of each
    W="matrix",  # M^-1 J'
    S="matrix",  # the Cholesky factor of J M^-1 J'
    z="vector",
    x="vector",  # a state with these joints in place
)
ROBOT = Table(
    "robot",
    mujoco=MUJOCO,
    sizes=SIZES,
    # of mjData
    qpos="vector",
    qvel="vector",
    qacc="vector",
    act="vector",
    act_dot="vector",
    applied="vector",
    xpos="matrix x 3",
    xmat="matrix x 9",
    com="matrix x 3",  # of the tree of each body
    cvel="matrix x 6",
    cdof="matrix x 6",
    cdof_dot="matrix x 6",
    cinert="matrix x 10",
    crb="matrix x 10",
    body_centre="matrix x 3",
    geom_pos="matrix x 3",
    geom_mat="matrix x 9",
    joint_axis="matrix x 3",  # in the world
    joint_anchor="matrix x 3",
    tendon_length="vector",
    tendon_slopes="vector",  # by the dofs that move it, one tendon after the other
    # of the model (its integers have 32 bits, these are copies)
    geom_reach="vector",
    body_root="integers",
    body_parent="integers",
    body_last_dof="integers",  # last dof of the chain that moves a body, -1 if none does
    dof_parent="integers",
    dof_body="integers",
    dof_joint="integers",
    dof_first="integers",  # first dof of the ball that a dof belongs to, or itself
    dof_column="integers",  # the row of ``forces`` that belongs to its position
    joint_kind="integers",
    joint_dof="integers",  # its first dof
    tendon_first="integers",  # where a tendon's slopes begin,
    tendon_number="integers",  # how many there are,
    tendon_dofs="integers",  # and their dofs
    scalars="indices x 2",  # pairs (index in qpos, dof): q' = v
    quats="indices x 2",  # pairs (index in qpos, first dof): q' = q (0, w) / 2
    gravity="vector",
    stiffness="vector",  # of each dof's spring and damper
    damping="vector",
    compensated="vector",  # of each body the mass whose weight is compensated (gravcomp)
    here="vector",  # qpos and qvel of the state at which MuJoCo's data are
    rates="vector",  # x', where nobody asks for it
    # contacts, dry friction of joints, joints that follow others
    contacts=[CONTACT],
    placed=PLACED,
    losses=[LOSS],
    couplings=COUPLINGS,
    # control
    control=CONTROL,
    inputs="vector",  # u
    input_dofs="integers",  # of torques on joints; empty: u is MuJoCo's ctrl
    times="vector",  # at which constant inputs change,
    schedule="matrix",  # and these
    gaits=[GAIT],
    actuators=[ACTUATOR],
    # Jacobians
    bodies=[BODY],
    dofs=[DOF],
    slopes=SLOPES,
    marks="integers",  # of each dof: which of a contact's two bodies it moves
    contact_rows="matrix",  # two, of nv
    forces="matrix",  # rows of nv: joint forces by one state (or parameter) each,
    solved="matrix",  # and M^-1 of that
    guards_by_x="matrix",  # where friction sticks exactly: Dh, Dp_h, p and h
    guards_by_p="matrix",
    guard_p="vector",
    guard_h="vector",
    varied="vector",  # a state or parameters, to vary a function of the user,
    inputs_low="vector",  # and the inputs on either side
    inputs_high="vector",
    cost_rate="vector",
    columns="matrix",  # without rows: no directions (see `entries`)
    # derivatives along a few directions (see `directions`), a row for each: in x, and in tangent coordinates of qpos
    along_x="matrix",
    along_q="matrix",
    dofs_along=[[DOF_ALONG]],
    bodies_along=[[BODY_ALONG]],
)
robot = opener(ROBOT)


@core
def opened(ctx):
    """The table of the robot whose function has this context; the numbers of its states, guards and parameters."""
    words = integers_at(ctx, USER_DATA + 1)
    return robot(words[USER_DATA]), words[0], words[1], words[2]
