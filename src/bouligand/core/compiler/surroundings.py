"""What machine code depends on besides the function that it is of."""

import functools
import hashlib
import sys

import llvmlite
import numba
import numpy
from numba.core.registry import cpu_target

from .settings import settings
from .sources import STAMP


def surroundings():
    """By names: the sources of the core, versions, Numba's settings, and the processor. As JSON has them."""
    return {
        "bouligand": STAMP,
        "Python": sys.version,
        "Numba": numba.__version__,
        "NumPy": numpy.__version__,
        "llvmlite": llvmlite.__version__,
        "settings of Numba": settings(),
        "processor": list(cpu_target.target_context.codegen().magic_tuple()),
    }


@functools.cache
def digest():
    """A hash of them. (The settings are read when Numba is imported.)"""
    return hashlib.sha256(repr(surroundings()).encode()).hexdigest()[:12]


def differences(others):
    """The names of those that differ from others."""
    return [name for name, value in surroundings().items() if others.get(name) != value]
