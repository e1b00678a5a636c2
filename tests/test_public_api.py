"""Every public name has a docstring with an example, and every public function and method a complete signature."""

import copy
import importlib
import inspect
import pickle
from functools import cached_property
from types import FunctionType

import pytest

import bouligand as bd
from bouligand.derivative.margins import Margin
from bouligand.derivative.pieces import Piece
from bouligand.derivative.trajectory_corners import TrajectoryCorner
from bouligand.solution.lazy import lazy
from bouligand.solution.record import Record
from bouligand.solution.solution import Counts
from bouligand.system.binding import Compiled
from bouligand.system.check_report import Report

NAMES = {name: getattr(bd, name) for name in bd.__all__}
MODELS = {f"models.{name}": getattr(bd.models, name) for name in bd.models.__all__}
RESULTS = {
    kind.__name__: kind for kind in (Compiled, Counts, Margin, Piece, Record, Report, TrajectoryCorner)
}  # of public methods
EVERYTHING = {**NAMES, **MODELS, **RESULTS}
ERRORS = {
    name: kind for name, kind in NAMES.items() if isinstance(kind, type) and issubclass(kind, BaseException | Warning)
}


def members(kind):
    """The public methods and attributes of a class that are computed, as functions, by name."""
    for base in kind.__mro__:
        if not base.__module__.startswith("bouligand"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") and name not in ("__init__", "__call__"):
                continue
            if isinstance(value, property):
                yield name, value.fget
                if value.fset is not None:
                    yield f"{name} (set)", value.fset
            elif isinstance(value, cached_property):
                yield name, value.func
            elif isinstance(value, lazy):
                yield name, value.compute
            elif isinstance(value, FunctionType | staticmethod | classmethod):
                yield name, getattr(value, "__func__", value)


def functions():
    """Every public function, method and computed attribute, by name."""
    for name, value in EVERYTHING.items():
        if isinstance(value, FunctionType):
            yield name, value
        elif isinstance(value, type):
            yield from ((f"{name}.{member}", function) for member, function in members(value))


FUNCTIONS = dict(functions())


def test_the_members_of_classes_are_found():
    assert {"Solution.t", "Solution.events", "Events.guard", "Stepper.p (set)", "BDerivative.vjp"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(set(EVERYTHING) - set(ERRORS)))
def test_a_public_name_has_a_docstring_with_an_example(name):
    text = inspect.getdoc(EVERYTHING[name])
    assert text
    assert ">>> " in text or name in ("Compiled", "Report")  # (in the example of `System` and `check`)


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_an_error_says_what_it_means_and_what_to_do(name):
    text = ERRORS[name].__doc__
    assert text
    meaning, _, advice = inspect.cleandoc(text).partition("\n\n")
    assert meaning.endswith(".")
    assert advice[:1].isupper()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_public_method_has_a_docstring(name):
    if not name.endswith((".__init__", "(set)")):  # (described in the class, and with the attribute)
        assert FUNCTIONS[name].__doc__


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_public_signature_is_complete(name):
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    arguments = list(signature.parameters.values())
    if "." in function.__qualname__:
        arguments = arguments[1:]  # (self)
    assert [a.name for a in arguments if a.annotation is a.empty] == []
    assert signature.return_annotation is not signature.empty


PUBLIC_MODULES = (
    "",
    ".blocks",
    ".bridges",
    ".bridges.mujoco",
    ".bridges.sympy",
    ".errors",
    ".models",
    ".planning",
    ".plot",
)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_what_a_public_module_shows_is_public(name):
    """What it imports for itself is not: neither in ``dir`` nor by ``from ... import *``."""
    module = importlib.import_module(f"bouligand{name}")
    assert [shown for shown in dir(module) if not shown.startswith("_") and shown not in module.__all__] == []


RESULT_CLASSES = {
    "BDerivative", "BDerivativeAtTimes", "Bifurcation", "Branch", "Cycle", "Ensemble", "EnsembleEvents", "Events", "Fit",
    "FitResult", "Rollout", "Solution", "Track",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(RESULT_CLASSES))
def test_a_result_has_no_public_constructor(name):
    with pytest.raises(TypeError, match=f"{name} has no public constructor: .* makes it"):
        NAMES[name](1, 2, 3)


def test_results_can_be_copied_and_pickled():
    solution = bd.solve(bd.models.hopper(), (0.0, 0.4), [1.2, 0.0])
    ensemble = bd.solve_many(bd.models.hopper(), (0.0, 0.4), [[1.2, 0.0], [1.3, 0.0]])
    for result in (solution.bderivative(), solution.bderivative([0.1, 0.4]), ensemble.events, solution):
        for copied in (copy.copy(result), pickle.loads(pickle.dumps(result))):
            assert type(copied) is type(result)
            assert repr(copied) == repr(result)
