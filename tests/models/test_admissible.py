"""The parameters of models are declared once, with what they may be; what they may not be is refused by name."""

import inspect
import sys
from typing import Any

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.admissible import Flag, Real, Reals, Whole, ordered, takes

NO_NUMBERS = [None, "1", 1j, object(), [], {}, np.ones(9), np.nan, np.inf, True]
MODELS = sorted(bd.models.available())


def limits(name):
    return getattr(sys.modules[f"bouligand.models.{name}"], "LIMITS", {})


def outside(limit):
    """Values that are not admissible."""
    if isinstance(limit, Flag):
        return ["yes", 1, None, []]
    if isinstance(limit, Whole):
        return [*NO_NUMBERS, limit.least - 1, limit.least + 0.5, 10**30]
    if isinstance(limit, Reals):
        return [None, "1", 1j, object(), [], np.ones((2, 2)), [np.nan], ["a"], *([[1.0] * 9] if limit.size else [])]
    beyond = [
        end
        for end, way in ((limit.least, -1.0), (limit.most, 1.0))
        for end in ([end + way] if np.isfinite(end) else [])
    ]
    ends = [end for end in (limit.least, limit.most) if limit.open and np.isfinite(end)]
    return [*NO_NUMBERS, *beyond, *ends]


@pytest.mark.parametrize("name", MODELS)
def test_all_parameters_of_a_model_are_declared(name):
    known = {"order", "others", "params"}  # guards, which the System checks; parameters of other functions
    assert set(inspect.signature(getattr(bd.models, name)).parameters) <= set(limits(name)) | known


@pytest.mark.parametrize("name", MODELS)
def test_what_is_not_admissible_is_refused_by_name(name):
    make = getattr(bd.models, name)
    taken = inspect.signature(make).parameters
    for argument, limit in limits(name).items():
        for value in outside(limit):
            if value is None and argument in taken and taken[argument].default is None:
                continue
            with pytest.raises((TypeError, ValueError), match=rf"\b{argument}\b"):
                make(**{argument: value})


def test_an_unknown_argument_is_named_by_python():
    hopper: Any = bd.models.hopper
    with pytest.raises(TypeError, match=r"hopper\(\) got an unexpected keyword argument 'stiffness'"):
        hopper(stiffness=1.0)
    with pytest.raises(TypeError, match=r"hopper\(\) takes from 0 to 3 positional arguments but 4 were given"):
        hopper(1.0, 2.0, 3.0, 4.0)
    with pytest.raises(ValueError, match="three_legs does not know"):
        bd.models.three_legs(weight=1.0)


def test_limits_that_depend_on_one_another():
    with pytest.raises(ValueError, match="lowest must be less than highest; got lowest = 5, highest = 4"):
        bd.models.exciter(lowest=5.0)
    with pytest.raises(ValueError, match="floor must be less than ceiling"):
        bd.models.goodwin(floor=9.0)
    with pytest.raises(ValueError, match="a must be less than b"):
        ordered("a", 1.0, "b", 1.0)


def test_closed_forms_refuse_what_they_do_not_hold_for():
    from bouligand.models.bouncing_ball import rest_time
    from bouligand.models.glass_ring import path
    from bouligand.models.hopper import exact
    from bouligand.models.swing import critical_angle

    with pytest.raises(ValueError, match="g must be positive"):
        exact(1.0, g=0.0)
    with pytest.raises(ValueError, match="z0 must be greater than rest"):
        exact(1.0, z0=0.5)
    with pytest.raises(ValueError, match="critical_angle has no answer for power = 5"):
        critical_angle(power=5.0)
    with pytest.raises(ValueError, match="tf is too far away"):
        path(1.0, [0.9, -0.5, 0.1], rate=1e9)
    assert rest_time(e=1.0) == np.inf


def test_a_model_checks_what_it_is_made_of():
    good: dict[str, Any] = {"about": "a ball", "make": bd.models.hopper, "start": np.zeros(2), "tf": 1.0}
    assert bd.models.Model(**good).size is None
    wrong: dict[str, list[Any]] = {
        "about": [None, 5], "make": [None, "f"], "start": [None, "a", [np.nan], np.ones((2, 2))], "tf": [None, 0.0, np.nan],
        "draw": [5, "f"], "gait": [5, [None], b"a"], "size": [0, 1.5, "a"], "speed": [0.0, "a"], "units": [[], {"t": 5}, None],
        "cycle": [None, 5],
    }  # fmt: skip
    for name, values in wrong.items():
        for value in values:
            with pytest.raises((TypeError, ValueError), match=name):
                bd.models.Model(**(good | {name: value}))


def test_sizes_and_units_are_asked_for_by_name():
    plate, wheel = bd.models.available()["plate"], bd.models.available()["rimless_wheel"]
    sizes: list[Any] = [0, 1.5, "a", np.nan, []]
    for size in sizes:
        with pytest.raises((TypeError, ValueError), match="size"):
            plate.build(size)
    with pytest.raises(ValueError, match="no size to choose; got 3"):
        wheel.build(3)
    with pytest.raises(ValueError, match="size = 1: count must be a whole number, at least 2"):
        bd.models.available()["ball_row"].build(1)
    with pytest.raises(TypeError, match="name must be that of a state"):
        wheel.unit(None)


def test_what_is_taken_is_read():
    @takes({"x": Real(0.0, 1.0)})
    def function(x=None, *, y=2):
        return x, y

    assert function() == (None, 2)
    assert function(np.float32(0.5), y="any") == (0.5, "any")
    assert type(function(1)[0]) is float


@pytest.mark.parametrize("module", [bd, bd.plot, bd.models])
def test_nothing_is_public_by_accident(module):
    own = {name for name in dir(module) if not name.startswith("__")}
    assert own == {name for name in module.__all__ if not name.startswith("__")}
    imported = {name for name in vars(module) if callable(getattr(module, name)) and not name.startswith("_")}
    assert imported <= set(module.__all__)
