"""What a filter leaves behind: means and covariances at the times of measurements, and the smoother that goes back over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._made import Made, make
from ..system.arguments import finite_numbers
from ..system.words import name as known

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from .filter import Filter
    from .observation import Update


class Track(metaclass=Made, by="Filter.run"):
    """Estimates over time, made by `Filter.run`, `Track.smooth` and `particle_filter`.

    ``track["z"]`` is the mean of a state or parameter at all times, ``track.std("z")`` its standard deviation.

    Attributes
    ----------
    t : array (times,)
    z, P : array (times, size), array (times, size, size)
        Means and covariances, in the order of ``names``: states, then estimated parameters.
    x : array (times, n)
        The states alone.
    names : tuple of str
    nis : array (times,)
        Squared innovations in units of their covariance: on average the number of measured values.
    accepted : array (times,) of bool
        Whether the gate let the measurement pass.
    how : list of str
        How each prediction was computed.
    log_likelihood : float
        Of all measurements.

    Examples
    --------
    >>> import bouligand as bd
    >>> falling = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4)
    >>> track = falling.run({"t": [0.1, 0.2], "z": [1.95, 1.80]})
    >>> track["vz"].shape, track.std("vz").shape, track.how
    ((2,), (2,), ['matrix', 'matrix'])
    """

    def __init__(
        self,
        names: tuple[str, ...],
        n: int,
        t: ty.FloatArray,
        z: ty.FloatArray,
        P: ty.FloatArray,
        log_likelihood: float,
        nis: ty.FloatArray,
        accepted: ty.BoolArray,
        how: list[str],
        back: list[tuple[ty.FloatArray, ty.FloatArray, ty.FloatArray]] | None = None,
    ) -> None:
        self.names, self.t, self.z, self.P = names, t, z, P
        self.log_likelihood, self.nis, self.accepted, self.how = log_likelihood, nis, accepted, how
        self._n, self._back = (
            n,
            back,
        )  # (for the smoother: predicted mean and covariance, and the covariance with the time before)

    @property
    def x(self) -> ty.FloatArray:
        """The means of the states, array (times, n)."""
        return self.z[:, : self._n]

    def _place(self, name: str) -> int:
        return self.names.index(known("name", name, self.names, "state or parameter"))

    def __getitem__(self, name: str) -> ty.FloatArray:
        return self.z[:, self._place(name)]

    def __len__(self) -> int:
        return len(self.t)

    def std(self, name: str) -> ty.FloatArray:
        """The standard deviation of a state or parameter at all times.

        Examples
        --------
        >>> import bouligand as bd
        >>> falling = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4)
        >>> falling.run({"t": [0.1], "z": [1.95]}).std("z").round(4)
        array([0.01])
        """
        k = self._place(name)
        return np.sqrt(np.maximum(self.P[:, k, k], 0.0))

    def nees(self, truth: ArrayLike) -> ty.FloatArray:
        """The squared errors of the estimates in units of their covariances, at all times: on average the number of names, if the
        filter is consistent.

        Parameters
        ----------
        truth : array (times, size)
            True states (and parameters).

        Returns
        -------
        array (times,)

        Examples
        --------
        >>> import bouligand as bd
        >>> falling = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4)
        >>> track = falling.run({"t": [0.1], "z": [1.95]})
        >>> track.nees(track.z)
        array([0.])
        """
        true = finite_numbers("truth", truth)
        if true.shape != self.z.shape:
            raise ValueError(f"truth must be an array {self.z.shape}; got shape {true.shape}")
        error = true - self.z
        return np.array(
            [e @ np.linalg.pinv(P, rcond=1e-12, hermitian=True) @ e for e, P in zip(error, self.P, strict=True)]
        )

    def smooth(self) -> Track:
        """The estimates given all measurements, also later ones (Rauch, Tung and Striebel), through events and jumps.

        Returns
        -------
        Track

        Examples
        --------
        >>> import bouligand as bd
        >>> falling = bd.Filter(bd.models.hopper(), [2.0, 0.0], [0.01, 0.04], R=1e-4)
        >>> track = falling.run({"t": [0.1, 0.2], "z": [1.95, 1.80]})
        >>> bool((track.smooth().std("z") <= track.std("z")).all())
        True
        """
        if self._back is None:
            raise ValueError("only what a Filter has tracked can be smoothed")
        z, P = self.z.copy(), self.P.copy()
        for q in range(len(z) - 2, -1, -1):
            predicted, spread, cross = self._back[q + 1]
            G = cross @ np.linalg.pinv(spread, rcond=1e-13, hermitian=True)
            z[q] = self.z[q] + G @ (z[q + 1] - predicted)
            P[q] = self.P[q] + G @ (P[q + 1] - spread) @ G.T
            P[q] = 0.5 * (P[q] + P[q].T)
        return make(Track, self.names, self._n, self.t, z, P, self.log_likelihood, self.nis, self.accepted, self.how)

    def __repr__(self) -> str:
        last = [
            f"  {name} = {z:.6g} +- {s:.2g}"
            for name, z, s in zip(self.names, self.z[-1], np.sqrt(np.diag(self.P[-1])), strict=True)
        ]
        head = f"Track of {len(self)} estimates, t = {self.t[0]:g} to {self.t[-1]:g}, log-likelihood {self.log_likelihood:.6g}"
        return "\n".join([head, *last])


class Tracker:
    """Collects what a filter does."""

    def __init__(self, filter: Filter) -> None:
        self._filter = filter
        self._rows: list[tuple[float, ty.FloatArray, ty.FloatArray, float, bool, str]] = []
        self._back: list[tuple[ty.FloatArray, ty.FloatArray, ty.FloatArray]] = []
        self._before = filter.log_likelihood

    def note(self, predicted: tuple[ty.FloatArray, ty.FloatArray], found: Update) -> None:
        """Keep the present estimate; ``predicted``: mean and covariance before the measurement."""
        f = self._filter
        self._rows.append((f.t, f.z.copy(), f.P.copy(), found.nis, found.accepted, f.how))
        # (without a step in time, the estimate before is the same one)
        cross = predicted[1] if f._cross is None else f._cross
        self._back.append((*predicted, cross))

    def track(self) -> Track:
        """All of it."""
        t, z, P, nis, accepted, how = zip(*self._rows, strict=True)
        f = self._filter
        return make(
            Track,
            f.names, f.system.n, np.array(t), np.array(z), np.array(P), f.log_likelihood - self._before, np.array(nis),
            np.array(accepted), list(how), self._back,
        )  # fmt: skip
