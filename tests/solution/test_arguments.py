"""What solutions and their events refuse, and that only the library makes them; pickle and copy work all the same."""

import copy
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

import bouligand as bd


@pytest.fixture(scope="module")
def sol():
    return bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0])


@pytest.mark.parametrize("kind", [bd.Solution, bd.Events])
def test_results_have_no_public_constructor(kind, sol):
    for arguments in ((), (sol,), (sol.system, sol.record)):
        with pytest.raises(TypeError, match=f"{kind.__name__} has no public constructor: .* makes it"):
            kind(*arguments)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_results_can_be_copied(again, sol):
    other, events = again(sol), again(sol.events)
    assert isinstance(other, bd.Solution)
    assert isinstance(events, bd.Events)
    assert (other(0.5) == sol(0.5)).all()
    assert (events.t == sol.events.t).all()
    assert (other.events.x == events.x).all()


@pytest.mark.parametrize(
    ("key", "error", "says"),
    [
        (99, IndexError, "key: there are 2 events; got 99"),
        (-3, IndexError, "key: there are 2 events"),
        ([0, 5], IndexError, "key: there are 2 events"),
        (0.5, TypeError, r"key: events\[...\] takes a number, .* direction, x; got 0.5"),
        (True, TypeError, "key"),
        ([True], TypeError, "key"),
        (None, TypeError, "key"),
        ([[0]], TypeError, "key"),
        (slice("a"), TypeError, "key"),
        (["nobody"], TypeError, "key"),
        ("nobody", ValueError, "key: no guard is called 'nobody'"),
    ],
)
def test_keys_of_events(sol, key, error, says):
    with pytest.raises(error, match=says):
        sol.events[key]


def test_keys_of_events_that_are_good(sol):
    events = sol.events
    assert events[-1]["t"] == events.t[1] == events[np.int64(1)]["t"] == events[[1]]["t"][0]
    assert len(events[:1]) == len(events[[False, True]]) == len(events[events.t > 0.5]) == 1
    assert len(events[[]]) == 0
    assert events[["t", "guard"]].dtype.names == ("t", "guard")


def test_times_outside_and_wrong_types_are_named(sol):
    for ask in (sol, sol.word, sol.rate):
        for t in (-1.0, 2.0, np.nan, "a", None, 1j, object()):
            with pytest.raises((TypeError, ValueError), match=r"\bt\b"):
                ask(t)
        with pytest.raises(ValueError, match="side must be 'left' or 'right'"):
            ask(0.5, side="up")


def test_paths_are_checked_before_anything_is_written(sol, tmp_path):
    wrong: list[Any] = [None, 0, b"file", 1.5, object(), ["file"]]
    for path in wrong:
        with pytest.raises(TypeError, match="path must be a path"):
            sol.save(path)
        with pytest.raises(TypeError, match="path must be a path"):
            bd.load(path)  # (0 was read from the terminal)
    for path in ("", "a\0b"):
        with pytest.raises(ValueError, match="path must be the path of a file"):
            sol.save(path)
    with pytest.raises(ValueError, match="path must end with the name of a file"):
        sol.save("/")
    with pytest.raises(FileNotFoundError):
        sol.save(tmp_path / "nowhere" / "file")
    with pytest.raises(FileNotFoundError):
        bd.load(tmp_path / "nobody")
    assert list(tmp_path.iterdir()) == []
    sol.save(pathlib.PurePath(tmp_path / "kept"))
    assert bd.load(str(tmp_path / "kept.npz")).success


def test_the_function_of_the_paper_names_its_arguments():
    good: dict[str, Any] = {"f": lambda x, b: [1.0], "h": lambda x: [x[0]], "Dh": lambda x: [[1.0]], "eps": 1e-3}
    good |= {"x0": [-1.0], "t0": 0.0, "tf": 0.5}
    wrong: dict[str, list[Any]] = {
        "f": [None, lambda: 1, lambda x: x], "h": [5, lambda: 1, lambda x: "a"],
        "Dh": ["f", lambda x, y: 1, lambda x: [1.0, 2.0]], "x0": [[], [[1.0]], [np.nan], None],
        "t0": [None, np.nan, 1.0], "tf": [-1.0, 1j, "a"], "pool": ["mine"],
    }  # fmt: skip
    for name, values in wrong.items():
        for value in values:
            with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
                bd.integrate(**(good | {name: value}))
