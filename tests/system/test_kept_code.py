"""Machine code of users' functions on disk: read where nothing has changed, and only there."""

import contextlib
import ctypes
import os
import shutil
import threading
import types

import numba
import numpy as np
import pytest
from numba.core import event
from numba.extending import overload

import bouligand as bd
from bouligand.system import addresses, exact
from bouligand.system.fingerprint import fingerprint
from tests.helpers.kept import kept_at

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="it is about compiled code")


def digest_of(function):
    """What the machine code of a function is found by on disk; None if it is not kept."""
    found = fingerprint(function)
    return None if found.unknown else found.digest


SOURCE = """
import math
import numpy as np
from math import exp
from numba import njit

RATE = 2.0
TABLE = np.array([1.0, 2.0])

def helper(z):
    return RATE * z

@njit
def compiled_helper(z):
    return 3.0 * z

def f(t, x, b, p):
    return np.array([helper(x[1]) + compiled_helper(x[0]), math.sin(t) * exp(-x[0]) + TABLE[1] * np.cos(p[0])])

def h(t, x, p):
    return (x[0] - 10.0,)
"""


def written(source):
    """The functions of a module with this source."""
    module = types.ModuleType("written_by_a_user")
    exec(compile(source, "written_by_a_user.py", "exec"), vars(module))
    return module


@contextlib.contextmanager
def kept_in(folder):
    """What is kept is in this folder; calling it forgets what this process has in memory, as a new process would."""
    from bouligand.core.compiler import kept

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "FUNCTIONS", kept_at(folder, "*.nbu*"))

        def forget():
            patch.setattr(kept, "_entries", {})
            for cached in (addresses._compiled, addresses.dispatcher_of, exact._compiled):
                cached.cache_clear()
            return folder

        forget()
        yield forget
        forget()


@pytest.fixture
def fresh(tmp_path):
    with kept_in(tmp_path) as forget:
        yield forget


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with the machine code of SOURCE, and what `solved` has found."""
    folder = tmp_path_factory.mktemp("compiled")
    with kept_in(folder):
        return folder, solved(SOURCE)


@pytest.fixture
def before(fresh, compiled):
    """What was found by a process that has left its machine code in the folder of this test."""
    shutil.copytree(compiled[0], fresh(), dirs_exist_ok=True)
    return compiled[1]


def solved(source):
    """The end of a trajectory, its derivative, and how many functions were compiled for both."""
    user = written(source)
    with event.install_recorder("numba:compile") as compiled:
        system = bd.System(user.f, user.h, n=2, m=1, params=[0.5])
        sol = bd.solve(system, (0.0, 0.5), [1.0, 0.5], rtol=1e-8)
        matrix = sol.bderivative().matrix()
    # (entries of the core may be compiled, or read, in the meantime)
    mine = [one.data["dispatcher"] for _, one in compiled.buffer if one.is_start]
    count = sum(not d.py_func.__module__.startswith("bouligand.core") for d in mine)
    return sol.x[-1], matrix, count


def test_what_was_compiled_once_is_read(before):
    x, matrix, count = before
    assert count > 0
    again, same, count = solved(SOURCE)
    assert count == 0
    assert np.array_equal(x, again)
    assert np.array_equal(matrix, same)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RATE = 2.0", "RATE = 2.5"),  # a value that a function reads which f calls
        ("TABLE = np.array([1.0, 2.0])", "TABLE = np.array([1.0, 2.5])"),
        ("return 3.0 * z", "return 3.5 * z"),  # a Numba function that f calls
        ("return RATE * z", "return RATE * z + 1.0"),  # a plain one
        ("np.cos(p[0])", "np.sin(p[0])"),
        ("from math import exp", "from math import cosh as exp"),  # another function under the same name
    ],
)
def test_what_has_changed_is_not_read(before, old, new):
    assert old in SOURCE
    after, _, count = solved(SOURCE.replace(old, new))
    assert count > 0
    user = written(SOURCE.replace(old, new))
    plain = bd.System(user.f, user.h, n=2, m=1, params=[0.5], compile=False)
    reference = bd.solve(plain, (0.0, 0.5), [1.0, 0.5], rtol=1e-8).x[-1]
    assert np.abs(after - reference).max() < 1e-10
    assert np.abs(after - before[0]).max() > 1e-3


def test_the_same_content_has_the_same_digest():
    def make(rate, table):
        return lambda t, x, b, p: rate * x * table[0]

    digest = digest_of(make(2.0, np.ones(3)))
    assert digest is not None
    assert digest == digest_of(make(2.0, np.ones(3)))
    assert digest != digest_of(make(2, np.ones(3)))  # (an integer is another type to Numba)
    assert digest != digest_of(make(2.0, np.ones(3, dtype=np.float32)))
    assert digest != digest_of(make(-2.0, np.ones(3)))
    assert digest_of(make(0.0, np.ones(3))) != digest_of(make(-0.0, np.ones(3)))
    assert digest_of(numba.njit(make(2.0, np.ones(3)))) != digest_of(numba.njit(fastmath=True)(make(2.0, np.ones(3))))


def implemented_elsewhere(z):
    raise NotImplementedError


@overload(implemented_elsewhere)
def _implementation(z):
    return lambda z: 2.0 * z


def test_what_cannot_be_looked_into_has_no_digest():
    lock = threading.Lock()
    address = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(abs)
    assert digest_of(lambda t, x, b, p: lock.locked() * x) is None
    assert digest_of(lambda t, x, b, p: address(x[0])) is None
    assert digest_of(lambda t, x, b, p: implemented_elsewhere(x[0])) is None


def test_a_damaged_file_is_not_used(fresh, before, capfd):
    files = list(fresh().glob("*.nbu"))
    assert files
    for number, file in enumerate(files):
        content = file.read_bytes()
        file.write_bytes([content[: len(content) // 2], b"", content[:-1] + b"?"][number % 3])
    capfd.readouterr()
    again, _, count = solved(SOURCE)
    assert count > 0
    assert np.array_equal(before[0], again)
    said = capfd.readouterr().err.splitlines()
    assert said
    assert all("cannot be used" in line for line in said)
    fresh()
    assert solved(SOURCE)[2] == 0  # (and written anew)


def test_a_jump_that_loses_its_values_is_refused_again(fresh):
    """It compiles, and is refused for what it returns: also where it is read."""

    def lost(t, x, b, p, xnew):
        return x[0], -x[1]

    def make():
        fall = bd.System(lambda t, x, b, p: (x[1], -9.81), lambda t, x, p: (x[0],), n=2, m=1, jumps={0: lost})
        return bd.solve(fall, (0.0, 1.0), [1.0, 0.0])

    for _ in range(2):
        with pytest.raises(TypeError, match="returns values, which would be lost"):
            make()
        fresh()


def test_files_that_nobody_reads_are_removed(fresh):
    old, new = fresh() / "old.nbu", fresh() / "new.nbu"
    for file in (old, new):
        file.write_bytes(b"")
    os.utime(old, (0.0, 0.0))
    solved(SOURCE)
    assert not old.exists()
    assert new.exists()
