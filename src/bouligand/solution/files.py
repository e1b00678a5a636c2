"""A solution in a file: arrays and texts only (see `sealed`), so that reading one runs no code; they are checked before anything
uses them (see `checked`).

Functions are kept as text, to be read by people. To go on computing with a solution (dense output, derivatives) give its
system to `load`.
"""

from __future__ import annotations

import inspect
import json
import sys
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from .. import errors
from ..errors import BouligandError, FunctionWarning
from ..system import arguments
from ..system.identity import parts
from ..system.system import System
from ..system.warning import warn_user
from . import checked, sealed
from .counts import Counts
from .record import Record
from .solution import Solution

if TYPE_CHECKING:
    from .._typing import Path

FORMAT = 2
_PYTHON = "{}.{}".format(*sys.version_info)  # fingerprints of functions are those of their byte code
_ARRAYS = ("steps", "states", "events", "word_end", "breaks", "p")


def source_of(system: System) -> dict[str, str]:
    """The text of a system's functions, where there is any."""
    out = {}
    for name, user in system._functions.items():
        try:
            out[name] = inspect.getsource(getattr(user.given, "py_func", user.given))
        except (OSError, TypeError):
            continue
    return out


def save(solution: Solution, path: Path) -> None:
    """Write a solution to a file (see `Solution.save`)."""
    target = arguments.path("path", path)
    if not target.name:
        raise ValueError(f"path must end with the name of a file; got {str(path)!r}")
    if target.suffix != ".npz":
        target = target.with_name(target.name + ".npz")
    solution._detach()
    record, system, error = solution.record, solution.system, solution.error
    about = {
        "format": FORMAT,
        "name": system.name,
        "states": system.states,
        "guards": system.guards,
        "params": system.params,
        "jumps": np.flatnonzero(system.jumps.has).tolist() if system.jumps else [],
        "status": solution.status,
        "message": solution.message,
        "error": None if error is None else [type(error).__name__, str(error)],
        "ended_by": solution.ended_by,
        "counts": vars(solution.counts),
        "source": solution.source,
        "functions": _fingerprints(system),
        "python": _PYTHON,
    }
    rtol, atol = solution._tolerances
    arrays: dict[str, Any] = {name: getattr(record, name) for name in _ARRAYS}
    arrays |= {"rtol": rtol, "atol": atol, "defaults": system.defaults}
    arrays |= {"event_x": solution.events.x, "event_x_after": solution.events.x_after}
    if record.legs is not None:
        rows, values = zip(*record.legs, strict=True)
        arrays |= {"leg_rows": np.array(rows, dtype=np.int64), "leg_values": np.array(values)}
    if solution._requested is not None:
        times, states, done = solution._requested
        arrays |= {"t_eval": times, "x_eval": states, "done": np.int64(done)}
    named = {"about": json.dumps(about), **arrays}
    sealed.write(target, {name: np.asarray(array) for name, array in named.items()})


