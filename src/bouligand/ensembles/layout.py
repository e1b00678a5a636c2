"""How the trajectories of an ensemble are cut into blocks: whole chunks of the arrays over the axes of a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """The axes' lengths, and the lengths of a chunk along them.

    A chunk has one value of the first axes, some values of the next one, and all of the others. So its trajectories are
    consecutive, and a block is one chunk of each array: it is written by one task, whole.
    """

    shape: tuple[int, ...]
    chunk: tuple[int, ...]

    @classmethod
    def cut(cls, shape: tuple[int, ...], block: int) -> Layout:
        """Blocks of about so many trajectories (no more, unless that is less than one)."""
        axis = next(q for q in range(len(shape)) if math.prod(shape[q + 1 :]) <= block or q == len(shape) - 1)
        inner = math.prod(shape[axis + 1 :])
        some = min(max(block // inner, 1), shape[axis])
        return cls(shape, (*(1 for _ in shape[:axis]), some, *shape[axis + 1 :]))

    @property
    def count(self) -> int:
        """The number of trajectories."""
        return math.prod(self.shape)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The numbers of chunks along the axes."""
        return tuple(-(-length // part) for length, part in zip(self.shape, self.chunk, strict=True))

    def __len__(self) -> int:
        return math.prod(self.chunks)

    def place(self, number: int) -> tuple[int, ...]:
        """The place of a block among the chunks, along each axis."""
        out = []
        for many in reversed(self.chunks):
            number, place = divmod(number, many)
            out.append(place)
        return tuple(reversed(out))

    def region(self, number: int) -> tuple[slice, ...]:
        """The part of the arrays that a block is."""
        return tuple(
            slice(place * part, min((place + 1) * part, length))
            for place, part, length in zip(self.place(number), self.chunk, self.shape, strict=True)
        )

    def rows(self, number: int) -> tuple[int, int]:
        """The first trajectory of a block, and the one after its last."""
        region = self.region(number)
        first = 0
        for part, length in zip(region, self.shape, strict=True):
            first = first * length + part.start
        return first, first + math.prod(part.stop - part.start for part in region)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))
