"""A folder of results that is complete or not there at all, and a run that continues where it was interrupted.

    out/plate.partial/cells/*.json     while it runs: one file for each cell (a piece of the work), written when it is done
    out/plate/result.json              when it is complete: everything, with versions, processor and settings
    out/plate/table.txt                what was printed
    out/plate/*.png, *.svg             figures

A run takes over the cells of an interrupted run with the same settings, versions and machine. The folder gets its final name
when everything is in it.
"""

import json
import math
import os
import pathlib
import shutil
import sys
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np

from .leftovers import clean, temporary_name
from .machine import machine, versions

# What result.json holds, and of which type.
SCHEMA: dict[str, type] = {
    "experiment": str,
    "settings": dict,
    "versions": dict,
    "machine": dict,
    "started": str,
    "finished": str,
    "sessions": int,
    "cells": dict,
    "summary": dict,
}


class ResultsError(RuntimeError):
    """The results folder cannot be used."""


class Run:
    """One run of an experiment: its cells are computed and saved one by one, and at the end a folder has all results."""

    def __init__(self, out, name, settings, packages=()):
        self.name = name
        self.final = pathlib.Path(out) / name
        self.partial = self.final.with_name(name + ".partial")
        self._cells = self.partial / "cells"
        self.head = _plain({"settings": settings, "versions": versions(packages), "machine": machine()})
        with self._writing():
            self._open()

    @contextmanager
    def _writing(self):
        """Whatever the disk refuses is said in one line."""
        try:
            yield
        except OSError as error:
            raise ResultsError(f"cannot write results to {self.final.parent}: {error.strerror or error}") from error

    def _open(self):
        if self.partial.exists() and not self.partial.is_dir():
            self.partial.unlink()
        self._cells.mkdir(parents=True, exist_ok=True)
        clean(self.final)
        self._clean()
        head = self.partial / "head.json"
        left = _read(head)
        same = isinstance(left, dict) and all(left.get(key) == self.head[key] for key in self.head)
        if same and isinstance(left.get("started"), str) and isinstance(left.get("sessions"), int):
            self.started, self.sessions = left["started"], left["sessions"] + 1
        else:
            shutil.rmtree(self._cells)  # from other settings, versions or another machine: not to be mixed with these
            self._cells.mkdir()
            self.started, self.sessions = _now(), 1
        write_json(head, {**self.head, "started": self.started, "sessions": self.sessions})
        found = {path: _read(path) for path in self._cells.glob("*.json")}
        for path, value in found.items():
            if value is None:
                path.unlink()
        self._done = {path.stem: value for path, value in found.items() if value is not None}
        if self._done:
            print(f"{self.name}: continuing after {len(self._done)} cells of an interrupted run", file=sys.stderr)

    def _clean(self):
        """Remove what is no whole file: temporary ones of a process that was killed, and what is no file at all."""
        for place in (self.partial, self._cells):
            for path in place.iterdir():
                if path.is_dir() and path != self._cells:
                    shutil.rmtree(path, ignore_errors=True)
                elif path.name.startswith("."):
                    path.unlink(missing_ok=True)

    def cell(self, key, compute):
        """The value of a cell: from an interrupted run if it is there, else computed and saved."""
        if key not in self._done:
            value = _plain(compute())
            with self._writing():
                write_json(self._cells / f"{key}.json", value)
            self._done[key] = value
        return self._done[key]

    def has(self, key):
        return key in self._done

    def figure(self, figure, name):
        """Save a figure as PNG and SVG."""
        with self._writing():
            for suffix in ("png", "svg"):
                figure.savefig(
                    self.partial / f"{name}.{suffix}", dpi=150, metadata={"Date": None} if suffix == "svg" else {}
                )

    def finish(self, summary, table):
        """Write all results, give the folder its final name, print the table; returns the contents of result.json."""
        document = {
            "experiment": self.name,
            **self.head,
            "started": self.started,
            "finished": _now(),
            "sessions": self.sessions,
            "cells": self._done,
            "summary": _plain(summary),
        }
        check(document)
        with self._writing():
            write_json(self.partial / "result.json", document)
            write_text(self.partial / "table.txt", table.rstrip() + "\n")
            old = temporary_name(self.final, "old")
            if self.final.exists():
                self.final.rename(old)
            self.partial.rename(self.final)
            shutil.rmtree(old, ignore_errors=True)
            shutil.rmtree(self.final / "cells", ignore_errors=True)
            (self.final / "head.json").unlink(missing_ok=True)
        print(table.rstrip())
        print(f"saved: {self.final}")
        return document


def check(document):
    """Raise an error unless the document has the entries of SCHEMA, and no others."""
    for key, kind in SCHEMA.items():
        if not isinstance(document.get(key), kind):
            raise ResultsError(f"result.json: {key} must be {kind.__name__}; got {document.get(key)!r}")
    unknown = set(document) - set(SCHEMA)
    if unknown:
        raise ResultsError(f"result.json: does not know {sorted(unknown)}")


def load(folder):
    """result.json of a folder, checked."""
    document = json.loads((pathlib.Path(folder) / "result.json").read_text())
    check(document)
    return document


def write_json(path, value):
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def write_text(path, text):
    """Write a file so that a reader sees the old one or the whole new one."""
    temporary = temporary_name(path)
    try:
        with open(temporary, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # (else its name could outlive its contents when the machine stops)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _read(path):
    """What a file of JSON holds; None if it is not there, or is not whole."""
    try:
        text = path.read_text()
        return json.loads(text) if text.endswith("\n") else None
    except (OSError, ValueError, RecursionError):
        return None


def _plain(value):
    """NumPy's numbers and arrays as plain ones, for JSON; numbers that are not finite as null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def _now():
    return datetime.now(UTC).isoformat(timespec="seconds")
