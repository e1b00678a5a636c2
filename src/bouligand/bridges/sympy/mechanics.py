"""Equations of motion from ``sympy.physics.mechanics``, as states, rates and a mass matrix."""

import sympy
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, dynamicsymbols


def equations_of_motion(method, guards):
    """States, rates, mass matrix, guards and time of a method whose equations have been formed."""
    t = dynamicsymbols._t
    if isinstance(method, KanesMethod):
        forcing = _formed(method, "kanes_equations(bodies, loads)")
        states = [*method.q, *method.u]
        kinematic = method.kindiffdict()
        rates = [kinematic[q.diff(t)] for q in method.q] + list(forcing)
        mass = method.mass_matrix
    elif isinstance(method, LagrangesMethod):
        forcing = _formed(method, "form_lagranges_equations()")
        if method.coneqs:
            raise ValueError(
                "constraints with multipliers are not supported: choose coordinates that need none, or KanesMethod"
            )
        q = list(method.q)
        speeds = {c.diff(t): sympy.Function(f"{c.func.__name__}_dot")(t) for c in q}
        states = [*q, *speeds.values()]
        rates = [*speeds.values(), *[e.xreplace(speeds) for e in forcing]]
        mass = method.mass_matrix.xreplace(speeds)
    else:
        raise TypeError(f"method must be a KanesMethod or a LagrangesMethod; got {type(method).__name__}")
    return states, rates, mass, guards, t


def _formed(method, how):
    try:
        return method.forcing
    except ValueError:
        raise ValueError(f"method: the {type(method).__name__} has no equations yet: call {how} first") from None
