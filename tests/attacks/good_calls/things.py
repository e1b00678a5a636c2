"""What the good calls start from: one hopper, its solutions, derivatives, ensembles and plans, each made once in a process."""

from functools import cache

import numpy as np

import bouligand as bd

PARAMS = {"g": 9.81, "k": 1000.0, "rest": 1.0}
SPAN = (0.0, 0.6)
START = (1.2, 0.0)


def f(t, x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]])


def h(t, x, p):
    return np.array([p[2] - x[0]])


@cache
def system():
    return bd.System(f, h, states=("z", "vz"), guards=("foot",), params=PARAMS, name="hopper")


@cache
def solution():
    return bd.solve(system(), SPAN, START)


@cache
def derivative():
    return solution().bderivative(params=True)


@cache
def derivative_at_times():
    return solution().bderivative([0.1, 0.3, 0.5], params=True)


@cache
def corner():
    return bd.Corner(lambda word: np.array([1.0, 1.0 + 0.1 * word[0]]), np.eye(2))


@cache
def shooting():
    return bd.Shooting(system(), SPAN, START)


@cache
def shooting_fit():
    return shooting().fit([0.1, 0.5], [[1.1, -1.0], [1.0, 1.0]])


@cache
def rolled():
    return bd.rollout(system(), START, [[9.81], [9.7], [9.6]], [0.0, 0.2, 0.4, 0.6], inputs="g")


@cache
def ensemble():
    return bd.solve_many(system(), SPAN, [[1.2, 0.0], [1.1, 0.1], [1.3, 0.0]], t_eval=[0.2, 0.6], derivative="matrix")


@cache
def data():
    t = np.linspace(0.05, 0.6, 12)
    return {"t": t, "z": solution()(t)[:, 0]}


@cache
def fitted():
    return bd.fit(system(), data(), START, free="k", sigma=0.01)


def filtering():
    return bd.Filter(system(), START, [1e-4, 1e-4], observe="z", R=1e-4)


@cache
def track():
    return filtering().run(data())


@cache
def cycle():
    return bd.find_cycle(bd.models.hopper(), [2.0, 0.0], section="phase", period=1.4)


@cache
def branch():
    return bd.continue_cycle(cycle(), "k", 1010.0)


@cache
def plan():
    end = bd.planning.Quadratic([1.0, 0.0], x=1.0, u=0.01)
    return bd.planning.Plan(system(), np.linspace(0.0, 0.4, 5), end=end, inputs="g")


def controller():
    out = bd.planning.MPC(plan())
    out.start(0.0, START, iterations=2)
    return out
