"""``bouligand run``: real runs, what they leave behind, and what is said when something is wrong."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import bouligand as bd
from bouligand.cli import event_table, figures, outputs
from bouligand.cli import main as cli
from bouligand.models.hopper import crossings as hopper_crossings
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.plate import START as PLATE_START
from bouligand.models.three_legs import TILTED, three_legs
from bouligand.models.three_legs import exact as three_legs_exact
from bouligand.reporting import leftovers

from ..helpers.systems import close

PLAIN = ["--no-figures", "--no-animation"]
MODELS = bd.models.available()


def test_the_hopper_with_everything(tmp_path, capsys):
    command = ["run", "hopper", "--tf", "1", "--out", str(tmp_path), "--fps", "5", "--speed", "1", "--points", "51"]
    assert cli.main(command) == 0
    said = capsys.readouterr().out
    touch, leave = hopper_crossings(1.0)
    assert f"{touch:.9f}"[:9] in said
    assert f"{leave:.9f}"[:9] in said
    assert "2 events" in said
    folder = tmp_path / "hopper"
    pictures = {f"{name}.{suffix}" for name in ("states", "contacts") for suffix in ("png", "svg")}
    expected = {"trajectory.npz", "trajectory.csv", "events.csv", "run.json", "animation.gif", *pictures}
    assert {path.name for path in folder.iterdir()} == expected
    assert [path.name for path in tmp_path.iterdir()] == ["hopper"]  # nothing half-written beside it
    saved = np.load(folder / "trajectory.npz")
    close(saved["x"], hopper_exact(saved["t"]), 1e-6)
    assert list(saved["states"]) == ["z", "vz"]
    assert saved["b"].shape == (51, 1)
    table = np.genfromtxt(folder / "trajectory.csv", delimiter=",", names=True)
    close(table["z"], saved["x"][:, 0], 0.0)  # every digit
    with open(folder / "events.csv") as file:
        events = list(csv.DictReader(file))
    assert [(row["guard"], row["direction"]) for row in events] == [("foot", "1"), ("foot", "-1")]
    close([float(row["t"]) for row in events], [touch, leave], 1e-8)
    summary = json.loads((folder / "run.json").read_text())
    assert summary["status"] == "finished"
    assert summary["events"] == 2
    assert summary["p"]["k"] == 1000.0
    assert frames(folder / "animation.gif") == 6


def frames(path):
    from PIL import Image

    with Image.open(path) as film:
        return getattr(film, "n_frames", 1)


@pytest.mark.parametrize("name", MODELS)
def test_every_ready_model_runs(name, tmp_path, capsys):
    """With figures, and an animation of a few frames where there is a drawing."""
    settings = ["--fps", "2", "--speed", repr(MODELS[name].tf), "--points", "11"]  # (a film of one second)
    assert cli.main(["run", name, "--out", str(tmp_path), *settings]) == 0
    said = capsys.readouterr().out
    assert "events" in said or "1 event" in said
    made = {path.name for path in (tmp_path / name).iterdir()}
    assert {"states.png", "states.svg", "trajectory.csv", "run.json"} <= made
    assert ("animation.gif" in made) == (MODELS[name].draw is not None)
    summary = json.loads((tmp_path / name / "run.json").read_text())
    assert summary["events"] > 0
    assert summary["t"] == [0.0, MODELS[name].tf]
    if name == "three_legs":
        close(summary["x"], bd.solve(three_legs(), (0.0, 1.5), TILTED, rtol=1e-11).x[-1], 1e-4)


def test_start_and_parameters_by_name(tmp_path, capsys):
    command = [
        "run",
        "three_legs",
        "--x0",
        "z=0.6",
        "--x0",
        "roll=0",
        "pitch=0",
        "--p",
        "c=0",
        "preload=25",
        "--tf",
        "1",
    ]
    assert cli.main([*command, "--rtol", "1e-11", "--out", str(tmp_path), *PLAIN]) == 0
    state = json.loads((tmp_path / "three_legs" / "run.json").read_text())["x"]
    exact, _ = three_legs_exact([1.0], 0.6, c=0.0, preload=25.0)
    close([state[0], state[3]], exact[0], 1e-8)
    said = capsys.readouterr().out
    assert said.count(" = ") >= 2  # ties are marked
    assert "at the same instant" in said


def test_size(tmp_path, capsys):
    assert cli.main(["run", "hand", "--size", "5", "--out", str(tmp_path), *PLAIN]) == 0
    assert "hand with 5 fingers" in capsys.readouterr().out


def test_long_tables_are_cut_with_a_count():
    sol = bd.solve(bd.models.plate(100), (0.0, 2.0), PLATE_START)
    lines = event_table.event_table(sol).splitlines()
    assert len(lines) < 25
    assert f"{len(sol.events)} events" in lines[0]
    assert any(f"({len(sol.events) - event_table.FIRST - event_table.LAST} more)" in line for line in lines)
    assert f"{sol.events.t[-1]:.9f}" in lines[-1]


def test_axes_have_units():
    plt = pytest.importorskip("matplotlib.pyplot")
    for name, labels in {"hopper": ["z (m)", "vz (m/s)", "t (s)"], "circle": ["x", "y", "t"]}.items():
        system, start = MODELS[name].build()
        figure = figures.states(plt, bd.solve(system, (0.0, 0.1), start), name, MODELS[name].unit)
        assert [ax.get_ylabel() for ax in figure.axes] + [figure.axes[-1].get_xlabel()] == labels
        plt.close(figure)
    assert MODELS["hand"].unit("q12") == "rad"  # of q0, q1, ...


def test_list(capsys):
    assert cli.main(["run", "--list"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in MODELS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["hoper"], ["no model is called 'hoper'", "hopper", "three_legs", "--list"]),
        (["hoper", "--tf", "-1"], ["no model is called 'hoper'; did you mean 'hopper'?"]),
        (["hexapd", "--hold", "1", "1"], ["no model is called 'hexapd'; did you mean 'hexapod'?"]),
        (["elephant", "--size", "3"], ["no model is called 'elephant'\n", "hexapod"]),
        ([], ["which model?", "--list"]),
        (["hopper", "--x0", "height=2"], ["--x0", "no state is called 'height'", "z, vz"]),
        (["hopper", "--p", "stiffness=2"], ["--p", "no parameter is called 'stiffness'", "g, k, rest"]),
        (["hopper", "--p", "k"], ["--p", "expected NAME=VALUE", "'k'"]),
        (["hopper", "--p", "k=soft"], ["k must be a finite number", "'soft'"]),
        (["hopper", "--tf", "-1"], ["--tf must be positive"]),
        (["hopper", "--rtol", "0"], ["--rtol must be positive"]),
        (["hopper", "--fps", "1000"], ["--fps must not be above 100"]),
        (["hopper", "--size", "3"], ["hopper has no --size", "plate"]),
        (["hand", "--size", "0"], ["--size 0", "at least 1"]),
        (["three_legs", "--contacts", "hand*"], ["--contacts", "'hand*'", "foot0"]),
        (["hopper", "--free-base"], ["--free-base is for robot files"]),
        (["missing/robot.urdf"], ["there is no robot file 'missing/robot.urdf'"]),
        (["hopper", "--x0", "z=nan"], ["z must be a finite number", "'nan'"]),
    ],
)
def test_what_is_typed_wrong_is_named(arguments, says, tmp_path, capsys):
    assert cli.main(["run", *arguments, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("bouligand: ")
    assert "Traceback" not in said.err
    for part in says:
        assert part in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_start_that_nothing_decides_is_told(tmp_path, capsys):
    """At rest on the guard of a relay that slides there."""
    assert (
        cli.main(["run", "oscillators", "--size", "1", "--x0", "q0=0", "v0=0", "--p", "a=0", "--out", str(tmp_path)])
        == 1
    )
    assert "the integration did not start: " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert cli.main(["run", "hopper", "--out", str(tmp_path / "file"), *PLAIN]) == 1
    assert f"cannot write results to {tmp_path / 'file'}" in capsys.readouterr().err


def test_a_folder_of_someone_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "hopper").mkdir()
    (tmp_path / "hopper" / "thesis.tex").write_text("three years")
    assert cli.main(["run", "hopper", "--out", str(tmp_path), *PLAIN]) == 1
    assert "is not a folder that `bouligand run` made" in capsys.readouterr().err
    assert (tmp_path / "hopper" / "thesis.tex").read_text() == "three years"


def test_an_older_run_is_replaced_whole(tmp_path):
    for tf in ("1", "2"):
        assert cli.main(["run", "hopper", "--tf", tf, "--out", str(tmp_path), *PLAIN]) == 0
    assert json.loads((tmp_path / "hopper" / "run.json").read_text())["t"] == [0.0, 2.0]
    assert [path.name for path in tmp_path.iterdir()] == ["hopper"]


def test_nothing_is_left_when_saving_fails(tmp_path):
    def save():
        with outputs.results_folder(tmp_path / "x") as where:
            (where / "half").write_text("of it")
            raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        save()
    assert list(tmp_path.iterdir()) == []


def test_what_killed_runs_have_left_is_cleaned(tmp_path):
    """A process that is killed has no chance to: the next one does it, and puts back what it finds moved away."""
    kill = (
        "import os, sys, signal, pathlib; from bouligand.cli import outputs\n"
        "with outputs.results_folder(pathlib.Path(sys.argv[1]) / 'hopper') as where:\n"
        "    (where / 'half').write_text('of it'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", kill, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1  # (the second has cleaned what the first had left)
    (alive := leftovers.temporary_name(tmp_path / "hopper", "new")).mkdir()  # (that of this process)
    (tmp_path / ".hopper.notes").write_text("someone else's")
    assert cli.main(["run", "plate", "--out", str(tmp_path), *PLAIN]) == 0
    assert len(list(tmp_path.iterdir())) == 4  # (of another model: left alone)
    leftovers.clean(tmp_path / "hopper")
    assert {path.name for path in tmp_path.iterdir()} == {alive.name, ".hopper.notes", "plate"}


def test_a_folder_that_was_moved_away_is_put_back(tmp_path):
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    own = leftovers.temporary_name(tmp_path / "hopper", "old").name
    old = tmp_path / own.replace(f"-{os.getpid()}", f"-{dead.stdout.strip()}")
    old.mkdir()
    (old / "run.json").write_text("{}")
    leftovers.clean(tmp_path / "hopper")
    assert [path.name for path in tmp_path.iterdir()] == ["hopper"]


def test_a_failed_integration_is_saved_as_far_as_it_went(tmp_path, capsys):
    """With more preload than weight, and damping, the body would float on its feet: see the model."""
    command = ["run", "three_legs", "--x0", "roll=0", "pitch=0", "--p", "preload=25", "c=30", "--tf", "5"]
    assert cli.main([*command, "--out", str(tmp_path), *PLAIN]) == 1
    said = capsys.readouterr().err
    assert "the integration stopped at t = " in said
    assert "foot" in said
    assert json.loads((tmp_path / "three_legs" / "run.json").read_text())["status"] == "failed"


@pytest.mark.parametrize(
    ("package", "arguments", "extra", "missing"),
    [
        ("matplotlib", [], "plot,film", {"states.png", "animation.gif"}),
        ("PIL", ["--no-figures"], "film", {"animation.gif"}),
        ("imageio_ffmpeg", ["--format", "mp4", "--no-figures"], "film", {"animation.mp4"}),
    ],
)
def test_what_needs_a_missing_extra_is_left_out(package, arguments, extra, missing, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert cli.main(["run", "hopper", "--out", str(tmp_path), *arguments]) == 0
    said = capsys.readouterr().err
    assert f"pip install 'bouligand[{extra}]'" in said
    assert said.count("\n") == 1
    made = {path.name for path in (tmp_path / "hopper").iterdir()}
    assert {"trajectory.csv", "run.json"} <= made
    assert not made & missing


def test_outputs_are_checked_before_anything_is_simulated(tmp_path, capsys, monkeypatch):
    def never(*_):
        raise AssertionError("it was simulated")

    monkeypatch.setattr("bouligand.cli.run.solve", never)
    (tmp_path / "hopper").mkdir()
    assert cli.main(["run", "hopper", "--out", str(tmp_path)]) == 1
    assert "not a folder that `bouligand run` made" in capsys.readouterr().err
    (tmp_path / "file").write_text("in the way")
    assert cli.main(["run", "hopper", "--out", str(tmp_path / "file" / "more")]) == 1
    assert f"cannot write results to {tmp_path / 'file' / 'more'}" in capsys.readouterr().err


@pytest.mark.fresh
def test_interrupted_runs_leave_nothing(tmp_path):
    """Ctrl-C while the animation is drawn: exit status 130, one line, and no folder."""
    command = [
        sys.executable,
        "-m",
        "bouligand",
        "run",
        "plate",
        "--out",
        str(tmp_path),
        "--fps",
        "50",
        "--speed",
        "0.01",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "plate on 10 springs" in process.stdout.readline()
        until = time.monotonic() + 60.0
        while not list(tmp_path.glob(".plate.*/states.svg")) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted; nothing was saved" in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_that_a_library_turns_into_another_error_is_one(tmp_path, monkeypatch, capsys):
    """As extension modules do whose import is interrupted."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # (tests in the background ignore it)

    def importing(*_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr("bouligand.cli.figures.save", importing)
    try:
        assert cli.main(["run", "hopper", "--out", str(tmp_path), "--no-animation"]) == 130
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)
    assert "interrupted; nothing was saved" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fresh
def test_only_the_command_chooses_how_mujoco_renders():
    script = "import os, bouligand, bouligand.cli; print(os.environ.get('MUJOCO_GL'))"
    environment = {key: value for key, value in os.environ.items() if key != "MUJOCO_GL"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "None"
