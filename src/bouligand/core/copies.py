"""Copies of a user's functions that have the same code and find other values under the names that it looks up."""

import builtins
import types

KNOWN_MODULES = (
    "numpy",
    "math",
    "cmath",
    "numba",
    "builtins",
    "scipy",
    "operator",
)  # whose functions Numba itself knows


def names_in(code):
    """Names of globals and attributes in a function's code and in that of the functions defined in it."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += names_in(constant)
    return list(dict.fromkeys(names))


def is_known_module(name):
    """Whether a module of this name, or the package that it is in, is one whose functions Numba knows."""
    return (name or "").partition(".")[0] in KNOWN_MODULES


def bare_copy(function, code=None):
    """A copy with globals and a closure of its own, empty until `fill` (in between it may be put in place of ``function``: a
    function may call itself). ``code``: another code than the function's own."""
    space = {"__builtins__": __builtins__, "__name__": function.__module__}
    closure = None if function.__closure__ is None else tuple(types.CellType() for _ in function.__closure__)
    copy = types.FunctionType(code or function.__code__, space, function.__name__, function.__defaults__, closure)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def fill(copy, function, instead_of, new_names=None):
    """Let a copy find ``instead_of(value)`` where the function finds a value. ``new_names``: of those that the copy's code calls
    otherwise."""
    names, space = names_in(function.__code__), {**vars(builtins), **function.__globals__}
    found = {name: instead_of(space[name]) for name in names if name in space}
    copy.__globals__.update({(new_names or {}).get(name, name): value for name, value in found.items()})
    for mine, theirs in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        try:
            mine.cell_contents = instead_of(theirs.cell_contents)
        except ValueError:  # (an empty one)
            continue


def module_copy(module, names, instead_of):
    """A module in which ``instead_of(value)`` is found under those of these names that it has; the others are not there."""
    copy = types.ModuleType(module.__name__)
    vars(copy).update({name: instead_of(value) for name, value in vars(module).items() if name in names})
    return copy
