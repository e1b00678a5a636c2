"""The linear pieces of a derivative at many times: orders of crossing on the way, and at times at which guards are crossed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .at_times import START
from .pieces import Path, distinct, follow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import FloatArray, IntArray
    from .at_times import BDerivativeAtTimes
    from .pieces import Piece
    from .trajectory_corners import TrajectoryCorner

    # a part between corners, as images of the unit perturbations, and the corner behind it
    Links = list[tuple[FloatArray, TrajectoryCorner | None]]


def pieces_at_times(B: BDerivativeAtTimes[Any], limit: int) -> list[Piece[str]]:
    """The distinct pieces; see `BDerivativeAtTimes.pieces`."""
    n, width, last = B.n, B.n + B.np, len(B._moments) - 1
    branches = [(branch.place, branch.base, _links(branch.B)) for branch in B._branches]
    links, reads = _links_with_reads(B)
    walked: list[TrajectoryCorner] = []  # the corners, in the order in which paths go through them

    def branch_off(paths: list[Path], base: int) -> list[Path]:
        """Follow the branches that begin at a time: they change nothing of the way, but a path has an order in each."""
        for place, begin, there in branches:
            if begin != base:
                continue
            walked.extend(corner for _, corner in there if corner is not None)
            following = []
            for path in paths:
                M = path.M
                if base != START:
                    M = np.vstack([dict(path.read)[base], path.M[n:]])
                for end in follow([Path(M, path.cone, path.orders)], there, limit):
                    following.append(Path(path.M, end.cone, end.orders, (*path.read, (place, end.M[:n]))))
            paths = following
        return paths

    begin = Path(np.eye(width), [], ())
    if B._moments[0] == B.since:
        begin.read = ((0, np.eye(width)[:n]),)
    paths = branch_off([begin], START)
    for link, (places, images) in zip(links, reads, strict=True):
        for place, image in zip(places.tolist(), images, strict=True):
            for path in paths:
                path.read = (*path.read, (place, image.T @ path.M))
            paths = branch_off(paths, place)
        paths = follow(paths, [link], limit)
        walked.extend([] if link[1] is None else [link[1]])
    for path in paths:
        path.read = (*path.read, (last, path.M[:n]))
    # orders belong to corners in the order of B.corners
    found = [next(q for q, there in enumerate(walked) if there is corner) for corner in B.corners]
    for path in paths:
        path.orders = tuple(path.orders[q] for q in found)
    return distinct([(_in_order(path.read, B._places), path) for path in paths])


def _in_order(read: Sequence[tuple[int, FloatArray]], places: IntArray | slice) -> FloatArray:
    """What has been read off on the way, at the times as they were given."""
    return np.array([image for _, image in sorted(read, key=lambda pair: pair[0])])[places]


def _links(B: Any) -> Links:
    return [(link.matrix, link.corner) for link in B._map.links()]


def _links_with_reads(B: BDerivativeAtTimes[Any]) -> tuple[Links, list[tuple[IntArray, FloatArray]]]:
    """The parts of the way to the last time, and for each the places of times inside it, with the images there of the unit
    perturbations at its start, arrays (width, n)."""
    n, width, on_way = B.n, B.n + B.np, B._on_way
    unit, links, reads = np.eye(width), [], []
    D, read = unit.copy(), np.full((len(on_way) * width, n), np.nan)
    requested = (B._moments[on_way], read) if len(on_way) else ()
    done = 0

    def take(corner: TrajectoryCorner | None) -> None:
        nonlocal done
        known = int(np.count_nonzero(~np.isnan(read[::width, 0])))
        images = np.zeros((len(B._moments), width, n))
        images[on_way[done:known]] = read.reshape(-1, width, n)[done:known]
        B._units.project(images)
        links.append((D.copy(), corner))
        reads.append((on_way[done:known], images[on_way[done:known]]))
        D[:], done = unit, known

    for corner in B._whole._map.chain.propagate(D, None, requested):
        take(corner)  # type: ignore[arg-type]
    take(None)
    return links, reads
