"""``particle_filter``: many trajectories with weights, on `solve_many`; slow and without assumptions, a reference for
`Filter`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular

from .._made import make
from ..ensembles.solve_many import solve_many
from ..errors import EstimationError
from ..system.arguments import numbers, whole
from ..system.words import pair
from ..system.words import progress as read_progress
from .filter import Filter
from .gaussian import covariance, root
from .measurements import table_of
from .track import Track

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..system.system import System

MOST = 10**8  # particles: more do not fit into memory


def particle_filter(
    system: System,
    data: Mapping[str, ArrayLike],
    x0: ty.State,
    P0: ArrayLike | Mapping[str, float],
    p: ty.Parameters | None = None,
    *,
    R: ArrayLike | Mapping[str, float],
    count: int = 2000,
    observe: ty.Observation | None = None,
    Q: ArrayLike | Mapping[str, float] | None = None,
    estimate: Mapping[str, float] | None = None,
    uncertain: Mapping[str, float] | None = None,
    t0: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | str | None = None,
    **options: Any,
) -> Track:
    """Track a state with many weighted trajectories: a reference for `Filter` that assumes nothing about contacts.

    Parameters
    ----------
    system, data, x0, P0, p, R, observe, Q, estimate, uncertain, t0
        As for `Filter` and `Filter.run`. (Noise of Q is added at the end of each interval.)
    count : int
        Number of trajectories.
    seed : int
        Of the random numbers.
    threads : int, optional
        As for `solve_many`.
    progress : bool or str, optional
        Show a progress bar.
    **options
        For `solve`.

    Returns
    -------
    Track
        Weighted means and covariances. Trajectories whose integration fails get the weight zero.

    Examples
    --------
    >>> import numpy as np, bouligand as bd
    >>> hopper, t = bd.models.hopper(), np.array([0.2, 0.4])
    >>> z = 2.0 - 0.5 * 9.81 * t**2
    >>> track = bd.particle_filter(hopper, {"t": t, "z": z}, [2.0, 0.0], [1e-3, 1e-3], R=1e-4, count=500)
    >>> bool(abs(track["z"][-1] - z[-1]) < 0.02)
    True
    """
    # (reads and checks the arguments)
    start = Filter(
        system, x0, P0, p, observe=observe, R=R, Q=Q, estimate=estimate, uncertain=uncertain, t0=t0, **options
    )
    count, seed, progress = whole("count", count, 10, MOST), whole("seed", seed, 0), read_progress(progress)
    layout, table = start._layout, table_of(system, data, observe)
    if callable(observe):
        noise = covariance("R", R, [f"value {k}" for k in range(len(table.names))], definite=True)
    else:
        noise = covariance("R", R, table.names, definite=True)
        places = [start.names.index(name) for name in table.names]
    rng = np.random.default_rng(seed)
    z = start.z + rng.normal(size=(count, layout.size)) @ root(start.P).T
    weights, t, log = np.full(count, 1.0 / count), start.t, 0.0
    rows: list[tuple[ty.FloatArray, ty.FloatArray]] = []
    from tqdm import tqdm

    title = progress if isinstance(progress, str) else "particles"
    for q, until in enumerate(tqdm(table.t, desc=title, unit="sample", disable=not progress, leave=False)):
        if until > t:
            errors = rng.normal(size=(count, len(layout.uncertain))) * layout.uncertain_std
            x, parameters = layout.split(np.hstack([z, errors]))
            ens = solve_many(
                system,
                (t, float(until)),
                x,
                parameters if parameters.shape[1] else None,
                keep=("x",),
                threads=threads,
                **options,
            )
            z[:, : system.n] = ens.x
            weights = np.where(np.asarray(ens.success) & np.isfinite(z).all(axis=1), weights, 0.0)
            z[weights == 0.0] = start.z
            z += rng.normal(size=z.shape) @ root(start._Q * (until - t)).T
            t = float(until)
        seen = np.isfinite(table.values[q])
        if seen.any():
            values = np.array([_seen(observe, row) for row in z]) if callable(observe) else z[:, places]
            L = np.linalg.cholesky(noise[np.ix_(seen, seen)])
            white = solve_triangular(L, (table.values[q] - values)[:, seen].T, lower=True)
            density = -0.5 * (white**2).sum(axis=0) - np.log(np.diag(L)).sum() - 0.5 * seen.sum() * np.log(2 * np.pi)
            largest = float(density[weights > 0.0].max(initial=-np.inf))
            weights = weights * np.exp(density - largest)
            log += largest + float(np.log(max(weights.sum(), 1e-300)))
        if not weights.sum() > 0.0:
            raise EstimationError(
                f"no trajectory is left at t = {until:g}: all failed, or are too far from the data. Give more of them"
            )
        weights = weights / weights.sum()
        mean = weights @ z
        rows.append((mean, (z - mean).T @ (weights[:, None] * (z - mean))))
        if 1.0 / (weights @ weights) < 0.5 * count:  # (systematic resampling)
            chosen = np.searchsorted(np.cumsum(weights), (rng.random() + np.arange(count)) / count)
            z, weights = z[np.minimum(chosen, count - 1)].copy(), np.full(count, 1.0 / count)
    means, spreads = (np.array(part) for part in zip(*rows, strict=True))
    many = len(table.t)
    return make(
        Track,
        start.names,
        system.n,
        table.t,
        means,
        spreads,
        log,
        np.full(many, np.nan),
        np.ones(many, dtype=bool),
        ["flow"] * many,
    )


def _seen(observe: Any, x: ty.FloatArray) -> ty.FloatArray:
    """The values that a user's function observes."""
    return np.atleast_1d(
        numbers("observe: the values", pair("what observe returns", observe(x), "the values, and their Jacobian")[0])
    )
