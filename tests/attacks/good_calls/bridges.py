"""Robots from files, and symbolic equations."""

from functools import cache

import numpy as np
import sympy
from sympy.physics import mechanics

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..public_api import arguments
from . import Good, good, made

made("bridges.mujoco.Robot")

FOOT = """<mujoco model="hopper"><worldbody><body name="leg"><joint name="lift" type="slide" axis="0 0 1"/>
<geom name="foot" type="sphere" size="0.1" mass="1"/><site name="toe"/></body></worldbody>
<actuator><motor name="push" joint="lift"/></actuator><keyframe><key name="up" qpos="1"/></keyframe></mujoco>"""
PLACES = ["nobody", 7, [7], ("foot", "nobody"), ["foot", "foot"], [None]]


@cache
def robot():
    return mj.load(FOOT, "foot", mj.Hold())


@cache
def state():
    return robot().neutral("up")


def fall(made_robot):
    return bd.solve(made_robot, (0.0, 0.1), made_robot.neutral())


def hinge(t, x, p):
    return (-x[0],)


@good("bridges.mujoco.load")
def _():
    given = {
        "model": FOOT, "contacts": "foot", "control": hinge, "law": mj.Spring(1e4), "friction": 0.5, "floor": -1.0,
        "limits": "ignore", "joint_friction": "ignore", "package_dirs": (), "edit": None, "params": {"gain": 1.0},
        "name": "hopper",
    }  # fmt: skip
    particular = {
        "contacts": PLACES,
        "floor": ["foot", "nobody", [1.0]],
        "limits": ["maybe", mj.Spring(1.0)],
        "law": [mj.Coulomb(0.5), mj.Stops()],
        "friction": [mj.Spring(1.0), -1.0],
        "joint_friction": ["some", -1.0, mj.Stops()],
        "params": [{"stiffness": 1.0}, {"gain": "a"}],
        "package_dirs": [[1.5], 3],
        "model": ["nobody.xml", "<mujoco/>", "<robot/>", mj.Spring(1.0)],
    }
    return Good(
        mj.load,
        given,
        then=fall,
        particular=particular,
        says={"control": ("u",), "model": ("the XML text",)},
        raises=(FileNotFoundError,),
    )


@good("bridges.mujoco.Contact")
def _():
    given = {
        "site": "toe",
        "point": (0.0, 0.0, 0.1),
        "radius": 0.1,
        "law": mj.Spring(1e4),
        "friction": 0.5,
        "name": "tip",
    }
    leave = {"geom": "attacked below", "against": "attacked below"}
    particular = {"point": [(0.0, 0.0)], "law": [mj.Stops()], "friction": [mj.Spring(1.0)]}
    return Good(mj.Contact, given, particular=particular, leave=leave)


@good("bridges.mujoco.Contact (geom)")
def _():
    given = {"geom": "foot"}
    return Good(mj.Contact, given, leave=dict.fromkeys(("site", "body", "point", "radius"), "attacked above"))


@good("bridges.mujoco.PD")
def _():
    return Good(
        mj.PD, {"target": {"lift": 0.5}, "kp": 1.0, "kd": 0.1}, particular={"target": [[[1.0, 2.0]], "up", {1: 0.5}]}
    )


@good("bridges.mujoco.Hold")
def _():
    particular = {"times": [[1.0, 0.5], [[0.0, 1.0]]], "u": [[1.0, 2.0, 3.0], np.ones((3, 2))]}
    return Good(mj.Hold, {"times": [0.0, 0.5], "u": [[1.0], [2.0]]}, particular=particular)


@good("bridges.mujoco.PiecewiseConstant")
def _():
    particular = {"times": [[1.0, 0.5]], "u": [[1.0, 2.0], np.ones((3, 2))]}
    return Good(mj.PiecewiseConstant, {"times": [0.0, 0.5], "u": [[1.0], [2.0]]}, particular=particular)


@good("bridges.mujoco.PiecewiseConstant.__call__")
def _():
    return Good(mj.PiecewiseConstant([0.0, 0.5], [[1.0], [2.0]]).__call__, {"t": 0.2})


@good("bridges.mujoco.Sinusoid")
def _():
    return Good(mj.Sinusoid, {"centre": 0.1, "amplitude": 0.2, "frequency": 2.0, "phase": 0.3})


LAWS = {
    "Coulomb": ({"mu": 0.5, "slip_speed": 0.01}, {"mass": 1.0, "force": 10.0}),
    "ExactCoulomb": ({"mu": 0.5}, None),
    "HuntCrossley": (
        {"stiffness": 1e4, "damping": 0.1, "exponent": 1.5, "adhesion": False},
        {"mass": 1.0, "depth": 0.01},
    ),
    "JointFriction": ({"deflection": 0.01, "damping": 1.0}, {"inertia": 1.0, "friction": 1.0, "speed": 1.0}),
    "LuGre": ({"mu_s": 0.5, "mu_d": 0.4, "stribeck": 0.05}, {"mass": 1.0, "force": 10.0, "speed": 1.0}),
    "Spring": ({"stiffness": 1e4, "damping": 1.0, "preload": 0.0, "adhesion": False}, {"mass": 1.0}),
    "Stops": ({"stiffness": 1e3, "damping": 0.5}, None),
}


