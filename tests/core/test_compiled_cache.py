"""In new processes: what the disk cache does, and what a user sees of it."""

import errno
import os
import pathlib
import shutil
import subprocess
import sys

import numba
import pytest

import bouligand
from bouligand.core.compiler import cache as disk
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


class Tree:
    """A copy of the package, with a cache of its own."""

    steps: int
    first_said: str
    second_said: str

    def __init__(self, folder):
        self.source, self.cache = folder / "source", folder / "cache"
        package = pathlib.Path(bouligand.__file__).parent
        shutil.copytree(package, self.source / "bouligand", ignore=shutil.ignore_patterns("__pycache__"))

    def printed(self, code):
        """What a new process prints, and what it writes to stderr."""
        env = {**os.environ, "PYTHONPATH": str(self.source), "NUMBA_CACHE_DIR": str(self.cache)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def run(self, more=""):
        """Steps of a solve in a new process, and what it wrote to stderr."""
        steps, said = self.printed(SOLVE + more)
        return int(steps), said

    def files(self, pattern):
        return sorted(self.cache.rglob(pattern))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Its cache is filled by threads that all come first."""
    tree = Tree(tmp_path_factory.mktemp("tree"))
    tree.first_said = tree.printed(THREADS)[1]
    tree.steps, tree.second_said = tree.run()
    return tree


def test_first_use_from_several_threads(tree):
    assert tree.first_said.count("\n") == 1
    assert "bouligand: compiling the integrator" in tree.first_said
    assert tree.second_said == ""


def test_the_cache_is_used(tree):
    again, said = tree.run()
    assert again == tree.steps
    assert said == ""
    # the preparation of a derivative is two entries of the core: one line for both
    _, said = tree.run("B = sol.bderivative()")
    assert said.count("\n") == 1
    assert "bouligand: compiling what derivatives need" in said
    assert tree.run("B = sol.bderivative()")[1] == ""


@pytest.mark.parametrize(
    "damage", ["index cut", "index empty", "index foreign", "code cut", "code flipped", "code missing"]
)
def test_what_is_damaged_is_compiled_again(tree, tmp_path, damage):
    whole = tmp_path / "whole"
    shutil.copytree(tree.cache, whole)
    (index,), (code, *_) = tree.files("loop.run_*.nbi"), tree.files("loop.run_*.nbc")
    file = index if "index" in damage else code
    content = file.read_bytes()
    middle = len(content) // 2
    changed = {"cut": content[:middle], "empty": b"", "foreign": b"not a cache"}
    changed["flipped"] = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    if damage == "code missing":
        file.unlink()
    else:
        file.write_bytes(changed[damage.split()[1]])
    # (what is compiled is the same in all cases, and takes long: only whether it would be is asked for)
    code_of_loop = (
        "from bouligand.core.compiler import compiling, cache\nfrom bouligand.core.steps.loop import run\n"
        "from numba import int64\nfrom numba.core.registry import cpu_target\n"
        "print(run._cache.load_overload((int64,), cpu_target.target_context))"
    )
    env = {**os.environ, "PYTHONPATH": str(tree.source), "NUMBA_CACHE_DIR": str(tree.cache)}
    done = subprocess.run([sys.executable, "-c", code_of_loop], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "None"
    if damage != "code missing":
        assert done.stderr.count("\n") == 1
        assert "cannot be used" in done.stderr
        assert not file.exists()
    shutil.rmtree(tree.cache)
    whole.rename(tree.cache)
    assert tree.run() == (tree.steps, "")


def test_an_edited_core_is_compiled_again(tree):
    # the edit adds a scheme, which old machine code does not know; what a killed process left is old
    (index,) = tree.files("loop.run_*.nbi")
    stray = index.with_name(index.name + ".tmp.0123")
    stray.write_bytes(b"unfinished")
    add_scheme(tree.source / "bouligand")
    steps, said = tree.printed(SOLVE.replace("rtol=1e-8", f"rtol=1e-8, method={NAME!r}"))
    assert int(steps) > 3 * tree.steps  # (its order is 3)
    assert "bouligand: compiling the integrator" in said
    (left,) = tree.files("loop.run_*.nbi")
    assert left != index  # what the old version left is gone
    assert not stray.exists()


def test_an_edit_anywhere_in_the_core_changes_the_name_of_its_machine_code(tmp_path):
    core = tmp_path / "core"
    shutil.copytree(
        pathlib.Path(bouligand.__file__).parent / "core", core, ignore=shutil.ignore_patterns("__pycache__")
    )
    assert disk.stamp_of(core) == disk.STAMP
    sources = sorted(core.rglob("*.py"))
    assert len({source.parent for source in sources}) > 5  # (subfolders too)
    for source in sources:
        text = source.read_text()
        source.write_text(text + "# edited\n")
        assert disk.stamp_of(core) != disk.STAMP, source
        source.write_text(text)
    source.rename(source.with_name("renamed.py"))
    assert disk.stamp_of(core) != disk.STAMP


@pytest.mark.parametrize("where", ["unwritable", "no home"])
def test_without_a_place_for_a_cache_there_is_none(tmp_path, where):
    source = pathlib.Path(bouligand.__file__).parent.parent
    env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": "/proc/no/such/place"}
    code = "from bouligand.core.compiler import cache; from bouligand.core.steps import loop; print(cache.CACHED)"
    folder = tmp_path / where
    folder.mkdir()
    if where == "no home":
        # neither a home nor a place beside the sources (where root may write: refused by hand)
        env = {key: value for key, value in env.items() if key not in ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME")}
        code = (
            "import os, tempfile\n"
            "os.path.expanduser = lambda path: path\n"
            "class Nowhere:\n    def __init__(self, dir): raise OSError('read-only')\n"
            "tempfile.TemporaryFile = Nowhere\n" + code
        )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"
    assert not any(folder.iterdir())


def test_a_full_disk_costs_one_line(capsys, monkeypatch, tmp_path):
    module = tmp_path / "twice.py"
    module.write_text("def twice(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import twice

    dispatcher = numba.njit(twice.twice)
    disk.keep_on_disk(dispatcher, twice.twice)

    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(disk, "write_checked", full)
    assert dispatcher(21) == 42
    assert capsys.readouterr().err.count("\n") == 1
