"""Robot files from installed packages, and a quadruped made exactly symmetric."""

import importlib.metadata
import importlib.util
import pathlib
import warnings
import xml.etree.ElementTree as ET

import numpy as np

import bouligand as bd
from bouligand.bridges import mujoco as mj

ROBOTS = pathlib.Path(
    str(
        importlib.metadata.distribution("example-robot-data").locate_file(
            "cmeel.prefix/share/example-robot-data/robots"
        )
    )
)
SOLO = ROBOTS / "solo_description/robots/solo12.urdf"
GO2 = ROBOTS / "go2_description/urdf/go2.urdf"
ANYMAL_B = ROBOTS / "anymal_b_simple_description/robots/anymal.urdf"
ANYMAL_C = ROBOTS / "anymal_c_simple_description/urdf/anymal.urdf"
ALLEGRO = ROBOTS / "allegro_hand_description/urdf/allegro_right_hand.urdf"
_spec = importlib.util.find_spec("gymnasium")
ASSETS = pathlib.Path(next(iter(_spec.submodule_search_locations))) / "envs/mujoco/assets"  # type: ignore[union-attr]
ANT = ASSETS / "ant.xml"

LEGS = ("FL", "FR", "HL", "HR")
STANCE = {
    f"{leg}_{joint}": angle
    for leg in LEGS
    for joint, angle in (("HAA", 0.0), ("HFE", 0.8 if leg[0] == "F" else -0.8), ("KFE", -1.6 if leg[0] == "F" else 1.6))
}

BALL = """<mujoco><worldbody><body name="ball" pos="0 0 1"><freejoint name="base"/>
<geom name="ball" type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""
ARM = """<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
<geom name="rod" type="capsule" fromto="0 0 0 0.5 0 0" size="0.02"/><geom name="can" type="cylinder" size="0.1 0.1"/>
<geom name="brick" type="box" size="0.1 0.1 0.1"/></body><geom name="table" type="box" size="1 1 0.1"/></worldbody></mujoco>"""


def solo(source=SOLO, **options):
    """Solo12 with its legs held in a stance that is the same for the front and the back."""
    options = {
        "contacts": "*_FOOT",
        "control": mj.PD(STANCE, kp=30.0, kd=0.5),
        "law": mj.Spring(stiffness=5000.0, damping=30.0),
        "limits": "ignore",
        "free_base": True,
        **options,
    }
    return mj.load(source, **options)


def above_floor(robot, height, **joints):
    """Level, at rest, its lowest contact that high above z = 0."""
    x = robot.x(**{**STANCE, **joints})
    x[2] += height - min(robot.points(x)[:, 2])
    return x


class Trot:
    """A PD of Solo12 towards a trot: torques for a time and a state."""

    def __init__(self, robot, kp=8.0, kd=0.2, most=2.5, frequency=2.0):
        self.q, self.v = (
            np.array([robot.states.index(f"{kind}:{name}") for name in robot.inputs]) for kind in ("qpos", "qvel")
        )
        front = np.array([1.0 if name[0] == "F" else -1.0 for name in robot.inputs])
        self.centre = np.array([STANCE[name] for name in robot.inputs])
        self.lift = front * np.array([{"HAA": 0.0, "HFE": 0.15, "KFE": -0.3}[name[3:]] for name in robot.inputs])
        self.phase = np.array([0.0 if name[:2] in ("FL", "HR") else np.pi for name in robot.inputs])
        self.gains, self.most, self.turn = (kp, kd), most, 2 * np.pi * frequency

    def __call__(self, t, x):
        wanted = self.centre + self.lift * np.sin(self.turn * t + self.phase)
        torque = self.gains[0] * (wanted - x[self.q]) - self.gains[1] * x[self.v]
        return np.minimum(np.maximum(torque, -self.most), self.most)


def trot(robot, seconds, rate=1000, **options):
    """Solo12, loaded with ``Hold()``, trots under torques that are sampled and held: the states at the samples, the stepper."""
    control = Trot(robot)
    stepper = bd.Stepper(robot, (0.0, seconds), above_floor(robot, 0.005), **{"rtol": 1e-4, **options})
    p, samples = robot.parameters(), []
    for k in range(round(rate * seconds)):
        x = stepper.x
        samples.append(x)
        p[robot.held] = control(stepper.t, x)
        stepper.p = p
        stepper.advance((k + 1) / rate)
    return np.array(samples), stepper


def symmetric_solo():
    """Solo12's URDF with its right half made the mirror image of the left: the file itself is symmetric to about 1e-5."""
    root = ET.parse(SOLO).getroot()
    links = {link.get("name"): link for link in root.iter("link")}
    joints = {joint.get("name"): joint for joint in root.iter("joint")}
    for name, link in links.items():
        assert name is not None
        if name[1:2] == "L":
            _mirror(link.find("inertial"), links[f"{name[0]}R{name[2:]}"].find("inertial"))
        elif name[1:2] != "R":
            _mirror(link.find("inertial"), link.find("inertial"), centred=True)
    for name, joint in joints.items():
        assert name is not None
        if name[1:2] == "L":
            _mirror(joint, joints[f"{name[0]}R{name[2:]}"])
    return ET.tostring(root, encoding="unicode")


def _mirror(left, right, centred=False):
    """The origin and the inertia of ``right`` from those of ``left``, y -> -y; or without what is odd in y."""
    odd = 0.0 if centred else -1.0
    x, y, z = map(float, left.find("origin").get("xyz").split())
    right.find("origin").set("xyz", f"{x!r} {odd * y!r} {z!r}")
    tensor, other = left.find("inertia"), right.find("inertia")
    if tensor is not None:
        for key in ("ixx", "iyy", "izz", "ixz", "ixy", "iyz"):
            other.set(key, repr((odd if key in ("ixy", "iyz") else 1.0) * float(tensor.get(key, 0.0))))
        right.find("mass").set("value", left.find("mass").get("value"))


def mirrored(robot, x):
    """The state of a quadruped seen in a mirror, y -> -y."""
    y = x.copy()
    y[[1, 4, 6]] *= -1.0
    nq = robot.model.nq
    y[[nq + 1, nq + 3, nq + 5]] *= -1.0
    for name, value in zip(robot.states, x, strict=True):
        kind, _, joint = name.partition(":")
        if joint[:2] in LEGS:
            other = f"{kind}:{joint[0]}{'R' if joint[1] == 'L' else 'L'}{joint[2:]}"
            y[robot.states.index(other)] = -value if joint.endswith("HAA") else value
    return y


def when(sol, ending, direction=None):
    """Times of the events whose guard's name ends so."""
    wanted = np.array([str(name).endswith(ending) for name in sol.events.name], dtype=bool)
    return sol.events.t[wanted if direction is None else wanted & (sol.events.direction == direction)]


def random_state(robot, seed, speed=1.0):
    rng = np.random.default_rng(seed)
    x = robot.neutral()
    nq = robot.model.nq
    x[:nq] += 0.3 * rng.normal(size=nq)
    for q, _ in robot.memory.quats:
        x[q : q + 4] /= np.linalg.norm(x[q : q + 4])
    x[nq:] = speed * rng.normal(size=robot.n - nq)
    return x


def quietly(*arguments, **options):
    """A robot whose file is known to be repaired when it is loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mj.RobotFileWarning)
        return mj.load(*arguments, **options)
