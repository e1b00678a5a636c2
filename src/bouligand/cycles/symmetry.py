"""Symmetries of a system: linear maps S of the state, so that half a cycle (or a sixth) is the whole of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..system.arguments import finite_numbers
from ..system.words import name as known

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..system.system import System

MOST = 64  # parts of a cycle


def symmetry_matrix(system: System, symmetry: Mapping[str, str] | ArrayLike | None) -> ty.FloatArray:
    """S as a matrix (n, n), from the argument ``symmetry`` of `find_cycle`."""
    n = system.n
    if symmetry is None:
        return np.eye(n)
    if isinstance(symmetry, Mapping):
        return _by_names(system, symmetry)
    S = finite_numbers("symmetry", symmetry)
    if S.shape == (n,):
        S = np.diag(S)
    if S.shape != (n, n):
        raise ValueError(
            f"symmetry must be a matrix {(n, n)}, {n} factors, or a mapping such as {{'roll': '-roll'}}; got shape {S.shape}"
        )
    return S


def _by_names(system: System, symmetry: Mapping[str, str]) -> ty.FloatArray:
    """S of a mapping: each state becomes another one, or its negative. Those that are not named stay."""
    S = np.eye(system.n)
    for name, image in symmetry.items():
        source = image.removeprefix("-") if isinstance(image, str) else image
        for given in (name, source):
            known("symmetry", given, system.states, "state")
        i = system.states.index(name)
        S[i] = 0.0
        S[i, system.states.index(source)] = -1.0 if image.startswith("-") else 1.0
    return S


def order_of(S: ty.FloatArray) -> int:
    """The smallest q with S^q = I: the number of parts of a cycle."""
    power = S.copy()
    for q in range(1, MOST + 1):
        if np.allclose(power, np.eye(len(S)), atol=1e-9):
            return q
        power = power @ S
    raise ValueError(
        f"symmetry: no power of it up to {MOST} is the identity; parts that are mapped onto one another by S make no cycle then"
    )
