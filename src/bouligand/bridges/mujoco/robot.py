"""A robot as a System, and the conversions between its state and MuJoCo's data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ..._made import Made
from ...system.arguments import finite_numbers, number, short
from ...system.system import System
from .control import shaped_inputs
from .forces import entry as compute_forces
from .formulas import missing
from .robot_functions import Function, Jacobian, low_level
from .tangents import TangentCoordinates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import BoolArray, FloatArray, Parameters
    from .contacts import Place
    from .memory import Memory


class Robot(TangentCoordinates, System, metaclass=Made, by="bridges.mujoco.load"):
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
            **low_level(memory, bool(guards), sticks),
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
        b = self._mode(b)
        contacts = self.memory.contacts[: len(self.places)]
        touch, pull = contacts["touch"], contacts["pull"]
        return np.asarray((b[touch] > 0) & ((pull < 0) | (b[pull] > 0)))

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
        x, word, t = self._state(x), self._mode(b), number("t", t)
        values, out = np.ascontiguousarray(self.parameters(p)), np.zeros((len(self.places), 3))
        if self.sliding and (word == 0.0).any():
            word = self._bind().signs(t, x, word, values)
        piece = self._contexts.borrow()  # type: ignore[union-attr]
        ctx = np.array([self.n, self.m, len(values), piece[0]], dtype=np.int64)
        compute_forces()(0.0, *(array.ctypes.data for array in (x, word, values, out, ctx)))
        self._contexts.give_back(piece)  # type: ignore[union-attr]
        return out

    # ----------------------------------------------------------------------------------------------------- the rest

    def _mode(self, b: ArrayLike) -> FloatArray:
        """A mode that a user gives: -1, 0 or 1 for each guard."""
        word = finite_numbers("b", b)
        if word.shape != (self.m,) or not np.isin(word, (-1.0, 0.0, 1.0)).all():
            raise ValueError(f"b must have {self.m} signs (-1, 0 or 1), one for each guard; got {short(b)}")
        return word

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
            name: Function(name, function, self._contexts)
            for name, function in low_level(self.memory, bool(self.guards), self.sliding is not None).items()
        }
        if self.sliding is not None:
            self._no_jacobians = "in sliding modes, by which friction sticks exactly, f is differenced"
            self._functions["h_dual"] = Jacobian("h_dual", self._functions["f"].function, self._contexts)
            return
        names = ("Df", "A", "along", "Dp_f", "Dp_h", "Dt_h") if self.guards else ("Df", "A", "along", "Dp_f")
        if self._without_formula:
            self._no_jacobians = f"no formula for {self._without_formula}"
        else:
            self._functions |= {name: Jacobian(name, self._functions["f"].function, self._contexts) for name in names}
