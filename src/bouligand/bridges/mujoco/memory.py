"""The memory that the compiled functions work in: an mjData and a block of addresses for each integration.

MuJoCo's model and the tables of contacts and coordinates are shared and never written to after they were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ...core.state import MOST_ALONG
from ...errors import PerformanceWarning
from ...system.caught import Failures
from ...system.reasons import name_error, undefined_name, why
from ...system.warning import warn_user
from . import layout as at
from .couplings import Couplings
from .formulas import Constants
from .hostile import RobotFileWarning
from .own_models import light_copy, place_few_geoms, smooth_copy

if TYPE_CHECKING:
    from ..._typing import FloatArray, IntArray
    from .driver import Driver

BALL = int(mujoco.mjtGeom.mjGEOM_SPHERE)
ROUND = (BALL, int(mujoco.mjtGeom.mjGEOM_CAPSULE))
CORE = 1e-3  # of its radius: to that a round geom that touches another is shrunk
_QUIET = np.ones(len(mujoco.mjtWarning.__members__) - 1, dtype=np.int32).tobytes()  # counts of warnings, after none


class Memory:
    """``memory()`` makes a block: its address, and what keeps it alive. It can be pickled; blocks are made anew."""

    def __init__(
        self,
        model: mujoco.MjModel,
        rows: Sequence[IntArray],
        places: Sequence[FloatArray],
        driver: Driver,
        losses: Sequence[Sequence[float]],
        n: int,
        parameters: int,
        loss_parameters: int = 0,
        cost: Any = None,
    ) -> None:
        self.model = smooth_copy(model)
        self.rows = np.ascontiguousarray(rows, dtype=np.int64).reshape(-1, at.CONTACT_INTS)
        self.places = np.ascontiguousarray(places, dtype=float).reshape(-1, at.CONTACT_DOUBLES)
        self.driver = driver
        self.cost = cost  # the UserFunction of a running cost, whose state is the last
        self.losses = np.ascontiguousarray(losses, dtype=float).reshape(-1, at.LOSS_DOUBLES)
        self.loss_parameters = loss_parameters
        self.couplings = Couplings(model)
        self.sizes = {"n": n, "m": len(driver.names), "p": parameters}
        self.sticks = bool((self.rows[:, at.SLIPS :] >= 0).any() or (self.losses[:, at.LOSS_GUARD] >= 0).any())
        self.scalars, self.quats = coordinates(model)
        self.last_dof = _last_dofs(model)
        self.first_dof = np.arange(model.nv, dtype=np.int64)
        for _, dof in self.quats:
            self.first_dof[dof : dof + 3] = dof
        self.columns = np.zeros(
            model.nv, dtype=np.int64
        )  # (a quaternion has a fourth one, after those of its three dofs)
        self.columns[self.scalars[:, 1]] = self.scalars[:, 0]
        for q, dof in self.quats:
            self.columns[dof : dof + 3] = range(q, q + 3)
        self.constants = Constants(self.model)
        for number, row in enumerate(self.rows):
            if row[at.KIND] == at.PAIR:
                self._shrink(row, self.places[number])
        place_few_geoms(self.model, self.rows)
        self.light = light_copy(self.model)
        self._bound: dict[str, tuple[int, object]] = {}  # functions of the user
        self.failures = Failures()

    def _shrink(self, row: IntArray, place: FloatArray) -> None:
        first, second = (int(self.model.geom_type[row[column]]) == BALL for column in (at.GEOM1, at.GEOM2))
        row[at.BALLS] = 0 if not first else 2 if second else 1
        for column, pad in ((at.GEOM1, at.PAD), (at.GEOM2, at.PAD + 1)):
            geom = int(row[column])
            if row[at.BALLS] == 2:
                place[pad] = self.original_radius(geom)
            elif int(self.model.geom_type[geom]) in ROUND:
                full = self.original_radius(geom)
                self.model.geom_size[geom, 0] = CORE * full
                place[pad] = (1.0 - CORE) * full

    def original_radius(self, geom: int) -> float:
        """The radius of a round geom before it was shrunk."""
        radii: dict[int, float] = self.__dict__.setdefault("_radii", {})
        return radii.setdefault(geom, float(self.model.geom_size[geom, 0]))

    def address_of(self, function: Any) -> int:
        """The address of a feedback function or a cost, compiled when first needed (where that is not possible, called as
        Python); 0 for None."""
        if function is None:
            return 0
        if function.name not in self._bound:
            try:
                self._bound[function.name] = function.bind(True, self.sizes, self.failures)
            except Exception as error:
                if missing := undefined_name(error):
                    raise name_error(function.name, missing, function.given) from None
                warn_user(
                    f"{function.name} does not compile: {why(error)}\nIt runs as plain Python, far slower.",
                    PerformanceWarning,
                )
                self._bound[function.name] = function.bind(False, self.sizes, self.failures)
        return self._bound[function.name][0]

    def neutral(self) -> FloatArray:
        """The state at rest in the reference pose."""
        x = np.zeros(self.sizes["n"])
        x[: self.model.nq] = self.model.qpos0
        self.put_in_place(x)
        return x

    def put_in_place(self, x: FloatArray) -> None:
        """Put the joints of a state that follow others to where they belong."""
        nq, nv = self.model.nq, self.model.nv
        self.couplings.substitute(x[:nq], x[nq : nq + nv])

    def try_out(self, x: FloatArray, p: FloatArray) -> None:
        """Call functions of the user once from Python: what they raise, or a wrong number of values, is reported at once."""
        names, u = self.driver.names, np.zeros(len(self.driver.names))
        for function, more in ((self.driver.function, ()), (self.cost, (u,))):
            if function is not None:
                try:
                    values = function(self.sizes, 0.0, x, p, *more)
                    function.check_shape(self.sizes, values, 0.0, x)
                except Exception as error:
                    error.add_note(
                        f"in {function.name}(t = 0, x = {x}), called once to check it; inputs: {', '.join(names)}"
                    )
                    raise

    def after_use(self, piece: tuple[int, Any]) -> None:
        """Tell what MuJoCo has warned of in a piece of memory, such as a mass matrix that cannot be inverted.

        MuJoCo itself writes only the first warning of each kind, to a file in the current folder, and counts the others. Here
        there is a first one from the beginning.
        """
        _, (data, counts, *_) = piece
        if counts.tobytes() != _QUIET:
            kinds, counts[:] = np.flatnonzero(counts > 1), 1
            for kind in kinds.tolist():
                text = mujoco.mju_warningText(kind, int(data.warning[kind].lastinfo))
                warn_user(f"MuJoCo, at a state of the robot: {text}", RobotFileWarning)

    def __call__(self) -> tuple[int, object]:
        model, data = self.model, mujoco.MjData(self.model)
        counts = data.warning.number
        counts[:] = 1
        mujoco.mj_forward(model, data)  # raises an exception here if MuJoCo cannot compute the model
        block = np.zeros(at.BLOCK_SIZE, dtype=np.int64)
        scratch = np.zeros(at.ROW + 2 * model.nv)
        inputs = np.zeros(max(len(self.driver.names), 1))
        sizes = np.array([self.sizes["n"], self.sizes["m"], self.sizes["p"], 0], dtype=np.int64)
        arrays = {
            at.QPOS: data.qpos,
            at.QVEL: data.qvel,
            at.ACT: data.act,
            at.ACT_DOT: data.act_dot,
            at.CTRL: data.ctrl,
            at.APPLIED: data.qfrc_applied,
            at.QACC: data.qacc_smooth,
            at.XPOS: data.xpos,
            at.XMAT: data.xmat,
            at.COM: data.subtree_com,
            at.CVEL: data.cvel,
            at.CDOF: data.cdof,
            at.BODY_ROOT: model.body_rootid,
            at.DOF_PARENT: model.dof_parentid,
            at.SCALARS: self.scalars,
            at.QUATS: self.quats,
            at.BODY_LAST_DOF: self.last_dof,
            at.DOF_FIRST: self.first_dof,
            at.DOF_JOINT: model.dof_jntid,
            at.JOINT_KIND: model.jnt_type,
            at.JOINT_DOF: model.jnt_dofadr,
            at.JOINT_AXIS: data.xaxis,
            at.JOINT_ANCHOR: data.xanchor,
            at.CONTACTS: self.rows,
            at.PLACES: self.places,
            at.SCRATCH: scratch,
            at.HERE: np.zeros(model.nq + model.nv + 1),
            **_tendons(model, data),
            at.LOSSES: self.losses,
            at.COUPLINGS: self.couplings.rows,
            at.COUPLING_OFFSETS: self.couplings.offsets,
            at.COUPLED: self.couplings.dofs,
            at.COUPLING_W: np.zeros((len(self.couplings), model.nv)),
            at.COUPLING_S: np.zeros((len(self.couplings), len(self.couplings))),
            at.COUPLING_Z: np.zeros(len(self.couplings)),
            at.SUBSTITUTED: np.zeros(self.sizes["n"]),
            at.CONTROL_TABLE: self.driver.table,
            at.CONTROL_CTX: sizes,
            at.COST_CTX: sizes,
            at.INPUTS: inputs if self.driver.torques else data.ctrl,
            **self._for_jacobians(data),
        }
        if self.driver.torques and self.driver.kind != at.NO_CONTROL:
            arrays[at.INPUT_DOFS] = self.driver.dofs
        for slot, array in arrays.items():
            block[slot] = array.ctypes.data
        numbers = {
            at.MODEL: model._address,
            at.LIGHT_MODEL: self.light._address,
            at.DATA: data._address,
            at.N: self.sizes["n"],
            at.NQ: model.nq,
            at.NV: model.nv,
            at.NA: model.na,
            at.NU: len(self.driver.names),
            at.HAS_TENDON: model.ntendon,
            at.HAS_ACTUATORS: model.nu,
            at.SCALAR_COUNT: len(self.scalars),
            at.QUAT_COUNT: len(self.quats),
            at.CONTACT_COUNT: len(self.rows),
            at.NBODY: model.nbody,
            at.HAS_COMPENSATION: int(self.constants.compensated.any()),
            at.NEEDS_TENDON: int((self.rows[:, at.KIND] == at.TENDON).any()),
            at.LOSS_COUNT: len(self.losses),
            at.LOSS_PARAMETERS: self.loss_parameters,
            at.COUPLING_COUNT: len(self.couplings),
            at.CONTROL: self.driver.kind,
            at.CONTROL_SIZE: self.driver.size,
            at.CONTROL_FN: self.address_of(self.driver.function),
            at.HELD: self.driver.held.start,
            at.COST: -1 if self.cost is None else self.sizes["n"] - 1,
            at.COST_FN: self.address_of(self.cost),
        }
        for slot, number in numbers.items():
            block[slot] = number
        piece = block.ctypes.data, (data, counts, block, arrays, self)
        self.after_use(piece)
        return piece

    def _for_jacobians(self, data: mujoco.MjData) -> dict[int, Any]:
        """What only ``jacobians`` needs."""
        model, n, inputs = self.model, self.sizes["n"], len(self.driver.names)
        parameters = self.sizes["p"]
        held = self.driver.held
        rows = max(n, MOST_ALONG, parameters if held.stop == held.start else held.start + inputs)
        return {
            at.CDOF_DOT: data.cdof_dot,
            at.CINERT: data.cinert,
            at.CRB: data.crb,
            at.BODY_CENTRE: data.xipos,
            at.GEOM_POS: data.geom_xpos,
            at.GEOM_MAT: data.geom_xmat,
            at.GEOM_REACH: model.geom_rbound,
            at.BODY_PARENT: model.body_parentid,
            at.DOF_BODY: model.dof_bodyid,
            at.GRAVITY: self.constants.gravity,
            at.STIFFNESS: self.constants.stiffness,
            at.DAMPING: self.constants.damping,
            at.ACTUATORS: self.constants.actuators,
            at.COMPENSATED: self.constants.compensated,
            at.COLUMN: self.columns,
            at.BODY_WORK: np.zeros((model.nbody, at.BODY_DOUBLES)),
            at.DOF_WORK: np.zeros((model.nv, at.DOF_DOUBLES)),
            at.LAW_WORK: np.zeros(at.LAW_DOUBLES),
            at.MARKS: np.zeros(model.nv),
            at.FORCES: np.zeros((rows, model.nv)),
            at.SOLVED: np.zeros((rows, model.nv)),
            at.GUARD_ROWS: np.zeros(self._guards() * (n + parameters + 1) + parameters if self.sticks else 1),
            at.SHIFTED: np.zeros(max(n, parameters) + 2 * inputs + 1),
            at.ALONG_X: np.zeros((MOST_ALONG, n)),
            at.ALONG_Q: np.zeros((MOST_ALONG, model.nv)),
            at.ALONG_DOFS: np.zeros((MOST_ALONG, model.nv, at.ALONG_DOF_DOUBLES)),
            at.ALONG_BODIES: np.zeros((MOST_ALONG, model.nbody, at.ALONG_BODY_DOUBLES)),
        }

    def _guards(self) -> int:
        used = self.rows[:, [at.TOUCH, at.PULL, at.SLIPS, at.SLIPS + 1]]
        return 1 + int(max(used.max(initial=-1), self.losses[:, at.LOSS_GUARD].max(initial=-1)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bound": {}, "light": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.light = light_copy(self.model)


def _tendons(model: mujoco.MjModel, data: mujoco.MjData) -> dict[int, Any]:
    """The lengths of tendons, and how these change with the pose."""
    return {
        at.TENDON_LENGTH: data.ten_length,
        at.TENDON_SLOPES: data.ten_J,
        at.TENDON_FIRST: model.ten_J_rowadr,
        at.TENDON_NUMBER: model.ten_J_rownnz,
        at.TENDON_DOFS: model.ten_J_colind,
    }


def coordinates(model: mujoco.MjModel) -> tuple[IntArray, IntArray]:
    """Pairs (index in qpos, dof) of the coordinates that are numbers, and of the quaternions (with their first dof)."""
    scalars, quats = [], []
    for kind, q, v in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if kind == int(mujoco.mjtJoint.mjJNT_FREE):
            scalars += [(q + i, v + i) for i in range(3)]
            quats.append((q + 3, v + 3))
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
            quats.append((q, v))
        else:
            scalars.append((q, v))
    return tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in (scalars, quats))  # type: ignore[return-value]


def _last_dofs(model: mujoco.MjModel) -> IntArray:
    """For each body the last of the dofs that move it, -1 where there is none."""
    last = np.full(model.nbody, -1, dtype=np.int64)
    for body in range(1, model.nbody):
        if model.body_dofnum[body]:
            last[body] = model.body_dofadr[body] + model.body_dofnum[body] - 1
        else:
            last[body] = last[model.body_parentid[body]]
    return last
