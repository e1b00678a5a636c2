"""What is written about the repository is true of it: names of files, the drawing, the hooks, the versions."""

import pathlib
import re
import runpy
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "bouligand"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/howto/*.md")),
]
PLACES = (ROOT, ROOT / "docs", ROOT / "src", PACKAGE)  # what a name may be relative to
FORMULAS = {"c/m"}
MADE_LATER = ("results/", ".cache/", "src/bouligand/models/ball.py")  # by commands, or by the reader


def folders():
    """Folders of the package, as ``core/steps`` (not those that only other tools read, such as ``_pyinstaller``)."""
    return sorted(str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.glob("**/[!_]*/__init__.py"))


def names_of_files(text):
    """Words in back-ticks that end like a file, or, alone between back-ticks, have a slash (NAME and the like are left out)."""
    for span in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        for word in span.split():
            word = word.rstrip(":,")
            path = re.fullmatch(r"[\w.][\w.-]*(/[\w.-]+)*/?", word)
            named = path and (word.endswith((".py", ".md")) or ("/" in word and word == span))
            placeholder = re.search(r"[A-Z]{4}(?!\w*\.md)", word)
            if named and not placeholder and word not in FORMULAS and not word.startswith(MADE_LATER):
                yield word


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    everywhere = {
        path.name for part in ("src", "tests", "benchmarks", "examples", "docs") for path in (ROOT / part).rglob("*.*")
    }
    missing = [
        name
        for name in names_of_files(page.read_text())
        if not any((place / name).exists() for place in PLACES) and not ("/" not in name and name in everywhere)
    ]
    assert not missing, f"{page.name} names files that do not exist: {missing}"


def test_names_of_files_are_found():
    text = "`core/steps/loop.py: run`, `a/b`, `python examples/demo.py x/y`, `c/m`, `x / y`, `core/NAME.py`\n"
    assert list(names_of_files(text + "```\n`not/this.py`\n```\n")) == ["core/steps/loop.py", "a/b", "examples/demo.py"]


def test_the_architecture_names_every_folder():
    page = (ROOT / "docs" / "architecture.md").read_text()
    missing = [name for name in folders() if not re.search(rf"^ +{name.split('/')[-1]}\b", page, re.M)]
    assert not missing, f"docs/architecture.md does not name {missing}"


def test_the_drawing_is_that_of_the_package():
    grimp = pytest.importorskip("grimp")
    script = runpy.run_path(str(ROOT / "docs" / "figures" / "architecture.py"))
    boxes, arrows = {*script["FOLDERS"], "core"}, set(script["ARROWS"])
    drawn = (ROOT / "docs" / "figures" / "architecture.svg").read_text()
    assert drawn == script["drawing"](), "run docs/figures/architecture.py"
    assert {name for name in folders() if not name.startswith("bridges/")} <= boxes

    def box(module):
        _, *parts = module.split(".")
        return next((name for name in ("/".join(parts[:2]), "/".join(parts[:1])) if name in boxes), None)

    graph = grimp.build_graph("bouligand", exclude_type_checking_imports=True)
    imports = {(box(a), box(b)) for a in graph.modules for b in graph.find_modules_directly_imported_by(a)}
    in_core = {name for name in boxes if name.startswith("core/")}
    imports = {
        (a, b if a in in_core or b not in in_core else "core") for a, b in imports
    }  # seen from outside, core is one box
    assert not arrows - imports, "arrows that are no imports"

    reached = set(arrows)
    while more := {(a, c) for a, b in reached for start, c in arrows if start == b} - reached:
        reached |= more
    # errors, and inside core its own files and the names of memory, may be imported by all around them
    undrawn = {
        (a, b)
        for a, b in imports - reached
        if a != b
        and not {a, b} & {None, "errors", "core/state"}
        and not ("core" in (a, b) and {a, b} <= {*in_core, "core"})
    }
    # (Solution.bderivative imports the layer above when it is called)
    assert undrawn <= {("solution", "derivative")}, "imports that no arrows lead to"


def test_hooks_run_what_make_lint_runs():
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
    assert recipe
    commands = [line.strip().removeprefix("$(VENV)/bin/") for line in recipe[1].splitlines()]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"^ +entry: (.*)$", hooks, re.M) == commands
    assert re.findall(r"^ +language: (.*)$", hooks, re.M) == ["system"] * len(commands)


def test_versions_agree():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(), re.M)
    headings = re.findall(r"^## \[(.+?)\](.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == ("Unreleased", "")
    assert headings[1][0] == version
    assert all(re.fullmatch(r" - \d{4}-\d\d-\d\d", date) for _, date in headings[1:])
