"""Errors travel between processes: a pool that cannot unpickle one of them breaks."""

import pathlib
import pickle
import re

import numpy as np
import pytest

import bouligand as bd


@pytest.mark.parametrize(
    "error",
    [
        bd.SlidingError("sliding", t=1.0, x=np.zeros(2), guard="foot", hdot=-1.0),
        bd.StiffnessError("stiff", rate=1e6, states=("z", "vz"), t=1.0),
        bd.DerivativeError("no derivative"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_can_be_pickled(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert str(vars(copy)) == str(vars(error))


def test_an_unsupported_feature_can_be_pickled():
    mujoco = pytest.importorskip("bouligand.bridges.mujoco")
    error = mujoco.UnsupportedFeatureError(["tendons", "flexes"])
    copy = pickle.loads(pickle.dumps(error))
    assert copy.features == ("tendons", "flexes")
    assert str(copy) == str(error)


def test_every_error_names_its_section_of_the_docs():
    """And there is one: a heading of its name, which is the anchor on the site and where the file is shown."""
    page = (pathlib.Path(__file__).parent.parent / "docs" / "errors.md").read_text()
    for name in bd.errors.__all__:
        assert re.search(rf"^##+ {name}$", page, re.M), name
        kind = getattr(bd, name)
        if issubclass(kind, bd.BouligandError):
            assert kind("failed").__notes__ == [f"What to do: docs/errors.md#{name.lower()}"]
