"""A folder of results that appears when everything is in it: trajectory, events, figures, what was asked for."""

import csv
import os
import pathlib
import shutil
from contextlib import contextmanager

import numpy as np

from ..reporting.machine import versions
from ..reporting.results import write_json
from .errors import CommandError

MARK = "run.json"  # a folder with this file is one of ours, and may be replaced


@contextmanager
def folder(path):
    """A temporary folder to write into; it gets its name when the block ends well, and is gone if it does not."""
    path = pathlib.Path(path)
    if path.exists() and not (path / MARK).is_file():
        raise CommandError(
            f"{path} is there and is not a folder that `bouligand run` made; move it away, or choose another --out", 1
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        raise CommandError(f"cannot write results to {path.parent}: {error.strerror}", 1) from error
    try:
        yield temporary
        old = path.with_name(f".{path.name}.old-{os.getpid()}")
        if path.exists():
            path.rename(old)
        temporary.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise CommandError(f"cannot write results to {path}: {error.strerror}", 1) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def save_trajectory(where, solution, points):
    """``trajectory.npz`` and ``.csv``: evenly spaced times, states, words (the sign of each guard)."""
    system = solution.system
    t = np.linspace(solution.t[0], solution.t[-1], points) if solution.t[-1] > solution.t[0] else solution.t[:1]
    x, b = solution(t), solution.word(t)
    np.savez_compressed(
        where / "trajectory.npz", t=t, x=x, b=b, states=np.array(system.states), guards=np.array(system.guards),
        p=solution.p, params=np.array(system.params),
    )  # fmt: skip
    with open(where / "trajectory.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["t", *system.states])
        rows.writerows([repr(float(value)) for value in (moment, *state)] for moment, state in zip(t, x, strict=True))


def save_events(where, solution):
    """``events.csv``: time, guard, the sign after it, and the state."""
    events = solution.events
    with open(where / "events.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["t", "guard", "direction", *solution.system.states])
        for t, name, direction, x in zip(events.t, events.name, events.direction, events.x, strict=True):
            rows.writerow([repr(float(t)), name, int(direction), *(repr(float(value)) for value in x)])


def save_summary(where, solution, settings):
    """``run.json``: what was asked for, with which versions, and what came of it."""
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
    write_json(where / MARK, document)


def save_figure(where, figure, name):
    for suffix in ("png", "svg"):
        figure.savefig(where / f"{name}.{suffix}", dpi=150, metadata={"Date": None} if suffix == "svg" else {})
