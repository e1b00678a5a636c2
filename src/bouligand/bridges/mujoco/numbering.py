"""The tables of what touches and rubs, with the guards, parameters and bristles that belong to it, numbered in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from .contacts import Place
from .couplings import Couplings, wraps
from .features import name_of
from .laws import ExactCoulomb, FrictionLaw, JointFriction, LuGre, NormalLaw, Stops, friction_of
from .table import CONTACT, LIMIT, PAIR, POINT, TENDON

if TYPE_CHECKING:
    from ..._typing import FloatArray

Law = NormalLaw | FrictionLaw | Stops | JointFriction
_JOINT, _TENDON = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_TENDON
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


class Table:
    """Rows of the contact tables, with the names of guards, parameters and bristles that belong to them."""

    def __init__(
        self,
        model: mujoco.MjModel,
        law: NormalLaw,
        friction: FrictionLaw | float | None,
        normal: FloatArray,
        offset: float,
    ) -> None:
        self.model, self.law, self.friction = model, law, friction
        self.normal, self.offset = normal, offset
        self.along, self.across = _directions(normal)
        self.rows: list[np.void] = []
        self.guards: list[str] = []
        self.bristles: list[str] = []
        self.params: dict[str, float] = {}
        self.laws: list[tuple[Law, int]] = []  # (law, where its numbers begin among the parameters)
        self.losses: list[tuple[float, ...]] = []  # rows of dofs with dry friction,
        self.loss_parameters = 0  # and where the parameters of that begin
        self._of_stops = 0  # where the parameters of limits begin
        self.sticks = False  # whether some friction sticks exactly, by sliding on guards,
        # of which some matter only while a contact touches and pushes
        self.active_while: dict[str, tuple[str, ...]] = {}
        self._stuck: dict[int, str] = {}  # of bodies that have such a contact, its name
        self._known: dict[tuple[type, str | None], int] = {}
        self._size = model.nq + model.nv + model.na

    def add(self, place: Place) -> None:
        """One more contact."""
        contact = place.contact
        law = contact.law if contact is not None and contact.law is not None else self.law
        with_floor = place.geoms is None
        usual = friction_of(self.friction, with_floor)
        own = contact is not None and contact.friction is not None
        friction = friction_of(contact.friction, with_floor) if contact is not None and own else usual
        if friction is not None and law.adhesion:
            raise ValueError(
                f"contact {place.name!r} has friction and adhesion=True: friction is proportional to the normal force, and would "
                "accelerate the slip while that pulls; use adhesion=False"
            )
        row = self._row()
        row["touch"] = self._guard(f"{place.name} touches")
        row["pull"] = self._guard(f"{place.name} pushes") if law.has_pull_guard else -1
        row["body1"] = place.body
        row["normal"], row["p_normal"] = law.kind, self._parameters(law, self.law, place.name)
        if place.geoms is None:
            row["kind"] = POINT
            row["point"], row["radius"] = place.point, place.radius
            row["axis"], row["offset"], row["ways"] = self.normal, self.offset, (self.along, self.across)
        else:
            if isinstance(friction, LuGre | ExactCoulomb):
                raise ValueError(
                    f"contact {place.name!r}: {type(friction).__name__} is for contacts with the floor; give it a Coulomb of "
                    "its own"
                )
            row["kind"] = PAIR
            row["geom1"], row["geom2"] = place.geoms
            row["body2"] = self.model.geom_bodyid[place.geoms[1]]
        if friction is not None:
            row["friction"], row["p_friction"] = friction.kind, self._parameters(friction, usual, place.name)
        if isinstance(friction, LuGre):
            row["bristle"] = self._size + len(self.bristles)
            self.bristles += [f"bristle:{place.name}:along", f"bristle:{place.name}:across"]
        row["slips"] = self._slips(place) if isinstance(friction, ExactCoulomb) else -1
        while_pushing = tuple(self.guards[k] for k in (row["touch"], row["pull"]) if k >= 0)
        self.active_while |= {self.guards[k]: while_pushing for k in row["slips"] if k >= 0}

    def _row(self) -> np.void:
        """One more contact, in which all numbers are zero."""
        row: np.void = np.zeros(1, CONTACT)[0]
        self.rows.append(row)
        return row

    def _slips(self, place: Place) -> list[int]:
        """Of friction that sticks exactly: the guards of the slip in the two directions, -1 for one in which nothing moves."""
        body = int(self.model.body_weldid[place.body])
        if body in self._stuck:
            raise ValueError(
                f"contacts {self._stuck[body]!r} and {place.name!r} are on one body: if both stick, their friction is not "
                "unique. ExactCoulomb is for one contact for each body; give one in the middle (Contact(body=..., point=...)), "
                "or take LuGre"
            )
        self._stuck[body] = place.name
        self.sticks = True
        moves = _can_move(self.model, place, (self.along, self.across))
        labels = ("slips along", "slips across") if all(moves) else ("slips", "slips")
        return [self._guard(f"{place.name} {label}") if can else -1 for can, label in zip(moves, labels, strict=True)]

    def add_limits(self, stops: Stops) -> None:
        """A contact for either limit of each joint, and of each tendon, that has limits."""
        model = self.model
        joints, tendons = np.flatnonzero(model.jnt_limited), np.flatnonzero(model.tendon_limited)
        if joints.size + tendons.size == 0:
            return
        self._of_stops = len(self.params)
        self.laws.append((stops, self._of_stops))
        self.params.update(limit_stiffness=stops.stiffness, limit_damping=stops.damping)
        for joint in map(int, joints):
            dof = int(model.jnt_dofadr[joint])
            for sign, bound in zip((-1.0, 1.0), model.jnt_range[joint], strict=True):
                row = self._add_limit(joint_name(model, joint), sign, bound, 1.0 / model.dof_invweight0[dof])
                row["kind"], row["dof"], row["place"] = LIMIT, dof, model.jnt_qposadr[joint]
        for tendon in map(int, tendons):
            in_space = np.any(wraps(model, tendon) != int(mujoco.mjtWrap.mjWRAP_JOINT))
            for sign, bound in zip((-1.0, 1.0), model.tendon_range[tendon], strict=True):
                if sign < 0.0 and bound <= 0.0 and in_space:  # (a string cannot be shorter)
                    continue
                row = self._add_limit(
                    name_of(model, _TENDON, tendon), sign, bound, 1.0 / model.tendon_invweight0[tendon]
                )
                row["kind"], row["tendon"] = TENDON, tendon

    def _add_limit(self, name: str, sign: float, bound: float, inertia: float) -> np.void:
        row = self._row()
        row["pull"], row["p_normal"], row["slips"] = -1, self._of_stops, -1
        row["touch"] = self._guard(f"{name} beyond its {'lower' if sign < 0 else 'upper'} limit")
        row["sign"], row["bound"], row["inertia"] = sign, bound, inertia
        return row

    def add_exact_joint_friction(self) -> None:
        """A row and a guard, its speed, for each dof that has dry friction."""
        losses = _passed_on(self.model)
        for dof in map(int, np.flatnonzero(losses > 0)):
            guard = self._guard(f"{_dof_name(self.model, dof)} moves")
            self.losses.append((dof, float(losses[dof]), 0.0, -1, 0.0, guard))
            self.sticks = True

    def add_joint_friction(self, law: JointFriction | float) -> None:
        """A row for each dof that has dry friction; with a law that sticks also a bristle."""
        model = self.model
        rubbing = np.flatnonzero(model.dof_frictionloss > 0)
        if isinstance(law, JointFriction) and rubbing.size:
            self.loss_parameters = len(self.params)
            self.laws.append((law, self.loss_parameters))
            self.params.update(joint_deflection=law.deflection, joint_damping=law.damping)
        for dof in map(int, rubbing):
            loss, inertia = float(model.dof_frictionloss[dof]), 1.0 / float(model.dof_invweight0[dof])
            if not isinstance(law, JointFriction):
                self.losses.append((dof, loss, law, -1, inertia, -1))
                continue
            # (below this speed the bristle relaxes more slowly than it would: a hundredth of a deflection in a tenth of a second)
            self.losses.append((dof, loss, 0.1 * law.deflection, self._size + len(self.bristles), inertia, -1))
            self.bristles.append(f"bristle:{_dof_name(model, dof)}")

    def _guard(self, name: str) -> int:
        self.guards.append(name)
        return len(self.guards) - 1

    def _parameters(self, law: Law, default: Law | None, label: str) -> int:
        """Where the numbers of a law begin among the parameters; contacts with the same law share them."""
        shared = law == default
        key = (type(law), None if shared else label)
        if key not in self._known:
            self._known[key] = len(self.params)
            self.laws.append((law, len(self.params)))
            for parameter, value in zip(law.parameter_names(), law.parameter_values(), strict=True):
                self.params[parameter if shared else f"{parameter}[{label}]"] = value
        return self._known[key]


def _directions(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two directions in the plane with that normal: x and y for the ground."""
    along = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
    if np.linalg.norm(along) < 0.5:
        along = np.array([0.0, 1.0, 0.0]) - normal[1] * normal
    along /= np.linalg.norm(along)
    return along, np.cross(normal, along)


