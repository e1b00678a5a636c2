"""Machine code that came with the package, in a wheel that `make wheel` made: nothing of the core is compiled then.

It is made for a kind of processor that nearly all are, not for the one at hand, and only the Python and the Numba that it was
made with use it. Others compile, as without it. It is in the folder ``machine_code`` of the package, a file for each
function and signature, beside a file that says what all were made for. ``tools/wheel.py`` writes these.
"""

import contextlib
import functools
import hashlib
import json
import pathlib
import sys

import llvmlite
import numba
from llvmlite import binding
from numba import config
from numba.core.compiler import CompileResult

from .checked import read_checked
from .settings import settings

FOLDER = pathlib.Path(__file__).parents[2] / "machine_code"
MADE_FOR = FOLDER / "made_for.json"


def compiler():
    """What machine code can only be used with: the same versions of Python, Numba and LLVM, and the same settings."""
    return ["{}.{}".format(*sys.version_info), numba.__version__, llvmlite.__version__, *settings()]


@functools.cache
def _is_usable():
    """Whether there is machine code in the package, made for this compiler and for what this processor has."""
    with contextlib.suppress(OSError, ValueError, KeyError, RuntimeError):  # (LLVM may not know what the processor has)
        made_for = json.loads(MADE_FOR.read_text())
        chosen = (
            config.CPU_NAME is not None or config.CPU_FEATURES is not None
        )  # (another processor than the one at hand)
        if made_for["compiler"] == compiler() and made_for["triple"] == binding.get_process_triple() and not chosen:
            has = binding.get_host_cpu_features() if made_for["features"] else {}
            return all(has.get(feature, False) for feature in made_for["features"])
    return False


def file_of(name, signature):
    """The machine code of a function, ``module.name``, for one signature."""
    return f"{name}-{hashlib.sha256(str(signature).encode()).hexdigest()[:12]}.code"


class ShippedCode:
    """The machine code of one function that came with the package. Serves a dispatcher as its ``_cache``."""

    cache_path = None

    def __init__(self, function):
        self._name = f"{pathlib.Path(function.__code__.co_filename).stem}.{function.__qualname__}"

    def load_overload(self, sig, target_context):
        target_context.refresh()
        try:
            with contextlib.suppress(FileNotFoundError):
                return CompileResult._rebuild(target_context, *read_checked(FOLDER / file_of(self._name, sig)))
        except Exception as error:
            print(f"bouligand: machine code of the package cannot be used ({error}); compiling it ...", file=sys.stderr)
        return None

    def save_overload(self, sig, compiled):
        """(Nothing is added to the package.)"""

    def flush(self):
        """(Nor removed.)"""

    @property
    def is_filled(self):
        return any(FOLDER.glob(f"{self._name}-*"))


def shipped(function):
    """What came with the package of a function's machine code, if it can be used here; otherwise None."""
    return ShippedCode(function) if _is_usable() else None
