"""B-derivatives, corners, shooting and rollouts."""

import numpy as np

import bouligand as bd

from . import Good, good, made
from .systems import OPTIONS, SAYS, STATES
from .things import (
    SPAN,
    START,
    corner,
    derivative,
    derivative_at_times,
    rolled,
    shooting,
    shooting_fit,
    solution,
    system,
)

made("BDerivative", "BDerivativeAtTimes", "Fit", "Rollout")

DX = [0.01, 0.0]
DP = {"k": 1.0}


def register(kind, B, w):
    """The methods that derivatives at one time and at several have."""
    for method in ("__call__", "event_times", "matrix", "offset", "orders"):
        good(f"{kind}.{method}")(lambda method=method: Good(getattr(B(), method), {"dx": DX, "dp": DP}))
    good(f"{kind}.pieces")(lambda: Good(B().pieces, {"limit": 10}))
    good(f"{kind}.vjp")(lambda: Good(B().vjp, {"w": w, "dx": DX, "dp": DP}))


register("BDerivative", derivative, [1.0, 0.0])
register("BDerivativeAtTimes", derivative_at_times, np.ones((3, 2)))


@good("Corner")
def _():
    return Good(
        bd.Corner, {"F": {(-1,): (1.0,), (1,): (2.0,)}, "Dh": [[1.0]]}, then=lambda made_corner: made_corner([0.1])
    )


@good("Corner (function)")
def _():
    arguments = {"F": lambda word: np.array([1.0, 1.0 + 0.1 * word[0]]), "Dh": np.eye(2), "before": [-1.0, -1.0]}
    return Good(bd.Corner, arguments, then=lambda it: it(np.full(it.n, 0.1)))


for name in ("__call__", "matrix", "order"):
    good(f"Corner.{name}")(lambda name=name: Good(getattr(corner(), name), {"dx": DX}))


@good("Corner.pieces")
def _():
    return Good(corner().pieces, {"limit": 10})


@good("saltation")
def _():
    return Good(bd.saltation, {"f_before": [1.0, 0.0], "f_after": [2.0, 0.0], "Dh": [1.0, 0.0]})


@good("Shooting")
def _():
    return Good(
        bd.Shooting,
        {"system": system(), "t_span": SPAN, "x0": list(START), "p": {"k": 900.0}, "free": ["z", "k"]},
        then=lambda shot: shot.jacobian(shot.start),
        particular={"x0": STATES, **OPTIONS},
        says=SAYS,
    )


for name in ("__call__", "jacobian", "solution"):
    good(f"Shooting.{name}")(lambda name=name: Good(getattr(shooting(), name), {"theta": list(START)}))


@good("Shooting.value_and_gradient")
def _():
    def cost(x):
        return float(x @ x), 2.0 * x

    return Good(shooting().value_and_gradient, {"cost": cost}, then=lambda function: function(list(START)))


@good("Shooting.fit")
def _():
    arguments = {"t": [0.1, 0.5], "data": [[1.1, -1.0], [1.0, 1.0]]}
    particular = {"t": [[0.1, 7.0]], "observe": ["nobody", ["z", None]], "weights": [[1.0, 2.0, 3.0], -1.0]}
    return Good(
        shooting().fit,
        arguments,
        then=lambda fit: fit.jacobian(list(START)),
        particular=particular,
        says={"t": ("times",), "observe": ("observed state",)},
    )


for name in ("__call__", "jacobian", "cost_and_gradient"):
    good(f"Fit.{name}")(lambda name=name: Good(getattr(shooting_fit(), name), {"theta": list(START)}))


@good("rollout")
def _():
    arguments = {"system": system(), "x0": list(START), "U": [[9.81], [9.7]], "times": [0.0, 0.2, 0.4], "inputs": "g"}
    return Good(bd.rollout, arguments, particular={"x0": STATES, **OPTIONS, "times": [[0.0, 0.4, 0.2]]}, says=SAYS)


@good("Rollout.bderivative")
def _():
    return Good(rolled().bderivative, {"k": 1}, particular={"k": [3, -4, 1.5]})


@good("Rollout.linear")
def _():
    return Good(rolled().linear, {"k": 1, "dx": DX, "du": [0.1]}, particular={"k": [3, -4, 1.5]})


@good("Rollout.linearise")
def _():
    return Good(rolled().linearise, {"dx": np.zeros((3, 2)), "du": np.zeros((3, 1))})


@good("Rollout.gradient")
def _():
    return Good(rolled().gradient, {"by_x": np.ones((4, 2)), "by_u": np.ones((3, 1))})


@good("Solution.bderivative")
def _():
    particular = {"t": [-1.0, 5.0, [5.0]], "event": [99, -99, 1.5], "since": [5.0, [1.0]]}
    return Good(solution().bderivative, {"params": True}, particular=particular)


@good("Solution.sensitivity")
def _():
    return Good(solution().sensitivity, {"wrt": "k", "t": [0.1, 0.3]}, particular={"t": [[5.0]], "wrt": ["nobody"]})
