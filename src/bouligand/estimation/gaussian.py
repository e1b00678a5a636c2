"""Gaussians: covariances as given, points that represent one, updates by measurements, parts that are cut off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import norm, qmc

from ..system.arguments import finite_numbers, not_negative, number, positive, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .. import _typing as ty


MOST_PARTS, SMALLEST_WEIGHT = 8, 1e-4
APART = 9.0  # squared distance of two Gaussians, in units of the sum of their covariances, from which on they are kept apart


@dataclass
class Part:
    """One Gaussian of several: its weight, mean and covariance."""

    weight: float
    z: ty.FloatArray
    P: ty.FloatArray


def mixture(parts: list[Part], merge: bool = False) -> tuple[ty.FloatArray, ty.FloatArray, list[Part]]:
    """Mean and covariance of several Gaussians, and those of them that are worth to be kept apart (none if it is one).

    With ``merge`` those that overlap become one."""
    kept = sorted(parts, key=lambda part: -part.weight)[:MOST_PARTS]
    total = sum(part.weight for part in kept)
    kept = [Part(part.weight / total, part.z, part.P) for part in kept if part.weight > SMALLEST_WEIGHT * total]
    if merge:
        kept = _merged(kept)
    one = _together(kept)
    return one.z, one.P, kept if len(kept) > 1 else []


def _together(parts: list[Part]) -> Part:
    """The Gaussian with the same mean and covariance as several."""
    weight = sum(part.weight for part in parts)
    z = np.sum([part.weight * part.z for part in parts], axis=0) / weight
    P = np.sum([part.weight * (part.P + np.outer(part.z - z, part.z - z)) for part in parts], axis=0) / weight
    return Part(weight, z, 0.5 * (P + P.T))


def _merged(parts: list[Part]) -> list[Part]:
    """Parts that overlap put together, into the heaviest of them."""
    out: list[Part] = []
    for part in parts:
        for k, other in enumerate(out):
            away = part.z - other.z
            if away @ np.linalg.pinv(part.P + other.P, rcond=1e-12, hermitian=True) @ away < APART:
                out[k] = _together([other, part])
                break
        else:
            out.append(part)
    return out


def covariance_or_names(what: str, value: Any, definite: bool = False) -> Any:
    """A covariance as given, read as far as it can be before it is known of what it is."""
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise TypeError(f"{what} must be given by names (str); got {short(value)}")
        read = positive if definite else not_negative
        return {name: read(f"{what}[{name!r}]", one) for name, one in value.items()}
    given = finite_numbers(what, value)
    if (
        given.ndim > 2
        or (given.ndim == 2 and given.shape[0] != given.shape[1])
        or (given.ndim < 2 and (given < 0.0).any())
    ):
        raise ValueError(f"{what} must be a square matrix, or variances that are not negative; got {short(value)}")
    if definite and given.ndim < 2 and not (given > 0.0).all():
        raise ValueError(f"{what} must have variances above zero; got {short(value)}")
    return given


def covariance(what: str, value: Any, names: Sequence[str], definite: bool = False) -> ty.FloatArray:
    """A covariance matrix from a matrix, from variances, or from variances by name (others zero); checked."""
    size = len(names)
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ValueError(f"{what}: there is no {unknown[0]!r}; names: {', '.join(names)}")
        given = np.array([number(f"{what}[{name!r}]", value.get(name, 0.0)) for name in names])
    else:
        given = finite_numbers(what, value)
    if given.ndim == 0:
        given = np.full(size, float(given))
    P = np.diag(given) if given.ndim == 1 else given
    if P.shape != (size, size):
        raise ValueError(f"{what} must be a matrix {(size, size)} or {size} variances; got shape {np.shape(value)}")
    if not np.allclose(P, P.T, rtol=1e-9, atol=1e-12 * max(float(np.abs(P).max()), 1e-300)):
        raise ValueError(f"{what} is not symmetric")
    P = 0.5 * (P + P.T)
    lowest = float(np.linalg.eigvalsh(P).min()) if size else 0.0
    if lowest < -1e-12 * max(float(np.abs(P).max()), 1e-300) or (definite and not lowest > 0.0):
        kind = "positive definite" if definite else "positive semidefinite"
        raise ValueError(f"{what} is not a covariance: it must be {kind}, and has the eigenvalue {lowest:.3g}")
    return P


def root(P: ty.FloatArray) -> ty.FloatArray:
    """A matrix L with L L^T = P, also of a singular P."""
    values, vectors = np.linalg.eigh(P)
    out: ty.FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return out


@lru_cache(maxsize=64)
def points(size: int, count: int) -> ty.FloatArray:
    """Points (count, size) with mean 0 and covariance 1, exactly, spread like a standard Gaussian: a Sobol sequence,
    with its mirror
    image, whitened. Always the same ones."""
    if size == 0:
        return np.zeros((1, 0))
    half = max(2 ** math.ceil(math.log2(max(count, 4 * size) / 2)), 2)
    uniform = qmc.Sobol(size, scramble=True, rng=np.random.default_rng(7)).random(half) if _NEW else _old(size, half)
    normal = norm.ppf(np.clip(uniform, 1e-12, 1.0 - 1e-12))
    both = np.concatenate([normal, -normal])
    L = np.linalg.cholesky(both.T @ both / len(both))
    out: ty.FloatArray = solve_triangular(L, both.T, lower=True).T
    out.flags.writeable = False
    return out


def _old(size: int, half: int) -> ty.FloatArray:
    """The same with versions of SciPy that call the generator ``seed``."""
    out: ty.FloatArray = qmc.Sobol(size, scramble=True, seed=np.random.default_rng(7)).random(half)
    return out


_NEW = "rng" in (qmc.Sobol.__init__.__kwdefaults__ or {})


def update(
    z: ty.FloatArray, P: ty.FloatArray, innovation: ty.FloatArray, H: ty.FloatArray, R: ty.FloatArray
) -> tuple[ty.FloatArray, ty.FloatArray, ty.FloatArray]:
    """Mean and covariance behind a measurement (Joseph's form), and the covariance of the innovation."""
    S = H @ P @ H.T + R
    K = np.linalg.solve(S, H @ P).T
    left = np.eye(len(z)) - K @ H
    P = left @ P @ left.T + K @ R @ K.T
    return z + K @ innovation, 0.5 * (P + P.T), S


def log_density(innovation: ty.FloatArray, S: ty.FloatArray) -> tuple[float, float]:
    """The squared Mahalanobis distance of an innovation, and the logarithm of its density."""
    L = np.linalg.cholesky(S)
    white = solve_triangular(L, innovation, lower=True)
    distance = float(white @ white)
    return distance, -0.5 * (distance + len(innovation) * math.log(2 * math.pi)) - float(np.log(np.diag(L)).sum())


def on_one_side(mean: float, variance: float, sign: int, error: float, noise: float) -> tuple[float, float, float]:
    """Mean, variance and probability behind a report that a Gaussian number u has this sign.

    The report is right with the probability 1 - error; it is about u plus Gaussian noise with this standard deviation.
    """
    total = math.sqrt(variance + noise * noise)
    a = sign * mean / total
    inside, density = float(norm.cdf(a)), float(norm.pdf(a))
    probability = error + (1.0 - 2.0 * error) * inside
    # moments of u where the report is right, from those of a Gaussian that is cut off (Rasmussen and Williams, 3.85 to 3.87)
    slope = (1.0 - 2.0 * error) * density / probability
    shift = sign * variance / total * slope
    change = variance * variance / (total * total) * slope * (slope + a)
    return mean + shift, max(variance - change, 0.0), probability
