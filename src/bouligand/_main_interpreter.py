"""An error in a subinterpreter of a process: NumPy and Numba run in the main one only."""

import signal
import sys
from importlib import import_module


def _is_main() -> bool:
    try:
        # (possible in the main thread of the main interpreter alone, and done in a microsecond)
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
        return True
    except (TypeError, ValueError):
        pass
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
        return bool(interpreters.get_current() == interpreters.get_main())
    except ImportError:  # (a Python that has none)
        return True


if not _is_main():
    raise ImportError(
        "bouligand was imported in a subinterpreter, where NumPy and Numba do not run. Import it in the main interpreter, and "
        "use threads or processes there (concurrent.futures, multiprocessing, solve_many(..., executor=...))"
    )
