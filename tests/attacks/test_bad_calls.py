"""Some of the generated bad calls: each is answered by a documented exception that names the argument, in time."""

from tests.attacks.bad_calls import attacks


def test_bad_calls_are_named():
    count, found = attacks(400, seed=2026)
    assert count == 400
    assert found == []
