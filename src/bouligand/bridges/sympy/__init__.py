"""Equations derived with SymPy, as a System: exact Jacobians, compiled code, kept on disk between processes.

>>> import bouligand as bd, sympy
>>> z, v, k, g = sympy.symbols("z v k g")
>>> ball = bd.bridges.sympy.system(
...     states=[z, v],
...     rates=[v, -g + sympy.Piecewise((-k * z, -z > 0), (0, True))],
...     guards={"floor": -z},
...     params={g: 9.81, k: 1000.0},
... )
>>> bd.solve(ball, (0.0, 1.0), [1.0, 0.0]).events.name
array(['floor', 'floor'], dtype=object)

The steps, one per file: `reading` checks what was given; `switching` brings the three ways to depend on the sides of the guards
to one; `program` shares common subexpressions and differentiates; `writing` writes a Python module of in-place functions;
`storing` keeps that module, so that a later process neither derives nor compiles anything. SymPy is imported when it is first
needed; unpickling a System does not need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import sympy
    from numpy.typing import ArrayLike
    from sympy.physics.mechanics import KanesMethod, LagrangesMethod

    from ..._typing import Compile, Guards, PerGuard
    from .storing import SymbolicSystem

    Rates: TypeAlias = Sequence[sympy.Expr] | Mapping[Any, sympy.Expr]

__all__ = ["from_kane", "system"]


def __dir__() -> list[str]:
    return sorted(__all__)


def system(
    states: Iterable[sympy.Expr],
    rates: Rates | Mapping[Any, Rates],
    guards: Mapping[str, sympy.Expr] | Sequence[sympy.Expr] | None = None,
    params: Mapping[sympy.Symbol, float] | None = None,
    *,
    sides: Sequence[sympy.Symbol] | Mapping[str, sympy.Symbol] | None = None,
    t: sympy.Symbol | None = None,
    mass: sympy.Matrix | None = None,
    additive: Literal["auto"] | bool = "auto",
    compile: Compile = "auto",
    name: str | None = None,
    direction: PerGuard = 0,
    observers: Guards = (),
    reset: ArrayLike | None = None,
    breakpoints: ArrayLike = (),
    unit: Iterable[slice | Iterable[str | int]] = (),
) -> SymbolicSystem:
    """A System from symbolic rates and guards.

    Parameters
    ----------
    states : sequence of Symbol or dynamicsymbols
    rates : sequence of expressions, mapping from state to expression, or mapping from mode to either of these
        The time derivative of each state. It may depend on the sides of the guards in one of three ways: as a mapping by
        mode, ``{(+1, -1): [...], ...}`` (a mode that is missing is an error when it is reached); with a ``Piecewise`` whose
        conditions are signs of guards; or with the symbols in ``sides``.
    guards : mapping from str to expression, or sequence of expressions, optional
        The guards, with their names.
    params : mapping from Symbol to float, optional
        The parameters and their default values.
    sides : sequence of Symbol (one for each guard), or mapping from guard to Symbol, optional
        Symbols that stand for the side of a guard, -1 or +1, in the rates.

    Other Parameters
    ----------------
    t : Symbol, optional
        Time. Default: ``Symbol("t")``, which ``dynamicsymbols`` uses too.
    mass : Matrix, optional
        A mass matrix: the last rows of ``rates`` are then right-hand sides, ``mass @ (rates of the last states) = right-hand
        sides``. The equations are solved numerically at every evaluation, and differentiated implicitly.
    additive : {"auto", True, False}
        Whether to declare f as a sum over contacts (see `bouligand.System`). "auto": if the rates are such a sum and there are
        50 guards or more, or 8 or more contacts with the same law, which are then written as a loop.
    compile, name, direction, observers, reset, breakpoints, unit
        As in `bouligand.System`.

    Returns
    -------
    SymbolicSystem
        A System with exact Df, Dh_row, Dt_h, Dp_f and Dp_h. ``print(system.__doc__)`` lists its states, parameters and
        guards in order.

    Raises
    ------
    TypeError, ValueError
        If an expression contains an unknown symbol, or a function that is not smooth or has no counterpart in compiled code.

    Examples
    --------
    >>> import bouligand as bd, sympy
    >>> x, y, side = sympy.symbols("x y side")
    >>> relay = bd.bridges.sympy.system([x, y], [-side, 1], {"switch": x - y}, sides=[side])
    >>> relay.states, relay.guards
    (('x', 'y'), ('switch',))
    """
    _needs_sympy()
    from .building import build

    return build(
        states,
        rates,
        guards,
        params,
        sides=sides,
        t=t,
        mass=mass,
        additive=additive,
        compile=compile,
        name=name,
        direction=direction,
        observers=observers,
        reset=reset,
        breakpoints=breakpoints,
        unit=unit,
    )


def from_kane(
    method: KanesMethod | LagrangesMethod,
    guards: Mapping[str, sympy.Expr] | Sequence[sympy.Expr] | None = None,
    params: Mapping[sympy.Symbol, float] | None = None,
    *,
    sides: Sequence[sympy.Symbol] | Mapping[str, sympy.Symbol] | None = None,
    **options: Any,
) -> SymbolicSystem:
    """A System from equations of motion of ``sympy.physics.mechanics``.

    Parameters
    ----------
    method : KanesMethod or LagrangesMethod
        With its equations formed. Contact forces are ordinary loads, written with ``sides`` or with Piecewise on the guards.
    guards, params, sides
        As in `system`. Guards may contain coordinates, speeds, and time derivatives of coordinates.
    **options
        The other options of `system`.

    Returns
    -------
    SymbolicSystem
        A System whose states are the coordinates, then the speeds (for a LagrangesMethod the time derivatives of the
        coordinates, called ``q_dot``). The mass matrix is solved numerically at every evaluation, except where it consists
        of blocks of one or two.

    Examples
    --------
    >>> import bouligand as bd, sympy
    >>> from sympy.physics import mechanics
    >>> z, m, g = mechanics.dynamicsymbols("z"), *sympy.symbols("m g")
    >>> zd = z.diff(mechanics.dynamicsymbols._t)
    >>> method = mechanics.LagrangesMethod(m * zd**2 / 2 - m * g * z, [z])
    >>> _ = method.form_lagranges_equations()
    >>> bd.bridges.sympy.from_kane(method, {"floor": -z}, {m: 1.0, g: 9.81}).states
    ('z', 'z_dot')
    """
    _needs_sympy()
    from .mechanics import equations_of_motion

    states, rates, mass, guards, t = equations_of_motion(method, guards)
    return system(states, rates, guards, params, sides=sides, t=t, mass=mass, **options)


def _needs_sympy() -> None:
    try:
        import sympy  # noqa: F401
    except ImportError as error:
        raise ImportError("bouligand.bridges.sympy needs SymPy: pip install 'bouligand[sympy]'") from error
