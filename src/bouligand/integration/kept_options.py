"""Options that are kept for integrations later on: refused when they are given, as `solve` would refuse them then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..memory.working import IntegrationMemory
from ..system.arguments import one_of
from ..system.words import progress as read_progress
from .options import begin, rare

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..system.system import System


def check_options(system: System, t0: float, tf: float, options: dict[str, Any], without: tuple[str, ...] = ()) -> None:
    """Raise unless these are options of `solve` for this system and interval; those in ``without`` are refused too."""
    for name in without:
        if name in options:
            raise TypeError(f"{name} is no option here: it is set by the caller of the integration")
    try:
        _check(system, t0, tf, **options)
    except TypeError as error:
        unknown = "got an unexpected keyword argument "
        if unknown in str(error):
            raise TypeError(f"there is no option {str(error).partition(unknown)[2]} of solve") from None
        raise


def _check(
    system: System,
    t0: float,
    tf: float,
    *,
    rtol: float = 1e-6,
    atol: ArrayLike | None = None,
    eps: ty.PerGuard | None = None,
    projection: ty.Projection | None = None,
    method: ty.Method = "auto",
    t_eval: ArrayLike | None = None,
    max_step: float = np.inf,
    max_steps: int = 1_000_000,
    terminal: ty.Terminal | None = None,
    breakpoints: ArrayLike | None = None,
    b0: ArrayLike | None = None,
    on_graze: ty.OnGraze = "raise",
    on_failure: ty.OnFailure = "raise",
    progress: bool | str | None = None,
) -> None:
    """Write them to a workspace as an integration does, from a state whose unit parts are not zero."""
    work = IntegrationMemory(system, room=1)
    begin(work, system, (t0, tf), np.ones(system.n), rtol, atol, method, max_step, max_steps)
    rare(work, system, t0, tf, eps, projection, t_eval, terminal, breakpoints, b0)
    one_of("on_graze", on_graze, ("raise", "go on"))
    one_of("on_failure", on_failure, ("raise", "return"))
    read_progress(progress)
