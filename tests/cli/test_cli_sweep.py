"""``bouligand sweep``: grids on the command line."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.cli import main as cli

SWEEP = ["sweep", "hopper", "--over", "k=200:1000:5", "--over", "z=1.2:3:4", "--tf", "2", "--quiet"]


def test_a_table_a_store_and_a_picture(tmp_path, capsys):
    xarray = pytest.importorskip("xarray")
    store, picture = str(tmp_path / "runs.zarr"), tmp_path / "map.png"
    assert cli.main([*SWEEP, "--store", store, "--picture", str(picture), "--p", "g=1.62", "--x0", "vz=1"]) == 0
    said = capsys.readouterr().out
    assert "Ensemble: 20 trajectories of hopper, over g (1) x k (5) x z (4)" in said
    assert "finished                            20  100.00 %" in said
    assert picture.stat().st_size > 5000
    data = xarray.open_zarr(store)
    one = bd.solve(bd.models.hopper(), (0.0, 2.0), [3.0, 1.0], {"g": 1.62, "k": 400.0}).x[-1]
    assert np.array_equal(data.x_end.sel(k=400.0, z=3.0).values[0], one)
    assert cli.main([*SWEEP, "--store", store]) == 1
    assert "is there already" in capsys.readouterr().err
    assert cli.main([*SWEEP, "--store", store, "--resume"]) == 1
    assert "another problem" in capsys.readouterr().err
    assert cli.main([*SWEEP, "--store", store, "--resume", "--p", "g=1.62", "--x0", "vz=1"]) == 0


@pytest.mark.fresh
def test_processes(capsys):
    assert cli.main([*SWEEP, "--workers", "2", "--terminal", "foot"]) == 0
    assert "terminated" in capsys.readouterr().out


def test_progress(capsys):
    assert cli.main([*SWEEP[:-1], "--threads", "1"]) == 0
    assert "hopper: 100%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--over", "k=1:2"], "write NAME=FIRST:LAST:COUNT"),
        (["--over", "k=a,b"], "write NAME=FIRST:LAST:COUNT"),
        (["--over", "mass=1:2:3"], "no parameter or state is called 'mass'"),
        (["--over", "k=1,2", "--rtol", "7"], "rtol must be between"),
        (["--over", "k=1,2", "--terminal", "hand"], "no guard is called 'hand'"),
        (
            ["--over", "k=500,1000", "--picture", "x.png"],
            "--picture: a map is over two names",
        ),
        (
            ["--over", "k=500,1000", "--over", "z=1.5,2", "--picture", "x.docx"],
            "ends with .png, .svg or .pdf",
        ),
        (
            ["--over", "k=500,1000", "--over", "z=1.5,2", "--picture", "x.png", "--show", "height"],
            "--show: one of events, t, status, z, vz; got 'height'",
        ),
        (["--over", "k=500,1000", "--dask", "nonsense"], "--dask nonsense"),
    ],
)
def test_what_is_typed_wrong_is_named(arguments, says, capsys):
    assert cli.main(["sweep", "hopper", "--quiet", *arguments]) in (1, 2)
    assert says in capsys.readouterr().err


def test_a_robot_file(tmp_path, capsys):
    pytest.importorskip("mujoco")
    from tests.helpers.robots import BALL

    (tmp_path / "ball.xml").write_text(BALL)
    command = [
        "sweep",
        str(tmp_path / "ball.xml"),
        "--over",
        "qvel:base:vz=-1,0",
        "--contacts",
        "ball",
        "--tf",
        "0.3",
        "--quiet",
    ]
    assert cli.main(command) == 0
    assert "finished                             2" in capsys.readouterr().out
