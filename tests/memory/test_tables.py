"""Tables of named arrays: kinds with a fixed number of columns, and what is refused."""

import numpy as np
import pytest

from bouligand.core.state import Table, record
from bouligand.core.views import TableView
from bouligand.memory.tables import TableMemory

ITEM = record("number: int", "size")
KINDS = Table("kinds", points="matrix x 3", pairs="indices x 2", items=[ITEM], grid=[[ITEM]])


def arrays(points=4):
    return {
        "points": np.arange(3.0 * points).reshape(points, 3),
        "pairs": np.array([[1, 2], [3, 4]]),
        "items": np.ones(2, ITEM),
        "grid": np.ones((2, 3), ITEM),
    }


def test_what_is_put_in_is_what_is_seen():
    given = arrays()
    memory = TableMemory(KINDS, **given)
    seen = TableView(KINDS, memory.address)
    for name, array in given.items():
        assert getattr(seen, name).shape == array.shape
        assert (getattr(seen, name) == array).all()
    given["grid"][1, 2]["size"] = 7.0
    assert seen.grid["size"][1, 2] == 7.0


def test_another_number_of_columns_is_refused():
    with pytest.raises(ValueError, match=r"points of the table kinds must be a matrix x 3; got shape \(3, 4\)"):
        TableMemory(KINDS, **{**arrays(), "points": np.zeros((3, 4))})
