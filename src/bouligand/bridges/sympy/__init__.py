"""Equations derived with SymPy, as a System: exact Jacobians, compiled code, kept on disk between processes.

    z, v, k, g = sympy.symbols("z v k g")
    ball = bd.bridges.sympy.system(
        states=[z, v],
        rates=[v, -g + sympy.Piecewise((-k * z, -z > 0), (0, True))],
        guards={"floor": -z},
        params={g: 9.81, k: 1000.0},
    )

What happens: `reading` checks what was given, `switching` brings the three ways to depend on the sides of the guards to
one, `program` shares common subexpressions and differentiates, `writing` writes a Python module of in-place functions, and
`storing` keeps it, so that a later process neither derives nor compiles anything. SymPy is imported when first needed: a
System that was pickled does not need it.
"""

__all__ = ["from_kane", "system"]


def system(
    states,
    rates,
    guards=None,
    params=None,
    *,
    sides=None,
    t=None,
    mass=None,
    additive="auto",
    compile="auto",
    name=None,
    **options,
):
    """A System from symbolic rates and guards.

    Parameters
    ----------
    states : sequence of Symbol or dynamicsymbols
    rates : sequence of expressions, a mapping from state to expression, or a mapping from word to either
        How fast each state changes. They may depend on the sides of the guards in one of three ways: as a mapping by word,
        ``{(+1, -1): [...], ...}`` (a word that is missing is refused when it is reached); with ``Piecewise`` whose conditions
        are signs of guards; or with ``sides``.
    guards : mapping from name to expression, or sequence of expressions
    params : mapping from Symbol to its default
    sides : sequence of Symbol (one for each guard), or mapping from guard to Symbol
        Symbols that stand in the rates for the side of a guard, -1 or +1.

    Other parameters
    ----------------
    t : Symbol
        Time; default ``Symbol("t")``, which is also that of ``dynamicsymbols``.
    mass : Matrix
        The last rows of ``rates`` are then right-hand sides: ``mass @ (rates of the last states) = these``. It is solved
        numerically at every evaluation, and differentiated implicitly.
    additive : "auto", True or False
        Whether to declare f as a sum over contacts (see `bouligand.System`) where the rates are one: by default with 50 guards
        or more, or where 8 or more contacts are alike, which are then written as a loop.
    compile, name, and other options : as in `bouligand.System` (direction, observers, reset, breakpoints)

    Returns
    -------
    System
        With Df, Dh_row, Dt_h, Dp_f and Dp_h exact; ``print(system.__doc__)`` tells the order of states, parameters and guards.
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
        **options,
    )


def from_kane(method, guards=None, params=None, *, sides=None, **options):
    """A System from equations of motion of ``sympy.physics.mechanics``.

    Parameters
    ----------
    method : KanesMethod or LagrangesMethod
        With its equations formed. Contact forces are ordinary loads, written with ``sides`` or with Piecewise on the guards.
    guards, params, sides, and options
        As in `system`; guards may contain coordinates, speeds, and time derivatives of coordinates.

    The states are the coordinates, then the speeds (for LagrangesMethod, the coordinates' time derivatives, called ``q_dot``).
    The mass matrix is solved numerically at every evaluation, except where it falls into blocks of one or two.
    """
    _needs_sympy()
    from .mechanics import equations_of_motion

    states, rates, mass, guards, t = equations_of_motion(method, guards)
    return system(states, rates, guards, params, sides=sides, t=t, mass=mass, **options)


def _needs_sympy():
    try:
        import sympy  # noqa: F401
    except ImportError as error:
        raise ImportError("bouligand.bridges.sympy needs SymPy: pip install 'bouligand[sympy]'") from error
