"""When one step may span many crossings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..system.system import System

# Below these tolerances hops reach the same error in less time: a spanning step is of third order in its jumps, while the cost of
# a hop grows with the number of guards. (The second is divided by the cube of that number; measured on the plate with 100 and
# 200 springs.)
TIGHTEST, TIGHTEST_OF_FEW = 1e-8, 0.3


def possible(system: System, rtol: float, method: str) -> bool:
    """Whether crossings may be spanned in an integration without bands and terminal events: if the tolerance is not very tight,
    and no other scheme was asked for."""
    return rtol >= max(TIGHTEST, TIGHTEST_OF_FEW / max(system.m, 1) ** 3) and method in ("auto", "dopri5")
