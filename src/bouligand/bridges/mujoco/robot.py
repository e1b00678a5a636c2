"""A robot as a System, and the conversions between its state and MuJoCo's data."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import mujoco
import numpy as np

from ...system.functions import SHAPES, UserFunction
from ...system.system import System
from . import compiled, jacobians
from . import layout as at
from .control import shaped_inputs
from .forces import entry as compute_forces
from .formulas import missing
from .given import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import BoolArray, FloatArray, Parameters
    from ...derivative.bderivative import BDerivative
    from ...system.caught import Failures
    from .contacts import Place
    from .memory import Memory


class Robot(System):
    """A System whose motion MuJoCo computes. Made by `load`.

    The state is ``x = (qpos, qvel, act, bristles)`` in MuJoCo's own coordinates; ``states`` has their names. Quaternions are
    normalised after every step.

    Attributes
    ----------
    model : mujoco.MjModel
        The model as it was read, with its own contacts and constraints.
    inputs : tuple of str
        Names of the inputs that a control sets: actuators, or joints if the file has no actuators.
    held : slice
        Of the parameters, the inputs of a `Hold`; empty with another control.
    contacts : tuple of str
        Names of the contacts.
    places : tuple of Place
        Where the contacts are: body, point and radius, or a pair of geoms.

    Examples
    --------
    >>> import bouligand as bd
    >>> xml = '''
    ... <mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/>
    ...   <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" mass="1"/>
    ... </body></worldbody></mujoco>'''
    >>> pendulum = bd.bridges.mujoco.load(xml)
    >>> pendulum.x(hinge=0.5)
    array([0.5, 0. ])
    >>> pendulum.energy(pendulum.neutral()).round(3)
    array([ 0.   , -4.905])
    """

    _checks_parameters = True

    def __init__(
        self,
        model: mujoco.MjModel,
        memory: Memory,
        places: Sequence[Place],
        *,
        states: Iterable[str],
        guards: Sequence[str],
        params: Mapping[str, float],
        unit: Iterable[slice],
        breakpoints: ArrayLike,
        laws: Iterable[tuple[Any, int]],
        sticks: bool = False,
        active_while: Mapping[str, tuple[str, ...]] | None = None,
        name: str | None,
    ) -> None:
        self.model = model
        self.memory = memory
        self.places = tuple(places)
        self.contacts = tuple(place.name for place in places)
        self.inputs = tuple(memory.driver.names)
        self.held = memory.driver.held
        self._without_formula = "; ".join(missing(model))  # parts of the robot for which Df has no formula
        self._laws = tuple(laws)  # (law, where its numbers begin among the parameters)
        self._of_laws = max((first + len(law.parameter_names()) for law, first in self._laws), default=0)
        super().__init__(
            **_low_level(memory, bool(guards), sticks),
            states=states,
            guards=guards,
            params=params,
            unit=unit,
            breakpoints=breakpoints,
            context=memory,
            sliding="filippov" if sticks else None,
            active_while=active_while,
            name=name,
        )
        if self.held.stop - self.held.start == len(self.inputs):
            self._held_inputs = self.params[self.held]
        self._approved = self.defaults[: self._of_laws].tobytes()  # the numbers of laws that were checked last
        self._expects_stiff = True  # contact dampers, friction, damping of joints
        self._take_functions()

    # -------------------------------------------------------------------------------------------------------- states

    def neutral(self, key: str | int | None = None) -> FloatArray:
        """The state at rest in the reference pose of the file (``qpos0``), or that of one of its keyframes.

        Parameters
        ----------
        key : str or int, optional
            Name or number of a keyframe.

        Returns
        -------
        array (n,)
        """
        x, model = self.memory.neutral(), self.model
        if key is None:
            return x
        try:
            frame = model.key(key)
        except (KeyError, IndexError):
            names = [model.key(i).name or f"number {i}" for i in range(model.nkey)]
            raise ValueError(f"no keyframe is {key!r}; there are: {', '.join(names) or 'none'}") from None
        x[: model.nq], x[model.nq : model.nq + model.nv] = frame.qpos, frame.qvel
        x[model.nq + model.nv : model.nq + model.nv + model.na] = frame.act
        self.memory.put_in_place(x)
        return x

    def x(
        self,
        data: mujoco.MjData | None = None,
        *,
        qpos: ArrayLike | None = None,
        qvel: ArrayLike | None = None,
        act: ArrayLike | None = None,
        **joints: float,
    ) -> FloatArray:
        """A state: that of an MjData, or the neutral one with some values changed.

        Parameters
        ----------
        data : mujoco.MjData, optional
            Its qpos, qvel and act are taken.
        qpos, qvel, act : array, optional
            Values in MuJoCo's coordinates.
        **joints : float
            Positions of hinges and slides by name.

        Returns
        -------
        array (n,)
        """
        x = self.neutral()
        nq, nv, na = self.model.nq, self.model.nv, self.model.na
        if data is not None:
            qpos, qvel, act = data.qpos, data.qvel, data.act
        for what, values, where in (
            ("qpos", qpos, slice(0, nq)),
            ("qvel", qvel, slice(nq, nq + nv)),
            ("act", act, slice(nq + nv, nq + nv + na)),
        ):
            if values is not None:
                values = np.asarray(values, dtype=float)
                if values.shape != x[where].shape:
                    raise ValueError(f"{what} must have {x[where].size} values; got shape {values.shape}")
                x[where] = values
        for joint, value in joints.items():
            name = f"qpos:{joint}"
            if name not in self.states:
                raise ValueError(f"no hinge or slide is called {joint!r}; states: {', '.join(self.states[:12])}, ...")
            x[self.states.index(name)] = finite(joint, value)
        self.memory.put_in_place(x)
        return x

    def data(self, x: ArrayLike) -> mujoco.MjData:
        """MuJoCo's data at a state, with positions and velocities computed (``mj_kinematics``, ``mj_comPos``, ``mj_comVel``)."""
        x = self._state(x).copy()
        self.memory.put_in_place(x)
        data = mujoco.MjData(self.model)
        nq, nv, na = self.model.nq, self.model.nv, self.model.na
        data.qpos[:], data.qvel[:] = x[:nq], x[nq : nq + nv]
        data.act[:] = x[nq + nv : nq + nv + na]
        mujoco.mj_normalizeQuat(self.model, data.qpos)
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_camlight(self.model, data)
        mujoco.mj_tendon(self.model, data)
        mujoco.mj_comVel(self.model, data)
        return data

    def _state(self, x: ArrayLike) -> FloatArray:
        x = np.asarray(x, dtype=float)
        if x.shape != (self.n,):
            raise ValueError(f"x must have {self.n} values; got shape {x.shape}")
        return x

    # ------------------------------------------------------------------------------------------ energy, points, contacts

    def energy(self, x: ArrayLike) -> FloatArray:
        """Kinetic and potential energy in J, array (2,). The springs of the model and gravity are included, contacts are not."""
        data = self.data(x)
        mujoco.mj_makeM(self.model, data)
        mujoco.mj_energyPos(self.model, data)
        mujoco.mj_energyVel(self.model, data)
        potential, kinetic = data.energy
        return np.array([kinetic, potential])

    def points(self, x: ArrayLike) -> FloatArray:
        """Positions of the contacts in the world, (contacts, 3): the centre of its sphere, or of the first geom of a pair."""
        data = self.data(x)
        out = np.empty((len(self.places), 3))
        for i, place in enumerate(self.places):
            if place.geoms is not None:
                out[i] = data.geom_xpos[place.geoms[0]]
            else:
                out[i] = data.xpos[place.body] + data.xmat[place.body].reshape(3, 3) @ place.point
        return out

    def touching(self, b: ArrayLike) -> BoolArray:
        """Which contacts push in the mode b, (contacts,) of bool."""
        b = np.asarray(b)
        rows = self.memory.rows[: len(self.places)]
        return np.array(
            [b[row[at.TOUCH]] > 0 and (row[at.PULL] < 0 or b[row[at.PULL]] > 0) for row in rows], dtype=bool
        )

    def forces(self, x: ArrayLike, b: ArrayLike, p: Parameters | None = None, t: float = 0.0) -> FloatArray:
        """The forces at the contacts in a state and mode, in N and in the world's axes.

        Parameters
        ----------
        x : array (n,)
        b : array (m,)
            The mode: ``solution.word(t)``.
        p : array or mapping from str to float, optional
            The parameters.
        t : float
            The time, on which the friction of a contact that sticks exactly depends if the control does.

        Returns
        -------
        array (contacts, 3)
            On the body of each contact (of a pair, on the first geom's).
        """
        x, word = np.ascontiguousarray(self._state(x)), np.ascontiguousarray(b, dtype=float)
        if word.shape != (self.m,):
            raise ValueError(f"b must have {self.m} signs, one for each guard; got shape {word.shape}")
        values, out = np.ascontiguousarray(self.parameters(p)), np.zeros((len(self.places), 3))
        if self.sliding and (word == 0.0).any():
            word = self._bind().signs(t, x, word, values)
        piece = self._contexts.borrow()  # type: ignore[union-attr]
        ctx = np.array([self.n, self.m, len(values), piece[0]], dtype=np.int64)
        compute_forces()(0.0, *(array.ctypes.data for array in (x, word, values, out, ctx)))
        self._contexts.give_back(piece)  # type: ignore[union-attr]
        return out

    # ------------------------------------------------------------------------------------------- tangent coordinates

    @property
    def tangents(self) -> int:
        """Number of tangent coordinates: 2 nv and the rest of the state; one less than n for each quaternion."""
        return self.n - self.model.nq + self.model.nv

    def lift(self, x: ArrayLike) -> FloatArray:
        """The matrix (n, tangents) from a small motion in tangent (velocity) coordinates to the change of x."""
        x, nq, nv = self._state(x), self.model.nq, self.model.nv
        G = np.zeros((self.n, self.tangents))
        G[nq:, nv:] = np.eye(self.n - nq)
        for q, v in self.memory.scalars:
            G[q, v] = 1.0
        for q, v in self.memory.quats:
            G[q : q + 4, v : v + 3] = 0.5 * _turned_by(x[q : q + 4])
        return G

    def project(self, x: ArrayLike) -> FloatArray:
        """The pseudo-inverse of `lift`, (tangents, n): from a change of x to tangent coordinates."""
        x, nq, nv = self._state(x), self.model.nq, self.model.nv
        P = np.zeros((self.tangents, self.n))
        P[nv:, nq:] = np.eye(self.n - nq)
        for q, v in self.memory.scalars:
            P[v, q] = 1.0
        for q, v in self.memory.quats:
            quat = x[q : q + 4]
            P[v : v + 3, q : q + 4] = 2.0 * _turned_by(quat).T / (quat @ quat)
        return P

    @overload
    def tangent(self, B: FloatArray, x0: ArrayLike, x1: ArrayLike) -> FloatArray: ...

    @overload
    def tangent(self, B: BDerivative[object], x0: ArrayLike, x1: ArrayLike) -> Callable[[ArrayLike], FloatArray]: ...

    def tangent(
        self, B: FloatArray | BDerivative[object], x0: ArrayLike, x1: ArrayLike
    ) -> FloatArray | Callable[[ArrayLike], FloatArray]:
        """A derivative of the flow from x0 to x1 in tangent coordinates.

        Parameters
        ----------
        B : array (n, n) or BDerivative
            The derivative in the coordinates of the state.
        x0, x1 : array (n,)
            The states at the start and at the end.

        Returns
        -------
        array (tangents, tangents), or callable
            Of a matrix a matrix; of a BDerivative a function from the perturbation at x0 to that at x1.
        """
        before, after = self.lift(x0), self.project(x1)
        if isinstance(B, np.ndarray):
            return after @ B @ before
        return lambda perturbation: after @ B(before @ np.asarray(perturbation, dtype=float))

    # ----------------------------------------------------------------------------------------------------- the rest

    def parameters(self, p: Parameters | None = None) -> FloatArray:
        """The vector of all parameters, as `System.parameters`; numbers of a law are checked as by the law itself."""
        out = super().parameters(p)
        numbers = out[: self._of_laws].tobytes()
        if numbers == self._approved:  # (a controller changes its inputs a thousand times a second, and nothing else)
            return out
        for law, first in self._laws:
            names = law.parameter_names()
            given = dict(zip(names, out[first : first + len(names)].tolist(), strict=True))
            try:
                changed = replace(law, **given)
            except ValueError as error:
                raise ValueError(f"p: {error}") from None
            if changed.has_pull_guard and not law.has_pull_guard:
                raise ValueError(
                    f"p: with damping {changed.damping:g} (or a negative preload) the contact could pull, and it was loaded "
                    f"without a guard for that, as {law!r}; load it with another value, or with adhesion=True"
                )
        self._approved = numbers
        return out

    def _approves(self, p: FloatArray) -> bool:
        return p[: self._of_laws].tobytes() == self._approved

    def hold(self, U: ArrayLike, p: Parameters | None = None) -> FloatArray:
        """The vector of all parameters with these inputs held. Needs ``control=Hold(...)``.

        Parameters
        ----------
        U : array (intervals, inputs)
            The inputs of each interval; of a `Hold` without times also (inputs,).
        p : array or mapping from str to float, optional
            The other parameters, as for `parameters`.

        Returns
        -------
        array (parameters,)
        """
        count = self.held.stop - self.held.start
        if not count:
            raise ValueError("hold: no inputs are held; load the robot with control=Hold(...)")
        out = np.array(self.parameters(p))
        out[self.held] = shaped_inputs("U", U, (count // len(self.inputs), len(self.inputs)), self.inputs).ravel()
        return out

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state["_functions"] = {}  # addresses are not pickled, but made anew
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._take_functions()

    def _take_functions(self) -> None:
        self._functions = {
            name: _Function(name, function, self._contexts)
            for name, function in _low_level(self.memory, bool(self.guards), self.sliding is not None).items()
        }
        if self.sliding is not None:
            self._no_jacobians = "in sliding modes, by which friction sticks exactly, f is differenced"
            self._functions["h_dual"] = _Jacobian("h_dual", self._functions["f"].function, self._contexts)
            return
        names = ("Df", "A", "Dp_f", "Dp_h", "Dt_h") if self.guards else ("Df", "A", "Dp_f")
        if self._without_formula:
            self._no_jacobians = f"no formula for {self._without_formula}"
        else:
            self._functions |= {name: _Jacobian(name, self._functions["f"].function, self._contexts) for name in names}


class _Function(UserFunction):
    """One of the compiled functions. If a control function made it fail, calling it from Python raises what that raised."""

    def _call_low_level(
        self, sizes: Mapping[str, int], t: float, arguments: list[Any], shape: tuple[int, ...]
    ) -> FloatArray:
        try:
            return super()._call_low_level(sizes, t, arguments, shape)
        except RuntimeError as error:
            memory: Any = None if self.contexts is None else self.contexts.make  # a Memory
            if memory is not None and self.name == "f" and memory.driver.function is not None:
                memory.driver.function(memory.sizes, t, arguments[0], arguments[2])
            if memory is not None and self.name == "f" and memory.cost is not None:
                memory.cost(memory.sizes, t, arguments[0], arguments[2], np.zeros(len(memory.driver.names)))
            raise error


class _Jacobian(_Function):
    """One of the Jacobians, compiled when it is first bound or called; until then that of another function stands for it."""

    def bind(self, as_machine_code: bool, sizes: Mapping[str, int], failures: Failures) -> tuple[int, object]:
        self._compile()
        return super().bind(as_machine_code, sizes, failures)

    def _call_low_level(
        self, sizes: Mapping[str, int], t: float, arguments: list[Any], shape: tuple[int, ...]
    ) -> FloatArray:
        self._compile()
        return super()._call_low_level(sizes, t, arguments, shape)

    def _compile(self) -> None:
        self.function = _callable(self.name, jacobians.entry(self.name))


def _callable(name: str, entry: Any) -> Any:
    from scipy import LowLevelCallable

    return LowLevelCallable(entry, ctypes.c_void_p(0), f"int (double{', long' * (len(SHAPES[name]) + 1)})")


def _low_level(memory: Memory, has_guards: bool, sticks: bool = False) -> dict[str, Any]:
    entries = compiled.entries()
    if not has_guards or sticks:
        return {name: _callable(name, entries[name]) for name in ("f", "h")}
    of_pairs = (memory.rows[:, at.KIND] == at.PAIR) & (memory.rows[:, at.PULL] >= 0)
    if of_pairs.any():
        entries = {**entries, "Dh": jacobians.entry("Dh")}
    return {name: _callable(name, entry) for name, entry in entries.items()}


def _turned_by(q: FloatArray) -> FloatArray:
    """The (4, 3) matrix of w -> q (0, w)."""
    a, b, c, d = q
    return np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]])
