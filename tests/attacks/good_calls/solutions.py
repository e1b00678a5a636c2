"""Solutions, events and files."""

import atexit
import pathlib
import shutil
import tempfile
from functools import cache

import bouligand as bd

from . import Good, good
from .things import solution, system

TIMES = [-1.0, 5.0, [0.0, 3.0], [0.0, float("nan")]]


@cache
def folder():
    made = pathlib.Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def saved():
    solution().save(folder() / "kept.npz")
    return folder() / "kept.npz"


@good("Solution.__call__")
def _():
    return Good(solution(), {"t": 0.5, "side": "left"}, particular={"t": TIMES, "side": ["up", ["left"]]})


@good("Solution.word")
def _():
    return Good(solution().word, {"t": 0.5, "side": "left"}, particular={"t": TIMES, "side": ["up", ["left"]]})


@good("Solution.rate")
def _():
    return Good(solution().rate, {"t": 0.5, "side": "left"}, particular={"t": [*TIMES, [0.1, 0.2]], "side": ["up"]})


@good("Solution.__getitem__")
def _():
    return Good(
        solution().__getitem__,
        {"name": "z"},
        particular={"name": ["nobody", 0, ["z"]]},
        says={"name": ("sol", "states")},
        raises=(KeyError,),
    )


@good("Solution.save")
def _():
    names = {"path": [".", "", "/", "a\0b", folder() / "nowhere" / "file"]}
    return Good(
        solution().save,
        {"path": str(folder() / "file")},
        particular=names,
        raises=(OSError,),
        says={"path": ("No such file", "abc")},
    )


@good("load")
def _():
    wrong = [folder(), str(folder() / "nobody"), __file__]
    says = {"path": ("not a file", "No such file", "directory")}
    return Good(
        bd.load, {"path": saved(), "system": system()}, particular={"path": wrong}, says=says, raises=(OSError,)
    )


@good("Events.__getitem__")
def _():
    wrong = [99, -99, [0, 99], [0.5], "nobody", [[0]], [True], ["nobody"], slice("a")]
    return Good(solution().events.__getitem__, {"key": 0}, particular={"key": wrong}, raises=(IndexError,))
