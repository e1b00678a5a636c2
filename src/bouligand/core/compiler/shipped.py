"""Machine code that came with the package, in a wheel that `make wheel` made: nothing of the core is compiled then.

It is made for a kind of processor that nearly all are, not for the one at hand, and only the Python and the Numba that it was
made with use it. Others compile, as without it. It is in the folder ``machine_code`` of the package, a file for each
function and signature, beside a file that says what all were made for. ``tools/wheel.py`` writes these.
"""

import functools
import json
import pathlib
import sys

import llvmlite
import numba
from llvmlite import binding
from numba import config

from . import trusted
from .notices import say
from .places import Folder
from .settings import settings

FOLDER = pathlib.Path(__file__).parents[2] / "machine_code"
MADE_FOR = "made_for.json"


def compiler():
    """What machine code can only be used with: the same versions of Python, Numba and LLVM, and the same settings."""
    return {
        "Python": "{}.{}".format(*sys.version_info),
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "settings of Numba": settings(),
    }


class Package(Folder):
    """The folder, to be read. It is trusted as the sources are that stand beside it."""

    flaw = staticmethod(trusted.flaw_beside_source)


def folders():
    """The folder of machine code in the package, if it can be used here; as a list."""
    return [Package(FOLDER)] if why_not() == "" else []


@functools.cache
def why_not():
    """Why machine code in the package cannot be used: empty if it can, None if there is none."""
    try:
        made_for = json.loads(trusted.read(FOLDER / MADE_FOR, trusted.flaw_beside_source))
    except trusted.UntrustedError as error:
        say(f"the machine code that came with the library, in {FOLDER}, is not used: {error}")
        return None
    except (OSError, ValueError):
        return None
    if others := [name for name, value in compiler().items() if made_for["compiler"].get(name) != value]:
        return f"another {' and '.join(others)}"
    if made_for["triple"] != binding.get_process_triple():
        return "another kind of machine"
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:
        return "another processor than NUMBA_CPU_NAME and NUMBA_CPU_FEATURES ask for"
    if missing := [feature for feature in made_for["features"] if not _host().get(feature, False)]:
        return f"a processor with {', '.join(missing)}"
    return ""


def _host():
    try:
        return binding.get_host_cpu_features()
    except RuntimeError:  # (LLVM may not know what the processor has)
        return {}
