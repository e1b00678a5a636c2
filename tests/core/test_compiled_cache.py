"""In new processes: what the disk cache does, and what a user sees of it."""

import errno
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import numba
import pytest
from numba import int64
from numba.core.registry import cpu_target

import bouligand
from bouligand.core.compiler import kept, notices, places, sources
from tests.helpers.kept import kept_at
from tests.helpers.new_scheme import NAME, add_scheme

pytestmark = [
    pytest.mark.fresh,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is nothing to cache without the JIT"),
]

SOLVE = """
import bouligand as bd
sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
print(sol.counts.steps)
"""


# the first use, from several threads with a system each: all compiled, nothing of Numba left changed, no result another's
THREADS = """
import threading, warnings
warnings.simplefilter("error")
import numpy as np
import bouligand as bd
from numba.core.cpu import CPUContext

usual = CPUContext.get_executable

def make(k):
    def f(t, x, b, p):
        return np.array([x[1], (k * (1 - x[0]) if b[0] > 0 else 0.0) - 9.81])
    return bd.System(f, lambda t, x, p: np.array([1 - x[0]]), n=2, m=1)

systems, ends, start = [make(1000.0 + q) for q in range(4)], {}, threading.Barrier(4)

def work(q):
    start.wait()
    ends[q] = bd.solve(systems[q], (0.0, 2.0), [2.0, 0.0], rtol=1e-8).x[-1]

threads = [threading.Thread(target=work, args=(q,)) for q in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert all(system.compiled for system in systems)
assert CPUContext.get_executable is usual
for q in range(4):
    assert (bd.solve(make(1000.0 + q), (0.0, 2.0), [2.0, 0.0], rtol=1e-8).x[-1] == ends[q]).all()
"""


def copy_the_integrator(folder):
    """Copy its machine code from the cache of this checkout."""
    bouligand.solve(bouligand.models.hopper(), (0.0, 2.0), [2.0, 0.0])  # (so that there is some)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for file in kept.CORE.path.glob(f"*loop.run_{sources.STAMP}*"):
        shutil.copy(file, folder)


