"""The paper's experiments at a tiny size, with the real MuJoCo, and MuJoCo's models against known motions."""

import json

import numpy as np
import pytest

from bouligand.models.hopper import START
from bouligand.reporting.results import load
from bouligand.reproduce import hopper, mujoco_models, order, plate
from tests.helpers.systems import close


def complete(folder, name):
    """The folder of a finished experiment: JSON of the promised shape, the table and both figures; nothing left over."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["result.json", "table.txt", f"{name}.png", f"{name}.svg"]
    )
    assert (folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (folder / f"{name}.svg").read_text()[:2000]
    assert [path.name for path in folder.parent.iterdir()] == [name]
    document = load(folder)
    assert document["experiment"] == name
    assert document["machine"]["cpu"]
    assert document["versions"]["numba"]
    json.dumps(document, allow_nan=False)
    return document


def test_order(tmp_path, capsys):
    order.run(tmp_path, quick=True)
    summary = complete(tmp_path / "order", "order")["summary"]
    for system in ("paper", "circle"):
        for projection in (2, 3, 5):
            assert summary[f"slope, {system}, {projection}"] == pytest.approx(projection, abs=0.15)
        assert summary[f"slope, {system}, default"] == pytest.approx(1.0, abs=0.3)
    assert capsys.readouterr().out.startswith((tmp_path / "order" / "table.txt").read_text())


def test_hopper(tmp_path):
    hopper.run(tmp_path, quick=True)
    document = complete(tmp_path / "hopper", "hopper")
    mark = document["cells"]["mujoco"]["error"]
    assert mark == pytest.approx(3.3e-3, rel=0.05)  # MuJoCo's semi-implicit Euler at 2 ms: the same on every machine
    for projection in (2, 3, 5):
        cell = document["cells"][f"order-{projection}"]
        assert cell["error"] == pytest.approx(mark, rel=1e-3)  # equal errors is what the calibration is about
    assert document["cells"]["default"]["error"] <= mark
    assert document["summary"]["eps'"] == pytest.approx(2.9e-3, rel=0.05)


def test_plate(tmp_path):
    small = {"contacts": [2, 5], "starts": 2, "starts for the error": 1, "largest MuJoCo reference": 2}
    plate.run(tmp_path, quick=True, **small)
    document = complete(tmp_path / "plate", "plate")
    assert document["settings"]["contacts"] == [2, 5]
    for m in (2, 5):
        timed = document["cells"][f"times-{m:05d}"]
        assert {arm: len(times) for arm, times in timed["seconds"].items()} == dict.fromkeys(plate.METHODS, 2)
        assert timed["reached the end"] == dict.fromkeys(plate.METHODS, 2)
    errors = document["cells"]["errors-00002"]
    assert all(0 < errors[arm] < 1 for arm in plate.METHODS)
    assert errors["bouligand"] < min(errors["MuJoCo, pads"], errors["MuJoCo, soft contact"])
    assert document["cells"]["errors-00005"]["MuJoCo, pads"] is None


def test_starts_are_the_papers_and_seeded():
    some = plate.starts(50, seed=1)
    assert some.shape == (50, 6)
    assert np.array_equal(some, plate.starts(50, seed=1))
    assert ((some[:, 1] > 2) & (some[:, 1] < 3)).all()
    assert (np.abs(some[:, 2]) < 0.1).all()
    assert not some[:, [0, 3, 4, 5]].any()


def test_mujocos_hopper_obeys_the_exact_law():
    errors = []
    for dt in (2e-3, 2e-4):
        states = mujoco_models.Stepping(mujoco_models.hopper(dt), START, 2.0).sample(1000)
        errors.append(hopper.error(states))
    assert errors[1] < errors[0] / 8  # first order, down to the exact solution: no modelling gap


@pytest.mark.parametrize("build", [mujoco_models.pads, mujoco_models.soft])
def test_mujocos_plates_converge_to_their_own_law(build):
    x0 = np.array([0.0, 2.3, 0.03, 0.0, 0.0, 0.0])
    times = np.linspace(0, 0.8, 401)[1:]
    reference = mujoco_models.converged(build(4), x0, times, tolerance=1e-9)
    close(reference, mujoco_models.converged(build(4), x0, times, tolerance=1e-11), 1e-6)
    errors = [
        np.abs(mujoco_models.Stepping(build(4, dt), x0, 0.8).sample(400) - reference).max() for dt in (2e-3, 2e-4)
    ]
    assert errors[1] < errors[0] / 5


def test_an_unstable_run_is_noticed():
    model = mujoco_models.pads(4, dt=0.02)
    stepping = mujoco_models.Stepping(model, [0.0, 2.3, 0.03, 0.0, 0.0, 0.0], 2.0)
    stepping.run()
    assert stepping.unstable()
