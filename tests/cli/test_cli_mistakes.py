"""Mistakes in a command line: one line that names the option, the exit status 2, and nothing computed or written."""

import pytest

from bouligand.cli.main import main

RUN = ["run", "hopper", "--tf", "0.1", "--no-figures", "--no-animation"]
SWEEP = ["sweep", "hopper", "--over", "k=100:200:2", "--tf", "0.1", "--quiet"]
CYCLE = ["cycle", "rimless_wheel", "--quiet"]
EMPTY = ["", " ", "a\0b"]

MISTAKES = {
    ("run", "--tf --rtol --atol --fps --speed"): ["0", "-1", "nan", "inf"],
    ("run", "--points"): ["0", "-1", "1000000000"],
    ("run", "--out --x0 --p --contacts"): EMPTY,
    ("run", "--x0"): ["nobody=1", "z", "z=a", "z=nan"],
    ("run", "--size"): ["3"],
    ("run", "--fps"): ["101"],
    ("run", "--contacts"): ["nobody"],
    ("sweep", "--threads --workers --block"): ["0", "-1", "1000000000"],
    ("sweep", "--store --dask --picture --show --terminal"): EMPTY,
    ("sweep", "--over"): ["k", "k=", "k=1:2", "k=1:2:a", "k=1:2:100000000000", "k=1,,2"],
    ("sweep", "--show"): ["nobody"],
    ("sweep", "--tf"): ["0"],
    ("cycle", "--step"): ["0", "-1", "nan", "2"],
    ("cycle", "--segments --crossings"): ["0", "-1", "1000000000"],
    ("cycle", "--along --section --drift --symmetry"): EMPTY,
    ("cycle", "--picture"): ["file", ".", "dir.png/", "a.bmp"],
    ("cycle", "--show"): ["nobody"],
}
GOOD = {"run": RUN, "sweep": SWEEP, "cycle": CYCLE}


def one_line(capsys, option):
    """What a command has said: nothing but one short message that names the option."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bouligand: ")
    assert option in err
    assert len(err.splitlines()) <= 2
    return err


@pytest.mark.parametrize(("command", "options"), MISTAKES)
def test_a_mistake_is_one_line(command, options, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for option in options.split():
        for value in MISTAKES[command, options]:
            assert main([*GOOD[command], f"{option}={value}"]) == 2
            one_line(capsys, option)
    assert list(tmp_path.iterdir()) == []


def test_what_goes_with_nothing_is_a_mistake(capsys):
    assert main([*SWEEP, "--resume"]) == 2
    one_line(capsys, "--resume")
    assert main(["run", ""]) == 2
    one_line(capsys, "MODEL")


@pytest.mark.parametrize("out", ["x" * 300, "file/x"])
def test_paths_that_cannot_be_written_are_one_line(out, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main([*RUN, "--out", out]) == 1
    one_line(capsys, out[:50])
