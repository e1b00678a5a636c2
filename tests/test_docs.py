"""Every code block of the README and the docs runs, and the README prints what it says it prints."""

import contextlib
import doctest
import importlib
import io
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


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


@pytest.mark.parametrize(
    "name",
    [
        "",
        "._optional",
        ".bridges.mujoco.contacts",
        ".bridges.mujoco.control",
        ".bridges.mujoco.laws",
        ".bridges.mujoco.load",
        ".bridges.mujoco.robot",
        ".bridges.sympy",
        ".derivative.corner",
        ".derivative.shooting",
        ".errors",
        ".integration.stepper",
        ".models",
        ".paper",
        ".plot.animation",
        ".plot.curves",
        ".plot.film",
        ".plot.gait",
        ".system.check",
        ".system.system",
    ],
)
def test_docstring_examples(name):
    failed, tried = doctest.testmod(importlib.import_module(f"bouligand{name}"))
    assert tried > 0
    assert failed == 0
