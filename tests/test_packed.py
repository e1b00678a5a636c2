"""The library in a zip file, and in an application that PyInstaller makes: it runs as where it is installed."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

import bouligand as bd
from bouligand.core.compiler import sources
from bouligand.core.compiler.settings import JIT

PACKAGE = pathlib.Path(bd.__file__).parent
FILES = [file for file in sorted(PACKAGE.rglob("*")) if file.is_file() and "__pycache__" not in file.parts]

APPLICATION = """
import numpy as np
import bouligand as bd

def f(t, x, b, p):
    return np.array([x[1], (1000.0 * (1.0 - x[0]) if b[0] > 0 else 0.0) - 9.81])

def h(t, x, p):
    return np.array([1.0 - x[0]])

if __name__ == "__main__":
    sol = bd.solve(bd.System(f, h, n=2, m=1), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
    print(bd.__file__, sol.x[-1].tobytes().hex(), sol.bderivative().matrix().tobytes().hex())
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The library in a zip file."""
    path = tmp_path_factory.mktemp("packed") / "library.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in FILES:
            archive.write(file, file.relative_to(PACKAGE.parent).as_posix())
    return path


def printed(command, **env):
    env = {**os.environ, **env}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def test_the_sources_in_a_zip_file_have_the_same_hash(packed, tmp_path):
    assert sources.stamp_of(packed / "bouligand" / "core") == sources.STAMP
    assert sources.stamp_of(packed / "bouligand" / "cor") == sources.NO_SOURCES
    assert sources.stamp_of(tmp_path / "nowhere") == sources.NO_SOURCES


@pytest.mark.fresh
@pytest.mark.skipif(not JIT, reason="plain Python takes too long")
def test_from_a_zip_file(packed, tmp_path):
    """Machine code that is on disk is read; figures have their style."""
    (tmp_path / "app.py").write_text(APPLICATION)
    usual, _ = printed([sys.executable, tmp_path / "app.py"], PYTHONPATH=str(PACKAGE.parent))
    zipped, said = printed([sys.executable, tmp_path / "app.py"], PYTHONPATH=str(packed))
    assert zipped[0] == str(packed / "bouligand" / "__init__.py")
    assert zipped[1:] == usual[1:]
    assert said == ""
    style = "import matplotlib.pyplot as plt, bouligand as bd; plt.style.use(bd.plot.STYLE); print(plt.rcParams['axes.grid'])"
    assert printed([sys.executable, "-c", style], PYTHONPATH=str(packed), MPLBACKEND="agg")[0] == ["False"]


def test_pyinstaller_packs_every_module():
    pytest.importorskip("PyInstaller")
    (hooks,) = (one for one in importlib.metadata.entry_points(group="pyinstaller40") if "bouligand" in one.value)
    (folder,) = hooks.load()()
    hook: dict = {}
    exec(pathlib.Path(folder, "hook-bouligand.py").read_text(), hook)
    assert {"bouligand", "bouligand.core.steps.loop", "bouligand.plot"} <= set(hook["hiddenimports"])
    assert len(hook["hiddenimports"]) == sum(file.suffix == ".py" for file in FILES) - 1  # (all but the hook)
    assert any(source.endswith(".mplstyle") for source, _ in hook["datas"])


@pytest.mark.fresh
@pytest.mark.rare
def test_an_application_of_pyinstaller(tmp_path):
    """Made without options, in one file (which unpacks itself into another folder each time): it reads what is on disk."""
    pytest.importorskip("PyInstaller")
    (tmp_path / "app.py").write_text(APPLICATION)
    usual, _ = printed([sys.executable, tmp_path / "app.py"])
    build = [sys.executable, "-m", "PyInstaller", "--onefile", "--distpath", tmp_path, "--workpath", tmp_path / "build"]
    printed([*build, "--specpath", tmp_path, tmp_path / "app.py"])
    for _ in range(2):
        found, said = printed([tmp_path / "app"])
        assert found[1:] == usual[1:]
    assert said == ""
