"""Inputs that are given over time: constant between given times, or straight lines between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .arguments import finite_numbers, one_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray


class Schedule:
    """An input over time, such as a set point, a load or a valve: a function of t that f and h can call, also compiled.

    A `System` whose functions call it ends its steps at its times, so that no step goes across a change.

    Parameters
    ----------
    times : array (nt,)
        Increasing times.
    values : array (nt,) or (nt, inputs)
        With kind "constant", ``values[i]`` holds from ``times[i]`` on (at that very time, too), the first one also before. With
        kind "linear", these are the values at the times; in between they lie on straight lines, outside they stay constant.
    kind : {"constant", "linear"}

    Attributes
    ----------
    times, values : array
        As given. They cannot be changed: compiled functions contain them.
    kind : str

    Notes
    -----
    Values that are to be fitted or optimised belong in ``p``: see `rollout`, and `bouligand.bridges.mujoco.Hold` for robots.

    Examples
    --------
    A room that is heated to 21 degrees from 6 to 22 h, otherwise to 16:

    >>> import bouligand as bd
    >>> target = bd.Schedule([0.0, 6.0, 22.0], [16.0, 21.0, 16.0])
    >>> target(6.0), target([5.0, 23.0])
    (21.0, array([16., 16.]))
    >>> room = bd.System(lambda t, x, b, p: (target(t) - x[0],), n=1)
    >>> room.breakpoints
    array([ 0.,  6., 22.])
    >>> bd.solve(room, (0.0, 24.0), [16.0], rtol=1e-8)(22.0).round(4)
    array([21.])
    """

    def __init__(self, times: ArrayLike, values: ArrayLike, kind: Literal["constant", "linear"] = "constant") -> None:
        what = type(self).__name__
        moments, given = finite_numbers(f"{what}: times", times), finite_numbers(f"{what}: values", values)
        if moments.ndim != 1 or not moments.size or (np.diff(moments) <= 0).any():
            raise ValueError(f"{what}: times must be a vector of increasing times; got {times!r}")
        if given.ndim not in (1, 2) or len(given) != len(moments):
            raise ValueError(
                f"{what}: values must have a value, or a row of values, for each of {len(moments)} times; "
                f"got shape {given.shape}"
            )
        moments.setflags(write=False)
        given.setflags(write=False)
        self.times: FloatArray = moments
        self.values: FloatArray = given
        self.kind = one_of(f"{what}: kind", kind, ("constant", "linear"))
        _callable_in_numba()

    def __call__(self, t: ArrayLike) -> Any:
        """The values at a time, or at several."""
        moments = finite_numbers("t", t)
        values = np.array([self.py_func(moment) for moment in moments.ravel().tolist()])
        values = values.reshape(moments.shape + self.values.shape[1:])
        return values if values.ndim else float(values)

    @cached_property
    def py_func(self) -> Callable[[Any], Any]:
        """The same of one time, as plain Python that Numba compiles."""
        return (_constant if self.kind == "constant" else _linear)(self.times, self.values)

    @cached_property
    def _dispatcher(self) -> Any:
        """The same as a Numba function."""
        from numba import njit

        return njit(self.py_func, error_model="numpy", nogil=True)

    @property
    def targetoptions(self) -> dict[str, Any]:
        """Options of its Numba function. (Like ``py_func``, one of the attributes by which a Numba function is known.)"""
        options: dict[str, Any] = self._dispatcher.targetoptions
        return options

    @property
    def content(self) -> tuple[object, ...]:
        """Equal for schedules that are equal."""
        return self.kind, self.times.tobytes(), self.values.shape, self.values.tobytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Schedule, (np.array(self.times), np.array(self.values), self.kind)

    def __repr__(self) -> str:
        inputs = "" if self.values.ndim == 1 else f", {self.values.shape[1]} inputs"
        return f"Schedule({len(self.times)} times from {self.times[0]:g} to {self.times[-1]:g}{inputs}, {self.kind})"


def _constant(times: FloatArray, values: FloatArray) -> Callable[[Any], Any]:
    def value(t: Any) -> Any:
        low, high = 0, times.size
        while high - low > 1:
            middle = (low + high) // 2
            if t >= times[middle]:
                low = middle
            else:
                high = middle
        return values[low]

    return value


def _linear(times: FloatArray, values: FloatArray) -> Callable[[Any], Any]:
    if len(times) == 1:
        return _constant(times, values)

    def value(t: Any) -> Any:
        low, high = 0, times.size - 1
        while high - low > 1:
            middle = (low + high) // 2
            if t >= times[middle]:
                low = middle
            else:
                high = middle
        part = (t - times[low]) / (times[low + 1] - times[low])
        part = min(max(part, 0.0), 1.0)
        return values[low] + part * (values[low + 1] - values[low])

    return value


@cache
def _callable_in_numba() -> None:
    """Let compiled functions call schedules: Numba takes one for the Numba function that it has."""
    from numba.core.types import Dispatcher
    from numba.extending import typeof_impl

    @typeof_impl.register(Schedule)
    def typeof_schedule(schedule: Schedule, context: Any) -> Any:
        return Dispatcher(schedule._dispatcher)
