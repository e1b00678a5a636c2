"""The arrays of one corner, in one allocation: a corner is made for each derivative, and small."""

from __future__ import annotations

import struct
from ctypes import addressof, c_char
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from ..core.state import CORNER, CORNER_PLAN
from ..core.views import record_view
from .tables import TableMemory

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray

_Plan = record_view(CORNER_PLAN)
_pack = struct.Struct(f"{3 * len(CORNER.places)}q").pack_into
_DENSE = 1024  # entries of all rows up to which their zeros are kept: to find them would take longer


class CornerTable(TableMemory):
    """What the core needs of a corner (see `core.state.CORNER`).

    ``rows`` are those of the units in Dh and Dp_h, ``slopes`` D_t h of each, ``flips`` the guards of all units, one unit after
    the other; unit u begins at ``firsts[u]``. ``word``: the word before the corner.
    """

    def __init__(
        self, rows: FloatArray, slopes: FloatArray, flips: list[int], firsts: list[int], word: FloatArray
    ) -> None:
        units, width = rows.shape
        count = None
        if rows.size > _DENSE:
            count = np.count_nonzero(rows, axis=1)
            width = max(int(count.max(initial=0)), 1)
        shapes = (
            (1, 1),  # plan
            (units, width),  # value
            (units, width),  # index
            *((units, 1),) * 4,  # count, Dt_h, offset, side
            (units + 1, 1),  # firsts
            (len(flips), 1),  # flips
            (units, 1),  # done
        )
        sizes = [len(CORNER_PLAN), *(one * other for one, other in shapes[1:])]
        ends = list(accumulate(sizes))
        self.buffer = np.zeros(ends[-1])
        whole = self.buffer.view(np.int64)
        begins = [0, *ends]
        address = addressof(c_char.from_buffer(self.buffer.data))
        places = [(address + 8 * begin, *shape) for begin, shape in zip(begins, shapes, strict=False)]
        self.kind = CORNER
        self._connect(np.empty((len(CORNER.places), 3), dtype=np.int64))
        _pack(self._bytes, 0, *(number for place in places for number in place))

        floats = [self.buffer[begin:end] for begin, end in zip(begins, ends, strict=False)]
        integers = [whole[begin:end] for begin, end in zip(begins, ends, strict=False)]
        value, index = floats[1].reshape(units, width), integers[2].reshape(units, width)
        if count is None:
            value[:], index[:], integers[3][:] = rows, np.arange(width), width
        else:
            index[:] = np.argsort(rows == 0.0, axis=1, kind="stable")[:, :width]
            value[:], integers[3][:] = rows[np.arange(units)[:, None], index], count
        floats[4][:] = slopes
        self.slopes, self.offset, self.side = floats[4:7]
        self.firsts: IntArray = integers[7]
        self.flips: IntArray = integers[8]
        self.firsts[:], self.flips[:] = firsts, flips
        self.side[:] = word[self.flips[self.firsts[:-1]]]
        self.now = _Plan(whole[: len(CORNER_PLAN)].data.cast("B"))  # the plan, for Python
