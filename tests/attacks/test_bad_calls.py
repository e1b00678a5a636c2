"""A sample of the bad calls of everything public; the whole is `python -m tests.attacks.bad_calls`."""

import pytest

from tests.attacks import answers, good_calls

good_calls.load()
EVERY = 40  # one of so many bad calls: seconds
# not yet attacked, or not yet answered well: beginnings of names
PENDING = ()


def done(names):
    return [name for name in sorted(names) if not name.startswith(PENDING)]


@pytest.fixture(autouse=True)
def _alone(capfd, monkeypatch, tmp_path):
    """Bars of progress are not shown, and files are written elsewhere."""
    monkeypatch.chdir(tmp_path)


def test_everything_public_has_a_good_call():
    assert done(answers.missing()) == []
    assert answers.unknown() == []


def test_classes_that_the_library_makes_have_no_constructor():
    assert done(answers.refused_constructors()) == []


@pytest.mark.parametrize("name", done(good_calls.GOOD))
def test_bad_calls_are_refused_by_name(name):
    wrong = [answers.ask(name, *task) for task in answers.tasks(name)[::EVERY]]
    assert [str(answer) for answer in wrong if answer.kind not in answers.WELL] == []
