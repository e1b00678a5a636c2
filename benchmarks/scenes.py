"""Robots from their files for which the quadruped benchmark compares us with MuJoCo: what moves, how it starts, what drives it.

Both sides get the same file with the same changes; they differ in the contact. Ours is a spring and a damper in N/m and N s/m.
MuJoCo's is its soft contact with direct stiffness and damping (negative solref), scaled with the inverse weight of the bodies and
at the smallest impedance, so that both stand equally deep: the nearest that its law comes.
"""

import warnings
from typing import Any

import numpy as np
from numba import njit, types
from tests.helpers import robots

MU, SLIP = 0.7, 0.05  # friction, and the speed (m/s) below which ours is rounded off

_mj_step = types.ExternalFunction("mj_step", types.void(types.int64, types.int64))


@njit
def _driven(model, data, count, first, dt, gait, ctrl):
    """Steps of MuJoCo, each with the targets of its beginning (rows of the gait: centre, amplitude, omega, phase, kd / kp)."""
    for k in range(first, first + count):
        for i in range(ctrl.shape[0]):
            centre, amplitude, omega, phase, lead = gait[i]
            angle = omega * k * dt + phase
            ctrl[i] = centre + amplitude * (np.sin(angle) + lead * omega * np.cos(angle))
        _mj_step(model, data)


def set_joint(joint, **values):
    """Springs and dampers of a joint. (MuJoCo 4 has polynomials there.)"""
    for name, value in values.items():
        shape = np.shape(getattr(joint, name))
        setattr(joint, name, np.r_[value, np.zeros(shape[0] - 1)] if shape else value)


class Scene:
    """A robot, what it touches, and its start. Subclasses say which."""

    name = ""  # for tables
    file: Any = None
    duration = 1.0
    stiffness, damping = 4000.0, 40.0  # of a contact: N/m, N s/m
    free_base = False  # of `mj.load`
    stands = False  # whether it comes to rest on its contacts

    def __init__(self, friction):
        self.friction = friction

    @property
    def gait(self) -> Any:
        """A row for each actuator, see `_driven`; None: there are none."""
        return None

    def edit(self, spec):
        """Changes to the file that both sides get."""

    def start(self, qpos):
        """Its coordinates at the start; it is at rest."""

    def contacts(self):
        """Of `mj.load`."""
        return "feet"

    def control(self):
        """Of `mj.load`."""
        return None

    def ours(self):
        from bouligand.bridges import mujoco as mj

        control = self.control()
        robot = robots.quietly(
            self.file,
            contacts=self.contacts(),
            law=mj.Spring(self.stiffness, self.damping),
            friction=mj.Coulomb(MU, SLIP) if self.friction else None,
            limits="ignore",
            edit=self.edit,
            **({} if control is None else {"control": control}),
            free_base=self.free_base,
        )
        x0 = robot.neutral()
        self.start(x0[: robot.model.nq])
        return robot, x0

    def model(self, integrator, dt):
        """MuJoCo's model: balls where ours has contacts, or the same pairs of geoms, by its soft contact."""
        import mujoco

        from bouligand.bridges.mujoco import RobotFileWarning
        from bouligand.bridges.mujoco.robot_file import read_model

        robot, _ = self.ours()

        def edit(spec, weights=None):
            self.edit(spec)
            spec.option.timestep = dt
            spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
            # (a pyramid makes the normal force softer or harder, too)
            spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
            for joint in spec.joints:
                joint.limited = False
            for geom in spec.geoms:  # (only what ours touches with)
                geom.contype = geom.conaffinity = 0
            self.drive(spec)
            spec.worldbody.add_geom(
                name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=0, conaffinity=0
            )
            for q, place in enumerate(robot.places):
                if place.geoms is None:
                    name = robot.model.body(place.body).name  # (the ant's have none, but stand in the same order)
                    body = next((b for b in spec.bodies if name and b.name == name), spec.bodies[place.body])
                    body.add_geom(
                        name=f"ball {q}", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[place.radius, 0, 0], pos=place.point,
                        mass=0, contype=0, conaffinity=0,
                    )  # fmt: skip
                    two = f"ball {q}", "ground"
                else:
                    two = tuple(robot.model.geom(geom).name for geom in place.geoms)
                weight = 1.0 if weights is None else weights[q]
                spec.add_pair(
                    name=f"pair {q}", geomname1=two[0], geomname2=two[1], condim=3 if self.friction else 1,
                    friction=[MU, MU, 0.005, 1e-4, 1e-4], solref=[-self.stiffness * weight, -self.damping * weight],
                    solimp=[1e-4, 1e-4, 1e-3, 0.5, 2],
                )  # fmt: skip

        def read(**weights):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RobotFileWarning)
                return read_model(self.file, edit=lambda spec: edit(spec, **weights), free_base=self.free_base)

        with_unit = read()
        one, two = (with_unit.geom_bodyid[with_unit.pair_geom1], with_unit.geom_bodyid[with_unit.pair_geom2])
        weights = with_unit.body_invweight0[one, 0] + with_unit.body_invweight0[two, 0]
        order = [with_unit.pair(f"pair {q}").id for q in range(len(robot.places))]
        return read(weights=weights[order])

    def drive(self, spec):
        """Actuators for MuJoCo."""