class Tree:
    """A copy of the package, with a cache of its own that holds the integrator of this checkout.

    Then its core is edited, by a scheme that old machine code does not know; and the cache is filled by threads that all come
    first. (The core is compiled once for all of this: it takes half a minute.)
    """

    def __init__(self, folder):
        self.source, self.cache = folder / "source", folder / "cache"
        package = pathlib.Path(bouligand.__file__).parent
        shutil.copytree(package, self.source / "bouligand", ignore=shutil.ignore_patterns("__pycache__"))
        where = "from bouligand.core.compiler.kept import CORE; print(CORE.path)"
        copy_the_integrator(self.printed(where)[0].strip())
        self.steps, self.before_said = self.run()
        (self.old,) = self.files("*loop.run_*.nbu")
        os.utime(self.old.parent, (0.0, 0.0))  # (not read since)
        add_scheme(self.source / "bouligand")
        self.first_said = self.printed(THREADS)[1]
        self.second = self.run()

    def printed(self, code):
        """What a new process prints, and what it writes to stderr."""
        env = {**os.environ, "PYTHONPATH": str(self.source), "NUMBA_CACHE_DIR": str(self.cache)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def run(self, more="", **options):
        """Steps of a solve in a new process, and what it wrote to stderr."""
        given = "".join(f", {name}={value!r}" for name, value in options.items())
        steps, said = self.printed(SOLVE.replace(", rtol=1e-8", f", rtol=1e-8{given}") + more)
        return int(steps), said

    def files(self, pattern):
        return sorted(self.cache.rglob(pattern))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    if not kept.CORE.keeps:
        pytest.skip("there is no machine code on disk")
    return Tree(tmp_path_factory.mktemp("tree"))


def test_an_edited_core_is_compiled_again(tree):
    assert tree.before_said == ""  # (there was machine code)
    (left,) = tree.files("*loop.run_*.nbu")
    assert left != tree.old  # what the old version left is gone, since nobody has used it for long
    steps, said = tree.run(method=NAME)
    assert steps > 3 * tree.steps  # (its order is 3)
    assert said == ""


def test_first_use_from_several_threads(tree):
    assert (
        tree.first_said.count("bouligand: compiling the ") == 1
    )  # (the compilation of f may take long enough to be told)
    assert "bouligand: compiling the integrator" in tree.first_said
    assert tree.second == (tree.steps, "")


def test_the_cache_is_used(tree):
    assert tree.run() == (tree.steps, "")
    # the preparation of a derivative is two entries of the core: one line for both, if they take more than two seconds
    before = tree.files("*.nbu")
    _, said = tree.run("B = sol.bderivative()")
    assert len(tree.files("*.nbu")) > len(before)
    assert said == "" or (said.count("\n") == 1 and "bouligand: compiling what derivatives need" in said)
    assert tree.run("B = sol.bderivative()")[1] == ""


@pytest.fixture
def integrator(tmp_path, monkeypatch):
    """The machine code of the integrator in a folder of its own, and its file."""
    if not kept.CORE.keeps:
        pytest.skip("there is no machine code on disk")
    copy_the_integrator(tmp_path)
    monkeypatch.setattr(notices, "_said", set())
    (file,) = tmp_path.iterdir()
    return kept.KeptCode(file.name.rpartition("-")[0], kept_at(tmp_path)), file


def is_read(code):
    """(What is compiled is the same in all cases, and takes long: only whether it would be is asked for.)"""
    return code.load_overload((int64,), cpu_target.target_context) is not None


@pytest.mark.parametrize("damage", ["cut", "empty", "foreign", "flipped", "missing"])
def test_what_is_damaged_is_compiled_again(integrator, capsys, damage):
    code, file = integrator
    assert is_read(code)
    content = file.read_bytes()
    middle = len(content) // 2
    changed = {"cut": content[:middle], "empty": b"", "foreign": b"not a cache"}
    changed["flipped"] = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(changed[damage])
    capsys.readouterr()
    assert not is_read(code)
    said = capsys.readouterr().err
    if damage == "missing":
        assert said == ""
    else:
        assert said.count("\n") == 1
        assert "cannot be used" in said
        assert not file.exists()


def test_an_edit_anywhere_in_the_core_changes_the_name_of_its_machine_code(tmp_path):
    core = tmp_path / "core"
    shutil.copytree(
        pathlib.Path(bouligand.__file__).parent / "core", core, ignore=shutil.ignore_patterns("__pycache__")
    )
    assert sources.stamp_of(core) == sources.STAMP
    files = sorted(core.rglob("*.py"))
    assert len({file.parent for file in files}) > 5  # (subfolders too)
    for source in files:
        text = source.read_text()
        source.write_text(text + "# edited\n")
        assert sources.stamp_of(core) != sources.STAMP, source
        source.write_text(text)
    source.rename(source.with_name("renamed.py"))
    assert sources.stamp_of(core) != sources.STAMP


@pytest.mark.parametrize("where", ["unwritable", "no home"])
def test_without_a_place_for_a_cache_there_is_none(tmp_path, where):
    source = pathlib.Path(bouligand.__file__).parent.parent
    env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": "/proc/no/such/place"}
    code = "from bouligand.core.compiler.kept import CORE; from bouligand.core.steps import loop; print(CORE.keeps)"
    folder = tmp_path / where
    folder.mkdir()
    if where == "no home":
        # neither a home nor a place beside the sources (where root may write: refused by hand)
        env = {key: value for key, value in env.items() if key not in ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME")}
        code = "import os\nos.path.expanduser = lambda path: path\nos.access = lambda path, mode: False\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"
    assert not any(folder.iterdir())


def test_a_full_disk_costs_one_line(capsys, monkeypatch, tmp_path):
    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(places, "write_whole", full)
    monkeypatch.setattr(notices, "_said", set())
    for factor in (2, 3):
        dispatcher: Any = numba.njit(lambda x, factor=factor: factor * x)
        dispatcher._cache = kept.KeptCode("times", kept_at(tmp_path))
        assert dispatcher(21) == 21 * factor
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "NUMBA_CACHE_DIR" in said
