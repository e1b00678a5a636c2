"""Systems from elsewhere: robot files (``bridges.mujoco``) and symbolic equations (``bridges.sympy``).

Each is imported when it is first used, because the package that it needs is optional.

>>> import bouligand as bd
>>> bd.bridges.__all__
['mujoco', 'sympy']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import mujoco, sympy

__all__ = ["mujoco", "sympy"]

if not TYPE_CHECKING:  # (checkers would take any name for a module)

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"bouligand.bridges has no {name!r}; there are {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