class Drop(Scene):
    """Solo12, dropped level onto its four feet, with springs and dampers in its joints that hold a stance."""

    name = "Solo12 dropped level"
    file = robots.SOLO
    stands = True
    free_base = True
    kp, kd, height, radius = (
        4.0,
        0.1,
        0.35,
        0.016,
    )  # of a joint: N m/rad, N m s/rad; of the base at the start; of a foot: m

    def edit(self, spec):
        for joint in spec.joints:
            if joint.name in robots.STANCE:
                joint.springref = robots.STANCE[joint.name]
                set_joint(joint, stiffness=self.kp, damping=self.kd)

    def start(self, qpos):
        qpos[:7] = 0.0, 0.0, self.height, 1.0, 0.0, 0.0, 0.0
        qpos[7:] = list(robots.STANCE.values())

    def contacts(self):
        from bouligand.bridges import mujoco as mj

        return [mj.Contact(site=f"{leg}_FOOT", radius=self.radius) for leg in robots.LEGS]


class Trot(Drop):
    """Solo12, diagonal legs in turn, by a PD controller in each joint."""

    name = "Solo12 in a trot"
    stands = False
    duration, kp, kd, height = 5.0, 6.0, 0.2, 0.24
    frequency = 2.0

    def edit(self, spec):
        pass

    def targets(self):
        """Of each joint: centre, amplitude, phase."""
        out = {}
        for leg, phase in zip(robots.LEGS, (0.0, np.pi, np.pi, 0.0), strict=True):
            front = 1.0 if leg[0] == "F" else -1.0
            out[f"{leg}_HAA"] = 0.0, 0.0, 0.0
            out[f"{leg}_HFE"] = 0.8 * front, 0.15, phase
            out[f"{leg}_KFE"] = -1.6 * front, 0.25 * front, phase + 0.5 * np.pi
        return out

    def control(self):
        from bouligand.bridges import mujoco as mj

        gait = {joint: mj.Sinusoid(c, a, self.frequency, phase) for joint, (c, a, phase) in self.targets().items()}
        return mj.PD(gait, kp=self.kp, kd=self.kd)

    @property
    def gait(self):
        omega = 2.0 * np.pi * self.frequency
        return np.array([(c, a, omega, phase, self.kd / self.kp) for c, a, phase in self.targets().values()])

    def drive(self, spec):
        import mujoco

        for joint in self.targets():
            actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.set_to_position(kp=self.kp, kv=self.kd)


class Ant(Scene):
    """Gymnasium's ant, limp, its ankles bent, dropped with a tilt: it lands on one foot after the other."""

    name = "Gymnasium's ant dropped"
    file = robots.ANT
    damping = 60.0

    def start(self, qpos):
        qpos[:7] = 0.0, 0.0, 0.9, 0.98, 0.15, 0.1, 0.0
        qpos[3:7] /= np.linalg.norm(qpos[3:7])
        qpos[7:] = 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0


class Hand(Scene):
    """The Allegro hand closes four fingers on a ball of 0.2 kg that floats in front of it."""

    name = "Allegro closing on a ball"
    file = robots.ALLEGRO
    stiffness, damping = 4000.0, 10.0
    kp, kd = 1.0, 0.05
    tips = "link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip"

    def edit(self, spec):
        import mujoco

        sphere = mujoco.mjtGeom.mjGEOM_SPHERE
        for joint in spec.joints:
            joint.frictionloss, joint.armature = 0.0, 1e-4
            set_joint(joint, damping=0.02)
        for site in list(spec.sites):
            if site.name in self.tips:
                site.parent.add_geom(name=f"{site.name}_ball", type=sphere, size=[0.012, 0, 0], pos=site.pos, mass=0)
        ball = spec.worldbody.add_body(name="ball", pos=[0.09, 0.0, 0.08], gravcomp=1.0)
        ball.add_freejoint(name="ball")
        ball.add_geom(name="ball", type=sphere, size=[0.035, 0, 0], mass=0.2)

    def start(self, qpos):
        pass

    def contacts(self):
        return [(f"{tip}_ball", "ball") for tip in self.tips]

    def closed(self):
        return {f"joint_{i}.0": 0.0 if i in (0, 4, 8, 13) else 0.9 for i in range(16)}

    def control(self):
        from bouligand.bridges import mujoco as mj

        return mj.PD(self.closed(), kp=self.kp, kd=self.kd)

    @property
    def gait(self):
        return np.array([(angle, 0.0, 0.0, 0.0, 0.0) for angle in self.closed().values()])

    def drive(self, spec):
        import mujoco

        for joint in self.closed():
            actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.set_to_position(kp=self.kp, kv=self.kd)


class MuJoCo:
    """One of MuJoCo's integrators with a time step, on a scene."""

    def __init__(self, scene, integrator, dt):
        import mujoco

        self.mujoco, self.scene, self.dt = mujoco, scene, dt
        self.NAME, self.setting = f"MuJoCo, {integrator}", f"dt = {dt:.0e}"
        self.model = scene.model(integrator, dt)
        self.data = mujoco.MjData(self.model)
        self.count, self.done = round(scene.duration / dt), 0

    def reset(self):
        self.mujoco.mj_resetData(self.model, self.data)
        self.scene.start(self.data.qpos)
        self.done = 0

    def steps(self, count):
        if self.scene.gait is None:
            self.mujoco.mj_step(self.model, self.data, count)
        else:
            _driven(self.model._address, self.data._address, count, self.done, self.dt, self.scene.gait, self.data.ctrl)
        self.done += count

    def run(self):
        self.reset()
        self.steps(self.count)
        return self

    def sample(self, times):
        self.reset()
        out = np.empty((times.size, self.model.nq + self.model.nv))
        for row, t in zip(out, times, strict=True):
            self.steps(round(t / self.dt) - self.done)
            row[:] = np.r_[self.data.qpos, self.data.qvel]
        return out
