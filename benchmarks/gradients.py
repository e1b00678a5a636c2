"""Gradients through contacts: ours, and the usual product of MuJoCo's `mjd_transitionFD` over its steps. A table in Markdown.

    python -m benchmarks gradients

Each side is compared with the truth of its own contact law: ours with central differences of solves at rtol = 1e-12,
MuJoCo's with central differences of its own runs with steps of 20 us. Errors are relative to the largest entry.

- hopper: a ball on a spring (k/m = 1000) is dropped. From which height is it 0.45 m high after 0.9 s? BFGS from four starts.
- Solo12 (see `benchmarks.scenes`) is dropped with a tilt onto four feet with friction: the matrix dx(0.4 s)/dx(0). (The truth of
  MuJoCo's flow is not known better than its differences with two steps agree: in brackets.)
"""

import time

import numpy as np
from scipy.optimize import minimize

import bouligand as bd

STARTS, T, TARGET = (0.6, 0.8, 1.0, 1.3), 0.9, 0.45
ARRIVED = 1e-4  # m
BALL = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body><joint type="slide" axis="0 0 1"/><geom type="sphere" size="0.1" mass="1" solref="-1000 0"/></body></worldbody></mujoco>"""
FINE = 2e-5  # s: steps of MuJoCo's truth


class OurBall:
    """The height at the end, and its slope in the height at the start."""

    def __init__(self):
        self.shot = bd.Shooting(bd.models.hopper(k=1000.0, rest=0.1), (0.0, T), [1.0, 0.0], free="z", rtol=1e-9)

    def __call__(self, z0):
        return float(self.shot([z0])[0]), float(self.shot.jacobian([z0])[0, 0])

    def true_slope(self, z0, step=1e-5):
        high, low = (bd.solve(self.shot.system, (0.0, T), [z0 + s, 0.0], rtol=1e-12).x[-1, 0] for s in (step, -step))
        return (high - low) / (2.0 * step)


class TheirBall:
    """The same with MuJoCo: the slope is a product of `mjd_transitionFD` over all steps."""

    def __init__(self):
        import mujoco

        self.mujoco = mujoco
        self.model, self.fine = (mujoco.MjModel.from_xml_string(BALL) for _ in range(2))
        self.fine.opt.timestep = FINE
        self.data = mujoco.MjData(self.model)

    def __call__(self, z0, model=None, derive=True):
        mujoco, data, model = self.mujoco, self.data, model or self.model
        mujoco.mj_resetData(model, data)
        data.qpos[0] = z0
        D, A = np.eye(2), np.zeros((2, 2))
        for _ in range(round(T / model.opt.timestep)):
            if derive:
                mujoco.mjd_transitionFD(model, data, 1e-7, 1, A, None, None, None)
                D = A @ D
            mujoco.mj_step(model, data)
        return float(data.qpos[0]), float(D[0, 0])

    def true_slope(self, z0, step=1e-3):
        high, low = (self(z0 + s, self.fine, False)[0] for s in (step, -step))
        return (high - low) / (2.0 * step)


def search(run, start):
    """BFGS for the height at the end: what is left of the distance, and how often the function was called."""

    def cost(theta):
        z, slope = run(float(theta[0]))
        return 0.5 * (z - TARGET) ** 2, np.array([(z - TARGET) * slope])

    found = minimize(cost, [start], jac=True, method="BFGS", options={"maxiter": 50})
    return abs(run(float(found.x[0]))[0] - TARGET), found.nfev


def seconds_of(task, rounds=3):
    """The least time of some runs (of this thread, since the machine may be busy), behind one that may compile."""
    task()
    best = np.inf
    for _ in range(rounds):
        began = time.thread_time()
        task()
        best = min(best, time.thread_time() - began)
    return best


def balls():
    """Two rows: the slope at all starts, and the searches."""
    slopes, searches = [], []
    for run in (OurBall(), TheirBall()):
        true, found = (np.array([one(z) for z in STARTS]) for one in (run.true_slope, lambda z, run=run: run(z)[1]))
        wrong = int(np.count_nonzero(true * found < 0.0))
        text = said(np.abs(found / true - 1.0).max()) + (f", wrong sign at {wrong} of {len(STARTS)}" if wrong else "")
        slopes += [text, took(seconds_of(lambda run=run: [run(z) for z in STARTS]) / len(STARTS))]
        left = [search(run, z) for z in STARTS]
        count = sum(distance < ARRIVED for distance, _ in left)
        runs = sum(calls for _, calls in left)
        time_of_all = took(seconds_of(lambda run=run: [search(run, z) for z in STARTS], 1))
        searches += [f"{count} of {len(STARTS)} arrive", f"{time_of_all}, {runs} runs"]
    return [("hopper: dz(T)/dz(0), worst of 4 starts", *slopes), ("hopper: BFGS from these 4 starts", *searches)]


def tilted(scene):
    """The start of a scene with a tilt, so that feet touch one after the other."""

    def start(qpos, put=scene.start):
        put(qpos)
        qpos[3:7] += [0.0, 0.02, 0.03, 0.0]
        qpos[3:7] /= np.linalg.norm(qpos[3:7])

    scene.start = start
    return scene


def solo(until=0.4, eps=1e-6, rtol=1e-7):
    """Two rows, for two time steps of MuJoCo: the matrix of the state (36 tangent coordinates) after a drop onto four feet."""
    import mujoco

    from . import scenes

    scene = tilted(scenes.Drop(friction=True))
    robot, x0 = scene.ours()
    model, nq, nv = robot.model, robot.model.nq, robot.model.nv
    rng = np.random.default_rng(1)
    directions = rng.standard_normal((4, 2 * nv)) * np.concatenate([np.full(nv, 0.1), np.ones(nv)])

    def moved(x, d):
        out = x.copy()
        mujoco.mj_integratePos(model, out[:nq], d[:nv], 1.0)
        out[nq : nq + nv] += d[nv:]
        return out

    def apart(x, y):
        """x - y in tangent coordinates."""
        out = np.empty(2 * nv)
        mujoco.mj_differentiatePos(model, out[:nv], 1.0, y[:nq], x[:nq])
        out[nv:] = x[nq : nq + nv] - y[nq : nq + nv]
        return out

    def lifted(x, direction=None):
        """d(state)/d(tangent) at x, or its product with a direction."""
        basis, step = (np.eye(2 * nv) if direction is None else direction[None]), 1e-6
        return np.array([(moved(x, step * d) - moved(x, -step * d)) / (2.0 * step) for d in basis]).T

    def lowered(x, columns):
        """Columns d(state) at x in tangent coordinates."""
        step = 1e-6
        return np.array([apart(x + step * c, x - step * c) / (2.0 * step) for c in columns.T]).T

    # --- ours: all columns in one pass
    sol = bd.solve(robot, (0.0, until), x0, rtol=rtol)
    ours = seconds_of(lambda: bd.solve(robot, (0.0, until), x0, rtol=rtol).bderivative().matrix())
    found = lowered(sol.x[-1], sol.bderivative().matrix() @ lifted(x0)) @ directions.T
    known, step = [], 1e-6
    for d in directions:
        high, low = (
            bd.solve(robot, (0.0, until), moved(x0, s * d), rtol=1e-12, atol=1e-14).x[-1] for s in (step, -step)
        )
        known.append(apart(high, low) / (2.0 * step))
    our_error = np.abs(found - np.array(known).T).max() / np.abs(known).max()

    # --- theirs: a product over all steps
    def run(m, data, x, derive=False):
        mujoco.mj_resetData(m, data)
        data.qpos[:], data.qvel[:] = x[:nq], x[nq : nq + nv]
        D, A = np.eye(2 * nv), np.empty((2 * nv, 2 * nv))
        if not derive:
            mujoco.mj_step(m, data, round(until / m.opt.timestep))
        for _ in range(round(until / m.opt.timestep) if derive else 0):
            mujoco.mjd_transitionFD(m, data, eps, 1, A, None, None, None)
            D = A @ D
            mujoco.mj_step(m, data)
        return np.r_[data.qpos, data.qvel], D

    fine = scene.model("Euler", FINE)
    fine_data, known = mujoco.MjData(fine), []
    for step in (1e-3, 1e-4):
        sides = [[run(fine, fine_data, moved(x0, s * d))[0] for s in (step, -step)] for d in directions]
        known.append(np.array([apart(high, low) / (2.0 * step) for high, low in sides]).T)
    size, doubt = np.abs(known[0]).max(), np.abs(known[1] - known[0]).max()
    rows: list[tuple[str, ...]] = []
    about = f"Solo12 dropped, {len(sol.events)} contact events: dx({until:g} s)/dx(0)"
    for dt, ours_too in ((1e-3, (said(our_error), took(ours))), (2e-4, ("", ""))):
        model = scene.model("Euler", dt)
        data = mujoco.MjData(model)
        began = time.thread_time()
        product = run(model, data, x0, True)[1]
        seconds = time.thread_time() - began
        error = np.abs(product @ directions.T - known[0]).max() / size
        name = f"{about}; its steps {1e3 * dt:g} ms" if not rows else f"the same; its steps {1e3 * dt:g} ms"
        rows.append((name, *ours_too, f"{said(error)} (known to {said(doubt / size)})", took(seconds)))
    return rows


def said(error):
    """A relative error: in percent where it is large."""
    return f"{100.0 * error:.0f} %" if error > 0.01 else f"{error:.0e}"


def took(seconds):
    for unit, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{1e6 * seconds:.0f} us"


def main():
    print("| gradient through contacts | ours: error | time | product of `mjd_transitionFD`: error | time |")
    print("|---|---|---|---|---|")
    for make in (balls, solo):
        for row in make():
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
