"""What drives a robot: inputs held constant between given times, as parameters or fixed, or a PD towards a gait.

Inputs are MuJoCo's ``ctrl`` where the file has actuators, and torques (forces) on its hinges (slides) where it has none, as a
URDF.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...system.arguments import finite_numbers
from ...system.schedule import Schedule
from .given import finite

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
        super().__init__(times, u)
        if self.values.ndim != 2:
            raise ValueError(
                f"PiecewiseConstant: u must have a row of inputs for each of {len(self.times)} times; "
                f"got shape {self.values.shape}"
            )


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

    def values(self, shape: tuple[int, int], names: Sequence[str]) -> FloatArray:
        """The default values, as an array of this shape."""
        if self.u is None or self.u.ndim == 0:
            return np.full(shape, 0.0 if self.u is None else float(self.u))
        return shaped_inputs("Hold: u", self.u, shape, names)


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
        finite("PD: kp", self.kp)
        finite("PD: kd", self.kd)


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
            finite(f"Sinusoid: {name}", getattr(self, name))
