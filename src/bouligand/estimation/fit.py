"""``fit``: parameters and start values from measured trajectories, by least squares with sensitivities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import least_squares

from .._made import Made, make
from ..errors import EstimationError
from ..integration.kept_options import check_options
from ..system.arguments import moment, one_of, positive, short, whole
from ..system.system import System, a_system
from ..system.words import function, listed
from ..system.words import progress as read_progress
from .gauss_newton import minimise
from .measurements import deviations, table_of
from .residuals import Residuals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..solution.solution import Solution


LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")  # of scipy.optimize.least_squares


class FitResult(metaclass=Made, by="fit"):
    """What `fit` has found.

    Attributes
    ----------
    names : tuple of str
        The unknowns: parameters, then start values (with several experiments ``"z[0]"``, ``"z[1]"``, ... of each).
    values : dict from str to float
        What they are.
    x : array
        The same in the order of ``names``.
    covariance, std : array (unknowns, unknowns), array (unknowns,)
        Of the estimate: the inverse of J^T J at the solution, with sigma as given, or estimated from the residuals if none was.
        Infinite for unknowns that the data does not determine; zero for those at a bound.
    residuals : list of arrays (times, columns)
        Computed minus measured values of each experiment; NaN where nothing was measured.
    sigma : array (columns,)
        Standard deviations: as given, or the estimated one.
    chi2, dof : float, int
        The sum of squared residuals over sigma, and by how many the values outnumber the unknowns.
    solutions : list of Solution
        The fitted trajectories; of a failed fit the best ones.
    success : bool
    message : str
    solves : int
        Integrations.
    experiments : list of Table
        The data.

    Examples
    --------
    >>> import numpy as np, bouligand as bd
    >>> t = np.linspace(0.1, 0.4, 4)
    >>> found = bd.fit(bd.models.hopper(), {"t": t, "z": 2.0 - 5.0 * t**2}, [2.0, 0.0], free="g", sigma=0.01)
    >>> found.values["g"].__round__(6), found.std.round(4)
    (10.0, array([0.1063]))
    """

    def __init__(
        self,
        names: tuple[str, ...],
        x: ty.FloatArray,
        covariance: ty.FloatArray,
        problem: Residuals,
        sigma: ty.FloatArray,
        success: bool,
        message: str,
    ) -> None:
        self.names, self.x, self.covariance, self.sigma = names, x, covariance, sigma
        self.success, self.message = success, message
        self.experiments = problem.tables
        self.solutions: list[Solution] = problem.solutions(x)
        self.residuals = problem.plain(x)
        measured = sum(int(np.isfinite(table.values).sum()) for table in self.experiments)
        self.chi2 = float(sum(np.nansum((rows / sigma) ** 2) for rows in self.residuals))
        self.dof = measured - len(names)
        self.solves = sum(fit.shot.solves for fit in problem.fits)
        self.system = problem.fits[0].shot.system

    @property
    def values(self) -> dict[str, float]:
        """The unknowns by name."""
        return dict(zip(self.names, map(float, self.x), strict=True))

    @property
    def std(self) -> ty.FloatArray:
        """Standard deviations of the estimate."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> ty.FloatArray:
        """The correlations of the estimate; NaN where a variance is zero or infinite."""
        with np.errstate(invalid="ignore", divide="ignore"):
            out: ty.FloatArray = self.covariance / np.outer(self.std, self.std)
        return out

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        head = f"Fit: {'converged' if self.success else 'not converged'} ({self.message}), {self.solves} solves"
        lines = [
            f"  {name:<{width}} = {x:.8g} +- {s:.2g}" for name, x, s in zip(self.names, self.x, self.std, strict=True)
        ]
        return "\n".join([head, *lines, f"  chi2 = {self.chi2:.6g} with {self.dof} degrees of freedom"])


