"""Every code block of the README and the docs runs, and the README prints what it says it prints."""

import contextlib
import doctest
import importlib
import io
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/howto/*.md"))]


def blocks(text):
    return re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page):
    scope: dict = {"__name__": "__main__"}
    printed = ""
    for language, body in blocks(page.read_text()):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(body, str(page), "exec"), scope)
            printed = out.getvalue()
        elif language == "" and body.startswith("Events"):
            assert printed == body


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def modules_with_examples():
    """The modules whose docstrings have examples, by name."""
    package = ROOT / "src" / "bouligand"
    for file in sorted(package.rglob("*.py")):
        if re.search(r"^ *>>> ", file.read_text(), flags=re.M):
            yield ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")


def test_modules_with_examples_are_found():
    assert {"bouligand", "bouligand.integration.solve", "bouligand.derivative.bderivative"} <= set(
        modules_with_examples()
    )


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_docstring_examples(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0
