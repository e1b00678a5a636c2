"""``bouligand cycle``: what it prints, draws and refuses."""

import pytest

from bouligand.cli.main import main


def test_a_gait_and_its_branch(capsys, tmp_path):
    picture = tmp_path / "branch.png"
    options = ["--along", "gamma=0.016", "--step", "0.1", "--show", "theta", "--picture", str(picture), "--quiet"]
    command = ["cycle", "simplest_walker", *options]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "theta = 0.2003109" in out
    assert "period doubling at 0.01508" in out
    assert picture.stat().st_size > 5000


def test_options_reach_the_search(capsys, tmp_path):
    picture = tmp_path / "cycle.svg"
    options = ["--section", "forward", "--segments", "2", "--p", "gamma=0.1", "--picture", str(picture), "--quiet"]
    command = ["cycle", "rimless_wheel", *options]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "multipliers 0.5" in out
    assert "omega = 1.224" in out
    assert picture.exists()


@pytest.mark.parametrize(
    ("command", "message", "status"),
    [
        (["plate"], "give --section", 2),
        (["nothing"], "no model is called", 2),
        (["hopper", "--section", "knee"], "knee", 2),
        (["robot.urdf"], "ready models only", 2),
        (["rimless_wheel", "--along", "gamma"], "NAME=VALUE", 2),
        (["rimless_wheel", "--along", "gamma=much"], "not a number", 2),
        (["hopper", "--x0", "z=0.95", "vz=0.0", "--p", "g=0.0", "k=0.0"], "crosses the section", 1),
    ],
)
def test_mistakes(capsys, command, message, status):
    assert main(["cycle", *command, "--quiet"]) == status
    assert message in capsys.readouterr().err
