"""The command: what it says when something is wrong, and that an interrupted run goes on where it stopped."""

import errno
import json
import signal
import subprocess
import sys

import pytest

from bouligand.cli import main as cli
from bouligand.reporting import results
from bouligand.reporting.results import ResultsError, Run


def test_an_unknown_experiment_is_named_with_the_known_ones(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", "plates"])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert "plates" in said
    assert all(name in said for name in ("order", "hopper", "plate", "all"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert cli.main(["reproduce", "order", "--quick", "--out", str(tmp_path / "file")]) == 1
    said = capsys.readouterr().err
    assert f"cannot write results to {tmp_path / 'file'}" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("experiment", "package"), [("hopper", "mujoco"), ("order", "matplotlib")])
def test_a_missing_extra_comes_with_the_line_to_type(experiment, package, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert cli.main(["reproduce", experiment, "--quick", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert f"needs {package}" in said
    assert "pip install 'bouligand[" in said
    assert list(tmp_path.iterdir()) == []


def test_help_names_the_experiments(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", "--help"])
    assert stop.value.code == 0
    assert "--quick" in capsys.readouterr().out


SLOW = """
import sys, time
from bouligand.reporting.results import Run

run = Run(sys.argv[1], "slow", {"size": 3})
for i in range(3):
    run.cell(f"cell-{i}", lambda i=i: (print("computed", i, flush=True), time.sleep(float(sys.argv[2])), i)[2])
run.finish({"done": True}, "a table")
"""


def slow(out, pause):
    return [sys.executable, "-c", SLOW, str(out), str(pause)]


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    with subprocess.Popen(slow(tmp_path, 60), stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "computed 0\n"
        first.send_signal(signal.SIGKILL)
    assert not (tmp_path / "slow").exists()
    # a run whose first cell was done when it was killed
    with subprocess.Popen(slow(tmp_path, 0.3), stdout=subprocess.PIPE, text=True) as second:
        assert second.stdout is not None
        assert [second.stdout.readline() for _ in range(2)] == ["computed 0\n", "computed 1\n"]
        second.send_signal(signal.SIGKILL)
    cells = tmp_path / "slow.partial" / "cells"
    assert json.loads((cells / "cell-0.json").read_text()) == 0
    assert not (tmp_path / "slow").exists()
    done = subprocess.run(slow(tmp_path, 0), capture_output=True, text=True, check=True)
    assert "continuing after 1 cells of an interrupted run" in done.stderr
    assert "computed 0" not in done.stdout
    assert "computed 2" in done.stdout
    document = results.load(tmp_path / "slow")
    assert document["cells"] == {"cell-0": 0, "cell-1": 1, "cell-2": 2}
    assert document["sessions"] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["slow"]


def test_cells_of_other_settings_are_not_mixed_in(tmp_path):
    Run(tmp_path, "x", {"n": 1}).cell("a", lambda: 1)
    assert Run(tmp_path, "x", {"n": 1}).cell("a", lambda: 2) == 1
    assert Run(tmp_path, "x", {"n": 2}).cell("a", lambda: 2) == 2


DAMAGED = ["", "{", '{"a"', "\x00\x00\x00", "[1, 2]\n", "null\n", "17\n", '{"settings": {}}\n', "[" * 100_000]


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_results_of_an_interrupted_run_are_thrown_away(damage, tmp_path):
    run = Run(tmp_path, "x", {})
    for key in ("a", "b"):
        run.cell(key, lambda: [1, 2])
    cells = tmp_path / "x.partial" / "cells"
    (cells / "a.json").write_text(damage.rstrip("\n"))  # (a whole file ends with a newline)
    (cells / ".a.json.new-host-1").write_text("half")
    again = Run(tmp_path, "x", {})
    assert not again.has("a")
    assert again.cell("b", lambda: 3) == [1, 2]
    (tmp_path / "x.partial" / "head.json").write_text(damage)
    assert not Run(tmp_path, "x", {}).has("b")
    assert list(cells.iterdir()) == []


def test_a_full_disk_is_said_in_one_line(tmp_path, monkeypatch, capsys):
    run = Run(tmp_path, "x", {})

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(results.ResultsError, match=r"cannot write results to .*: No space left on device"):
        run.cell("a", lambda: 1)
    monkeypatch.undo()
    assert list((tmp_path / "x.partial" / "cells").iterdir()) == []


def test_a_finished_folder_is_replaced_whole(tmp_path):
    for value in (1, 2):
        run = Run(tmp_path, "x", {})
        run.cell("a", lambda v=value: v)
        if value == 2:
            assert results.load(tmp_path / "x")["cells"] == {"a": 1}  # the old one, until the new one is complete
        run.finish({}, "table")
    assert results.load(tmp_path / "x")["cells"] == {"a": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_the_json_is_checked_against_its_schema(tmp_path):
    run = Run(tmp_path, "x", {"n": 1})
    document = run.finish({"value": float("nan")}, "table")
    assert document["summary"] == {"value": None}
    assert set(document) == set(results.SCHEMA)
    with pytest.raises(ResultsError, match="machine"):
        results.check({**document, "machine": None})
    with pytest.raises(ResultsError, match="more"):
        results.check({**document, "more": 1})


def test_the_command_is_installed():
    done = subprocess.run([sys.executable, "-m", "bouligand", "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("bouligand ")
