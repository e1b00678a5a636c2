"""Many hoppers by the peers' own ways to run many. Each arm is a function of the starts that returns the end states, and how many
starts it is timed with."""

import os

import numpy as np
from numba import njit

SPAN = (0.0, 2.0)
CORES = min(len(os.sched_getaffinity(0)), 2) if hasattr(os, "sched_getaffinity") else 2


def heyoka_arms(tol):
    """One integrator that is set back for each start; its own ensemble; and its batch mode, four at once."""
    import heyoka as hy

    z, v = hy.make_vars("z", "v")
    field = [(z, v), (v, hy.par[0] * 1000.0 * (1.0 - z) - 9.81)]

    def flips(integrator, direction):
        integrator.pars[0] = 1.0 - integrator.pars[0]
        return True

    def event():
        return hy.t_event(1.0 - z, callback=flips)

    one = hy.taylor_adaptive(field, [2.0, 0.0], pars=[0.0], tol=tol, t_events=[event()])

    def loop(x0):
        out = np.empty_like(x0)
        for i, x in enumerate(x0):
            one.time = 0.0
            one.state[:] = x
            one.pars[0] = 0.0
            one.reset_cooldowns()
            one.propagate_until(SPAN[1])
            out[i] = one.state
        return out

    def own_ensemble(x0):
        def generate(integrator, i):
            integrator.state[:] = x0[i]
            return integrator

        return np.array(
            [item[0].state for item in hy.ensemble_propagate_until(one_at_start(), SPAN[1], len(x0), generate)]
        )

    def one_at_start():
        return hy.taylor_adaptive(field, [2.0, 0.0], pars=[0.0], tol=tol, t_events=[event()])

    def batch_flips(integrator, direction, i):
        integrator.pars[0, i] = 1.0 - integrator.pars[0, i]
        return True

    lanes = 4
    many = hy.taylor_adaptive_batch(
        field,
        np.zeros((2, lanes)),
        pars=np.zeros((1, lanes)),
        tol=tol,
        t_events=[hy.t_event_batch(1.0 - z, callback=batch_flips)],
    )

    def batch(x0):
        out = np.empty_like(x0)
        for i in range(0, len(x0) - len(x0) % lanes, lanes):
            many.set_time(0.0)
            many.state[:] = x0[i : i + lanes].T
            many.pars[:] = 0.0
            many.reset_cooldowns()
            many.propagate_until([SPAN[1]] * lanes)
            out[i : i + lanes] = many.state.T
        return out

    return {
        "heyoka, loop": (loop, 4000),
        "heyoka, batch of 4": (batch, 4000),
        "heyoka, its ensemble": (own_ensemble, 40),
    }


def mujoco_arm(dt):
    import mujoco
    from mujoco import rollout

    from bouligand.reproduce import mujoco_models

    model = mujoco_models.hopper(dt)
    datas = [mujoco.MjData(model) for _ in range(CORES)]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    steps = round(SPAN[1] / dt)

    def run(x0):
        initial = np.zeros((len(x0), size))
        initial[:, 1:3] = x0
        states, _ = rollout.rollout(model, datas, initial, nstep=steps, persistent_pool=True)
        return states[:, -1, 1:3]

    return {f"MuJoCo rollout, {CORES} threads, dt {dt * 1e3:g} ms": (run, 400 if dt > 1e-4 else 8)}


def diffrax_arm(rtol):
    # (lanes that are done run on with the others; their events are not bracketed, and their values are not used)
    os.environ.setdefault("EQX_ON_ERROR", "nan")
    import jax

    jax.config.update("jax_enable_x64", True)
    import diffrax
    import jax.numpy as jnp
    import optimistix

    event = diffrax.Event(
        lambda t, y, args, **_: args * (1.0 - y[0]) + 1e-12,
        optimistix.Bisection(rtol=1e-14, atol=1e-14),
        direction=False,
    )
    term = diffrax.ODETerm(lambda t, y, b: jnp.stack([y[1], jnp.where(b > 0, 1000.0 * (1.0 - y[0]), 0.0) - 9.81]))
    control = diffrax.PIDController(rtol=rtol, atol=0.01 * rtol, dtmax=0.05)

    def one(x0):
        def body(carry):
            t, x, b, _ = carry
            sol = diffrax.diffeqsolve(
                term, diffrax.Tsit5(), t, SPAN[1], jnp.minimum(1e-3, SPAN[1] - t), x, args=b, stepsize_controller=control,
                event=event, max_steps=100_000, throw=False,
            )  # fmt: skip
            again = sol.result == diffrax.RESULTS.event_occurred
            t = sol.ts[-1]
            return t, sol.ys[-1], jnp.where(again, -b, b), again & (t < SPAN[1])

        return jax.lax.while_loop(lambda carry: carry[-1], body, (0.0, x0, -1.0, True))[1]

    many = jax.jit(jax.vmap(one))
    return {"diffrax, vmap": (lambda x0: np.asarray(many(jnp.asarray(x0)).block_until_ready()), 200)}


def scipy_arm(rtol):
    from scipy.integrate import solve_ivp

    @njit
    def field(t, x, b):
        return np.array([x[1], (1000.0 * (1.0 - x[0]) if b > 0 else 0.0) - 9.81])

    def touch(t, x, b):
        return 1.0 - x[0]

    touch.terminal = True

    def one(x):
        t, b = 0.0, -1.0
        while t < SPAN[1]:
            touch.direction = -b
            sol = solve_ivp(
                field, (t, SPAN[1]), x, "DOP853", events=touch, args=(b,), rtol=rtol, atol=0.01 * rtol,
                first_step=min(1e-3, SPAN[1] - t), max_step=0.05,
            )  # fmt: skip
            t, x, b = sol.t[-1], sol.y[:, -1], -b
        return x

    return {"SciPy DOP853, loop": (lambda x0: np.array([one(x) for x in x0]), 20)}
