"""Everything public that can be called: functions, constructors, methods and settable properties, by name."""

import importlib
import inspect
import re
from types import FunctionType, ModuleType

from bouligand import _typing

MODULES = ("blocks", "bridges.mujoco", "bridges.sympy", "models", "planning", "plot", "plot.mechanisms")
SPECIAL = ("__call__", "__getitem__")


def callables():
    """Every public callable by its name: ``solve``, ``System``, ``System.check``, ``Stepper.p =``, ``plot.map``.

    Exceptions are left out: the library raises them, and like Python's own they take any message.
    """
    found = {}
    for where in ("", *MODULES):
        module = importlib.import_module(f"bouligand.{where}" if where else "bouligand")
        for name in public_names(module):
            value = getattr(module, name)
            full = f"{where}.{name}" if where else name
            if isinstance(value, ModuleType) or not callable(value):
                continue
            if isinstance(value, type):
                if not issubclass(value, BaseException):
                    found[full] = value
                    found.update({f"{full}.{member}": function for member, function in methods(value)})
            else:
                found[full] = value
    return found


def public_names(module):
    """What a module says is public; without such a list, what it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if f"bouligand.{name}" != module.__name__]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def methods(kind):
    """The public methods of a class by name, inherited ones of the library too; setters of properties as ``name =``."""
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        if name.startswith("_") and name not in SPECIAL:
            continue
        if isinstance(value, property) and value.fset is not None:
            yield f"{name} =", value.fset
        function = getattr(value, "__func__", value)
        if isinstance(function, FunctionType) and function.__module__.startswith("bouligand"):
            yield name, function


def arguments(function):
    """The names of a callable's arguments, with those that ``**options: Unpack[...]`` stands for, and their defaults."""
    out = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            typed = re.search(r"Unpack\[(?:\w+\.)?(\w+)\]", str(parameter.annotation))
            if typed:
                out.update(dict.fromkeys(getattr(_typing, typed[1]).__annotations__, parameter.empty))
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            out[name] = parameter.default
    return out
