"""For all tests."""

import signal
import sys

import pytest

# A shell that starts `make test` in the background lets it ignore Ctrl-C, and so would every process that the tests start:
# those that are interrupted on purpose would never end.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """What takes long comes first: at the end of a run one of two workers would wait for it. The pages of the site, together (one
    worker then builds the site, not both), tests that start processes and compile, then pages and scripts that run as a whole."""

    def turn(item):
        if "site" in item.fixturenames:
            return 0
        if item.get_closest_marker("fresh"):
            return 1
        return 2 if item.path.parent.name in ("tests", "website") else 3

    items.sort(key=turn)


@pytest.fixture(autouse=True)
def usual_style():
    """Reports are drawn in a style of their own, which must not be that of the figures of later tests."""
    yield
    if (matplotlib := sys.modules.get("matplotlib")) and matplotlib.rcParams["axes.titlelocation"] != "center":
        matplotlib.rcdefaults()
