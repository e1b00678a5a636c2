"""Machine code that came with the package: used where it can be, and nowhere else."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from numba import int64
from numba.core.registry import cpu_target
from tools import wheel

import bouligand as bd
from bouligand.core.compiler import notices, shipped
from bouligand.core.compiler.kept import CORE, KeptCode
from bouligand.core.compiler.settings import JIT
from bouligand.core.compiler.sources import STAMP

pytestmark = [
    pytest.mark.fresh,
    pytest.mark.skipif(not (JIT and CORE.keeps), reason="there is no machine code on disk"),
]

SOLVE = """
import bouligand as bd
sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
print(sol.x[-1].tobytes().hex())
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder as a wheel would have it: the integrator, compiled for this machine. And the end of a solve."""
    end = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8).x[-1].tobytes().hex()
    folder = tmp_path_factory.mktemp("built")
    of_one = folder / "cache" / "bouligand-core" / "for-one"
    of_one.mkdir(parents=True)
    for file in CORE.path.glob(f"*loop.run_{STAMP}*"):
        shutil.copy(file, of_one)
    wheel.collect(folder / "cache", folder / "machine_code", ())
    return folder / "machine_code", end


@pytest.fixture
def package(built, tmp_path):
    """A copy of the package with it."""
    source = pathlib.Path(bd.__file__).parent
    shutil.copytree(source, tmp_path / "bouligand", ignore=shutil.ignore_patterns("__pycache__", "machine_code"))
    shutil.copytree(built[0], tmp_path / "bouligand" / "machine_code")
    return tmp_path


def solved_in(package, cache):
    """What a new process prints, and what it says."""
    env = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", SOLVE], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_nothing_is_compiled(built, package, tmp_path):
    cache = tmp_path / "cache"
    assert solved_in(package, cache) == (built[1], "")
    assert not list(cache.rglob("*loop.run*"))


def test_nor_where_nothing_can_be_kept(built, package):
    assert solved_in(package, "/proc/no/such/place") == (built[1], "")


@pytest.fixture
def in_this_process(built, tmp_path, monkeypatch):
    """The machine code as if it were this package's."""
    folder = tmp_path / "machine_code"
    shutil.copytree(built[0], folder)
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.setattr(notices, "_said", set())
    shipped.why_not.cache_clear()
    yield folder
    shipped.why_not.cache_clear()


def code_of_loop():
    """The machine code of the integrator that is used of the package; None if there is none."""
    found = shipped.folders()
    return KeptCode(f"core.steps.loop.run_{STAMP}", *found) if found else None


def is_read(code):
    return code.load_overload((int64,), cpu_target.target_context) is not None


def test_damaged_machine_code_is_not_used(in_this_process, capsys):
    found = code_of_loop()
    assert is_read(found)
    (file,) = in_this_process.glob("*.nbu")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert not is_read(found)
    assert "cannot be used" in capsys.readouterr().err
    file.unlink()
    assert not is_read(found)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("compiler", {"Python": "3.9"}),
        ("triple", "riscv64-unknown-linux-gnu"),
        ("features", ["three-handed"]),
    ],
)
def test_machine_code_for_others_is_not_used(in_this_process, what, other):
    assert code_of_loop() is not None
    described = in_this_process / "made_for.json"
    described.write_text(json.dumps({**json.loads(described.read_text()), what: other}))
    shipped.why_not.cache_clear()
    assert code_of_loop() is None


def test_nor_where_another_processor_or_other_settings_are_asked_for(in_this_process, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(shipped.config, "CPU_NAME", "generic")
        assert code_of_loop() is None
    shipped.why_not.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(shipped.config, "BOUNDSCHECK", 1)
        assert code_of_loop() is None
    shipped.why_not.cache_clear()
    assert code_of_loop() is not None


@pytest.mark.skipif(os.name != "posix", reason="modes say nothing here")
def test_what_is_easier_to_change_than_the_sources_is_not_used(in_this_process, capsys):
    for file in in_this_process.iterdir():
        file.chmod(0o666)
    assert code_of_loop() is None
    assert "others than its owner can write to it" in capsys.readouterr().err


def test_a_description_that_cannot_be_read_is_none(in_this_process):
    (in_this_process / "made_for.json").write_text("{")
    assert code_of_loop() is None


def test_two_functions_never_share_a_file(built, tmp_path):
    cache = tmp_path / "cache"
    for folder in ("one", "other"):
        shutil.copytree(built[0].parent / "cache" / "bouligand-core" / "for-one", cache / "bouligand-core" / folder)
    with pytest.raises(SystemExit, match="two functions"):
        wheel.collect(cache, tmp_path / "out", ())
