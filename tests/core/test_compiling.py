"""Shortcuts through Numba's internals: taken under its lock, undone at once, and only with versions that are known."""

import os
import subprocess
import sys
import threading

import numba
import pytest
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext

from bouligand.core.compiler import compiling

pytestmark = pytest.mark.skipif(not compiling.JIT, reason="nothing is compiled without the JIT")


def patched():
    """What the shortcuts change."""
    return (
        CPUContext.get_executable,
        JITCodeLibrary._optimize_final_module,
        JITCodeLibrary._finalize_final_module,
        numba.types.Function.get_call_type,
    )


def test_this_version_of_numba_is_known():
    assert frozenset(compiling.SHORTCUTS) == compiling.ALLOWED


def test_another_thread_compiles_without_them():
    usual, seen, inside, done = patched(), [], threading.Event(), threading.Event()

    def other():
        inside.wait(10.0)
        dispatcher = numba.njit(lambda x: x + 1.0)
        dispatcher.compile((numba.float64,))  # waits for the lock
        seen.append((done.is_set(), patched()))

    thread = threading.Thread(target=other)
    thread.start()
    with compiling.compiling(), compiling.shortcuts(True):
        assert all(a is not b for a, b in zip(patched(), usual, strict=True))
        inside.set()
        thread.join(0.5)
        assert thread.is_alive()
        done.set()
    thread.join(30.0)
    assert seen == [(True, usual)]
    assert patched() == usual


def test_they_are_undone_when_compiling_fails():
    usual = patched()

    class Broken:
        overloads = ()

        def compile(self, kinds):
            assert patched() != usual
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        compiling.compile_for(Broken(), (1.0,), quickly=True)
    assert patched() == usual


@pytest.mark.parametrize("version", ["0.60.3", "0.69.0", "1.0.0rc1", "0.68.1"])
def test_an_unknown_numba_does_without(monkeypatch, version):
    monkeypatch.setattr(numba, "__version__", version)
    assert bool(compiling._allowed()) == (version == "0.68.1")


@pytest.mark.fresh
@pytest.mark.rare
def test_without_any_of_them(tmp_path):
    code = """
import threading, warnings
warnings.simplefilter("error")
import bouligand as bd
from bouligand.core.compiler import compiling
assert not compiling.ALLOWED
sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
print(sol.counts.steps)
"""
    env = {**os.environ, "BOULIGAND_SHORTCUTS": "none", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


def test_types_are_the_same_with_shortcuts():
    def mixed(i, x, c):
        return i + x, i * 2, x < c, i // 3 + True, min(i, 2.0), x**2 - i

    def returned():
        dispatcher = numba.njit(mixed)
        dispatcher.compile((numba.int32, numba.float32, numba.float64))
        return dispatcher.nopython_signatures[0].return_type

    usual = returned()
    with compiling.compiling(), compiling.shortcuts(True):
        assert returned() == usual
