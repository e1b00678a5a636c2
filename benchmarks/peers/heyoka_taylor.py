"""heyoka's Taylor method with one terminal event for each guard; its callbacks switch parameters.

The plate's force is a sum over touching springs of powers of their position, so that three parameters (how many touch, the
sums of their positions and of the squares) stand for all of them: the field costs the same for any number of contacts, which
would not be possible in most problems. All guards are there.
"""

import heyoka as hy
import numpy as np

from bouligand.models.plate import FIXED

from . import Arm, decades

NAME, PACKAGE = "heyoka", "heyoka"
TIES = 1e-9  # its setting in the table of ties
GIVEN = "terminal events that switch `par[]`, compact mode above 32 guards; the plate's sums over contacts as three parameters"


def settings(problem):
    return [*decades(-3, -12), 2.2e-16]


def build(problem, tol):
    hy.llvm_state.set_diskcache_enabled(False)  # for this process: compile times are quoted
    hy.llvm_state.clear_memcache()
    field, guards, switch, initial = {"balls": _balls, "plate": _plate, "oscillators": _oscillators}[problem.kind](
        problem
    )
    counted, most = [0], 100 * problem.most_restarts

    def event(k):
        def callback(integrator, direction):
            switch(integrator.pars, k, direction)
            counted[0] += 1
            return True

        return hy.t_event(guards[k], callback=callback)

    integrator = hy.taylor_adaptive(
        field,
        list(problem.x0),
        pars=list(initial),
        tol=tol,
        t_events=[event(k) for k in range(problem.m)],
        compact_mode=problem.m > 32,
    )

    def reset():
        counted[0] = 0
        integrator.time = 0.0
        integrator.state[:] = problem.x0
        integrator.pars[:] = initial
        integrator.reset_cooldowns()

    def ended(result):
        """At loose tolerances it can find the same event for ever."""
        if result[0] != hy.taylor_outcome.time_limit:
            raise RuntimeError(f"{result[0]} at t = {integrator.time:.4g} after {counted[0]} events")

    def run():
        reset()
        ended(integrator.propagate_until(problem.tf, max_steps=most))
        return integrator.state.copy()

    def sample():
        reset()
        result = integrator.propagate_grid(np.r_[0.0, problem.times], max_steps=most)
        ended(result)
        return result[-1][1:]

    return Arm(f"tol={tol:.0e}", run, sample, lambda: counted[0])


def _pairs(problem, letter):
    """Positions and velocities (lists, also where there is one of each), and the first half of the field: x' = v."""
    x = hy.make_vars(*[f"{letter}{i}" for i in range(problem.m)])
    v = hy.make_vars(*[f"v{i}" for i in range(problem.m)])
    x, v = (x, v) if isinstance(x, list) else ([x], [v])
    return x, v, list(zip(x, v, strict=True))


def _balls(problem):
    z, v, field = _pairs(problem, "z")
    g, k, rest = problem.p
    field += [(v[i], -g + hy.par[i] * k * (rest - z[i])) for i in range(problem.m)]

    def switch(pars, i, direction):
        pars[i] = 1.0 if direction > 0 else 0.0

    return field, [rest - z[i] for i in range(problem.m)], switch, np.zeros(problem.m)


def _oscillators(problem):
    q, v, field = _pairs(problem, "q")
    a, damping, delta = problem.p
    field += [(v[i], a - damping * v[i] - delta * hy.par[i]) for i in range(problem.m)]

    def switch(pars, i, direction):
        pars[i] = 1.0 if direction > 0 else -1.0

    return field, q, switch, problem.word0()


def _plate(problem):
    x, z, theta, vx, vz, omega = hy.make_vars("x", "z", "theta", "vx", "vz", "omega")
    g, mass, inertia, rest, k, c = problem.p[:FIXED]
    s = problem.positions
    touching, first, second = hy.par[0], hy.par[1], hy.par[2]  # sums of 1, s and s^2 over touching springs
    sine, cosine = hy.sin(theta), hy.cos(theta)
    slope = sine / cosine
    at_zero = k * (rest - z) + c * (slope * vx - vz)
    per_d = k * slope + c * omega / (cosine * cosine)
    sum_d = touching * x - first
    sum_dd = touching * x * x - 2.0 * x * first + second
    force = at_zero * touching + per_d * sum_d
    moment = at_zero * sum_d + per_d * sum_dd
    field = [
        (x, vx),
        (z, vz),
        (theta, omega),
        (vx, -force * sine / mass),
        (vz, force * cosine / mass - g),
        (omega, -moment / (cosine * inertia)),
    ]

    def switch(pars, i, direction):
        sign = 1.0 if direction > 0 else -1.0
        pars[0] += sign
        pars[1] += sign * s[i]
        pars[2] += sign * s[i] * s[i]

    return field, [rest + slope * (x - si) - z for si in s], switch, np.zeros(3)
