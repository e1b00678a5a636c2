"""Ready models: each with its usual parameters, and those with ``**params`` with one of them."""

import inspect

import bouligand as bd

from . import Good, good

OTHERS = {"hand": {"mass": 0.1}, "three_legs": {"mass": 3.0}, "driven_hexapod": {"mass": 7.0}}


def good_call(name):
    function = getattr(bd.models, name)
    parameters = inspect.signature(function).parameters.values()
    usual = {one.name: one.default for one in parameters if one.kind is not one.VAR_KEYWORD}
    return Good(function, usual | OTHERS.get(name, {}), says={"unknown": ("unexpected",)})


for _name in bd.models.available():
    good(f"models.{_name}")(lambda name=_name: good_call(name))


@good("models.Model")
def _():
    arguments = {
        "about": "a ball", "make": bd.models.hopper, "start": [2.0, 0.0], "tf": 1.0, "draw": None, "gait": "foot", "size": None,
        "speed": 1.0, "units": {"z": "m"}, "cycle": {"section": "foot"},
    }  # fmt: skip
    particular = {"size": [0, 0.5], "gait": [[None], b"foot"], "units": [{"z": 5}], "start": [[], 5.0]}
    return Good(bd.models.Model, arguments, particular=particular)


@good("models.Model.build")
def _():
    return Good(bd.models.available()["plate"].build, {"size": 2})


@good("models.Model.unit")
def _():
    return Good(bd.models.available()["hopper"].unit, {"name": "z"})
