"""Errors travel between processes: a pool that cannot unpickle one of them breaks."""

import pickle

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
