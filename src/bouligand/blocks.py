"""Blocks of control diagrams as small functions, to be called inside the f and h of a system: saturation, dead zone, limited
integrator (with anti-windup), relay with hysteresis.

Each has two thresholds, lo < hi, of which `thresholds` gives the two guards. In f the block takes the two signs of these guards,
and never compares values itself: so every switch is an event, and nothing is smoothed. The functions are compiled with Numba,
work with dual numbers (exact Jacobians), and take scalars.

    block                  guards              what it needs of the system
    saturation             thresholds(u, ...)  nothing
    dead_zone              thresholds(u, ...)  nothing
    limited_integrator     thresholds(y, ...)  sliding="filippov"
    relay                  thresholds(u, ...)  one state, which holds the relay's output; jumps, which `relay` makes

x' = -4 x, but not faster than 1:

>>> import bouligand as bd
>>> from bouligand.blocks import saturation, thresholds
>>> system = bd.System(
...     lambda t, x, b, p: (saturation(-4.0 * x[0], -1.0, 1.0, b[0], b[1]),),
...     lambda t, x, p: thresholds(-4.0 * x[0], -1.0, 1.0),
...     n=1,
...     guards=("slowest", "fastest"),
... )
>>> bool(abs(bd.solve(system, (0.0, 2.0), [2.0]).events.t[0] - 1.75) < 1e-9)  # there it is at 1/4
True
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, TypedDict

from numba import njit
from numba.core.registry import CPUDispatcher

from .system.arguments import number, short, whole
from .system.declarations import MOST
from .system.jumps import SetState, sets

__all__ = ["dead_zone", "limited_integrator", "relay", "saturation", "thresholds", "together"]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled when it is first called; where Python calls it, what is no number is refused by name."""
    made = njit(error_model="numpy", nogil=True)(function)
    if isinstance(made, CPUDispatcher):  # (not without the JIT)
        made.__class__ = Block
    out: Callable[..., Any] = made
    return out


class Block(CPUDispatcher):
    """A compiled function of numbers. Compiled code that calls it never comes by here."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        try:
            out = super().__call__(*arguments, **named)
        except Exception:
            self._refuse(arguments, named)
            raise
        if type(out[0] if type(out) is tuple else out) is not float:  # (Numba takes vectors and complex numbers, too)
            self._refuse(arguments, named)
        return out

    def _refuse(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Raise an error that names the argument that is no number."""
        for name, value in {
            **dict(zip(inspect.signature(self.py_func).parameters, arguments, strict=False)),
            **named,
        }.items():
            if abs(number(name, value)) >= 2.0**63 and isinstance(value, int):
                raise ValueError(f"{name} must be a float where it is so large; got {short(value)}")


class Switches(TypedDict):
    """Arguments of a System that relays need."""

    direction: dict[str, int]
    jumps: dict[str, Callable[..., Any] | SetState]


@compiled
def thresholds(u: float, lo: float, hi: float) -> tuple[float, float]:
    """The two guards of a block: u - lo and u - hi.

    Parameters
    ----------
    u : float
        What is compared with the thresholds: the input, or the state of a limited integrator.
    lo, hi : float
        The thresholds, finite, lo < hi.

    Returns
    -------
    tuple of two floats

    Raises
    ------
    TypeError, ValueError
        If an argument is no number, or the thresholds are not in order (also inside of f and h).

    Examples
    --------
    >>> from bouligand import blocks
    >>> blocks.thresholds(0.25, -1.0, 1.0)
    (1.25, -0.75)
    """
    if not lo < hi:
        raise ValueError("lo must be less than hi")
    return u - lo, u - hi


@compiled
def saturation(u: float, lo: float, hi: float, above_lo: float, above_hi: float) -> float:
    """u between its limits: lo below lo, hi above hi, u between.

    Parameters
    ----------
    u : float
        The input.
    lo, hi : float
        The limits, finite, lo < hi.
    above_lo, above_hi : float
        The signs of the two guards, ``b[k]`` and ``b[k + 1]``.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is no number, or the thresholds are not in order (also inside of f and h).

    Examples
    --------
    >>> from bouligand import blocks
    >>> [blocks.saturation(u, -1.0, 1.0, *signs) for u, signs in ((-3.0, (-1, -1)), (0.5, (1, -1)), (3.0, (1, 1)))]
    [-1.0, 0.5, 1.0]
    """
    if not lo < hi:
        raise ValueError("lo must be less than hi")
    if above_lo < 0.0:
        return lo + 0.0 * u  # (of the type of u, which may be a dual number)
    if above_hi > 0.0:
        return hi + 0.0 * u
    return u + 0.0 * (lo + hi)


@compiled
def dead_zone(u: float, lo: float, hi: float, above_lo: float, above_hi: float) -> float:
    """Zero between lo and hi; u - hi above hi, u - lo below lo.

    Parameters
    ----------
    u : float
        The input.
    lo, hi : float
        The ends of the zone, finite, lo < hi.
    above_lo, above_hi : float
        The signs of the two guards, ``b[k]`` and ``b[k + 1]``.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is no number, or the thresholds are not in order (also inside of f and h).

    Examples
    --------
    >>> from bouligand import blocks
    >>> [blocks.dead_zone(u, -1.0, 1.0, *signs) for u, signs in ((-3.0, (-1, -1)), (0.5, (1, -1)), (3.0, (1, 1)))]
    [-2.0, 0.0, 2.0]
    """
    if not lo < hi:
        raise ValueError("lo must be less than hi")
    if above_lo < 0.0:
        return u - lo
    if above_hi > 0.0:
        return u - hi
    return 0.0 * (u + lo + hi)


