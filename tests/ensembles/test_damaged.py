"""A short part of `python -m tests.attacks.damaged` on stores."""

import pytest

from tests.attacks.damaged import stores, workers

pytest.importorskip("zarr")
pytest.importorskip("pandas")


@pytest.mark.fresh
def test_damaged_stores():
    found = list(workers.run(stores.make(1), list(range(50)), 1))
    assert [one for one in found if one.outcome not in workers.GOOD] == []
    assert {one.outcome for one in found} == {"refused", "right", "said"}