def fit(
    system: System,
    data: Mapping[str, ArrayLike] | Iterable[Mapping[str, ArrayLike]],
    x0: ty.State,
    p: ty.Parameters | None = None,
    *,
    free: str | Iterable[str],
    sigma: float | Mapping[str, float] | None = None,
    observe: ty.Observation | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    prior: Mapping[str, tuple[float, float]] | None = None,
    t0: float = 0.0,
    loss: str = "linear",
    derivative_rtol: float = 1e-3,
    max_solves: int = 200,
    progress: bool | str | None = None,
    **options: Any,
) -> FitResult:
    """Fit parameters and start values to measured trajectories, through contacts, by least squares.

    Parameters
    ----------
    system : System
    data : mapping, or a sequence of mappings
        ``{"t": times, "z": heights, ...}``: measured values with names of states, NaN where there is none (data frames work
        as well). Several of them are several experiments: parameters are common to all, start values belong to each.
    x0 : array (n,) or (experiments, n)
        The state at t0; of states that are free, a first guess.
    p : array or mapping, optional
        Parameters; of those that are free, a first guess.
    free : str or sequence of str
        Names of parameters and states (at the start) that are unknown.
    sigma : float or mapping, optional
        Standard deviations of the measured values, for all columns or by name. Default: equal and unknown; they are
        then estimated from the residuals.

    Returns
    -------
    FitResult
        ``values``, ``std``, ``covariance``, ``residuals``, ``solutions``; `bouligand.plot.residuals` draws it.

    Other Parameters
    ----------------
    observe : callable, optional
        ``observe(x)`` returns measured values, in the order of the columns, and their Jacobian (columns, n), if columns
        are not states.
    bounds : mapping from str to (low, high), optional
    prior : mapping from str to (value, standard deviation), optional
        What is known before.
    t0 : float
        The time of x0.
    loss : str
        As for `scipy.optimize.least_squares`: "soft_l1", "huber", ... for data with outliers (then give sigma).
    derivative_rtol : float
        The tolerance of derivatives, if larger than that of the integration; see `Shooting.fit`.
    max_solves : int
        After so many evaluations the best is returned, with ``success = False``.
    progress : bool or str, optional
        Show the evaluations.
    **options
        For `solve`; the default of rtol is 1e-8.

    Raises
    ------
    EstimationError
        The trajectory of the first guess cannot be integrated, or does not reach the measurements. (Later on, values whose
        integration fails are avoided.)

    Examples
    --------
    >>> import numpy as np, bouligand as bd
    >>> rng, hopper = np.random.default_rng(1), bd.models.hopper()
    >>> t = np.linspace(0.05, 2.0, 60)
    >>> z = bd.solve(hopper, (0.0, 2.0), [1.9, 0.0], {"k": 900.0}, rtol=1e-9)(t)[:, 0] + rng.normal(0.0, 0.002, t.size)
    >>> found = bd.fit(hopper, {"t": t, "z": z}, [2.0, 0.0], free=("k", "z"), sigma=0.002, bounds={"k": (100.0, 5000.0)})
    >>> bool(abs(found.values["k"] - 900.0) < 3.0 * found.std[0]), found.success
    (True, True)
    """
    a_system(system)
    single = hasattr(data, "keys")
    parts: list[Any] = [data] if single else listed("data", data, "a mapping, or a sequence of mappings")
    if not parts:
        raise ValueError("data: there is no experiment")
    labels = ["data"] if single else [f"data[{k}]" for k in range(len(parts))]
    tables = [table_of(system, part, observe, label) for part, label in zip(parts, labels, strict=True)]
    if any(table.names != tables[0].names for table in tables):
        raise ValueError(f"data: all experiments must have the same columns; got {[table.names for table in tables]}")
    if not any(np.isfinite(table.values).any() for table in tables):
        raise ValueError("data: all values are NaN; nothing was measured")
    scale = np.ones(len(tables[0].names)) if sigma is None else deviations(sigma, tables[0].names)
    one_of("loss", loss, LOSSES)
    progress, t0, derivative_rtol = (
        read_progress(progress),
        moment("t0", t0),
        positive("derivative_rtol", derivative_rtol),
    )
    if not derivative_rtol < 1.0:
        raise ValueError(f"derivative_rtol must be between 0 and 1, such as 1e-3; got {derivative_rtol:g}")
    if callable(observe):
        function("observe", observe, "x")
    elif observe is not None:
        raise TypeError(
            f"observe must be a function of the state, if the columns of data are not states; got {short(observe)}"
        )
    options.setdefault("rtol", 1e-8)
    check_options(system, t0, t0 + 1.0, options, without=("t_eval", "on_failure", "progress"))
    problem = Residuals(system, tables, x0, p, free, scale, observe, t0, derivative_rtol, options, prior)
    low, high = problem.bounds(bounds)
    start = problem.start
    outside = [name for name, x, a, b in zip(problem.names, start, low, high, strict=True) if not a < x < b]
    if outside:
        raise ValueError(f"bounds: the first guess of {', '.join(outside)} must lie between its bounds")
    first = problem.residuals(start)
    if not np.isfinite(first).all():
        error = next((fit.shot.error for fit in problem.fits if fit.shot.error is not None), None)
        raise EstimationError(
            f"the trajectory of the first guess cannot be compared with the data: {error}. Start from other values"
        ) from error
    most = whole("max_solves", max_solves, 1)
    with _counted(problem.residuals, progress) as residuals:
        if loss == "linear":
            unit = np.inf if sigma is None else 1.0
            found: Any = minimise(
                residuals, problem.jacobian, start, first, (low, high), problem.x_scale, unit, problem.noise, most
            )
        else:
            found = least_squares(
                residuals,
                start,
                jac=problem.jacobian,
                bounds=(low, high),
                x_scale="jac" if problem.x_scale is None else problem.x_scale,
                loss=loss,
                max_nfev=most,
                xtol=1e-10,
                ftol=1e-10,
                gtol=1e-12,
            )
    covariance, estimated = problem.covariance(found.fun, found.jac, found.active_mask, sigma is None)
    deviation = scale * estimated
    return make(
        FitResult, problem.names, found.x, covariance, problem, deviation, bool(found.success), str(found.message)
    )


@contextmanager
def _counted(
    function: Callable[[ty.FloatArray], ty.FloatArray], progress: bool | str | None
) -> Iterator[Callable[[ty.FloatArray], ty.FloatArray]]:
    """The function, with a bar that counts its calls if progress is asked for."""
    if not progress:
        yield function
        return
    from tqdm import tqdm

    with tqdm(desc=progress if isinstance(progress, str) else "fit", unit="solve", leave=False) as bar:

        def counting(x: ty.FloatArray) -> ty.FloatArray:
            bar.update(1)
            return function(x)

        yield counting
