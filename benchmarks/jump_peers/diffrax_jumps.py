"""diffrax (JAX, float64): Tsit5 with PI control and one event, found by bisection; jumps and restarts in one compiled loop."""

import jax

jax.config.update("jax_enable_x64", True)

from types import SimpleNamespace

import diffrax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

from benchmarks import jump_problems as q

from . import arm

SLACK = 1e-12
MOST = 128  # events


def functions(problem):
    """The functions of the problem in JAX: field(x, b), margin(x, b), land(x, b) -> x, b, count."""
    one = jnp.asarray(1)
    if problem.key == "ball":
        return (
            lambda x, b: jnp.stack([x[1], jnp.full_like(x[1], -q.G)]),
            lambda x, b: x[0],
            lambda x, b: (jnp.stack([0.0 * x[0], -q.E * x[1]]), b, one),
        )
    if problem.key == "wheel":
        return (
            lambda x, b: jnp.stack([x[1], q.G * jnp.sin(x[0])]),
            lambda x, b: q.GAMMA + q.ALPHA - x[0],
            lambda x, b: (jnp.stack([0.0 * x[0] + q.GAMMA - q.ALPHA, np.cos(2.0 * q.ALPHA) * x[1]]), b, one),
        )
    if problem.key == "adex":
        return adex
    if problem.key == "friction":
        return friction

    def fire(x, b):
        def generation(carry):
            x, fired, new = carry
            x = jnp.where(fired | new, 0.0, x + q.PULSE * new.sum())
            return x, fired | new, (x >= 1.0)

        first = (x, jnp.zeros(x.shape, bool), x >= x.max() - 1e-9)
        x, fired, _ = jax.lax.while_loop(lambda carry: carry[2].any(), generation, first)
        return x, b, fired.sum()

    return lambda x, b: q.CURRENT - x, lambda x, b: 1.0 - x.max(), fire


def rise(V):
    """(Cut off beyond the event, at which the argument is 5: a step that passes it would else end in infinity.)"""
    return jnp.exp(jnp.minimum((V - q.VT) / q.WIDTH, 8.0))


adex = (
    lambda x, b: jnp.stack(
        [
            (q.LEAK * (q.REST - x[0] + q.WIDTH * rise(x[0])) - x[1] + q.I_ADEX) / q.C,
            (q.A * (x[0] - q.REST) - x[1]) / q.TAU,
        ]
    ),
    lambda x, b: q.CUT - x[0],
    lambda x, b: (jnp.stack([0.0 * x[0] + q.RESET, x[1] + q.B]), b, jnp.asarray(1)),
)
friction = (
    lambda x, b: jnp.abs(b) * jnp.stack([x[1], -x[0] - q.FRICTION * b]),
    lambda x, b: jnp.where(b == 0.0, 1.0, b * x[1]),
    lambda x, b: (
        jnp.stack([x[0], 0.0 * x[1]]),
        jnp.where(jnp.abs(x[0]) <= q.FRICTION, 0.0, -jnp.sign(x[0])),
        jnp.asarray(1),
    ),
)


def build(problem, rtol):
    f, margin, land = functions(problem)
    reach = 1e-11 if problem.key == "adex" else 1e-14  # (at 30 mV/ms and t = 100 ms the margin is not known any better)
    finder = optx.Bisection(rtol=1e-14, atol=reach)
    event = diffrax.Event(lambda t, y, args, **_: margin(y, args) + SLACK, finder, direction=False)
    term = diffrax.ODETerm(lambda t, x, b: f(x, b))
    controller = diffrax.PIDController(rtol=rtol, atol=0.01 * rtol, dtmax=problem.grid)

    @jax.jit
    def whole(x0, b0):
        def body(carry):
            t, x, b, times, count, _ = carry
            sol = diffrax.diffeqsolve(
                term,
                diffrax.Tsit5(),
                t,
                problem.tf,
                jnp.minimum(1e-3, problem.tf - t),
                x,
                args=b,
                stepsize_controller=controller,
                event=event,
                max_steps=100_000,
                throw=False,
            )
            t, x = sol.ts[-1], sol.ys[-1]
            again = sol.result == diffrax.RESULTS.event_occurred
            jumped, sign, more = land(x, b)
            at = jnp.arange(MOST)
            times = jnp.where(again & (at >= count) & (at < count + more), t, times)
            return t, jnp.where(again, jumped, x), jnp.where(again, sign, b), times, count + again * more, again

        start = (jnp.asarray(0.0), x0, b0, jnp.zeros(MOST), jnp.asarray(0), jnp.asarray(True))
        return jax.lax.while_loop(lambda carry: carry[-1], body, start)

    x0, b0 = jnp.asarray(problem.x0), jnp.asarray(problem.b0)

    def solve():
        _, x, _, times, count, _ = whole(x0, b0)
        return np.asarray(times)[: int(count)], np.asarray(x)

    return arm(problem, f"rtol={rtol:.0e}", solve)


PEERS = [
    SimpleNamespace(
        NAME="diffrax",
        PACKAGE="diffrax",
        GIVEN="Tsit5, float64, one event found by bisection, jumps and restarts inside `lax.while_loop`, jitted; step caps",
        settings=lambda problem: [1e-3, 1e-4, 1e-6, 1e-8, 1e-10],
        build=build,
    )
]
