"""Two functions have one fingerprint if they do the same; and whoever asks whether a function is the same asks for that."""

import importlib
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import bouligand as bd
from bouligand.system.fingerprint import fingerprint
from tests.attacks.changes import CASES, run, written


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """The f of a case with a value of K, as a program that is read anew."""
    count = iter(range(100))

    def f_of(case, k):
        folder, package = tmp_path / str(next(count)), f"changed_{CASES.index(case)}"
        written(case, folder, package, k)
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
        monkeypatch.syspath_prepend(folder)
        importlib.invalidate_caches()
        return importlib.import_module(f"{package}.main").f

    return f_of


@pytest.mark.parametrize("case", [case for case in CASES if "patched" not in case.name], ids=lambda case: case.name)
def test_a_changed_function_has_another_fingerprint(case, imported):
    first, changed, again = (fingerprint(imported(case, k)) for k in (1.0, 2.0, 1.0))
    if first.unknown:
        assert changed.unknown
        assert again.unknown
    else:
        assert first.digest == again.digest
        assert first.digest != changed.digest


@pytest.mark.fresh
def test_processes_that_follow_each_other():
    """`python -m tests.attacks.changes` has all; these stand for code, values, functions of Numba, objects and modules."""
    names = ("a constant", "a global array", "a compiled helper used before", "an object", "a submodule's constant")
    for name, found in run([case for case in CASES if case.name in names]):
        assert found.is_right(), (name, found)


def test_what_is_no_part_of_what_runs_does_not_count():
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}
    exec(compile("def f(x):\n    return 2.0 * x", "one.py", "exec"), one)
    exec(compile("# moved\n\ndef f(x): return 2.0 * x", "other.py", "exec"), other)
    assert fingerprint(one["f"]).digest == fingerprint(other["f"]).digest
    assert fingerprint(one["f"]).lines != fingerprint(other["f"]).lines  # (which are in messages of machine code)


def test_values_that_look_alike():
    different: list[Any] = [
        0,
        0.0,
        -0.0,
        False,
        None,
        "0",
        b"0",
        (),
        [],
        {},
        set(),
        frozenset(),
        (0,),
        [0],
        (0, 0),
        ((0,), 0),
        np.zeros(1),
        np.zeros((1, 1)),
    ]
    different += [
        np.zeros(1, int),
        np.float32(0),
        np.float64(0),
        float("nan"),
        {0: 1},
        {1: 0},
        {(0, 1)},
        np.zeros(2)[::2],
    ]
    assert len({fingerprint(value).digest for value in different}) == len(different) - 1  # (zeros(2)[::2] is zeros(1))
    around: list[Any] = []
    around.append(around)
    assert fingerprint(around).digest != fingerprint([[]]).digest


def test_sets_count_without_their_order():
    assert fingerprint({"a", "b", 1.5}).digest == fingerprint({1.5, "b", "a"}).digest


def test_what_cannot_be_looked_into_is_named():
    lock = threading.Lock()

    def helper(v):
        return v if lock.locked() else -v

    def f(t, x, b, p):
        return (helper(x[0]),)

    (unknown,) = fingerprint(f, "f").unknown
    assert unknown.it is lock
    assert str(unknown).startswith("lock of helper of f (an object of lock, which cannot be looked into")
    with pytest.raises(bd.StoreError, match=r"because of lock of helper of f .*Give identity='"):
        bd.solve_many(bd.System(f, n=1, compile=False), (0.0, 1.0), [[1.0]], store="nowhere.zarr")


def test_a_store_with_a_word_for_what_cannot_be_looked_into(tmp_path):
    lock = threading.Lock()
    system = bd.System(lambda t, x, b, p: (x[0] if lock.locked() else -x[0],), n=1, compile=False)

    def into(**how):
        return bd.solve_many(system, (0.0, 1.0), [[1.0]], store=tmp_path / "a.zarr", **how)

    first = into(identity="not locked")
    assert np.array_equal(into(identity="not locked").x, first.x)
    with pytest.raises(bd.StoreMismatchError, match="identity"):
        into(identity="locked")
    with pytest.raises(TypeError, match="identity must be a text"):
        into(identity=1)


def test_a_store_of_what_was_compiled_and_has_changed_since(tmp_path):
    """What runs counts, not what the values are by now."""
    rate = 1.0
    system = bd.System(lambda t, x, b, p: (-rate * x[0],), n=1)
    bd.solve(system, (0.0, 1.0), [1.0])
    rate = 2.0
    with pytest.warns(bd.FunctionWarning, match="rate: changed since"):
        old = bd.solve_many(system, (0.0, 1.0), [[1.0]], store=tmp_path / "a.zarr")
    anew = bd.System(lambda t, x, b, p: (-rate * x[0],), n=1)
    with pytest.raises(bd.StoreMismatchError, match="the system"):
        bd.solve_many(anew, (0.0, 1.0), [[1.0]], store=tmp_path / "a.zarr")
    rate = 1.0
    anew = bd.System(lambda t, x, b, p: (-rate * x[0],), n=1)
    assert old.x == pytest.approx(np.exp(-1.0), rel=1e-5)
    assert np.array_equal(bd.solve_many(anew, (0.0, 1.0), [[1.0]], store=tmp_path / "a.zarr").x, old.x)


SESSION = {
    "a submodule": (
        "import types\npk = types.ModuleType('pk'); pk.inner = types.ModuleType('inner'); pk.inner.K = 1.0",
        "pk.inner.K",
        "pk.inner.K = 2.0",
    ),
    "a module's function": (
        "import types\nm = types.ModuleType('m'); m.g = lambda v: v",
        "m.g(1.0)",
        "m.g = lambda v: 2.0 * v",
    ),
    "a function": ("def g(v): return v", "g(1.0)", "g = lambda v: 2.0 * v"),
    "a class in a tuple": ("import enum\nE = enum.IntEnum('E', 'a b'); K = (E.a, 0)", "K[0]", "K = (E.b, 0)"),
    "an array": ("import numpy as np\nK = np.ones(3)", "K[2]", "K[2] = 2.0"),
}


@pytest.mark.parametrize("what", SESSION)
def test_changes_in_a_session(what):
    before, read, change = SESSION[what]
    space: dict[str, Any] = {}
    exec(f"{before}\ndef f(t, x, b, p): return (-{read} * x[0],)", space)
    system = bd.System(space["f"], n=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert bd.solve(system, (0.0, 1.0), [1.0]).x[-1, 0] == pytest.approx(np.exp(-1.0), rel=1e-5)
        exec(change, space)
        assert bd.solve(bd.System(space["f"], n=1), (0.0, 1.0), [1.0]).x[-1, 0] == pytest.approx(np.exp(-2.0), rel=1e-5)
    with pytest.warns(bd.FunctionWarning, match="changed since the functions of this system were compiled"):
        assert bd.solve(system, (0.0, 1.0), [1.0]).x[-1, 0] == pytest.approx(np.exp(-1.0), rel=1e-5)


def test_what_somebody_has_taught_numba():
    """Its code is part of the machine code of a function that calls it, and is nowhere in that function."""
    from numba.extending import overload

    def f(t, x, b, p):
        return (np.busday_count(x[0]),)  # type: ignore[call-overload]

    assert not fingerprint(f).unknown
    overload(np.busday_count)(lambda v: lambda v: 2.0 * v)
    assert [one.it for one in fingerprint(f).unknown] == [np.busday_count]
