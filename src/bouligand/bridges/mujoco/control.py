"""What drives a robot: inputs held constant between given times, as parameters or fixed, or a PD towards a gait.

Inputs are MuJoCo's ``ctrl`` where the file has actuators, and torques (forces) on its hinges (slides) where it has none, as a
URDF.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...system.arguments import finite_numbers, number, short
from ...system.schedule import Schedule

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray


class PiecewiseConstant(Schedule):
    """Inputs that are constant between given times: a `bouligand.Schedule` with a column for each input.

    Parameters
    ----------
    times : array (nt,)
        Increasing times. Steps of the integration end there.
    u : array (nt, inputs)
        Row i holds from ``times[i]`` on; the first row also before.

    Examples
    --------
    >>> from bouligand.bridges.mujoco import PiecewiseConstant
    >>> PiecewiseConstant([0.0, 0.5], [[1.0], [-1.0]]).values.shape
    (2, 1)
    """

    def __init__(self, times: ArrayLike, u: ArrayLike) -> None:
        moments, rows = finite_numbers("PiecewiseConstant: times", times), finite_numbers("PiecewiseConstant: u", u)
        if moments.ndim == 1 and (rows.ndim != 2 or len(rows) != len(moments)):
            raise ValueError(
                f"PiecewiseConstant: u must have a row of inputs for each of {len(moments)} times; got shape {rows.shape}"
            )
        super().__init__(moments, rows)


@dataclass(frozen=True)
class Hold:
    """Inputs that are parameters, each held over an interval: for optimisers, and for controllers that sample and hold.

    Parameters
    ----------
    times : array (intervals,), optional
        Increasing times at which the intervals begin; the inputs of the first also hold before. They are breakpoints of the
        system. Default: one interval without an end. A controller sets its inputs between two calls of `Stepper.advance`.
    u : array (intervals, inputs) or float, optional
        Default values of the inputs.

    Notes
    -----
    The parameters are called ``"u:NAME"`` for one interval, else ``"u0:NAME"``, ``"u1:NAME"``, ..., where NAME is one of the
    robot's ``inputs``. ``robot.hold(U)`` is the vector of all parameters with these inputs, ``robot.held`` their place in it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.bridges.mujoco import Hold, load
    >>> xml = '''
    ... <mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/>
    ...   <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" mass="1"/>
    ... </body></worldbody></mujoco>'''
    >>> pendulum = load(xml, control=Hold([0.0, 0.1]))
    >>> pendulum.params
    ('u0:hinge', 'u1:hinge')
    >>> sol = bd.solve(pendulum, (0.0, 0.2), pendulum.neutral(), pendulum.hold([[1.0], [-1.0]]))
    >>> sol.bderivative(params=True).matrix(wrt="p").shape
    (2, 2)
    """

    times: FloatArray
    u: FloatArray | None

    def __init__(self, times: ArrayLike = (), u: ArrayLike | None = None) -> None:
        moments = finite_numbers("Hold: times", times)
        if moments.ndim != 1 or (np.diff(moments) <= 0).any():
            raise ValueError(f"Hold: times must be a vector of increasing times; got {times!r}")
        object.__setattr__(self, "times", moments)
        object.__setattr__(self, "u", None if u is None else finite_numbers("Hold: u", u))
        count = max(1, len(moments))
        if self.u is not None and not _may_fit(self.u.shape, count):
            raise ValueError(
                f"Hold: u must be a number, or have a row of inputs for each of {count} times; got shape {self.u.shape}"
            )


def _may_fit(shape: tuple[int, ...], intervals: int) -> bool:
    """Whether inputs of this shape may be those of so many intervals of some robot."""
    return not shape or (
        0 not in shape and len(shape) < 3 and (shape[0] == intervals or (len(shape), intervals) == (1, 1))
    )


def default_inputs(hold: Hold, shape: tuple[int, int], names: Sequence[str]) -> FloatArray:
    """The default values of held inputs, as an array of this shape."""
    if hold.u is None or hold.u.ndim == 0:
        return np.full(shape, 0.0 if hold.u is None else float(hold.u))
    return shaped_inputs("Hold: u", hold.u, shape, names)


def shaped_inputs(what: str, u: ArrayLike, shape: tuple[int, int], names: Sequence[str]) -> FloatArray:
    """Inputs, checked: an array (intervals, inputs); of one interval also (inputs,), of one input also (intervals,)."""
    values = finite_numbers(what, u)
    if values.ndim == 1 and 1 in shape:
        values = values.reshape(shape) if values.size == shape[0] * shape[1] else values
    if values.shape != shape:
        raise ValueError(
            f"{what} must have a row for each of {shape[0]} intervals and a column for each of {shape[1]} inputs "
            f"({', '.join(names[:12])}{', ...' if len(names) > 12 else ''}); got shape {values.shape}"
        )
    return values


@dataclass(frozen=True)
class PD:
    """A PD controller that tracks a gait: ``torque = kp (q_gait - q) + kd (v_gait - v)`` on each joint of ``target``.

    Parameters
    ----------
    target : float, Sinusoid, sequence of these, or mapping from str to one of these
        The gait: an angle or a `Sinusoid`, for each joint by name; or one for all joints that have an input; or a sequence
        with one for each of these joints, in the order of the robot's ``inputs``.
    kp, kd : float
        Gains, in N m/rad and N m s/rad (N/m and N s/m for slides). They become parameters of the system.

    Examples
    --------
    >>> from bouligand.bridges.mujoco import PD, Sinusoid
    >>> trot = PD({"hip": Sinusoid(amplitude=0.3, frequency=2.0), "knee": -0.8}, kp=40.0, kd=1.0)
    """

    target: float | Sinusoid | Mapping[str, float | Sinusoid] | Sequence[float | Sinusoid] | FloatArray
    kp: float
    kd: float = 0.0

    def __post_init__(self) -> None:
        number("PD: kp", self.kp)
        number("PD: kd", self.kd)
        _check_target(self.target)


def _check_target(target: object) -> None:
    if isinstance(target, Mapping):
        parts = {f"PD: target: that of {name!r}": part for name, part in target.items()}
        unnamed = [name for name in target if not isinstance(name, str)]
        if unnamed:
            raise TypeError(f"PD: target: joints have names; got {short(unnamed[0])}")
    elif (
        isinstance(target, Sequence | np.ndarray)
        and not isinstance(target, str | bytes)
        and getattr(target, "ndim", 1) == 1
    ):
        parts = {f"PD: target: number {k}": part for k, part in enumerate(target)}
    else:
        parts = {"PD: target, a Sinusoid, or a mapping or a sequence of these,": target}
    if not parts:
        raise ValueError("PD: target is empty; give an angle or a Sinusoid for each joint")
    for what, part in parts.items():
        if not isinstance(part, Sinusoid):
            number(what, part)


@dataclass(frozen=True)
class Sinusoid:
    """The motion of one joint in a gait: ``centre + amplitude sin(2 pi frequency t + phase)``.

    Parameters
    ----------
    centre, amplitude : float
        In rad (m for a slide).
    frequency : float
        In Hz.
    phase : float
        In rad.
    """

    centre: float = 0.0
    amplitude: float = 0.0
    frequency: float = 1.0
    phase: float = 0.0

    def __post_init__(self) -> None:
        for name in ("centre", "amplitude", "frequency", "phase"):
            number(f"Sinusoid: {name}", getattr(self, name))
