"""The site builds without a warning, every public name and every error has its place, and no link is dead."""

import html.parser
import pathlib
import re
import runpy
import subprocess
import sys
import urllib.parse

import numpy as np
import pytest

import bouligand as bd

ROOT = pathlib.Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"


class Links(html.parser.HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.targets += [given[name] for name in ("href", "src") if given.get(name)]
        if given.get("id"):
            self.places.add(given["id"])


def pages_of(site):
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]


def test_every_link_leads_somewhere(site):
    pages = {path: Links(path.read_text()) for path in pages_of(site)}
    assert len(pages) > 60
    dead = []
    for path, page in pages.items():
        for target in page.targets:
            if target.startswith(("http://", "https://", "data:", "mailto:", "javascript:")):
                continue
            name, _, place = urllib.parse.unquote(target).partition("#")
            there = path if not name else (path.parent / name.partition("?")[0]).resolve()
            if not there.exists() or (place and there.suffix == ".html" and place not in pages[there].places):
                dead.append(f"{path.relative_to(site)}: {target}")
    assert not dead


def test_nothing_is_loaded_from_elsewhere(site):
    for path in pages_of(site):
        loaded = re.findall(r'<(?:script|img|link|iframe)[^>]+(?:src|href)="(https?:[^"]+)"', path.read_text())
        assert not loaded, path


def test_every_public_name_has_a_page(site):
    missing = [name for name in bd.__all__ if not (site / "reference_pages" / f"bouligand.{name}.html").exists()]
    assert not missing


def test_every_error_has_its_place(site):
    places = Links((site / "errors.html").read_text()).places
    assert not [name for name in bd.errors.__all__ if name.lower() not in places]


def test_the_pages_are_small(site):
    assert (site / "index.html").stat().st_size < 100_000
    weight = sum(
        (site / "_static" / name).stat().st_size for name in ("three.min.js", "plate.recording.js", "player.js")
    )
    assert weight < 1_500_000


@pytest.mark.parametrize("script", sorted((DOCS / "tutorials").glob("*.py")), ids=lambda path: path.stem)
def test_tutorials_run(script, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    if "mujoco" in script.read_text():
        pytest.importorskip("mujoco")
    scope = runpy.run_path(str(script))
    matplotlib.pyplot.close("all")
    results = [scope[name] for name in ("sol", "ens", "found") if name in scope]  # a solution, an ensemble, a plan
    assert results
    assert all(np.all(result.success) for result in results)
    capsys.readouterr()


def test_the_fan_has_the_pieces_of_the_derivative():
    text = (DOCS / "interactive" / "fan.recording.js").read_text()
    assert '"matrix": [[1.0, 0.0], [-0.25, 0.75]]' in text
    assert '"matrix": [[0.5, 0.5], [0.0, 0.5]]' in text


def test_a_warning_is_an_error(site, tmp_path):
    """Of the options that the site is built with: a dead link ends the build."""
    (tmp_path / "index.md").write_text("# Page\n\n[dead](nowhere.md)\n")
    (tmp_path / "conf.py").write_text('extensions = ["myst_parser"]\n')
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(tmp_path), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr
