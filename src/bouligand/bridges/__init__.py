"""From the outside world to a System: robot files (``bridges.mujoco``), derived equations (``bridges.sympy``).

Each is imported where it is used: what it needs is an extra of the package.
"""

import importlib

__all__ = ["mujoco", "sympy"]


def __getattr__(name):
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"bouligand.bridges has no {name!r}; there are {', '.join(__all__)}")
