"""``Filter``: an extended Kalman filter whose covariance goes through events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from ..errors import BouligandError, EstimationError
from ..integration.kept_options import check_options
from ..integration.options import state
from ..system.arguments import finite_numbers, flag, moment, number, numbers, one_of, short, whole
from ..system.declarations import guard_index
from ..system.system import System, a_system
from ..system.words import progress as read_progress
from .gaussian import Part, covariance, covariance_or_names, log_density, mixture, on_one_side, update
from .measurements import table_of
from .observation import Update, observation, observed, of_parameters
from .track import Track, Tracker
from .transition import Layout, Step, guard_moments, matrix_of, propagate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty

METHODS = ("auto", "matrix", "pieces", "flow")
_NOT_OURS = ("t_eval", "on_failure", "progress", "terminal")  # options of solve that a filter sets, or has no use for


def _probability(gate: Any) -> float | None:
    """The argument ``gate``."""
    if gate is not None and not 0.0 < number("gate", gate) < 1.0:
        raise ValueError(f"gate must be a probability, such as 0.999; got {gate!r}")
    return None if gate is None else float(gate)


class Filter:
    """An extended Kalman filter for systems with events: mean and covariance of the state, while measurements come in.

    The mean is integrated; the covariance goes through events by the B-derivative, with the jumps of f and of the
    state. Where guards
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
        Number of points. A contact in doubt is kept apart if at least five of them, and 2 %, have it: with fewer than 256
        points, improbable ones are not.
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
        x0: ty.State,
        P0: ArrayLike | Mapping[str, float],
        p: ty.Parameters | None = None,
        *,
        observe: ty.Observation | None = None,
        R: ArrayLike | Mapping[str, float] | None = None,
        Q: ArrayLike | Mapping[str, float] | None = None,
        estimate: Mapping[str, float] | None = None,
        uncertain: Mapping[str, float] | None = None,
        method: str = "auto",
        samples: int = 512,
        gate: float | None = None,
        t0: float = 0.0,
        **options: Any,
    ) -> None:
        a_system(system)
        self.system, self.method = system, one_of("method", method, METHODS)
        self.samples, self._options = whole("samples", samples, 4, 10**6), options
        self.gate = _probability(gate)
        self.observe = None if observe is None else observation(observe)
        self._R = None if R is None else covariance_or_names("R", R, definite=True)
        t0 = moment("t0", t0)
        check_options(system, t0, t0 + 1.0, options, without=_NOT_OURS)
        values = np.array(system.parameters(p), dtype=float)
        estimated, spread = of_parameters(system, "estimate", estimate)
        drawn, drawn_spread = of_parameters(system, "uncertain", uncertain)
        if set(estimated) & set(drawn):
            raise ValueError("estimate and uncertain: a parameter may be in one of them, not both")
        self._layout = Layout(system, values, estimated, drawn, drawn_spread)
        self.names = (*system.states, *(system.params[i] for i in estimated))
        unknown = [] if self.observe is None or callable(self.observe) else [*(set(self.observe) - set(self.names))]
        if unknown:
            raise ValueError(f"observe: nothing is called {unknown[0]!r}; there are {', '.join(self.names)}")
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
        self.t, self.how, self.log_likelihood = t0, "matrix", 0.0
        self._cross: ty.FloatArray | None = None  # of the last step: covariance of its start with its end
        self._parts: list[Part] = []  # several Gaussians, where it is not known which events there were

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
        t = moment("t", t)
        if not t >= self.t:
            raise ValueError(f"t must not be before the present time, {self.t:g}; got {t:g}")
        if t == self.t:
            self._cross = None
            return self
        before, steps, ends = self._parts or [Part(1.0, self.z, self.P)], [], []
        for part in before:
            try:
                step = propagate(self._layout, part.z, part.P, self.t, t, self.method, self.samples, self._options)
            except EstimationError:
                if len(before) == 1:
                    raise
                continue  # (what cannot be integrated is not what happened)
            noise = self._noise(step, t) if self._Q.any() else np.zeros_like(self.P)
            steps.append((part, step))
            ends += [
                Part(part.weight * child.weight, child.z, child.P + noise)
                for child in step.parts or [Part(1.0, step.z, step.P)]
            ]
        if not steps:
            raise EstimationError(
                f"none of the {len(before)} parts of the estimate can be propagated from t = {self.t:g} to {t:g}"
            )
        start, total = self.z, sum(part.weight for part, _ in steps)
        self.t, self.how = t, max((step.how for _, step in steps), key=METHODS.index)
        self.z, self.P, self._parts = mixture(ends)
        shares = [(part.weight / total, part, step) for part, step in steps]
        self._cross = np.sum(
            [w * (step.cross + np.outer(part.z - start, step.z - self.z)) for w, part, step in shares], axis=0
        )
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
        of_call = _probability(gate)
        measured = np.atleast_1d(numbers("values", values))
        if measured.ndim != 1 or np.isinf(measured).any():
            raise ValueError(f"values must be a list of numbers (NaN: not measured); got shape {measured.shape}")
        what = self.observe if observe is None else observation(observe)
        predicted, H, names = observed(self.names, self.system.n, what, len(measured), self.z)
        noise = self._R if R is None else R
        if noise is None:
            raise ValueError("R, the covariance of the measured values, is needed: give it to the filter or to update")
        cov = covariance("R", noise, names, definite=True)
        there = np.isfinite(measured)
        if not there.any():
            return Update(np.empty(0), np.empty((0, 0)), 0.0, True, 0.0)
        R_there = cov[np.ix_(there, there)]
        innovation = (measured - predicted)[there]
        S = H[there] @ self.P @ H[there].T + R_there
        results = []
        for part in self._parts or [Part(1.0, self.z, self.P)]:
            value, slope, _ = observed(self.names, self.system.n, what, len(measured), part.z)
            gap = (measured - value)[there]
            z, P, of_part = update(part.z, part.P, gap, slope[there], R_there)
            results.append((*log_density(gap, of_part), part.weight, z, P))
        nis = min(row[0] for row in results)
        limit = self.gate if of_call is None else of_call
        if limit is not None and nis > chi2.ppf(limit, len(innovation)):
            return Update(innovation, S, nis, False, 0.0)
        largest = max(row[1] for row in results)
        weights = [weight * math.exp(log - largest) for _, log, weight, _, _ in results]
        log = largest + math.log(sum(weights))
        parts = [Part(w, z, P) for w, (_, _, _, z, P) in zip(weights, results, strict=True)]
        self.z, self.P, self._parts = mixture(parts, merge=True)
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
            raise ValueError(
                f"error must be a probability below 0.5, and noise not negative; got {error!r} and {noise!r}"
            )
        k, sign = self.system.guard_index(guard), 1 if flag("touching", touching) else -1
        parts, total = [], 0.0
        for part in self._parts or [Part(1.0, self.z, self.P)]:
            h, column, variance = guard_moments(self._layout, part.z, part.P, self.t, k)
            if variance > 0.0:
                mean, rest, probability = on_one_side(h, variance, sign, error, noise)
                gain = column / variance
                z, P = part.z + gain * (mean - h), part.P - np.outer(gain, gain) * (variance - rest)
            else:
                z, P, probability = part.z, part.P, 1.0 - error if sign * h > 0.0 else error
            total += part.weight * probability
            parts.append(Part(part.weight * probability, z, 0.5 * (P + P.T)))
        if not total > 0.0:
            raise EstimationError(
                f"the contact sensor of {self.system.guards[k]!r} reports what is impossible for this estimate at "
                f"t = {self.t:g}; give it an error"
            )
        self.z, self.P, self._parts = mixture(parts, merge=True)
        self.log_likelihood += math.log(total)
        return total

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
        progress, contact_error = read_progress(progress), number("contact_error", contact_error)
        if not 0.0 <= contact_error < 0.5:
            raise ValueError(f"contact_error must be a probability below 0.5; got {contact_error:g}")
        if self._R is None:
            raise ValueError("R, the covariance of the measured values, is needed: give it to the filter")
        if contacts is not None and not isinstance(contacts, Mapping):
            raise TypeError(f"contacts must be a mapping from guards to reports; got {short(contacts)}")
        reports = {
            guard_index(self.system.guards, guard, "contacts"): np.atleast_1d(numbers(f"contacts[{guard!r}]", row))
            for guard, row in (contacts or {}).items()
        }
        for row in reports.values():
            if row.shape != table.t.shape:
                raise ValueError(
                    f"contacts must have a report for each of the {len(table.t)} times; got shape {row.shape}"
                )
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

    def __repr__(self) -> str:
        rows = [
            f"  {name} = {z:.6g} +- {s:.2g}"
            for name, z, s in zip(self.names, self.z, np.sqrt(np.diag(self.P)), strict=True)
        ]
        return "\n".join([f"Filter of {self.system.name or 'a system'} at t = {self.t:g}", *rows])
