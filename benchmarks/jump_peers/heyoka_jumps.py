"""heyoka's Taylor method with terminal events, whose callbacks change the state (and parameters, for sticking)."""

from types import SimpleNamespace

import heyoka as hy
import numpy as np

from benchmarks import jump_problems as q
from benchmarks.peers import decades

from . import arm


def equations(problem):
    """The field, the event equations, and the parameters at the start."""
    if problem.key == "neurons":
        v = hy.make_vars(*[f"v{i}" for i in range(problem.n)])
        return [(one, q.CURRENT - one) for one in v], [one - 1.0 for one in v], []
    x, y = hy.make_vars("x", "y")
    if problem.key == "ball":
        return [(x, y), (y, hy.expression(-q.G))], [x], []
    if problem.key == "wheel":
        return [(x, y), (y, q.G * hy.sin(x))], [q.GAMMA + q.ALPHA - x], []
    if problem.key == "adex":
        rise = q.LEAK * q.WIDTH * hy.exp((x - q.VT) / q.WIDTH)
        return (
            [(x, (q.LEAK * (q.REST - x) + rise - y + q.I_ADEX) / q.C), (y, (q.A * (x - q.REST) - y) / q.TAU)],
            [x - q.CUT],
            [],
        )
    moves = hy.par[1]
    return [(x, moves * y), (y, moves * (-x - q.FRICTION * hy.par[0]))], [y], [problem.b0, 1.0]


def build(problem, tol):
    hy.llvm_state.set_diskcache_enabled(False)
    hy.llvm_state.clear_memcache()
    field, guards, parameters = equations(problem)
    land, times, b = problem.functions[2], [], np.empty(1)

    def callback(integrator, direction):
        if integrator.time < 1e-6:  # (the oscillator starts on its guard: not an event)
            return True
        count = land(integrator.time, integrator.state, b)
        times.extend([integrator.time] * count)
        if parameters:
            integrator.pars[0], integrator.pars[1] = b[0], abs(b[0])
        return True

    direction = {"friction": hy.event_direction.any, "ball": hy.event_direction.negative}.get(problem.key)
    options = {} if direction is None else {"direction": direction}
    integrator = hy.taylor_adaptive(
        field,
        list(problem.x0),
        pars=list(parameters),
        tol=tol,
        t_events=[hy.t_event(guard, callback=callback, **options) for guard in guards],
    )

    def solve():
        times.clear()
        b[0] = problem.b0
        integrator.time = 0.0
        integrator.state[:] = problem.x0
        integrator.pars[:] = parameters
        integrator.reset_cooldowns()
        outcome = integrator.propagate_until(problem.tf, max_steps=10_000)[0]
        if outcome != hy.taylor_outcome.time_limit:
            raise RuntimeError(f"{outcome} at t = {integrator.time:.4g}")
        return list(times), integrator.state.copy()

    return arm(problem, f"tol={tol:.0e}", solve)


PEERS = [
    SimpleNamespace(
        NAME="heyoka",
        PACKAGE="heyoka",
        GIVEN="terminal events whose callbacks change the state; an event for each neuron; sticking by parameters",
        settings=lambda problem: [*decades(-3, -12, 1), 2.2e-16],
        build=build,
    )
]
