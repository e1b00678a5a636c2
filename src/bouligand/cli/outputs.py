"""The folder of results of ``bouligand run``: complete or not there at all."""

import csv
import pathlib
import shutil
import tempfile
from contextlib import contextmanager

import numpy as np

from ..reporting.leftovers import clean, temporary_name
from ..reporting.machine import versions
from ..reporting.results import write_json
from .errors import CommandError

PICTURES = (".png", ".svg", ".pdf")
SUMMARY = "run.json"  # a folder that has this file was made by `bouligand run`, and may be replaced


def check_folder(path):
    """Raise unless results can be written to this folder: before anything is simulated."""
    if path.exists() and not (path / SUMMARY).is_file():
        raise CommandError(
            f"{path} is there and is not a folder that `bouligand run` made; move it away, or choose another --out", 1
        )
    check_place(path.parent)


def check_place(folder):
    """Raise unless files can be written to this folder, or to the one that it would be made in."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise CommandError(f"cannot write results to {folder}: {error.strerror}", 1) from error


def check_picture(name):
    """Raise unless a picture can be written to a file of this name: before anything is computed."""
    path = pathlib.Path(name)
    if path.suffix not in PICTURES or name.endswith(("/", "\\")) or path.is_dir():
        raise CommandError(f"--picture: the name of a file that ends with .png, .svg or .pdf; got {name!r}")
    check_place(path.absolute().parent)


@contextmanager
def results_folder(path):
    """A temporary folder to write into: renamed to ``path`` at the end of the block, removed if the block raises an error."""
    path = pathlib.Path(path)
    check_folder(path)
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clean(path)  # what runs that were killed have left
        temporary.mkdir()
    except OSError as error:
        raise CommandError(f"cannot write results to {path.parent}: {error.strerror}", 1) from error
    try:
        yield temporary
        old = temporary_name(path, "old")
        if path.exists():
            path.rename(old)
        temporary.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise CommandError(f"cannot write results to {path}: {error.strerror}", 1) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def save_trajectory(folder, solution, points):
    """``trajectory.npz`` and ``.csv``: states and signs of the guards at evenly spaced times."""
    system = solution.system
    t = np.linspace(solution.t[0], solution.t[-1], points) if solution.t[-1] > solution.t[0] else solution.t[:1]
    x, b = solution(t), solution.word(t)
    np.savez_compressed(
        folder / "trajectory.npz", t=t, x=x, b=b, states=np.array(system.states), guards=np.array(system.guards),
        p=solution.p, params=np.array(system.params),
    )  # fmt: skip
    with open(folder / "trajectory.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["t", *system.states])
        rows.writerows([repr(float(value)) for value in (moment, *state)] for moment, state in zip(t, x, strict=True))


def save_events(folder, solution):
    """``events.csv``: time, guard, sign of the guard after the event, state."""
    events = solution.events
    with open(folder / "events.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["t", "guard", "direction", *solution.system.states])
        for t, name, direction, x in zip(events.t, events.name, events.direction, events.x, strict=True):
            rows.writerow([repr(float(t)), name, int(direction), *(repr(float(value)) for value in x)])


def save_summary(folder, solution, settings):
    """``run.json``: the settings, the versions of the packages, and the outcome."""
    counts = solution.counts
    document = {
        "model": settings,
        "p": dict(zip(solution.system.params, map(float, solution.p), strict=True)),
        "versions": versions(),
        "status": solution.status,
        "message": solution.message,
        "t": [float(solution.t[0]), float(solution.t[-1])],
        "x": [float(value) for value in solution.x[-1]],
        "events": counts.events,
        "steps": counts.steps,
        "evaluations of f": counts.f,
    }
    write_json(folder / SUMMARY, document)


def save_figure(folder, figure, name):
    """As PNG, and as SVG without a date, so that equal figures are equal files."""
    for suffix in ("png", "svg"):
        figure.savefig(folder / f"{name}.{suffix}", dpi=150, metadata={"Date": None} if suffix == "svg" else {})


def save_picture(figure, name):
    """Save a figure that a command was asked for, the same bytes for the same figure, and say where it is."""
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
    print(f"drawn in {path}")
