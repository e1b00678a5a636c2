"""``Filter``: an extended Kalman filter whose covariance goes through events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from ..errors import BouligandError
from ..integration.options import state
from ..system.arguments import finite_numbers, number, numbers, one_of, whole
from ..system.system import System
from .gaussian import covariance, log_density, on_one_side, update
from .measurements import table_of
from .track import Track, Tracker
from .transition import Layout, Step, guard_moments, matrix_of, propagate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty

METHODS = ("auto", "matrix", "pieces", "flow")


@dataclass
class Update:
    """What a measurement did.

    Attributes
    ----------
    innovation : array
        Measured minus predicted values.
    S : array
        Its covariance.
    nis : float
        Its squared length in units of S (normalised innovation squared): on average the number of values.
    accepted : bool
        False if the gate has rejected it.
    log_likelihood : float
    """

    innovation: ty.FloatArray
    S: ty.FloatArray
    nis: float
    accepted: bool
    log_likelihood: float


class Filter:
    """An extended Kalman filter for systems with events: mean and covariance of the state, while measurements come in.

    The mean is integrated; the covariance goes through events by the B-derivative, with the jumps of f and of the state. Where guards
    are crossed together, points go through the piecewise linear B; where a contact may or may not have happened yet, points are
    integrated. Parameters can be estimated as well (``estimate``), or be uncertain anew in each interval (``uncertain``): the
    height of rough ground, for example.

    Parameters
    ----------
    system : System
    x0 : array (n,)
        The mean at t0.
    P0 : array (n, n) or (n,), or mapping from str to float
        Its covariance: a matrix, variances, or variances by name (others are zero).
    p : array or mapping, optional
        Parameters; of those that are estimated, the mean at t0.

    Other Parameters
    ----------------
    observe : str, sequence of str, or callable; optional
        What is measured: states by name, or a function ``observe(x)`` that returns values and their Jacobian in x, or in
        (x, estimated parameters) if it depends on these (x is then all of them). Default: the columns of the data.
    R : array, or mapping from str to float
        Covariance of the measured values (a matrix, variances, or variances by name).
    Q : array (n, n) or (n,), or mapping from str to float; optional
        Spectral density of white noise that drives the states (and estimated parameters, by name): over a time dt it adds Q dt.
    estimate : mapping from str to float, optional
        Parameters that are estimated, with their standard deviations at t0.
    uncertain : mapping from str to float, optional
        Parameters that differ from p by an error with this standard deviation, another one in each interval between measurements.
    method : "auto", "matrix", "pieces" or "flow"
        How the covariance is propagated: "auto" chooses. "matrix": by one matrix, whatever happens (the usual extended Kalman
        filter with saltation matrices). "pieces": points through the piecewise linear B. "flow": points are integrated.
    samples : int
        Number of points.
    gate : float, optional
        Probability, such as 0.999: a measurement outside of the region that should hold it with this probability is not used.
    t0 : float
    **options
        For `solve`: rtol, ...

    Attributes
    ----------
    t : float
        The present time.
    z, P : array, array
        Mean and covariance of the states and estimated parameters, in the order of ``names``.
    x : array (n,)
        The mean of the states alone.
    names : tuple of str
    how : str
        How the last prediction was computed: "matrix", "pieces" or "flow".
    log_likelihood : float
        Of all measurements so far.

    Examples
    --------
    The height of the floor below a hopper, from its measured height:

    >>> import numpy as np, bouligand as bd
    >>> rng, hopper = np.random.default_rng(0), bd.models.hopper()
    >>> t = np.arange(1, 60) * 0.02
    >>> z = bd.solve(hopper, (0.0, 1.2), [2.0, 0.0], {"rest": 1.05}, rtol=1e-9)(t)[:, 0] + rng.normal(0.0, 0.005, t.size)
    >>> filter = bd.Filter(hopper, [2.0, 0.0], [0.01, 0.01], R={"z": 0.005**2}, estimate={"rest": 0.1})
    >>> track = filter.run({"t": t, "z": z})
    >>> bool(abs(track["rest"][-1] - 1.05) < 3.0 * track.std("rest")[-1]), bool(track.std("rest")[-1] < 0.01)
    (True, True)
    """

    def __init__(
        self,
        system: System,
        x0: ArrayLike,
        P0: ArrayLike | Mapping[str, float],
        p: ty.Parameters | None = None,
        *,
        observe: ty.Observation | None = None,
        R: ArrayLike | Mapping[str, float] | None = None,
        Q: ArrayLike | Mapping[str, float] | None = None,
        estimate: Mapping[str, float] | None = None,
        uncertain: Mapping[str, float] | None = None,
        method: str = "auto",
        samples: int = 128,
        gate: float | None = None,
        t0: float = 0.0,
        **options: Any,
    ) -> None:
        if not isinstance(system, System):
            raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {system!r}")
        self.system, self.method = system, one_of("method", method, METHODS)
        self.samples, self._options = whole("samples", samples, 4), options
        if gate is not None and not 0.0 < number("gate", gate) < 1.0:
            raise ValueError(f"gate must be a probability, such as 0.999; got {gate!r}")
        self.gate, self.observe, self._R = gate, observe, R
        values = np.array(system.parameters(p), dtype=float)
        estimated, spread = _of_parameters(system, "estimate", estimate)
        drawn, drawn_spread = _of_parameters(system, "uncertain", uncertain)
        if set(estimated) & set(drawn):
            raise ValueError("a parameter is either estimated or uncertain anew in each interval, not both")
        self._layout = Layout(system, values, estimated, drawn, drawn_spread)
        self.names = (*system.states, *(system.params[i] for i in estimated))
        mean = finite_numbers("x0", state(system, x0))
        self.z = np.concatenate([mean, values[estimated]])
        self.P = np.zeros((self._layout.size, self._layout.size))
        n = system.n
        self.P[:n, :n] = covariance("P0", P0, system.states)
        self.P[n:, n:] = np.diag(spread**2)
        self._Q = np.zeros_like(self.P)
        if Q is not None:
            by_name = isinstance(Q, Mapping)
            part = covariance("Q", Q, self.names if by_name else system.states)
            self._Q[: len(part), : len(part)] = part
        self.t, self.how, self.log_likelihood = number("t0", t0), "matrix", 0.0
        self._step: Step | None = None

    @property
    def x(self) -> ty.FloatArray:
        """The mean of the states."""
        return self.z[: self.system.n].copy()

    @property
    def p(self) -> ty.FloatArray:
        """All parameters, with the present estimates."""
        return self._layout.split(self.z)[1]

    def predict(self, t: float) -> Filter:
        """Go on to a later time.

        Parameters
        ----------
        t : float

        Returns
        -------
        Filter
            Itself.

        Examples
        --------
        >>> import bouligand as bd
        >>> falling = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04])
        >>> falling.predict(0.1).P.round(6)
        array([[0.0104, 0.004 ],
               [0.004 , 0.04  ]])
        """
        t = number("t", t)
        if not t >= self.t:
            raise ValueError(f"t must not be before the present time, {self.t:g}; got {t:g}")
        if t == self.t:
            self._step = None
            return self
        step = propagate(self._layout, self.z, self.P, self.t, t, self.method, self.samples, self._options)
        P = step.P
        if self._Q.any():
            P = P + self._noise(step, t)
        self._step = step
        self.z, self.P, self.t, self.how = step.z, 0.5 * (P + P.T), t, step.how
        return self

    def _noise(self, step: Step, t: float) -> ty.FloatArray:
        """What the white noise of an interval adds: the integral of Phi Q Phi^T, by Simpson's rule (exact for a free mass)."""
        dt, Q = t - self.t, self._Q
        middle = None
        if step.solution is not None:
            try:
                B = step.solution.bderivative(
                    since=self.t + 0.5 * dt, params=bool(self._layout.estimated or self._layout.uncertain)
                )
                middle = matrix_of(self._layout, B)[0]
            except (BouligandError, ValueError):  # (the middle is the very time of a jump)
                middle = None
        if middle is None:
            return 0.5 * dt * (step.A @ Q @ step.A.T + Q)
        return dt / 6.0 * (step.A @ Q @ step.A.T + 4.0 * middle @ Q @ middle.T + Q)

    def update(
        self,
        values: ArrayLike,
        *,
        observe: ty.Observation | None = None,
        R: ArrayLike | Mapping[str, float] | None = None,
        gate: float | None = None,
    ) -> Update:
        """Take a measurement into account.

        Parameters
        ----------
        values : array
            What was measured; NaN where nothing was.
        observe, R, gate
            Instead of those of the filter.

        Returns
        -------
        Update
            With ``innovation``, ``S``, ``nis``, ``accepted`` and ``log_likelihood``.

        Examples
        --------
        >>> import bouligand as bd
        >>> falling = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], observe="z", R=0.01)
        >>> falling.update([2.2]).nis.__round__(6), falling.x
        (2.0, array([2.1, 0. ]))
        """
        measured = np.atleast_1d(numbers("values", values))
        if measured.ndim != 1 or np.isinf(measured).any():
            raise ValueError(f"values must be a list of numbers (NaN: not measured); got shape {measured.shape}")
        predicted, H, names = self._observed(self.observe if observe is None else observe, len(measured))
        noise = self._R if R is None else R
        if noise is None:
            raise ValueError("R, the covariance of the measured values, is needed: give it to the filter or to update")
        cov = covariance("R", noise, names, definite=True)
        there = np.isfinite(measured)
        if not there.any():
            return Update(np.empty(0), np.empty((0, 0)), 0.0, True, 0.0)
        innovation, H, cov = (measured - predicted)[there], H[there], cov[np.ix_(there, there)]
        z, P, S = update(self.z, self.P, innovation, H, cov)
        nis, log = log_density(innovation, S)
        limit = self.gate if gate is None else number("gate", gate)
        if limit is not None and nis > chi2.ppf(limit, len(innovation)):
            return Update(innovation, S, nis, False, 0.0)
        self.z, self.P = z, P
        self.log_likelihood += log
        return Update(innovation, S, nis, True, log)

    def contact(self, guard: ty.Guard, touching: bool, *, error: float = 0.01, noise: float = 0.0) -> float:
        """Take a contact sensor into account: it reports the sign of a guard, so that it measures the mode.

        The Gaussian is cut off at the guard, and replaced by the one with the same mean and covariance.

        Parameters
        ----------
        guard : str or int
        touching : bool
            Whether it reports h > 0.
        error : float
            The probability that it reports the opposite of what is true.
        noise : float
            Standard deviation of the sensor's threshold, in units of h.

        Returns
        -------
        float
            The probability of the report before it came.

        Examples
        --------
        >>> import bouligand as bd
        >>> falling = bd.Filter(bd.models.hopper(), [1.0, -3.0], [0.01, 0.01])
        >>> falling.contact("foot", True, error=0.0).__round__(6), falling.x.round(4)
        (0.5, array([ 0.9202, -3.    ]))
        """
        if not 0.0 <= number("error", error) < 0.5 or not number("noise", noise) >= 0.0:
            raise ValueError(f"error must be a probability below 0.5, and noise not negative; got {error!r} and {noise!r}")
        k = self.system.guard_index(guard)
        h, cross = guard_moments(self._layout, self.z, self.P, self.t)
        # (the covariance of h with z, of h with itself: Dh P and Dh P Dh^T)
        column = cross[k]
        inverse = np.linalg.pinv(self.P, rcond=1e-12, hermitian=True)
        variance = float(column @ inverse @ column)
        if not variance > 0.0:
            return 1.0 if (h[k] > 0.0) == bool(touching) else error
        mean, rest, probability = on_one_side(float(h[k]), variance, 1 if touching else -1, error, noise)
        gain = column / variance
        self.z = self.z + gain * (mean - h[k])
        self.P = self.P - np.outer(gain, gain) * (variance - rest)
        self.P = 0.5 * (self.P + self.P.T)
        self.log_likelihood += math.log(max(probability, 1e-300))
        return probability

    def run(
        self,
        data: Mapping[str, ArrayLike],
        contacts: Mapping[str, ArrayLike] | None = None,
        *,
        contact_error: float = 0.01,
        progress: bool | str | None = None,
    ) -> Track:
        """Go through measurements: predict, update, for each time.

        Parameters
        ----------
        data : mapping
            ``{"t": times, "z": heights, ...}``, as for `fit`; NaN where nothing was measured.
        contacts : mapping from guard to array, optional
            Reports of contact sensors at these times: 1 touching, 0 not, NaN no report.
        contact_error : float
            The probability of a wrong report.
        progress : bool or str, optional
            Show a progress bar.

        Returns
        -------
        Track
            Means and covariances at these times, innovations, and ``track.smooth()``.

        Examples
        --------
        >>> import bouligand as bd
        >>> falling = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4)
        >>> track = falling.run({"t": [0.1, 0.2], "z": [1.95, 1.80]})
        >>> track.x.shape, track.smooth().x.shape
        ((2, 2), (2, 2))
        """
        table = table_of(self.system, data, self.observe)
        observe = self.observe if callable(self.observe) else table.names
        if self._R is None:
            raise ValueError("R, the covariance of the measured values, is needed: give it to the filter")
        reports = {self.system.guard_index(guard): np.atleast_1d(numbers(f"contacts[{guard!r}]", row)) for guard, row in (contacts or {}).items()}
        for row in reports.values():
            if row.shape != table.t.shape:
                raise ValueError(f"contacts must have a report for each of the {len(table.t)} times; got shape {row.shape}")
        from tqdm import tqdm

        tracker = Tracker(self)
        title = progress if isinstance(progress, str) else "filter"
        for q, t in enumerate(tqdm(table.t, desc=title, unit="sample", disable=not progress, leave=False)):
            self.predict(float(t))
            predicted = (self.z.copy(), self.P.copy())
            found = self.update(table.values[q], observe=observe)
            for k, row in reports.items():
                if np.isfinite(row[q]):
                    self.contact(k, bool(row[q] > 0.5), error=contact_error)
            tracker.note(predicted, found)
        return tracker.track()

    def _observed(self, observe: Any, count: int) -> tuple[ty.FloatArray, ty.FloatArray, tuple[str, ...]]:
        """Predicted values, their Jacobian in z, and names of the values."""
        n, size = self.system.n, self._layout.size
        if callable(observe):
            try:
                value, slope = observe(self.z.copy() if size > n else self.x)
            except (TypeError, ValueError) as error:
                raise ValueError(f"observe must return values and their Jacobian; {error}") from error
            value, slope = np.atleast_1d(numbers("observe: the values", value)), np.atleast_2d(numbers("observe: the Jacobian", slope))
            if value.shape != (count,) or slope.shape not in ((count, n), (count, size)):
                raise ValueError(
                    f"observe must give {count} values, as many as were measured, and a Jacobian of shape {(count, size)}; "
                    f"got shapes {value.shape} and {slope.shape}"
                )
            H = np.zeros((count, size))
            H[:, : slope.shape[1]] = slope
            return value, H, tuple(f"value {k}" for k in range(count))
        names = self.names[:n] if observe is None else (observe,) if isinstance(observe, str) else tuple(observe)
        for name in names:
            if name not in self.names:
                raise ValueError(f"observe: nothing is called {name!r}; there are {', '.join(self.names)}")
        if len(names) != count:
            raise ValueError(f"values must have a number for each of {', '.join(names)}; got {count}")
        places = [self.names.index(name) for name in names]
        return self.z[places], np.eye(size)[places], names

    def __repr__(self) -> str:
        rows = [f"  {name} = {z:.6g} +- {s:.2g}" for name, z, s in zip(self.names, self.z, np.sqrt(np.diag(self.P)), strict=True)]
        return "\n".join([f"Filter of {self.system.name or 'a system'} at t = {self.t:g}", *rows])


def _of_parameters(system: System, what: str, given: Mapping[str, float] | None) -> tuple[list[int], ty.FloatArray]:
    """Places and standard deviations of parameters by name."""
    names = list(given or {})
    for name in names:
        if name not in system.params:
            raise ValueError(f"{what}: no parameter is called {name!r}; parameters: {', '.join(system.params) or 'none'}")
    spread = np.array([number(f"{what}[{name!r}]", (given or {})[name]) for name in names])
    if not (np.isfinite(spread) & (spread >= 0.0)).all():
        raise ValueError(f"{what}: standard deviations must not be negative; got {spread.tolist()}")
    return [system.params.index(name) for name in names], spread
