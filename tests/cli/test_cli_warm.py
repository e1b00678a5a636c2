"""``bouligand warm``: the parts are those that the library compiles, for the arguments that it calls them with."""

import pathlib
import re
from importlib import import_module

import numpy as np
import pytest

import bouligand as bd
from bouligand import cli
from bouligand.cli import main as command
from bouligand.cli.warm import PARTS, types_of
from bouligand.models.plate import START

SOURCES = pathlib.Path(bd.__file__).parent


def test_every_entry_of_the_core_is_a_part():
    entries = set()
    for path in (SOURCES / "core").rglob("*.py"):
        module = ".".join(path.relative_to(SOURCES / "core").with_suffix("").parts)
        entries |= {(module, name) for name in re.findall(r"@core\(entry=True\)\ndef (\w+)", path.read_text())}
    assert {(part.module, part.name) for part in PARTS} == entries


def test_the_types_are_those_of_the_calls():
    hopper = bd.models.hopper()
    sol = bd.solve(hopper, (0.0, 2.0), [2.0, 0.0], breakpoints=[0.3])
    sol(0.1)
    derivative = sol.bderivative(params=True)
    derivative.matrix()
    derivative.vjp([1.0, 0.0])
    plate = bd.solve(bd.models.plate(100), (0.0, 1.0), START)
    plate(0.7)
    plate.bderivative()([0.0, 1e-3, 0.0, 0.0, 0.0, 0.0])
    bd.solve_many(hopper, (0.0, 1.0), np.full((3, 2), 2.0))
    seen = 0
    for part in PARTS:
        entry = getattr(import_module(f"bouligand.core.{part.module}"), part.name)
        if entry.overloads:
            assert list(entry.overloads) == [types_of(part.arguments)], part
            seen += 1
    assert seen >= 10


def test_a_second_time_there_is_nothing_to_compile(capfd):
    for part in PARTS[:5]:  # (whatever other tests have not needed so far)
        import_module(f"bouligand.core.{part.module}")
    bd.solve(bd.models.plate(100), (0.0, 2.0), START, breakpoints=[0.1])([0.2, 0.7])
    bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0])(0.3)
    assert command.main(["warm", "solve", "--processes", "1", "--times"]) == 0
    out, progress = capfd.readouterr()
    assert "the integrator" in out
    assert "nothing to compile; 5 were there already" in out
    assert "5 of 5 parts" in progress


def test_wrong_arguments(capsys):
    assert command.main(["warm", "--processes", "0"]) == 2
    assert "--processes must be at least 1" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["warm", "everything"])


def test_the_command_is_documented():
    assert "warm" in (cli.__doc__ or "")
