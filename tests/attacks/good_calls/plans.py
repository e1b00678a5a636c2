"""Costs, plans and controllers."""

import numpy as np

from bouligand.planning import MPC, Plan, Quadratic, Residuals, Smooth, Tracking

from . import Good, good, interface, made
from .systems import OPTIONS, SAYS, STATES
from .things import START, controller, plan, solution, system

LATER = dict.fromkeys(("target", "x", "u", "rest"), "the numbers of states and controls are known in a plan")
COSTS = ("Cost", "Quadratic", "Residuals", "Smooth", "Tracking")
made("planning.PlanResult", "planning.MultipleShooting", "planning.Statistics")
interface(
    "what a cost of one's own has: called by Plan alone, at every iteration, with arrays that it has made",
    *(f"planning.{kind}.{name}" for kind in COSTS for name in ("prepare", "value", "expand")),
    "planning.Cost",
    "planning.Tracking.target",
)

TIMES = np.linspace(0.0, 0.4, 5)


def in_a_plan(cost):
    return Plan(system(), TIMES, end=cost, inputs="g").gradient(START)


@good("planning.Quadratic")
def _():
    arguments = {"target": [1.0, 0.0], "x": [1.0, 2.0], "u": 0.1, "rest": [9.81]}
    return Good(Quadratic, arguments, then=in_a_plan, particular={"x": [-1.0, [1.0, -1.0]], "u": [-1.0]}, later=LATER)


@good("planning.Quadratic (by name)")
def _():
    arguments = {"target": {"z": 1.0}, "x": {"z": 1.0}, "u": {"g": 0.1}}
    return Good(Quadratic, arguments, then=in_a_plan, later=LATER)


@good("planning.Quadratic (moving)")
def _():
    return Good(Quadratic, {"target": lambda t: [1.0, 0.0], "x": 1.0}, then=in_a_plan, later=LATER)


@good("planning.Tracking")
def _():
    arguments = {"reference": solution(), "x": [1.0, 2.0], "u": 0.1, "rest": [9.81]}
    return Good(Tracking, arguments, then=in_a_plan, particular={"x": [-1.0, [1.0, -1.0]], "u": [-1.0]}, later=LATER)


def squares(t, x, u):
    return np.array([x[0] - 1.0, 0.1 * u[0]])


def square(t, x, u):
    return (x[0] - 1.0) ** 2 + 0.01 * u[0] ** 2


@good("planning.Residuals")
def _():
    return Good(Residuals, {"function": squares}, then=in_a_plan)


@good("planning.Smooth")
def _():
    return Good(Smooth, {"function": square}, then=in_a_plan)


@good("planning.Plan")
def _():
    arguments = {
        "system": system(),
        "times": TIMES,
        "running": Quadratic([1.0, 0.0], u=0.1),
        "end": Quadratic(x=1.0),
        "inputs": "g",
    }
    particular = {
        "inputs": ["nobody", ["g", "g"]],
        "limits": [(1.0,), ([1.0], [0.0]), ([0.0, 0.0], [1.0, 1.0])],
        "times": [[0.0, 0.2, 0.1]],
    }
    return Good(
        Plan,
        arguments | {"limits": ([0.0], [20.0])},
        then=lambda it: it.gradient(START),
        particular=OPTIONS | particular,
        says=SAYS,
    )


@good("planning.Plan.controls")
def _():
    return Good(plan().controls, {"U": np.full((4, 1), 9.0)})


for name in ("rollout", "gradient"):
    good(f"planning.Plan.{name}")(
        lambda name=name: Good(
            getattr(plan(), name), {"x0": list(START), "U": np.full((4, 1), 9.0)}, particular={"x0": STATES}
        )
    )


@good("planning.Plan.solve")
def _():
    return Good(
        plan().solve, {"x0": list(START), "U": np.full((4, 1), 9.0), "iterations": 2}, particular={"x0": STATES}
    )


@good("planning.Plan.objective")
def _():
    return Good(
        plan().objective, {"x0": list(START)}, then=lambda cost: cost(np.full(4, 9.0)), particular={"x0": STATES}
    )


@good("planning.Plan.multiple_shooting")
def _():
    return Good(plan().multiple_shooting, {"x0": list(START)}, then=lambda it: it.start(), particular={"x0": STATES})


@good("planning.Plan.cost")
def _():
    return Good(plan().cost, {"run": plan().rollout(START)})


for name in ("defects", "jacobian", "split", "value_and_gradient"):

    @good(f"planning.MultipleShooting.{name}")
    def _(name=name):
        shots = plan().multiple_shooting(START)
        return Good(getattr(shots, name), {"z": shots.start()})


@good("planning.MultipleShooting.start")
def _():
    return Good(plan().multiple_shooting(START).start, {"U": np.full((4, 1), 9.0)})


@good("planning.MPC")
def _():
    def use(it):
        it.start(0.0, START)
        return it.plan(0.05, START)

    return Good(MPC, {"plan": plan(), "iterations": 2}, then=use)


@good("planning.MPC.start")
def _():
    return Good(MPC(plan()).start, {"t": 0.0, "x": list(START), "U": np.full((4, 1), 9.0), "iterations": 2})


@good("planning.MPC.plan")
def _():
    return Good(controller().plan, {"t": 0.1, "x": list(START)})


@good("planning.MPC.shifted")
def _():
    return Good(controller().shifted, {"t": 0.1})


@good("planning.Statistics.percentile")
def _():
    return Good(controller().statistics.percentile, {"q": 50.0}, particular={"q": [-1.0, 101.0], "of": ["nobody"]})
