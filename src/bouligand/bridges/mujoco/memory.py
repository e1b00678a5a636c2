"""The memory that the compiled functions work in: an mjData and a table of arrays (see `table`) for each integration.

MuJoCo's model and the arrays of contacts and coordinates are shared and never written to after they were made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ...core.state import MOST_ALONG
from ...errors import PerformanceWarning
from ...memory.tables import TableMemory
from ...system.caught import Failures
from ...system.reasons import name_error, undefined_name, why
from ...system.warning import warn_user
from .couplings import Couplings
from .formulas import Constants
from .hostile import RobotFileWarning
from .mujoco_arrays import arrays_of, coordinates, integers_of
from .own_models import light_copy, place_few_geoms, smooth_copy
from .table import (
    BODY,
    BODY_ALONG,
    BOTH_BALLS,
    CONTACT,
    CONTROL,
    COUPLINGS,
    DOF,
    DOF_ALONG,
    FIRST_BALL,
    LOSS,
    MUJOCO,
    NO_CONTROL,
    PAIR,
    PLACED,
    ROBOT,
    SIZES,
    SLOPES,
    TENDON,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..._typing import FloatArray, IntArray, RecordArray
    from .driver import Driver

BALL = int(mujoco.mjtGeom.mjGEOM_SPHERE)
ROUND = (BALL, int(mujoco.mjtGeom.mjGEOM_CAPSULE))
CORE = 1e-3  # of its radius: to that a round geom that touches another is shrunk
_QUIET = np.ones(len(mujoco.mjtWarning.__members__) - 1, dtype=np.int32).tobytes()  # counts of warnings, after none


class Memory:
    """``memory()`` makes a table: its address, and what keeps it alive. It can be pickled; tables are made anew."""

    def __init__(
        self,
        model: mujoco.MjModel,
        contacts: Sequence[np.void],
        driver: Driver,
        losses: Sequence[tuple[float, ...]],
        n: int,
        parameters: int,
        loss_parameters: int = 0,
        cost: Any = None,
    ) -> None:
        self.model = smooth_copy(model)
        self.contacts: RecordArray = np.array(contacts, dtype=CONTACT)
        self.driver = driver
        self.cost = cost  # the UserFunction of a running cost, whose state is the last
        self.losses: RecordArray = np.array(losses, dtype=LOSS)
        self.loss_parameters = loss_parameters
        self.couplings = Couplings(model)
        self.sizes = {"n": n, "m": len(driver.names), "p": parameters}
        self.sticks = bool((self.contacts["slips"] >= 0).any() or (self.losses["guard"] >= 0).any())
        self.scalars, self.quats = coordinates(model)
        self.integers = integers_of(model, self.scalars, self.quats)
        self.constants = Constants(self.model)
        for contact in self.contacts:
            if contact["kind"] == PAIR:
                self._shrink(contact)
        place_few_geoms(self.model, self.contacts)
        self.light = light_copy(self.model)
        self._bound: dict[str, tuple[int, object]] = {}  # functions of the user
        self.failures = Failures()

    def _shrink(self, contact: np.void) -> None:
        geoms = int(contact["geom1"]), int(contact["geom2"])
        first, second = (int(self.model.geom_type[geom]) == BALL for geom in geoms)
        contact["balls"] = 0 if not first else BOTH_BALLS if second else FIRST_BALL
        for geom, pads in zip(geoms, (contact["pads"][:1], contact["pads"][1:]), strict=True):
            if contact["balls"] == BOTH_BALLS:
                pads[:] = self.original_radius(geom)
            elif int(self.model.geom_type[geom]) in ROUND:
                full = self.original_radius(geom)
                self.model.geom_size[geom, 0] = CORE * full
                pads[:] = (1.0 - CORE) * full

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
        names, parameters = self.driver.names, self.sizes["p"]
        context = np.array([self.sizes["n"], len(names), parameters, 0], dtype=np.int64)
        table = TableMemory(
            ROBOT,
            mujoco=_record(
                MUJOCO, model=model._address, data=data._address, light_model=self.light._address, complete=0
            ),
            sizes=self._sizes(),
            control=self._control(context),
            contacts=self.contacts,
            placed=_record(PLACED),
            losses=self.losses,
            couplings=self._couplings(),
            here=np.zeros(model.nq + model.nv),
            rates=np.zeros(self.sizes["n"]),
            **arrays_of(model, data),
            **self.integers,
            **vars(self.constants),
            **self._inputs(data),
            **self._for_jacobians(),
        )
        piece = table.address, (data, counts, table, context, self)
        self.after_use(piece)
        return piece

    def _sizes(self) -> RecordArray:
        model = self.model
        return _record(
            SIZES,
            n=self.sizes["n"],
            nq=model.nq,
            nv=model.nv,
            na=model.na,
            nu=len(self.driver.names),
            tendons=model.ntendon,
            actuators=model.nu,
            tendon_guards=bool((self.contacts["kind"] == TENDON).any()),
            compensated=bool(self.constants.compensated.any()),
            friction_parameters=self.loss_parameters,
        )

    def _control(self, context: IntArray) -> RecordArray:
        return _record(
            CONTROL,
            kind=self.driver.kind,
            function=self.address_of(self.driver.function),
            context=context.ctypes.data,
            held=self.driver.held.start,
            cost=-1 if self.cost is None else self.sizes["n"] - 1,
            cost_function=self.address_of(self.cost),
        )

    def _inputs(self, data: mujoco.MjData) -> dict[str, NDArray[Any]]:
        driver = self.driver
        on_joints = driver.torques and driver.kind != NO_CONTROL
        return {
            "inputs": np.zeros(max(len(driver.names), 1)) if driver.torques else data.ctrl,
            "input_dofs": driver.dofs if on_joints else np.zeros(0, dtype=np.int64),
            "times": driver.times,
            "schedule": driver.schedule,
            "gaits": driver.gaits,
        }

    def _couplings(self) -> TableMemory:
        count, nv = self.couplings.rows.shape
        return TableMemory(
            COUPLINGS,
            J=self.couplings.rows,
            offsets=self.couplings.offsets,
            dofs=self.couplings.dofs,
            W=np.zeros((count, nv)),
            S=np.zeros((count, count)),
            z=np.zeros(count),
            x=np.zeros(self.sizes["n"]),
        )

    def _for_jacobians(self) -> dict[str, NDArray[Any]]:
        """What only Jacobians work in."""
        model, n, inputs, parameters = self.model, self.sizes["n"], len(self.driver.names), self.sizes["p"]
        held = self.driver.held
        rows = max(n, MOST_ALONG, parameters if held.stop == held.start else held.start + inputs)
        guards = self._guards() if self.sticks else 0
        return {
            "bodies": np.zeros(model.nbody, BODY),
            "dofs": np.zeros(model.nv, DOF),
            "slopes": _record(SLOPES),
            "marks": np.zeros(model.nv, dtype=np.int64),
            "contact_rows": np.zeros((2, model.nv)),
            "forces": np.zeros((rows, model.nv)),
            "solved": np.zeros((rows, model.nv)),
            "guards_by_x": np.zeros((guards, n)),
            "guards_by_p": np.zeros((guards, parameters)),
            "guard_p": np.zeros(parameters),
            "guard_h": np.zeros(guards),
            "varied": np.zeros(max(n, parameters)),
            "inputs_low": np.zeros(inputs),
            "inputs_high": np.zeros(inputs),
            "cost_rate": np.zeros(1),
            "columns": np.zeros((0, 0)),
            "along_x": np.zeros((MOST_ALONG, n)),
            "along_q": np.zeros((MOST_ALONG, model.nv)),
            "dofs_along": np.zeros((MOST_ALONG, model.nv), DOF_ALONG),
            "bodies_along": np.zeros((MOST_ALONG, model.nbody), BODY_ALONG),
        }

    def _guards(self) -> int:
        used = (self.contacts["touch"], self.contacts["pull"], self.contacts["slips"], self.losses["guard"])
        return 1 + max(int(numbers.max(initial=-1)) for numbers in used)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bound": {}, "light": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.light = light_copy(self.model)


def _record(dtype: np.dtype[np.void], /, **numbers: float) -> RecordArray:
    """One record with these numbers."""
    record: RecordArray = np.zeros(1, dtype)
    for name, number in numbers.items():
        record[name] = number
    return record