def load(path: Path, system: System | None = None) -> Solution:
    """Read a solution that `Solution.save` wrote.

    Parameters
    ----------
    path : str or path
    system : System, optional
        The system that was integrated, made again by the same code. With it the solution has dense output and derivatives as
        before. Without it there are times, states, modes, events and parameters, and ``sol.source``, the text of
        the functions.

    Returns
    -------
    Solution

    Raises
    ------
    TypeError
        If the path is none, or the system is none.
    ValueError
        If the file is not one of `Solution.save`, is damaged, was changed or written by another version, or belongs to another
        system.
    OSError
        If it cannot be read; a FileNotFoundError if there is none.

    Examples
    --------
    >>> import os, tempfile
    >>> import bouligand as bd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "hop.npz")
    ...     bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).save(path)
    ...     sol = bd.load(path)
    >>> sol.status, len(sol.events), "def field" in sol.source["f"]
    ('finished', 2, True)
    """
    path = arguments.path("path", path)
    try:
        kept, about = _read(path)
        legs = tuple(zip(map(int, kept["leg_rows"]), kept["leg_values"], strict=True)) if "leg_rows" in kept else None
        record = Record(**{name: kept[name] for name in _ARRAYS}, legs=legs)
        checked.record(record, bool(about["jumps"]))
        own = _stand_in(path, about, kept)
    except ValueError as error:
        raise ValueError(f"{path} is not a file that Solution.save wrote, or it is damaged: {error}") from error
    state = {
        "_stepper": None,
        "system": own if system is None else _checked(path, own, about, record, system),
        "record": record,
        "status": about["status"],
        "error": _error(about["error"]),
        "ended_by": about["ended_by"],
        "counts": Counts(**about["counts"]),
        "_message": about["message"],
        "_tolerances": (float(kept["rtol"]), kept["atol"]),
        "_requested": (kept["t_eval"], kept["x_eval"], int(kept["done"])) if "t_eval" in kept else None,
        "_source": about["source"],
    }
    solution = Solution.__new__(Solution)
    solution.__dict__.update(state)
    # (kept, since those inside a step would need f)
    solution.events.__dict__.update(x=kept["event_x"], x_after=kept["event_x_after"])
    return solution


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a file, whose sizes belong together, and what it says in words."""
    kept = sealed.read(path)
    text = kept.pop("about", np.array(0))
    if text.dtype.kind != "U" or text.shape != ():
        raise ValueError("it has no description")
    about = checked.about(str(text), FORMAT)
    checked.arrays(kept, about)
    return kept, about


def _error(kept: list[str] | None) -> BaseException | None:
    if kept is None:
        return None
    kind = getattr(errors, kept[0], None)
    if isinstance(kind, type) and issubclass(kind, BouligandError):
        return kind(kept[1])
    return RuntimeError(": ".join(kept))


def _checked(path: Path, own: System, about: dict[str, Any], record: Record, system: System) -> System:
    """The system that was given, if it can be the one that was integrated, whose names are those of ``own``."""
    if not isinstance(system, System):
        raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {system!r}")
    declared = {
        "states": lambda one: one.states,
        "guards": lambda one: one.guards,
        "params": lambda one: one.params or tuple(f"p{q}" for q in range(len(one.defaults))),
        "guards with jumps": lambda one: [one.guards[k] for k in np.flatnonzero(one.jumps.has)] if one.jumps else [],
    }
    for what, of in declared.items():
        theirs, mine = list(of(own)), list(of(system))
        if theirs != mine:
            raise ValueError(
                f"{path} belongs to another system: its {what} are {', '.join(theirs) or 'none'}; those of the system that was "
                f"given are {', '.join(mine) or 'none'}"
            )
    stays = (record.word_end == 0.0).any() or (record.events["sign"] == 0.0).any()
    for has, can, what in (
        (record.spans, "g" in system._functions, "takes steps across many contacts, which a sum over contacts does"),
        (stays, system._stays, "stays on a guard, which a system with sliding or rest does"),
    ):
        if has and not can:
            raise ValueError(f"{path} belongs to another system: its trajectory {what}")
    warning = _difference(about, system)
    if warning:
        warn_user(
            f"{path}: {warning}. Between the steps, and in derivatives, the functions of the system that was given are used",
            FunctionWarning,
        )
    return system


def _fingerprints(system: System) -> dict[str, str | None]:
    """The fingerprints of a system's functions and declarations; None for those that cannot be looked into."""
    return {name: None if found.unknown else found.digest for name, found in parts(system).items()}


def _difference(about: dict[str, Any], system: System) -> str:
    """In what a system differs from the one that a file was written with, or why that cannot be known; empty if in nothing."""
    theirs, mine = about.get("functions"), _fingerprints(system)
    if theirs is None or about.get("python") != _PYTHON:
        by = "an earlier version" if theirs is None else f"Python {about.get('python')}"
        changed = [name for name, text in about["source"].items() if source_of(system).get(name, text) != text]
        if not changed:
            return f"written by {by}, so that whether its functions are those of the system that was given is not known"
    else:
        changed = [name for name in {**theirs, **mine} if theirs.get(name) != mine.get(name)]
    if changed:
        return f"{', '.join(changed)} changed since it was written{_first_line(about['source'], source_of(system), changed)}"
    unknown = [name for name, found in mine.items() if found is None]
    if unknown:
        return f"whether {', '.join(unknown)} changed since it was written is not known, since the code cannot be looked into"
    return ""


def _first_line(before: dict[str, str], now: dict[str, str], names: list[str]) -> str:
    """Where the texts of functions differ first; empty where they do not (but what they call does, or values that they read)."""
    for name in names:
        old, new = before.get(name, "").splitlines(), now.get(name, "").splitlines()
        for number, (was, is_now) in enumerate(zip_longest(old, new, fillvalue=""), 1):
            if was != is_now:
                return f" (line {number} of {name} was {was.strip()!r}, and is {is_now.strip()!r})"
    return " (its text has not: a value that it reads has, or a function that it calls)"


def _stand_in(path: Path, about: dict[str, Any], kept: dict[str, Any]) -> System:
    """A system with the names of the one that was integrated, whose functions say that they are missing."""

    def missing(*_: object) -> Never:
        raise ValueError(
            f"this was read from {path} without its system, which dense output and derivatives need: "
            f"bd.load({str(path)!r}, system). sol.source has the text of its functions"
        )

    def f(t: float, x: Any, b: Any, p: Any) -> Never:
        missing()

    def h(t: float, x: Any, p: Any) -> Never:
        missing()

    return System(
        f,
        h if about["guards"] else None,
        states=about["states"],
        guards=about["guards"],
        params=dict(zip(about["params"], kept["defaults"], strict=True)) if about["params"] else kept["defaults"],
        jumps={about["guards"][k]: f for k in about["jumps"]} or None,
        name=about["name"],
        compile=False,
    )