def _attack_law(name, numbers, of_rate):
    @good(f"bridges.mujoco.{name}")
    def _():
        return Good(getattr(mj, name), dict(numbers), particular={key: [-1e9] for key in numbers if key != "preload"})

    if of_rate is not None:

        @good(f"bridges.mujoco.{name}.rate")
        def _():
            return Good(getattr(mj, name)(**numbers).rate, dict(of_rate), particular={key: [-1.0] for key in of_rate})


for _name, (_numbers, _of_rate) in LAWS.items():
    _attack_law(_name, _numbers, _of_rate)


INHERITED = {"check": {"x": [0.0, 0.0]}, "function": {"name": "f"}, "has": {"name": "f"}, "guard_index": {"guard": 0}}

for _name, _given in INHERITED.items():

    @good(f"bridges.mujoco.Robot.{_name}")
    def _(_name=_name, _given=_given):
        method = getattr(robot(), _name)
        return Good(method, _given, leave=dict.fromkeys(arguments(method), "as of any System"))


@good("bridges.mujoco.Robot.forces")
def _():
    return Good(
        robot().forces, {"x": state(), "b": np.ones(robot().m), "t": 0.0}, particular={"b": [np.full(robot().m, 0.5)]}
    )


@good("bridges.mujoco.Robot.hold")
def _():
    return Good(robot().hold, {"U": [1.0]}, particular={"U": [[[1.0, 2.0]]]})


@good("bridges.mujoco.Robot.neutral")
def _():
    return Good(robot().neutral, {"key": "up"}, particular={"key": [1, -2]})


@good("bridges.mujoco.Robot.x")
def _():
    data = robot().data(state())
    return Good(robot().x, {"lift": 0.3, "qvel": [0.1]}, particular={"data": [data.qpos], "lift": [[1.0]]})


@good("bridges.mujoco.Robot.tangent")
def _():
    return Good(robot().tangent, {"B": np.eye(robot().n), "x0": state(), "x1": state()})


@good("bridges.mujoco.Robot.touching")
def _():
    return Good(robot().touching, {"b": np.ones(robot().m)})


@good("bridges.mujoco.Robot.parameters")
def _():
    return Good(robot().parameters, {"p": {"stiffness": 900.0}}, particular={"p": [{"stiffness": -1.0}]})


for _name in ("data", "energy", "points", "lift", "project"):

    @good(f"bridges.mujoco.Robot.{_name}")
    def _(_name=_name):
        return Good(getattr(robot(), _name), {"x": state()}, particular={"x": [np.full(robot().n, np.nan)]})


PARTS = {"guards": ("guard",), "rates": ("rate",)}  # what is inside an expression is said of that one


@good("bridges.sympy.system")
def _():
    z, v, k, g, side = sympy.symbols("z v k g side")
    given = {
        "states": [z, v], "rates": [v, -g - k * z * (1 + side) / 2], "guards": {"foot": -z}, "params": {g: 9.81, k: 1000.0},
        "sides": [side], "additive": "auto", "compile": False, "name": "hopper",
    }  # fmt: skip
    particular = {
        "states": [[z, z], [z], [z, 1.0], z],
        "rates": [[v], [v, sympy.Abs(z)], [v, sympy.Symbol("w")], {z: v}, {(1, 1): [v, -g]}],
        "guards": [{"foot": sympy.Symbol("w")}, {"foot": "z"}, {"foot": sympy.Abs(z)}, -z, {1.5: -z}],
        "params": [{g: 9.81, k: "a"}, {g: 9.81, k: sympy.nan}, {g: 9.81}, {"g": 9.81, "k": 1.0}, {g: 9.81, k: np.nan}],
        "sides": [[z], {"nobody": side}, []],
        "mass": [sympy.eye(3), [[1, 0], [0]], sympy.Matrix([["a"]])],
        "additive": ["yes"],
        "name": [1.5],
    }

    def run(system):
        return bd.solve(system, (0.0, 0.1), [1.0, 0.0])

    of_system = dict.fromkeys(("compile", "direction", "observers", "reset", "breakpoints", "unit"), "as of any System")
    return Good(bd.bridges.sympy.system, given, then=run, particular=particular, says=PARTS, leave=of_system)


@good("bridges.sympy.from_kane")
def _():
    z, (m, g) = mechanics.dynamicsymbols("z"), sympy.symbols("m g")
    rate = z.diff(mechanics.dynamicsymbols._t)
    method = mechanics.LagrangesMethod(m * rate**2 / 2 - m * g * z, [z])
    method.form_lagranges_equations()
    unformed = mechanics.LagrangesMethod(m * rate**2 / 2 - m * g * z, [z])
    given = {"method": method, "guards": {"floor": -z}, "params": {m: 1.0, g: 9.81}}
    return Good(
        bd.bridges.sympy.from_kane,
        given,
        particular={"method": [unformed], "guards": [1.5, {"floor": "z"}]},
        says=PARTS,
    )
