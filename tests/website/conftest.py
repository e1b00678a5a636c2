"""The site, built once for all tests; and a browser, where there is one."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
NEEDED = (
    "sphinx",
    "pydata_sphinx_theme",
    "myst_parser",
    "sphinx_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "numpydoc",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# (WebGL by the processor, where there is no graphics card; root has no sandbox)
OPTIONS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the pages, built without running the tutorials (`test_tutorials_run` does), any warning an error."""
    missing = [name for name in (*NEEDED, "latex2mathml") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the site is not tested: {', '.join(missing)} not installed (pip install 'bouligand[docs]')")
    folder = tmp_path_factory.mktemp("site")
    source = folder / "docs"  # (a copy: the build writes pages beside the sources)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("gallery", "reference_pages"))
    for name in ("pyproject.toml", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"):
        shutil.copy(ROOT / name, folder / name)
    out = folder / "html"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html", str(source), str(out)]
    environment = {**os.environ, "BOULIGAND_DOCS": "light"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser tests: playwright is not installed")
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser tests: none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=path, args=OPTIONS)
        yield started
        started.close()
