"""Systems, and what solves them."""

from typing import Any

import numpy as np

import bouligand as bd

from . import Good, good, made
from .things import PARAMS, SPAN, START, f, h, system

made("Solution", "Events")

GUARDS: list[Any] = ["nobody", 7, -1, 1.5, ["nobody"], [None], [1.5], ("foot", "nobody")]
NAMES: list[Any] = [1.5, [1, 2], ["a", "a"], ("a", "b", "c", 5)]
STATES: list[Any] = [{"z": "a", "vz": 0.0}, {"z": 1.0, "nobody": 0.0}, {"z": 1.0}, [[1.0, 2.0]] * 2]
OPTIONS: dict[str, list[Any]] = {
    "rtol": [1.0, 1e-20, 2.0],
    "atol": [[1e-6, -1.0], [1e-6, 0.0, 1e-6]],
    "method": ["rk45", ["dopri5"], "DOP853", b"dopri5"],
    "t_eval": [[0.0, 3.0], [0.5, 0.1], [[0.0, 0.1]], 0.5, [-1.0]],
    "terminal": [*GUARDS, {"foot": 0}, {"foot": 1.5}, {"foot": "a"}, {"nobody": 1}, {"foot": None}],
    "breakpoints": [[np.nan], ["a"], [None]],
    "b0": [[0.0], [2.0], [0.5], [1.0, 1.0]],
    "eps": [[1.0, 2.0], {"foot": "a"}, {"foot": -1.0}],
    "projection": [4, "euler", [2]],
    "on_graze": ["ignore"],
    "on_failure": ["ignore"],
}
SAYS = {"projection": ("eps",), "eps": ("projection",)}  # eps is refused without projection, and the other way round


def run(made_system):
    return bd.solve(made_system, (0.0, 0.1), [1.2, 0.0])


@good("System")
def _():
    arguments = {
        "f": f, "h": h, "states": ("z", "vz"), "guards": ("foot",), "params": PARAMS, "n": 2, "m": 1, "compile": False,
        "direction": {"foot": 0}, "observers": (), "breakpoints": (), "name": "hopper",
    }  # fmt: skip
    particular = {
        "states": NAMES,
        "guards": NAMES,
        "direction": [3, {"foot": 3}, [1, 1]],
        "observers": GUARDS,
        "n": [10**9],
    }
    particular |= {"unit": [[("z", "nobody")], [("vz", "z")], [(0, 7)], [slice(0, 1)], [(0.5, 1.5)]], "m": [10**9]}
    return Good(bd.System, arguments, then=run, particular=particular, says={"unknown": ("unexpected",)})


@good("System (compiled)")
def _():
    arguments = {"f": f, "h": h, "n": 2, "m": 1, "params": PARAMS}
    return Good(
        bd.System, arguments, then=run, leave=dict.fromkeys(set(_optional()), "attacked in Python, where it is quicker")
    )


def _optional():
    from ..public_api import arguments

    return set(arguments(bd.System)) - {"f", "h"}


@good("System (field in parts)")
def _():
    arguments = {
        "f0": lambda t, x, p: [x[1], -9.81], "g": lambda t, x, k, p: [0.0, 5.0], "h": h, "n": 2, "m": 1, "compile": False,
        "Dh": lambda t, x, p: [[-1.0, 0.0]], "Dt_h": lambda t, x, p: [0.0], "params": PARAMS,
    }  # fmt: skip
    return Good(bd.System, arguments, then=run, leave={"f": "given in parts"})


@good("System (jumps)")
def _():
    arguments = {
        "f": lambda t, x, b, p: [x[1], -9.81], "h": lambda t, x, p: [x[0]], "n": 2, "m": 1, "compile": False,
        "jumps": {0: lambda t, x, b, p: [x[0], -0.5 * x[1]]}, "rest": (), "params": PARAMS,
        "DR": {0: lambda t, x, b, p: [[1.0, 0.0], [0.0, -0.5]]}, "order": (0,),
    }  # fmt: skip

    def bounce(made_system):
        return bd.solve(made_system, (0.0, 0.6), [1.0, 0.0]).bderivative(params=True)

    return Good(
        bd.System,
        arguments,
        then=bounce,
        particular={"rest": GUARDS, "order": [[0, 0], [1], ["nobody"]]},
        says={"m": ("guard 0 does not exist",)},
    )


@good("System.parameters")
def _():
    return Good(system().parameters, {"p": {"k": 900.0}})


@good("System.guard_index")
def _():
    return Good(system().guard_index, {"guard": "foot"}, particular={"guard": [7, -2, "0"]})


@good("System.function")
def _():
    return Good(system().function, {"name": "f"})


@good("System.has")
def _():
    return Good(system().has, {"name": "f"})


@good("System.check")
def _():
    return Good(system().check, {"x": [0.9, -1.0]}, particular={"guards": GUARDS, "x": STATES})


@good("check")
def _():
    return Good(bd.check, {"system": system(), "x": [0.9, -1.0]}, particular={"guards": GUARDS, "x": STATES})


@good("normalised")
def _():
    arguments = {"system": system(), "eps": 1e-3, "x": [0.9, -1.0]}
    return Good(bd.normalised, arguments, particular={"guards": GUARDS, "x": STATES})


@good("Schedule")
def _():
    return Good(
        bd.Schedule, {"times": [0.0, 1.0, 2.0], "values": [1.0, 2.0, 3.0]}, particular={"times": [[1.0, 0.0, 2.0]]}
    )


@good("Schedule.__call__")
def _():
    return Good(bd.Schedule([0.0, 1.0], [1.0, 2.0]).__call__, {"t": 0.5})


@good("solve")
def _():
    arguments = {"system": system(), "t_span": SPAN, "x0": list(START), "p": {"k": 900.0}}
    return Good(bd.solve, arguments, particular={"x0": STATES, **OPTIONS}, says=SAYS)


@good("Stepper")
def _():
    arguments = {"system": system(), "t_span": SPAN, "x0": list(START), "p": {"k": 900.0}}
    return Good(bd.Stepper, arguments, then=bd.Stepper.finish, particular={"x0": STATES, **OPTIONS}, says=SAYS)


def stepper():
    return bd.Stepper(system(), SPAN, START)


@good("Stepper.advance")
def _():
    return Good(stepper().advance, {"until": 0.3}, particular={"until": [-1.0]})


@good("Stepper.finish")
def _():
    return Good(stepper().finish, {"on_failure": "raise"}, particular={"on_failure": ["ignore"]})


@good("Stepper.p =")
def _():
    made_stepper = stepper()

    def set_p(p):
        made_stepper.p = p

    return Good(set_p, {"p": {"k": 900.0}})


@good("integrate")
def _():
    arguments = {
        "f": lambda x, b: [x[1], -1.0 + (0.5 if b[0] > 0 else 0.0)], "h": lambda x: [x[0]], "Dh": lambda x: [[1.0, 0.0]],
        "eps": 1e-3, "x0": [-1.0, 1.0], "t0": 0.0, "tf": 0.5,
    }  # fmt: skip
    return Good(bd.integrate, arguments, says={"t0": ("t_span",), "tf": ("t_span",)})
