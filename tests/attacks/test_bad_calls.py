"""Some of the generated bad calls: each is answered by a documented exception that names the argument."""

import math

from tests.attacks.bad_calls import attacks


def test_bad_calls_are_named():
    count, found = attacks(400, seed=2026, slow=math.inf)  # (the first calls compile: time is measured by the script)
    assert count == 400
    assert found == []
