"""The codes of the core are told apart by their numbers alone."""

from bouligand.core import codes


def test_no_two_codes_have_the_same_number():
    names = [n for n in vars(codes) if n.isupper() and not n.startswith(("FIRST_", "LAST_")) and n != "FAILURES"]
    numbers = {getattr(codes, name): name for name in names}
    assert len(numbers) == len(names)
    failures = {number for number in numbers if number >= codes.FIRST_FAILURE}
    assert failures == set(codes.FAILURES)