@compiled
def limited_integrator(rate: float, above_lo: float, above_hi: float, scale: float = 1.0) -> float:
    """The rate of change y' of an integrator that stops at its limits, and leaves them as soon as its input points back.

    Its guards are ``thresholds(y, lo, hi)``, and the system needs ``sliding="filippov"``. Beyond a limit the value returned
    points inwards, whatever the input. So at a limit y slides, which means that it stays there exactly, as long as the input
    points outwards. Where the input changes its sign, it leaves. There is no windup, because nothing is integrated at the limit.
    Other states may depend on y as they like.

    Parameters
    ----------
    rate : float
        The input: y' between the limits.
    above_lo, above_hi : float
        The signs of the two guards, ``b[k]`` and ``b[k + 1]``.
    scale : float
        The usual size of the rate, positive. Rates of 1e-9 of it and less are taken for zero at the limits.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is no number, or the scale is not positive (also inside of f).

    Examples
    --------
    y' = cos(t), at most 0.5: it waits at the limit until cos changes its sign, at pi/2, and comes back at once.

    >>> import math
    >>> import bouligand as bd
    >>> from bouligand.blocks import limited_integrator, thresholds
    >>> system = bd.System(
    ...     lambda t, x, b, p: (limited_integrator(math.cos(t), b[0], b[1]),),
    ...     lambda t, x, p: thresholds(x[0], -1.0, 0.5),
    ...     states=("y",),
    ...     guards=("low", "high"),
    ...     sliding="filippov",
    ... )
    >>> sol = bd.solve(system, (0.0, 3.0), [0.0], rtol=1e-9)
    >>> bool(abs(sol.events.t - [math.pi / 6, math.pi / 2]).max() < 1e-8), bool(sol(1.0)[0] == 0.5)
    (True, True)
    """
    if not scale > 0.0:
        raise ValueError("scale must be positive")
    if above_lo < 0.0:
        return math.sqrt(rate * rate + scale * scale)
    if above_hi > 0.0:
        return -math.sqrt(rate * rate + scale * scale)
    return rate


def relay(below: str, above: str, state: str | int, low: float, high: float) -> Switches:
    """A relay with hysteresis: what a System needs for it.

    Its output is a state of the system, whose rate of change is zero. It becomes ``low`` where the input falls below the lower
    threshold, and ``high`` where it rises above the upper one; between them it stays what it was.

    Parameters
    ----------
    below, above : str
        Names of the two guards, ``thresholds(u, lo, hi)``.
    state : str or int
        The state that is the output, by name or number.
    low, high : float
        The output after the input falls below the lower threshold, and after it rises above the upper one. (A heater has
        ``low=1, high=0``.) If the input is beyond a threshold at the start, give the state the matching value there.

    Returns
    -------
    dict
        ``direction`` and ``jumps``, arguments of `bouligand.System`; see `together` for several relays.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong; the message names it.

    Examples
    --------
    A heater that is switched on below 18 degrees, and off above 22:

    >>> import bouligand as bd
    >>> from bouligand.blocks import relay, thresholds
    >>> room = bd.System(
    ...     lambda t, x, b, p: (10.0 + 20.0 * x[1] - x[0], 0.0),
    ...     lambda t, x, p: thresholds(x[0], 18.0, 22.0),
    ...     states=("T", "heater"),
    ...     guards=("cold", "warm"),
    ...     **relay("cold", "warm", state="heater", low=1.0, high=0.0),
    ... )
    >>> bd.solve(room, (0.0, 3.0), [15.0, 1.0]).events.name[:3].tolist()
    ['warm', 'cold', 'warm']
    """
    for name, guard in (("below", below), ("above", above)):
        if not isinstance(guard, str) or not guard:
            raise TypeError(f"{name} must be the name of a guard; got {short(guard)}")
    if below == above:
        raise ValueError(f"below and above must be two guards; got {below!r} for both")
    named = state if isinstance(state, str) else whole("state", state, 0, MOST)
    if named == "":
        raise ValueError("state must be the name or the number of a state; got ''")
    low, high = number("low", low), number("high", high)
    return {
        "direction": {below: -1, above: 1},
        "jumps": {below: _sets(named, low), above: _sets(named, high)},
    }


def _sets(state: str | int, value: float) -> Callable[..., None] | SetState:
    """A jump that sets one state to a value; the number of a named one is known when there is a system."""
    return SetState(state, value) if isinstance(state, str) else sets(state, value)


def together(*relays: Switches) -> Switches:
    """What a System needs for several relays.

    Parameters
    ----------
    *relays : dict
        From `relay`.

    Returns
    -------
    dict
        ``direction`` and ``jumps``, arguments of `bouligand.System`.

    Raises
    ------
    TypeError
        If something is not from `relay`.
    ValueError
        If two relays name the same guard.

    Examples
    --------
    >>> from bouligand.blocks import relay, together
    >>> sorted(together(relay("cold", "warm", 1, 1.0, 0.0), relay("dry", "wet", 3, 1.0, 0.0))["jumps"])
    ['cold', 'dry', 'warm', 'wet']
    """
    both: Switches = {"direction": {}, "jumps": {}}
    for one in relays:
        if (
            not isinstance(one, dict)
            or one.keys() != both.keys()
            or not all(isinstance(part, dict) for part in one.values())
        ):
            raise TypeError(f"relays must be what blocks.relay returns; got {short(one)}")
        shared = sorted(both["jumps"].keys() & one["jumps"].keys())
        if shared:
            raise ValueError(
                f"two of the relays have the same guard, {shared[0]!r}; every relay needs two guards of its own"
            )
        both["direction"].update(one["direction"])
        both["jumps"].update(one["jumps"])
    return both


def __dir__() -> list[str]:
    return sorted(__all__)
