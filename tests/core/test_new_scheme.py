"""A new scheme is a file of its own and its place in the list, as docs/extending.md says. Here one is added to a copy.

Its numbers are looked at without the JIT, which would compile the core for a minute; `test_compiled_cache` compiles it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import bouligand
from tests.helpers.new_scheme import add_scheme

pytestmark = pytest.mark.fresh

# the hopper has a closed form; the derivative is compared with that of dopri5 at a tight tolerance
TRY = """
import json
import numpy as np
import bouligand as bd

hopper, out = bd.models.hopper(), {}
tight = bd.solve(hopper, (0.0, 1.2), [2.0, 0.0], rtol=1e-12)
inside = np.linspace(0.0, 1.2, 50)
for rtol in (1e-4, 1e-7):
    sol = bd.solve(hopper, (0.0, 1.2), [2.0, 0.0], rtol=rtol, method="kutta3")
    known = tight.bderivative().matrix()
    out[rtol] = [
        float(np.abs(sol.x[-1] - tight.x[-1]).max()),
        float(np.abs(sol(inside) - tight(inside)).max()),
        float(np.abs(sol.bderivative().matrix() - known).max() / np.abs(known).max()),
        float(np.abs(sol.bderivative().vjp([1.0, 0.0]) - known[0]).max() / np.abs(known).max()),
        sol.counts.steps,
        len(sol.events),
    ]
print(json.dumps(out))
"""


def test_a_scheme_is_added_by_a_file_and_a_line(tmp_path):
    source = pathlib.Path(bouligand.__file__).parent
    shutil.copytree(source, tmp_path / "bouligand", ignore=shutil.ignore_patterns("__pycache__"))
    add_scheme(tmp_path / "bouligand")
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    loose, fine = json.loads(done.stdout).values()
    for end, dense, matrix, vjp, _, events in (loose, fine):
        assert events == 2
        assert vjp == pytest.approx(matrix, rel=2.0)
        assert max(end, dense) < 1e-2
    assert fine[0] < 1e-5  # kappa is 43
    assert fine[1] < 1e-5
    assert fine[2] < 1e-4
    # order 3: an error a thousand times smaller takes about ten times the steps
    assert 5.0 < fine[4] / loose[4] < 20.0
