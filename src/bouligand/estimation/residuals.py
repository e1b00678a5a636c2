"""The residuals of all experiments as a function of the unknowns, with their Jacobian and the covariance that follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..derivative.shooting import Shooting
from ..integration.options import state
from ..system.arguments import number, numbers, short
from ..system.words import names, pair

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..derivative.fit import Fit
    from ..solution.solution import Solution
    from ..system.system import System
    from .measurements import Table


class Residuals:
    """The residuals of all experiments as a function of the unknowns: parameters first, then start values of each experiment."""

    def __init__(
        self,
        system: System,
        tables: list[Table],
        x0: ty.State,
        p: ty.Parameters | None,
        free: str | Iterable[str],
        scale: ty.FloatArray,
        observe: Any,
        t0: float,
        rtol: float,
        options: dict[str, Any],
        prior: Mapping[str, tuple[float, float]] | None,
    ) -> None:
        self.tables = tables
        known = (*system.states, *(name for name in system.params if name not in system.states))
        given = names("free", free, known, "state or parameter")
        if not given:
            raise ValueError("free: name at least one state or parameter")
        parameters = [name for name in given if name in system.params and name not in system.states]
        states = [name for name in given if name not in parameters]
        starts = numbers("x0", state(system, x0) if isinstance(x0, Mapping) else x0)
        if starts.ndim == 2 and len(starts) != len(tables):
            raise ValueError(f"x0 must have a row for each of the {len(tables)} experiments; got {len(starts)}")
        rows = starts if starts.ndim == 2 else np.tile(starts, (len(tables), 1))
        self.fits: list[Fit] = []
        for table, row in zip(tables, rows, strict=True):
            end = float(table.t[-1])
            if not float(table.t[0]) >= number("t0", t0):
                raise ValueError(f"data: measured times must not be before t0 = {t0:g}; got {table.t[0]:g}")
            shot = Shooting(
                system,
                (t0, max(end, math.nextafter(t0, math.inf))),
                row,
                p,
                free=(*parameters, *states),
                failed=math.inf,
                **options,
            )
            measured = np.isfinite(table.values)
            weights = measured / scale
            values = np.where(measured, table.values, 0.0)
            self.fits.append(
                shot.fit(
                    table.t, values, observe=observe if callable(observe) else table.names, weights=weights, rtol=rtol
                )
            )
        common, count = len(parameters), len(tables)
        own = [states if count == 1 else [f"{name}[{k}]" for name in states] for k in range(count)]
        self.names = tuple(parameters + [name for part in own for name in part])
        # which unknowns each experiment has
        self._places = [
            [*range(common), *range(common + k * len(states), common + (k + 1) * len(states))] for k in range(count)
        ]
        self._prior = self._read_prior(prior)
        self.noise = float(options["rtol"])

    def _read_prior(self, prior: Mapping[str, tuple[float, float]] | None) -> list[tuple[int, float, float]]:
        """Place, value and standard deviation of each unknown that something is known of."""
        out = []
        for name, given in _pairs("prior", prior, "(value, standard deviation)"):
            if name not in self.names:
                raise ValueError(f"prior: {name!r} is not free; free: {', '.join(self.names)}")
            value, std = (number(f"prior[{name!r}]", part) for part in given)
            if not std > 0.0:
                raise ValueError(f"prior[{name!r}]: the standard deviation must be positive; got {std!r}")
            out.append((self.names.index(name), value, std))
        return out

    def bounds(self, bounds: Mapping[str, tuple[float, float]] | None) -> tuple[ty.FloatArray, ty.FloatArray]:
        """Lower and upper bounds of all unknowns."""
        low, high = np.full(len(self.names), -np.inf), np.full(len(self.names), np.inf)
        for name, given in _pairs("bounds", bounds, "(low, high)"):
            places = [q for q, full in enumerate(self.names) if name in (full, full.partition("[")[0])]
            if not places:
                raise ValueError(f"bounds: {name!r} is not free; free: {', '.join(self.names)}")
            a, b = (_limit(f"bounds[{name!r}]", part) for part in given)
            if not a < b:
                raise ValueError(f"bounds[{name!r}]: the lower one must be below the upper one; got {given!r}")
            low[places], high[places] = a, b
        return low, high

    @property
    def start(self) -> ty.FloatArray:
        """The first guess."""
        out = np.empty(len(self.names))
        for fit, places in zip(self.fits, self._places, strict=True):
            out[places] = fit.shot.start
        return out

    @property
    def x_scale(self) -> ty.FloatArray | None:
        """Sizes of the unknowns, those of the first guess; None if one of these is zero."""
        size = np.abs(self.start)
        return size if (size > 0.0).all() else None

    def residuals(self, x: ty.FloatArray) -> ty.FloatArray:
        """All residuals over their standard deviations; infinite if an integration fails."""
        parts = [fit(x[places]) for fit, places in zip(self.fits, self._places, strict=True)]
        return np.concatenate([*parts, [(x[q] - value) / std for q, value, std in self._prior]])

    def jacobian(self, x: ty.FloatArray, *_: Any) -> ty.FloatArray:
        """The derivative of the residuals."""
        rows = []
        for fit, places in zip(self.fits, self._places, strict=True):
            J = np.zeros((fit.data.size, len(self.names)))
            J[:, places] = fit.jacobian(x[places])
            rows.append(J)
        for q, _value, std in self._prior:
            rows.append(np.eye(1, len(self.names), q) / std)
        return np.vstack(rows)

    def plain(self, x: ty.FloatArray) -> list[ty.FloatArray]:
        """Computed minus measured values, in their own units."""
        out = []
        for fit, places, table in zip(self.fits, self._places, self.tables, strict=True):
            solution = fit._solution(x[places])
            values = np.full(table.values.shape, np.nan) if solution is None else fit._observed(solution)[0]
            out.append(values - table.values)
        return out

    def solutions(self, x: ty.FloatArray) -> list[Solution]:
        """The trajectories, with dense output."""
        return [fit.shot.solution(x[places]) for fit, places in zip(self.fits, self._places, strict=True)]

    def covariance(
        self, r: ty.FloatArray, J: ty.FloatArray, active: ty.IntArray, unknown: bool
    ) -> tuple[ty.FloatArray, float]:
        """The covariance of the estimate, and (if sigma is ``unknown``) the standard deviation that the residuals show."""
        unknowns = J.shape[1]
        count = sum(int(np.isfinite(table.values).sum()) for table in self.tables)
        estimated = 1.0
        if unknown and count <= unknowns:  # (nothing is left over to estimate it from)
            return np.full((unknowns, unknowns), np.inf), estimated
        if unknown:
            estimated = float(
                np.sqrt(r[: len(r) - len(self._prior)] @ r[: len(r) - len(self._prior)] / (count - unknowns))
            )
        inside = np.flatnonzero(active == 0)
        out = np.zeros((unknowns, unknowns))
        if inside.size:
            part = J[:, inside]
            size = np.linalg.norm(part, axis=0)
            _, values, rows = np.linalg.svd(part / np.where(size > 0.0, size, 1.0), full_matrices=False)
            seen = values > 1e-7 * max(float(values.max(initial=0.0)), 1e-300)
            inverse = (rows[seen].T / values[seen] ** 2) @ rows[seen]
            # unknowns with a part in a direction that no residual depends on
            open_ = (np.abs(rows[~seen]) > 1e-6).any(axis=0) | (size == 0.0)
            scale: Any = 1.0 / np.where(size > 0.0, size, 1.0)
            block = inverse * np.outer(scale, scale) * estimated**2
            block[open_, :] = block[:, open_] = np.nan
            block[open_, open_] = np.inf
            out[np.ix_(inside, inside)] = block
        return out, estimated


def _pairs(what: str, given: Any, kinds: str) -> list[tuple[str, tuple[Any, Any]]]:
    """The entries of a mapping from names to pairs."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} must be a mapping from names to {kinds}; got {short(given)}")
    return [(name, pair(f"{what}[{name!r}]", both, kinds)) for name, both in given.items()]


def _limit(what: str, value: Any) -> float:
    """A number, which may be infinite."""
    return float(value) if isinstance(value, float) and math.isinf(value) else number(what, value)
