"""The problems with which two source trees are compared (`benchmarks/trees.py`), with values that a rewrite must not change.

Trajectories are held to 1e-12 times the growth of a perturbation, which is what round-off of another processor or Numba becomes;
derivatives, of which many are differences of f, to 1e-6 of the largest entry. After a change that is meant to alter them,
`python -m tests.core.test_same_values` writes the values anew; the commit says why.
"""

import json
import pathlib
import warnings

import numpy as np
import pytest
from benchmarks import trees

import bouligand as bd

FILE = pathlib.Path(__file__).with_name("same_values.json")
KNOWN = json.loads(FILE.read_text()) if FILE.exists() else {}
PROBLEMS = trees.trajectories(bd, np)


def test_there_are_enough_of_them():
    assert set(KNOWN) == set(PROBLEMS)
    assert len(KNOWN) >= 20


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.filterwarnings("ignore::bouligand.PerformanceWarning")
def test_values(name):
    known, sol = KNOWN[name], PROBLEMS[name]()
    x = np.array(known["x"])
    growth = max(1.0, np.abs(known.get("B", 1.0)).max())
    assert np.abs(sol.x[-1] - x).max() <= 1e-12 * growth * max(1.0, np.abs(x).max())
    assert len(sol.events) == known["events"]
    assert abs(np.mean(sol.events.t) - known["mean"]) <= 1e-12
    if "B" in known:
        B = np.array(known["B"])
        image = trees.image(np, sol)
        assert np.abs(image - B).max() <= 1e-6 * np.abs(B).max()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FILE.write_text(json.dumps(trees.ends(bd, np), indent=1) + "\n")
