"""Enumeration of the linear pieces of a B-derivative, one crossing at a time.

An order of crossing belongs to a cone of perturbations: after each crossing, the next guard u must come before every other guard
v that is still ahead (``s_u <= s_v``). The beginning of an order is extended only if its cone has an interior (see `_nearest`),
so that orders that no perturbation can produce, for example with a rigid body, are never enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import numpy as np

from ..core.state import AT_END, AT_START, TO_GUARD, WHOLE
from ..errors import TooManyPiecesError
from .compiled_corner import EXACT
from .corner import GuardName
from .instant import Instant

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .corner import Corner

    AnyCorner: TypeAlias = Corner[Any]
    Links: TypeAlias = Sequence[tuple[FloatArray, Corner[Any] | Instant | None]]
    Cone: TypeAlias = list[FloatArray]  # rows; the cone is where ``row @ z > 0`` for each
    # in a corner: images of the unit perturbations, cone, units crossed, word, units ahead
    Branch: TypeAlias = tuple[FloatArray, Cone, tuple[int, ...], FloatArray, frozenset[int]]

MOST_GUARDS = 12  # in one corner


@dataclass
class Piece(Generic[GuardName]):
    """A linear piece of a B-derivative.

    Attributes
    ----------
    matrix : array (n, n + parameters), or (times, n, n + parameters)
        The derivative for all perturbations of this piece; at many times, that at each.
    orders : list
        The orders of crossing that lead to it: for each, a tuple of guards for every corner.
    dx : array (n + parameters,)
        A perturbation inside it (of the state, then of the parameters).

    Examples
    --------
    >>> import bouligand as bd
    >>> F = {(-1, -1): (1, 1), (-1, 1): (1, 0.75), (1, -1): (0.5, 1), (1, 1): (1, 0.5)}
    >>> corner = bd.Corner(F, [[1, 0], [0, 1]])
    >>> piece = corner.pieces()[0]
    >>> piece.orders
    [((1, 0),)]
    >>> bool(abs(corner(piece.dx) - piece.matrix @ piece.dx).max() < 1e-12)
    True
    """

    matrix: FloatArray
    orders: list[tuple[tuple[GuardName, ...], ...]]
    dx: FloatArray


@dataclass
class Path:
    """One sequence of crossings so far: the images of the unit perturbations (columns), its cone, its orders; and images that
    have been read off on the way, by number."""

    M: FloatArray
    cone: Cone
    orders: tuple[tuple[Any, ...], ...]
    read: tuple[tuple[int, FloatArray], ...] = ()


def pieces(links: Links, n: int, limit: int) -> list[Piece[Any]]:
    """Distinct pieces of the composition of ``links``: pairs of a matrix (rows are images) and a corner or None.

    The first n entries of an image are the state."""
    width = links[0][0].shape[0]
    paths = follow([Path(np.eye(width), [], ())], links, limit)
    return distinct([(path.M[:n], path) for path in paths])


def follow(paths: list[Path], links: Links, limit: int) -> list[Path]:
    """Continue paths over ``links``, through their corners in every order."""
    for matrix, corner in links:
        width = matrix.shape[0]
        paths = [Path(matrix.T @ path.M, path.cone, path.orders, path.read) for path in paths]
        if corner is None:
            continue
        if corner.units > MOST_GUARDS:
            raise TooManyPiecesError(
                f"a corner of {corner.units} guards has too many orders of crossing to go through (at most {MOST_GUARDS} "
                "guards); ask for the piece of a perturbation, matrix(dx), instead"
            )
        following: list[Path] = []
        for path in paths:
            if isinstance(corner, Instant):
                ways = _through_jumps(corner, path, width)
            else:
                ways = (_moved(corner, found) for found in _through(corner, path, width))
            for found in ways:
                found.read = path.read
                following.append(found)
                if len(following) > limit:
                    raise TooManyPiecesError(
                        f"more than limit = {limit} orders of crossing; ask for the piece of a perturbation, matrix(dx), or "
                        "give a larger limit"
                    )
        paths = following
    return paths


def distinct(found: list[tuple[FloatArray, Path]]) -> list[Piece[Any]]:
    """One piece for all paths with the same matrix."""
    out: list[Piece[Any]] = []
    for matrix, path in found:
        for piece in out:
            if np.abs(piece.matrix - matrix).max() <= 1e-9 * max(np.abs(matrix).max(), 1e-300):
                piece.orders.append(path.orders)
                break
        else:
            dx = _interior(path.cone, matrix.shape[-1])
            assert dx is not None  # (no other cones are followed)
            out.append(Piece(matrix, [path.orders], dx))
    return out


def _through(corner: AnyCorner, path: Path, width: int) -> Iterator[Path]:
    """Continue a path through a corner, in every order of crossing that a perturbation in its cone can produce."""
    stack: list[Branch] = [(path.M, path.cone, (), corner._word, frozenset(range(corner.units)))]
    if corner.mode == AT_START:
        stack = _starts(corner, path, width)
    while stack:
        M, cone, order, word, ahead = stack.pop()
        field = corner._field(word)
        word, ahead = _without_effect(corner, word, ahead, field)
        rates = {u: corner._rows[u, : corner.n] @ field + corner._slopes[u] for u in ahead}
        times = {u: -(corner._rows[u] @ M) / rates[u] for u in ahead}
        done = [Path(M, cone, (*path.orders, tuple(corner.guards[u] for u in order)))]
        if corner.mode == AT_END:
            # no other guard is reached before the end
            rest = [*cone, *times.values()]
            if _interior(rest, width, corner._resolved) is not None:
                done[0].cone = rest
                yield done[0]
        elif not ahead:
            yield done[0]
        for u in sorted(ahead):
            before = [times[v] - times[u] for v in ahead if v != u]
            if any(v < u and not _nonzero(times[v] - times[u], times[u]) for v in ahead):
                continue  # always simultaneous with v, which is crossed first
            wedge = [*cone, *[row for row in before if _nonzero(row, times[u])]]
            if corner.mode == AT_END:
                wedge.append(-times[u])
            if _interior(wedge, width, corner._resolved) is None:
                continue
            after = corner._flipped(word, u)
            image = M.copy()
            if corner.mode == TO_GUARD and u == corner.target:
                image[: corner.n] += np.outer(field, times[u])
                yield Path(image, wedge, (*path.orders, tuple(corner.guards[v] for v in (*order, u))))
                continue
            image[: corner.n] -= np.outer(corner._field(after) - field, times[u])
            stack.append((image, wedge, (*order, u), after, ahead - {u}))


def _through_jumps(corner: Instant, path: Path, width: int) -> Iterator[Path]:
    """The same through an instant at which the state jumps at several guards: each order that a perturbation in the cone of the
    path can produce is a product of the passages of its guards, with the state and the field between the jumps."""
    stack: list[tuple[FloatArray, Cone, tuple[int, ...]]] = [(path.M, path.cone, ())]
    while stack:
        M, cone, passed = stack.pop()
        ahead = corner._ahead(passed)
        if not ahead:
            names = tuple(corner.system.guards[k] for k in passed)
            yield Path(M, cone, (*path.orders, names))
            continue
        times = {k: corner._delay(corner._cross(passed, k), M.T) for k in ahead}
        for k in ahead:
            if any(j < k and not _nonzero(times[j] - times[k], times[k]) for j in ahead):
                continue  # always simultaneous with j, whose turn is first
            before = [times[j] - times[k] for j in ahead if j != k]
            wedge = [*cone, *[row for row in before if _nonzero(row, times[k])]]
            if _interior(wedge, width, corner._resolved) is not None:
                image = M.T.copy()
                corner._take(corner._cross(passed, k), image)
                stack.append((image.T, wedge, (*passed, k)))


def _moved(corner: AnyCorner, path: Path) -> Path:
    """A path behind a corner, moved onto the guards on which the trajectory begins to slide there."""
    if corner._onto is not None:
        path.M = np.vstack([corner._onto.T @ path.M, path.M[corner.n :]])
    return path


def _without_effect(
    corner: AnyCorner, word: FloatArray, ahead: frozenset[int], field: FloatArray
) -> tuple[FloatArray, frozenset[int]]:
    """Flip guards that are not approached and at which f does not jump, as the core does. Returns the word, and the units that
    are left."""
    for u in ahead:
        if corner._side[u] * (corner._rows[u, : corner.n] @ field + corner._slopes[u]) >= 0.0:
            other = corner._flipped(word, u)
            if np.allclose(corner._field(other), field, rtol=1e-13, atol=0.0):
                word, ahead = other, ahead - {u}
    return word, ahead


def _starts(corner: AnyCorner, path: Path, width: int) -> list[Branch]:
    """The branches at a start on guards: a perturbed start may be on either side of each."""
    choices: list[tuple[Cone, FloatArray, frozenset[int]]] = [(path.cone, corner._word, frozenset())]
    for u in range(corner.units):
        row = corner._side[u] * (corner._rows[u] @ path.M)
        following = []
        for cone, word, ahead in choices:
            if _interior([*cone, row], width, corner._resolved) is not None:
                following.append(([*cone, row], word, ahead | {u}))
            if _interior([*cone, -row], width, corner._resolved) is not None:
                other = corner._flipped(word, u)
                following.append(([*cone, -row], other, ahead))
        choices = following
    return [(path.M, cone, (), word, ahead) for cone, word, ahead in choices]


def _nonzero(row: FloatArray, scale: FloatArray) -> bool:
    """Whether a row is more than rounding errors at this scale."""
    return np.abs(row).max() > 1e-12 * max(np.abs(scale).max(), 1e-300)


def _interior(cone: Cone, width: int, resolved: float = EXACT) -> FloatArray | None:
    """A perturbation in the interior of the cone (``row @ z > 0`` for each row), away from its boundary; None if it has none.

    A cone that is narrower than ``resolved``, what the rows are known to, has none: errors have made it.
    """
    if not cone:
        return np.ones(width)
    rows = np.array([row / max(np.abs(row).max(), 1e-300) for row in cone])
    if len(rows) <= width and np.linalg.matrix_rank(rows, tol=resolved) == len(rows):
        return np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]
    return _nearest(rows, resolved)


def _nearest(rows: FloatArray, margin: float) -> FloatArray | None:
    """The smallest z with ``row @ z >= margin`` for each row, scaled to length 1; None if it would be longer than that.

    That is a problem of nonnegative least squares (Lawson and Hanson, chapter 23): with the residual r of
    ``[rows.T; margin] u = [0; 1]``, z is ``-r[:-1] / r[-1]`` (and r[-1] < 0), of the length ``sqrt(1 - |r|^2) / |r|``. (A linear
    program knows margins to 1e-7 only.)
    """
    from scipy.optimize import nnls

    E = np.vstack([rows.T, np.full(len(rows), margin)])
    goal = np.zeros(len(E))
    goal[-1] = 1.0
    u, left = nnls(E, goal, maxiter=100 * len(rows))
    if left * left < 0.5:
        return None
    z: FloatArray = E[:-1] @ u
    return z / np.linalg.norm(z)


def is_linear(corner: AnyCorner) -> bool | None:
    """Whether all pieces of a corner are the same; None if there are too many to decide."""
    known = _sum_is_linear(corner) if getattr(corner, "_sum", False) and corner.mode == WHOLE else None
    if known is not None:
        return known
    if corner.units > 6:
        return None
    width = corner._rows.shape[1]
    return len(pieces([(np.eye(width), corner)], corner.n, 1000)) == 1


def _sum_is_linear(corner: AnyCorner) -> bool | None:
    """For a field that is a sum over contacts, whose jumps do not depend on the word. If no jump changes the rate of another
    guard, the crossing times do not depend on the order: linear. If the two orders of some pair differ: not linear."""
    n, word = corner.n, corner._word
    base = corner._field(word)
    jumps = np.empty((corner.units, n))
    for u in range(corner.units):
        other = corner._flipped(word, u)
        jumps[u] = corner._field(other) - base
    rows = corner._rows[:, :n]
    rates = rows @ base + corner._slopes
    moved = rows @ jumps.T  # the change of the rate of guard k (row) by crossing j (column)
    np.fill_diagonal(moved, 0.0)
    small = 1e-10 * np.abs(rates)[:, None]
    if (np.abs(moved) <= small).all():
        return True
    for k, j in np.argwhere(np.abs(moved) > small)[:1000]:
        first = jumps[k] * moved[k, j] / (rates[k] + moved[k, j])
        second = jumps[j] * moved[j, k] / (rates[j] + moved[j, k])
        differ = np.abs(first + second).max() > 1e-8 * max(np.abs(first).max(), np.abs(second).max())
        parallel = np.linalg.matrix_rank(np.array([rows[k] / rates[k], rows[j] / rates[j]]), tol=1e-9) < 2
        if differ and not parallel:
            return False
    return None
