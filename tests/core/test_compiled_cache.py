"""In new processes: what the disk cache does, and what a user sees of it."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import bouligand
from bouligand.core.compiler import jit

pytestmark = [
    pytest.mark.fresh,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is nothing to cache without the JIT"),
]

SOLVE = """
import bouligand as bd
sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
print(sol.counts.steps)
"""


def run(source, cache, more=""):
    env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", SOLVE + more], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return int(done.stdout), done.stderr


def test_the_cache_is_used_and_never_stale(tmp_path):
    source, cache = tmp_path / "source", tmp_path / "cache"
    shutil.copytree(
        pathlib.Path(bouligand.__file__).parent, source / "bouligand", ignore=shutil.ignore_patterns("__pycache__")
    )
    steps, said = run(source, cache)
    assert said.count("\n") == 1
    assert "bouligand: compiling the integrator" in said
    again, said = run(source, cache)
    assert again == steps
    assert said == ""
    # the preparation of a derivative is two entries of the core: one line for both
    _, said = run(source, cache, "B = sol.bderivative()")
    assert said.count("\n") == 1
    assert "bouligand: compiling what derivatives need" in said
    assert run(source, cache, "B = sol.bderivative()")[1] == ""
    # an edit in one core file, which the compiled loop only imports from
    core = source / "bouligand" / "core" / "steps" / "smooth.py"
    text = core.read_text()
    assert "0.9 * step_factor(error, scheme)" in text
    core.write_text(text.replace("0.9 * step_factor(error, scheme)", "0.45 * step_factor(error, scheme)"))
    edited, said = run(source, cache)
    assert edited > steps
    assert "bouligand: compiling the integrator" in said
    left = {path.name.split("-")[0] for path in cache.rglob("loop.run_*.nbi")}
    assert len(left) == 1  # what the old version left is gone


def test_an_edit_anywhere_in_the_core_changes_the_name_of_its_machine_code(tmp_path):
    core = tmp_path / "core"
    shutil.copytree(
        pathlib.Path(bouligand.__file__).parent / "core", core, ignore=shutil.ignore_patterns("__pycache__")
    )
    assert jit.stamp_of(core) == jit.STAMP
    sources = sorted(core.rglob("*.py"))
    assert len({source.parent for source in sources}) > 5  # (subfolders too)
    for source in sources:
        text = source.read_text()
        source.write_text(text + "# edited\n")
        assert jit.stamp_of(core) != jit.STAMP, source
        source.write_text(text)
    source.rename(source.with_name("renamed.py"))
    assert jit.stamp_of(core) != jit.STAMP


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path):
    source = pathlib.Path(bouligand.__file__).parent.parent
    env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": "/proc/no/such/place"}
    code = "from bouligand.core.compiler import jit; from bouligand.core.steps import loop; print(jit.CACHED)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"
