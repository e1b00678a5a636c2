"""From a code of the core to an exception that says what happened, where, and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..core import codes
from ..core.state import EXPLICIT_ONLY
from . import stiff
from .stiffness import fastest_decay, is_stiff

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..system.functions import UserFunction
    from ..system.system import System
    from .stepper import Stepper


def failure(stepper: Stepper, code: int) -> BaseException:
    """The exception for a code of the core at which an integration stopped."""
    name, text, function = codes.FAILURES[code]
    if function:
        return _user_error(stepper, function)
    if code == codes.NOT_FINITE and not np.isfinite(stepper.x).all() and stepper._memory.s.rows.records == 0:
        given = np.array2string(stepper.x, threshold=12)
        return errors.NotFiniteError(f"x0 must be finite; got {given}", t=stepper.t, x=stepper.x)
    system, s, g = stepper.system, stepper._memory.s, stepper._memory.g
    if code in (codes.JUMP_ORDER, codes.ZENO):
        return _about_jumps(stepper, code, text)
    if code in (codes.NO_WORD, codes.SEVERAL_WORDS):
        return _about_start(stepper, text)
    k = s.run.culprit
    about_a_guard = 0 <= k < system.m and "{guard" in text
    guard = system.guards[k] if about_a_guard else None
    t, x = stepper.t, stepper.x
    message = text.format(
        guard=guard,
        where=f"at t = {t:.10g}",
        x=np.array2string(x, threshold=12),
        margin=s.verdict.margin,
        effect=s.verdict.effect,
        dt=s.next.dt,
        max_steps=s.options.max_steps,
        sign=g.b[k] if about_a_guard else 0.0,
        h=g.h[k] if about_a_guard else 0.0,
    )
    if code in (codes.GRAZING, codes.ESCAPES) and _has_a_pole(system, t, x, stepper._p, k):
        text = (
            f"guard {guard!r} has a pole near t = {t:.10g}, x = {np.array2string(x, threshold=12)}: h is about {g.h[k]:.1e} "
            "there and jumps (a tangent at 90 degrees, a division by zero). Write it without, or stop before with terminal=."
        )
        return errors.NotFiniteError(text, t=t, x=x, guard=guard)
    hdot = float(g.b[k] * g.hdot[k]) if about_a_guard else None
    if code in (codes.STEP_TOO_SMALL, codes.TOO_MANY_STEPS):
        rate, states = fastest_decay(system, t, x, g.b.copy(), stepper._p)
        if is_stiff(rate, s.next.dt, s.now.tf - s.now.t0):
            message = (
                f"stiff at t = {t:.10g}: a component in {', '.join(states)} decays at {rate:.2g} per unit of time, so that an "
                f"explicit method may take no longer steps than about {3.0 / rate:.1e}, whatever the tolerance. "
                f"{_advice(stepper)}, make it slower (a softer damper, a larger slip speed), or give a larger max_steps. "
                f"({message})"
            )
            return errors.StiffnessError(message, rate=rate, states=states, t=t, x=x)
    if code == codes.STEP_TOO_SMALL and (zero := _without_tolerance(stepper)):
        message = (
            f"the step became too small at t = {t:.10g} (dt = {s.next.dt:.1e}): {', '.join(zero)} is nearly zero there, and so "
            "small a tolerance (atol + rtol |x|) cannot be kept. Give a larger atol (the default is rtol / 100)"
        )
    error: type[errors.SolveError] = getattr(errors, name)
    return error(message, t=t, x=x, guard=guard, hdot=hdot)


def _about_jumps(stepper: Stepper, code: int, text: str) -> BaseException:
    """The exception for jumps that accumulate, or whose order matters."""
    memory, guards = stepper._memory, stepper.system.guards
    s, v, g, t, x = memory.s, memory.v, memory.g, stepper.t, stepper.x
    guard, where = guards[s.run.culprit], f"at t = {t:.10g}"
    if code == codes.JUMP_ORDER:
        outcomes = v.x_end.copy(), v.x_smooth.copy()
        one, two = (np.array2string(state, threshold=8, precision=6) for state in outcomes)
        message = text.format(guard=guard, other=guards[s.run.other], where=where, one=one, two=two)
        return errors.JumpOrderError(
            message, guards=(guard, guards[s.run.other]), outcomes=outcomes, t=t, x=x, guard=guard
        )
    # (an inelastic jump ends it at once)
    ratio = float(g.ratio[s.run.culprit]) if g.shrinking[s.run.culprit] > 0.0 else 0.0
    t_end = t + float(g.interval[s.run.culprit]) * ratio / (1.0 - ratio)
    message = text.format(guard=guard, where=where, ratio=ratio, t_end=t_end)
    return errors.ZenoError(message, t_end=t_end, ratio=ratio, t=t, x=x, guard=guard)


def _about_start(stepper: Stepper, text: str) -> errors.StartError:
    """The exception for a start on guards where no mode, or more than one, is consistent."""
    system, g, t = stepper.system, stepper._memory.g, stepper.t
    on = np.flatnonzero((g.held != 0.0) & (g.observer == 0.0) & (g.rest == 0.0))
    names = ", ".join(repr(system.guards[k]) for k in on[:5]) + (" ..." if len(on) > 5 else "")
    zero = f"at the start, t = {t:g}, {f'guards {names} are' if len(on) > 1 else f'guard {names} is'} zero"
    message = text.format(zero=zero, words=stepper._memory.s.run.culprit)
    return errors.StartError(message, t=t, x=stepper.x, guard=system.guards[on[0]])


def _advice(stepper: Stepper) -> str:
    """What to try against stiffness."""
    if stepper._memory.s.stiff.allowed == EXPLICIT_ONLY:
        return "Leave method to 'auto' or give 'stiff'"
    if stepper.system.n > stiff.LARGEST and stepper._stiff is None:
        return f"Give method='stiff' (with more than {stiff.LARGEST} states it is not chosen by itself)"
    return "Loosen rtol"


def _without_tolerance(stepper: Stepper) -> list[str]:
    """States that are so small that their tolerances are below the round-off of what they have been."""
    memory = stepper._memory
    states = memory.states[: memory.s.rows.records]
    if not len(states):
        return []
    tolerance = memory.v.atol + memory.s.options.rtol * np.abs(stepper.x)
    small = tolerance < 1e-16 * np.abs(states).max(axis=0)
    return [name for name, is_small in zip(stepper.system.states, small, strict=True) if is_small]


def _has_a_pole(system: System, t: float, x: FloatArray, p: FloatArray, k: int) -> bool:
    """Whether guard k changes by as much over a millionth of the state as over a hundred times that."""
    h, way = system.function("h"), (np.abs(x) + 1e-3) * np.where(np.arange(x.size) % 3 == 0, 1.0, -0.7)
    try:
        near, far = (abs(h(t, x + s * way, p)[k] - h(t, x - s * way, p)[k]) for s in (1e-6, 1e-4))
    except Exception:  # the next call of h reports it
        return False
    return bool(far < 10.0 * near)


def _user_error(stepper: Stepper, name: str) -> BaseException:
    """The exception that the user's function ``name`` raised, with a note of time and state."""
    system, bound = stepper.system, stepper.system._bind()
    memory = stepper._memory
    t, x, b = memory.s.run.t_failed, memory.v.x_failed.copy(), memory.g.b.copy()
    error = bound.failures.take()
    if error is None:
        # a compiled function only reports that it failed: call it from Python with the same arguments to get its exception
        user = _function(system, name, memory.s.run.culprit)
        try:
            more: tuple[Any, ...] = (b,) if name in ("f", "jump") else (memory.s.run.culprit,) if name == "g" else ()
            if user.name == "jump_many":
                more = (memory.g.fired.copy(), b)
            values = user(system.sizes, t, x, *more, stepper._p)
            user.check_shape(system.sizes, values, t, x)
        except Exception as raised:
            error = raised
    if error is None:
        message = f"{name} failed at t = {t:.17g}, but not when it was called again with the same arguments"
        error = errors.FunctionError(message, t=t, x=x)
    word = f", b = {b.astype(int)}" if name == "f" and len(b) <= 20 else ""
    error.add_note(f"in {name}, at t = {t:.17g}, x = {np.array2string(x, threshold=20)}{word}")
    return error


def _function(system: System, name: str, target: int) -> UserFunction:
    """The user's function that failed; ``target`` is the guard concerned."""
    if name == "jump":
        return system.jumps.many or system.jumps.functions[target]
    return system._functions[name]
