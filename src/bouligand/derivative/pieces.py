"""The pieces of a B-derivative, found one crossing at a time.

An order of crossing belongs to a cone of perturbations: ``s_u <= s_v`` for the guard u that is crossed first and each v that
is not, again after each crossing. A prefix of an order is followed only if its cone has an inside (a small linear
program tells), so that the orders that no perturbation can reach, of a rigid body say, are never looked at.
"""

from dataclasses import dataclass, field

import numpy as np

from ..core.state import AT_END, AT_START, TO_GUARD, WHOLE
from ..errors import TooManyPiecesError

MOST_GUARDS = 12  # in one corner


@dataclass
class Piece:
    """A linear piece of a B-derivative.

    Attributes
    ----------
    matrix : array (n, n + parameters)
        The piece itself.
    orders : list
        The orders of crossing that lead to it: for each, a tuple of guards for every corner.
    dx : array
        A perturbation inside it.
    """

    matrix: np.ndarray
    orders: list = field(default_factory=list)
    dx: np.ndarray | None = None


@dataclass
class _Path:
    """A way so far: what it makes of the unit perturbations (columns), its cone, the orders."""

    M: np.ndarray
    cone: list
    orders: tuple


def pieces(links, n, limit):
    """Distinct pieces of the map that goes through ``links``, pairs of a matrix (rows are images) and a corner or None.

    The first n entries of an image are the state."""
    width = links[0][0].shape[0]
    paths = [_Path(np.eye(width), [], ())]
    for matrix, corner in links:
        for path in paths:
            path.M = matrix.T @ path.M
        if corner is None:
            continue
        if corner.units > MOST_GUARDS:
            raise TooManyPiecesError(
                f"a corner of {corner.units} guards has too many orders of crossing to go through (at most {MOST_GUARDS} "
                "guards); ask for the piece of a perturbation, matrix(dx), instead"
            )
        following: list = []
        for path in paths:
            for found in _through(corner, path, width):
                following.append(found)
                if len(following) > limit:
                    raise TooManyPiecesError(
                        f"more than limit = {limit} orders of crossing; ask for the piece of a perturbation, matrix(dx), or "
                        "give a larger limit"
                    )
        paths = following
    return _distinct(paths, n, width)


def _distinct(paths, n, width):
    out: list[Piece] = []
    for path in paths:
        matrix = path.M[:n]
        for piece in out:
            if np.abs(piece.matrix - matrix).max() <= 1e-9 * max(np.abs(matrix).max(), 1e-300):
                piece.orders.append(path.orders)
                break
        else:
            out.append(Piece(matrix, [path.orders], _inside(path.cone, width)))
    return out


def _through(corner, path, width):
    """All ways through a corner that some perturbation in the cone of ``path`` takes."""
    stack: list[tuple] = [(path.M, path.cone, (), corner._word, frozenset(range(corner.units)))]
    if corner.mode == AT_START:
        stack = list(_starts(corner, path, width))
    while stack:
        M, cone, order, word, ahead = stack.pop()
        field = corner._field(word)
        word, ahead = _without_effect(corner, word, ahead, field)
        rates = {u: corner._rows[u, : corner.n] @ field + corner._slopes[u] for u in ahead}
        times = {u: -(corner._rows[u] @ M) / rates[u] for u in ahead}
        done = [_Path(M, cone, (*path.orders, tuple(corner.guards[u] for u in order)))]
        if corner.mode == AT_END:
            # nothing more in time
            rest = [*cone, *times.values()]
            if _inside(rest, width) is not None:
                done[0].cone = rest
                yield done[0]
        elif not ahead:
            yield done[0]
        for u in sorted(ahead):
            before = [times[v] - times[u] for v in ahead if v != u]
            if any(v < u and not _real(times[v] - times[u], times[u]) for v in ahead):
                continue  # always together with v, which comes first
            wedge = [*cone, *[row for row in before if _real(row, times[u])]]
            if corner.mode == AT_END:
                wedge.append(-times[u])
            if _inside(wedge, width) is None:
                continue
            after = corner._flipped(word, u)
            image = M.copy()
            if corner.mode == TO_GUARD and u == corner.target:
                image[: corner.n] += np.outer(field, times[u])
                yield _Path(image, wedge, (*path.orders, tuple(corner.guards[v] for v in (*order, u))))
                continue
            image[: corner.n] -= np.outer(corner._field(after) - field, times[u])
            stack.append((image, wedge, (*order, u), after, ahead - {u}))


def _without_effect(corner, word, ahead, field):
    """Guards that are not approached, but at which f does not jump either, are passed by (as in core.turn)."""
    for u in ahead:
        if corner._side[u] * (corner._rows[u, : corner.n] @ field + corner._slopes[u]) >= 0.0:
            other = corner._flipped(word, u)
            if np.allclose(corner._field(other), field, rtol=1e-13, atol=0.0):
                word, ahead = other, ahead - {u}
    return word, ahead


def _starts(corner, path, width):
    """The sides of the guards that a perturbed start may be on."""
    choices: list[tuple] = [(path.cone, corner._word, frozenset())]
    for u in range(corner.units):
        row = corner._side[u] * (corner._rows[u] @ path.M)
        following = []
        for cone, word, ahead in choices:
            if _inside([*cone, row], width) is not None:
                following.append(([*cone, row], word, ahead | {u}))
            if _inside([*cone, -row], width) is not None:
                other = corner._flipped(word, u)
                following.append(([*cone, -row], other, ahead))
        choices = following
    return [(path.M, cone, (), word, ahead) for cone, word, ahead in choices]


def _real(row, scale):
    return np.abs(row).max() > 1e-12 * max(np.abs(scale).max(), 1e-300)


def _inside(cone, width):
    """A perturbation well inside the cone (``row @ z > 0`` for each row), None if there is none."""
    if not cone:
        return np.ones(width)
    rows = np.array([row / max(np.abs(row).max(), 1e-300) for row in cone])
    if len(rows) <= width and np.linalg.matrix_rank(rows, tol=1e-9) == len(rows):
        return np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]
    from scipy.optimize import linprog

    # the largest margin in the unit box
    cost = np.zeros(width + 1)
    cost[-1] = -1.0
    found = linprog(
        cost,
        A_ub=np.hstack([-rows, np.ones((len(rows), 1))]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1.0, 1.0)] * width + [(None, 1.0)],
    )
    return found.x[:-1] if found.success and found.x[-1] > 1e-9 else None


def is_linear(corner):
    """Whether all pieces of a corner are the same; None where it cannot be known."""
    known = _sum_is_linear(corner) if getattr(corner, "_sum", False) and corner.mode == WHOLE else None
    if known is not None:
        return known
    if corner.units > 6:
        return None
    width = corner._rows.shape[1]
    return len(pieces([(np.eye(width), corner)], corner.n, 1000)) == 1


def _sum_is_linear(corner):
    """For a field that is a sum over contacts the jumps do not depend on the word. If no jump moves another's guard, every
    guard has its own time whatever the order: linear. If the two orders of some pair differ, not."""
    n, word = corner.n, corner._word
    base = corner._field(word)
    jumps = np.empty((corner.units, n))
    for u in range(corner.units):
        other = corner._flipped(word, u)
        jumps[u] = corner._field(other) - base
    rows = corner._rows[:, :n]
    rates = rows @ base + corner._slopes
    moved = rows @ jumps.T  # what crossing j (column) does to the speed of k (row)
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
