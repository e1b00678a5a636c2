"""``solve_many``: integrate many trajectories of one system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..integration import options as read
from ..system.arguments import flag, one_of, path, whole
from ..system.system import System, a_system
from ..system.words import function, listed
from ..system.words import progress as read_progress
from . import executors, threads
from .ensemble import Ensemble
from .inputs import Inputs, stream
from .problem import KEPT, Problem, checked_keep, checked_options, checked_times
from .runs import in_memory, in_store

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from .inputs import Grid


def solve_many(
    system: System,
    t_span: ty.TimeSpan,
    x0: ArrayLike | Iterator[Any],
    p: ArrayLike | dict[str, Any] | Grid | None = None,
    *,
    t_eval: ArrayLike | None = None,
    keep: str | Iterable[str] = KEPT,
    threads: int | None = None,
    executor: Any = None,
    store: ty.Path | None = None,
    resume: bool = True,
    identity: str | None = None,
    block: int | None = None,
    derivative: str | None = None,
    wrt: str | Iterable[str] = "x",
    cost: Callable[[ty.FloatArray], tuple[float, ArrayLike]] | None = None,
    on_failure: str = "status",
    progress: bool | str | None = None,
    **options: Any,
) -> Ensemble:
    """Integrate many trajectories of a system, from different starts or with different parameters, on all processors.

    Each is the same to the last bit as from `solve`, for any number of threads, any executor and any size of blocks. One that
    fails has the status "failed", and does not stop the others.

    Parameters
    ----------
    system : System
    t_span : (t0, tf)
    x0 : array (n,) or (N, n), or an iterator
        The start of all, or of each. An iterator gives blocks, for ensembles that do not fit into memory: arrays ``x0``, or pairs
        ``(x0, p)``, all (but the last) of the same length.
    p : array (parameters,) or (N, parameters), mapping, or Grid; optional
        The parameters of all, or of each. A mapping has numbers or arrays (N,) for some parameters or states, by name; `grid`
        makes all combinations of values. A single row applies to all trajectories.

    Returns
    -------
    Ensemble

    Other Parameters
    ----------------
    t_eval : array, optional
        Times at which to keep the states of all: ``ens.states``.
    keep : sequence of str
        What to keep besides the final time and the status of each: "x" (final states), "b" (final modes), "counts", "events".
    threads : int, optional
        Threads of this process; default: as many as there are processors. (Functions in plain Python use one.)
    executor : optional
        Run blocks elsewhere: anything with ``submit``, such as an executor of concurrent.futures, loky's, or a Dask ``Client``.
    store : path, optional
        Keep the results in a Zarr store (the extra ``cluster``): memory then does not grow with N. Call it again with the same
        store after an interruption: what is done is skipped.
    resume : bool
        False: it is an error if the store exists already.
    identity : str, optional
        With a store, a text for what the library cannot look into (an address of C code, say): change it whenever that changes.
        All other functions are known by their code, and by the values that they read.
    block : int, optional
        Trajectories of a task, and of a chunk of the store; default: about a second's work.
    derivative : "matrix" or "vjp", optional
        The Bouligand derivative of each end state (``ens.B``), or the gradient of a cost (``ens.gradient``). NaN where the
        derivative has several linear pieces.
    wrt : "x", "p", or names of states and parameters
        With respect to what.
    cost : callable, optional
        For ``derivative="vjp"``: ``cost(x) -> (value, gradient)`` of the end state.
    on_failure : "status" or "raise"
        "raise": raise the error of the first that failed, with a note of its number, when all are done.
    progress : bool or str, optional
        Show a progress bar (with this title), with the rate and the time left.
    rtol, atol, eps, projection, method, max_step, max_steps, terminal, breakpoints, b0, on_graze
        As for `solve`, the same for all.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong; the message names it.
    StoreError, StoreMismatchError
        The store cannot be used, or holds the results of another problem.

    Warns
    -----
    StoreWarning
        Blocks of the store are damaged. Reading them is a StoreError; ``ens.verify(repair=True)`` removes them.
    ExecutorError
        The executor's workers were killed again and again, or it takes no tasks any more.

    Examples
    --------
    >>> import bouligand as bd
    >>> hopper = bd.models.hopper()
    >>> ens = bd.solve_many(hopper, (0.0, 2.0), [2.0, 0.0], bd.grid(k=[500.0, 1000.0], z=[1.5, 2.0, 2.5]), rtol=1e-8)
    >>> ens  # doctest: +ELLIPSIS
    Ensemble: 6 trajectories of hopper, over k (2) x z (3)
      finished    6
      27 events, ... steps in all
    >>> ens.on_grid(ens.counts["events"])
    array([[5, 4, 4],
           [6, 4, 4]])
    >>> ens[5].events.t.round(3)
    array([0.553, 0.656, 1.762, 1.865])

    The derivative of the end state with respect to a parameter, for each:

    >>> bd.solve_many(hopper, (0.0, 0.2), [2.0, 0.0], {"g": [1.0, 2.0]}, derivative="matrix", wrt="g").B.round(6)[:, :, 0]
    array([[-0.02, -0.2 ],
           [-0.02, -0.2 ]])
    """
    a_system(system)
    one_of("on_failure", on_failure, ("status", "raise"))
    if derivative is not None:
        one_of("derivative", derivative, ("matrix", "vjp"))
    if (derivative == "vjp") != (cost is not None):
        raise ValueError(
            "derivative='vjp' needs cost, a function of the end state that returns (value, gradient); and cost needs it"
        )
    span = read.span(t_span)
    problem = Problem(
        system,
        span,
        checked_keep(keep),
        checked_times(t_eval, span, system.n),
        checked_options(options),
        derivative,
        wrt if isinstance(wrt, str) else tuple(listed("wrt", wrt, "'x', 'p', or names of states and parameters")),
        cost,
    )
    problem.check_wrt()
    progress = read_progress(progress)
    resume = flag("resume", resume)
    if cost is not None:
        function("cost", cost, "x")
    if store is not None:
        path("store", store)
    crew = _threads(threads)
    size = None if block is None else whole("block", block, 1)
    if isinstance(x0, Iterator):
        if p is not None:
            raise ValueError("p: where x0 is an iterator of blocks, the parameters are in its pairs (x0, p)")
        inputs: Any = stream(system, x0)
    else:
        inputs = Inputs(system, x0, p)
        problem.stepper(*inputs.row(0))  # (options that are wrong are found here)
    if identity is not None and not isinstance(identity, str):
        raise TypeError(f"identity must be a text; got {identity!r}")
    if executor is not None:
        executors.check(executor)
    if store is None:
        ens = in_memory(problem, inputs, crew, executor, size, progress)
    else:
        ens = in_store(problem, inputs, crew, executor, size, progress, store, resume, identity)
    if on_failure == "raise":
        error = ens.first_error()
        if error is not None:
            raise error
    return ens


def _threads(count: int | None) -> int:
    return threads.default_threads() if count is None else whole("threads", count, 1)
