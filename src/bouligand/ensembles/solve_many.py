"""``solve_many``: integrate many trajectories of one system."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..integration import options as read
from ..system.arguments import one_of, whole
from ..system.system import System
from . import threads as on_threads
from .ensemble import Ensemble, InMemory
from .inputs import Inputs, is_stream, stream
from .problem import KEPT, Problem, checked_keep, checked_options, checked_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from .kept import Kept


def solve_many(
    system: System,
    t_span: ty.TimeSpan,
    x0: ArrayLike | Iterable[Any],
    p: Any = None,
    *,
    t_eval: ArrayLike | None = None,
    keep: Iterable[str] = KEPT,
    threads: int | None = None,
    on_failure: str = "status",
    progress: bool | str | None = None,
    **options: Any,
) -> Ensemble:
    """x"""
    if not isinstance(system, System):
        raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {system!r}")
    one_of("on_failure", on_failure, ("status", "raise"))
    inputs = Inputs(system, x0, p)
    span = read.span(t_span)
    problem = Problem(system, span, checked_keep(keep), checked_times(t_eval, span, system.n), checked_options(options))
    count = on_threads.default_threads() if threads is None else whole("threads", threads, 1)
    rows = inputs.rows(0, inputs.count)
    kept = on_threads.run(problem, *rows, inputs.count, count)
    ens = Ensemble(problem, inputs, InMemory({**kept.rows, **(kept.events() if "events" in problem.keep else {})}))
    if on_failure == "raise":
        error = ens.first_error()
        if error is not None:
            raise error
    return ens