def joint_name(model: mujoco.MjModel, joint: int) -> str:
    return mujoco.mj_id2name(model, _JOINT, joint) or f"joint{joint}"


def _dof_name(model: mujoco.MjModel, dof: int) -> str:
    """The name of a dof's joint; of a ball or free joint with the number of the dof in it."""
    joint = int(model.dof_jntid[dof])
    several = int(model.jnt_type[joint]) in (_FREE, _BALL)
    return joint_name(model, joint) + (f":{dof - int(model.jnt_dofadr[joint])}" if several else "")


def _passed_on(model: mujoco.MjModel) -> FloatArray:
    """The dry friction of each dof, that of a joint that follows a single other one with that one: they move together."""
    losses, couplings = np.array(model.dof_frictionloss, dtype=float), Couplings(model)
    for dof, row in zip(couplings.dofs, couplings.rows, strict=True):
        others = np.setdiff1d(np.flatnonzero(row), [dof])
        if others.size <= 1:  # (without any it does not move)
            losses[others] += np.abs(row[others]) * losses[dof]
            losses[dof] = 0.0
    return losses


def _can_move(model: mujoco.MjModel, place: Place, directions: tuple[FloatArray, ...]) -> list[bool]:
    """In which of these directions the point of a contact moves, in some of a few poses."""
    data, chance = mujoco.MjData(model), np.random.default_rng(0)
    rows = np.zeros((len(directions), 0))
    for _ in range(3):
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, chance.normal(size=model.nv), 1.0)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        point = data.xpos[place.body] + data.xmat[place.body].reshape(3, 3) @ place.point
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, point, place.body)
        rows = np.hstack([rows, np.array(directions) @ jacobian])
    largest = np.abs(rows).max(axis=1, initial=0.0)
    return [bool(size > 1e-9 * max(largest.max(), 1e-300)) for size in largest]
