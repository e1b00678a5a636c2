"""diffrax (JAX, float64): Tsit5 with PI control and events, the restarts inside ``lax.while_loop``, all of it compiled.

The timed arm has one condition, the smallest of all signed guards, found by bisection, and flips the guard that is smallest:
with a condition for each guard the compile time grows without bound. For the table of ties there is one condition for each
guard, as the manual shows, and the one that diffrax reports is flipped.
"""

import jax

jax.config.update("jax_enable_x64", True)

import diffrax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

from bouligand.models.plate import FIXED

from . import Arm

NAME, PACKAGE = "diffrax", "diffrax"
TIES = 1e-8  # its setting in the table of ties
GIVEN = "Tsit5, float64, one condition (the smallest signed guard) found by bisection, restarts inside `lax.while_loop`, jitted"
SLACK = 1e-12  # guards count from -1e-12: one that has just been flipped is zero to round-off


def settings(problem):
    return [1e-4, 1e-6, 1e-8, 1e-10]


def _field(problem):
    p, m = problem.p, problem.m

    if problem.kind == "balls":

        def f(t, x, b):
            z, v = x[:m], x[m:]
            return jnp.concatenate([v, jnp.where(b > 0, p[1] * (p[2] - z), 0.0) - p[0]])

        return f, lambda x: p[2] - x[:m]
    if problem.kind == "oscillators":

        def f(t, x, b):
            return jnp.concatenate([x[m:], p[0] - p[1] * x[m:] - p[2] * b])

        return f, lambda x: x[:m]
    g, mass, inertia, rest, k, c = (float(v) for v in p[:FIXED])
    s = jnp.asarray(problem.positions)

    def f(t, x, b):
        sine, cosine = jnp.sin(x[2]), jnp.cos(x[2])
        slope, d = sine / cosine, x[0] - s
        depth = rest + slope * d - x[1]
        rate = slope * x[3] - x[4] + d * x[5] / (cosine * cosine)
        push = jnp.where(b > 0, k * depth + c * rate, 0.0)
        force, moment = push.sum(), (push * d).sum()
        return jnp.stack(
            [x[3], x[4], x[5], -force * sine / mass, force * cosine / mass - g, -moment / (cosine * inertia)]
        )

    return f, lambda x: rest + jnp.tan(x[2]) * (x[0] - s) - x[1]


def _solver(problem, rtol, event, saveat=None):
    f, h = _field(problem)
    term, controller = diffrax.ODETerm(f), diffrax.PIDController(rtol=rtol, atol=0.01 * rtol, dtmax=problem.max_step)

    def segment(t, x, b):
        return diffrax.diffeqsolve(
            term,
            diffrax.Tsit5(),
            t,
            problem.tf,
            jnp.minimum(1e-3, problem.tf - t),
            x,
            args=b,
            saveat=saveat or diffrax.SaveAt(t1=True),
            stepsize_controller=controller,
            event=event,
            max_steps=100_000 if saveat is None else 4096,
            throw=False,
        )

    return segment, h


def build(problem, rtol):
    finder = optx.Bisection(rtol=1e-14, atol=1e-14)
    _, h = _field(problem)
    event = diffrax.Event(lambda t, y, args, **_: jnp.min(args * h(y)) + SLACK, finder, direction=False)
    segment, _ = _solver(problem, rtol, event)
    dense, _ = _solver(problem, rtol, event, diffrax.SaveAt(t1=True, dense=True))
    fired = diffrax.RESULTS.event_occurred

    @jax.jit
    def whole(x0, b0):
        def body(carry):
            t, x, b, count, _ = carry
            sol = segment(t, x, b)
            t, x = sol.ts[-1], sol.ys[-1]
            k = jnp.argmin(b * h(x))
            again = sol.result == fired
            b = jnp.where(again, b.at[k].multiply(-1.0), b)
            return t, x, b, count + again, again & (t < problem.tf)

        return jax.lax.while_loop(lambda carry: carry[-1], body, (0.0, x0, b0, 0, True))

    x0, b0 = jnp.asarray(problem.x0), jnp.asarray(problem.word0())
    last = [None]

    def run():
        last[0] = whole(x0, b0)
        return np.asarray(last[0][1].block_until_ready())

    dense_segment = jax.jit(dense)
    read = jax.jit(jax.vmap(lambda sol, t: sol.evaluate(t), in_axes=(None, 0)))

    def sample():
        t, x, b = 0.0, x0, np.array(b0)
        states = np.empty((len(problem.times), problem.n))
        while t < problem.tf:
            sol = dense_segment(t, x, jnp.asarray(b))
            end = float(sol.ts[-1])
            inside = (problem.times >= t) & (problem.times <= end)
            if inside.any():
                states[inside] = np.asarray(read(sol, jnp.asarray(problem.times)))[inside]
            t, x = end, sol.ys[-1]
            if sol.result != fired:
                break
            k = int(np.argmin(b * np.asarray(h(x))))
            b[k] = -b[k]
        return states

    return Arm(f"rtol={rtol:.0e}", run, sample, lambda: int(last[0][3]))


def build_ties(problem, rtol):
    """One condition for each guard; which of them fired is what diffrax says."""
    finder = optx.Newton(rtol=1e-12, atol=1e-12)
    _, h = _field(problem)
    conditions = [lambda t, y, args, k=k, **_: args[k] * h(y)[k] for k in range(problem.m)]
    segment, _ = _solver(problem, rtol, diffrax.Event(conditions, finder, direction=[False] * problem.m))
    segment = jax.jit(segment)
    counted = [0]

    def run():
        t, x, b = 0.0, jnp.asarray(problem.x0), problem.word0()
        counted[0] = 0
        for _ in range(problem.most_restarts):
            sol = segment(t, x, jnp.asarray(b))
            t, x = float(sol.ts[-1]), sol.ys[-1]
            if sol.result != diffrax.RESULTS.event_occurred or t >= problem.tf:
                return np.asarray(x)
            flips = np.flatnonzero([bool(v) for v in sol.event_mask])
            b[flips] = -b[flips]
            counted[0] += len(flips)
        raise RuntimeError(f"no end after {problem.most_restarts} restarts")

    return Arm(f"rtol={rtol:.0e}", run, lambda: np.empty(0), lambda: counted[0])
