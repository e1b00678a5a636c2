"""Types for users: mypy --strict accepts a realistic script, and rejects wrong calls with the error that each deserves."""

import os
import pathlib
import re
import runpy

import pytest

import bouligand as bd

SCRIPT = pathlib.Path(__file__).parent / "typed_script.py"

# one mistake a line, with the code of the error that mypy must find in it
WRONG = """
import bouligand as bd
import numpy as np
from numpy.typing import NDArray
from bouligand.bridges import mujoco as mj
from matplotlib.axes import Axes

Array = NDArray[np.float64]


def field(t: float, x: Array, b: Array, p: Array) -> Array:
    return x


def guard(t: float, x: Array, p: Array) -> Array:
    return x


def too_few(t: float, x: Array) -> Array:
    return x


def of_numbers(t: float, x: float, b: float, p: float) -> float:
    return x


def returns_nothing(t: float, x: Array, b: Array, p: Array) -> None:
    pass


def draws_without_state(ax: Axes, t: float) -> None:
    pass


bd.System(3, n=2)  # error: arg-type
bd.System(too_few, n=2)  # error: arg-type
bd.System(of_numbers, n=1)  # error: arg-type
bd.System(returns_nothing, n=2)  # error: arg-type
bd.System(field, field, n=2, m=2)  # error: arg-type
bd.System(lambda t, x: x, n=2)  # error: arg-type
bd.System(field, guard, n="two", m=2)  # error: arg-type
bd.System(field, guard, n=2, m=2, compile="yes")  # error: arg-type
bd.System(field, guard, n=2, m=2, params={"k": "stiff"})  # error: dict-item
bd.System(field, guard, n=2, m=2, Dh=field)  # error: arg-type
bd.System(field, guard, n=2, m=2, Dq=guard)  # error: arg-type
bd.System(field, guard, n=2, m=2).guard_index(0.5)  # error: arg-type
bd.System(field, guard, n=2, m=2).states.append("q")  # error: attr-defined
bd.check(field, [0.0])  # error: arg-type
bd.check(bd.System(field, n=2), [0.0]).problem  # error: attr-defined
bd.normalised(bd.System(field, n=2), "small", [0.0])  # error: arg-type
bd.integrate(lambda x, b: x, lambda x: x, lambda x: [x], 0.1, [0.0], 0.0, 1.0, pool="all")  # error: arg-type
bd.SolveError("failed", where=1.0)  # error: call-arg
bd.bridges.matlab  # error: attr-defined
mj.load("robot.xml", friction=mj.Spring(1.0))  # error: arg-type
mj.load("robot.xml", limits="maybe")  # error: arg-type
mj.Spring("stiff")  # error: arg-type
mj.Coulomb()  # error: call-arg


hopper = bd.models.hopper()
bd.models.hoper()  # error: attr-defined
bd.models.hopper(stiffness=1.0)  # error: call-arg
bd.models.hopper("moon")  # error: arg-type
bd.models.three_legs(c="none")  # error: arg-type
bd.models.available()["hopper"].size + 1  # error: operator
bd.solve("hopper", (0.0, 1.0), [2.0, 0.0])  # error: arg-type
bd.solve(hopper, 1.0, [2.0, 0.0])  # error: arg-type
bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], tol=1e-8)  # error: call-arg
bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], rtol="tight")  # error: arg-type
bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], method="RK45")  # error: arg-type
bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], projection=4)  # error: arg-type
bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], terminal=0.5)  # error: arg-type
bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], on_failure="ignore")  # error: arg-type
bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], None, 1e-8)  # error: call-arg
bd.Stepper(hopper, (0.0, 1.0), [2.0, 0.0], on_failure="return")  # error: call-arg
bd.Stepper(hopper, (0.0, 1.0), [2.0, 0.0]).p = None  # error: assignment
bd.Stepper(hopper, (0.0, 1.0), [2.0, 0.0]).t = 0.0  # error: misc
bd.Stepper(hopper, (0.0, 1.0), [2.0, 0.0]).status == "done"  # error: comparison-overlap
bd.Stepper(hopper, (0.0, 1.0), [2.0, 0.0]).step(2)  # error: call-arg
bd.saltation([1.0], [1.0], [1.0], Dt_h=[0.0])  # error: arg-type
bd.Corner({"before": [1.0]}, [[1.0]])  # error: type-var
bd.Corner(too_few, [[1.0]])  # error: arg-type
bd.Corner(lambda word: word, [[1.0]]).order([1.0])[0].upper()  # error: attr-defined
bd.Shooting(hopper, (0.0, 1.0), [2.0, 0.0], free=0)  # error: arg-type
bd.Shooting(hopper, (0.0, 1.0), [2.0, 0.0], rtl=1e-8)  # error: call-arg
bd.Shooting(hopper, (0.0, 1.0), [2.0, 0.0], rtol="tight")  # error: arg-type
bd.Shooting(hopper, (0.0, 1.0), [2.0, 0.0]).value_and_gradient(guard)  # error: arg-type


def results(solution: bd.Solution) -> None:
    solution.T  # error: attr-defined
    solution.x()  # error: operator
    solution.status == "success"  # error: comparison-overlap
    solution.counts.nfev  # error: attr-defined
    solution.counts.f = 0  # error: misc
    solution.word(0.0, side="before")  # error: arg-type
    solution.events[0.5]  # error: call-overload
    solution.events.times  # error: attr-defined
    solution.bderivative(event="foot")  # error: call-overload
    solution.bderivative().matrix(wrt="g")  # error: arg-type
    gradient: Array = solution.bderivative(params=True).vjp([1.0, 0.0])  # error: assignment
    solution.bderivative().corners[0].guards[0] + 1  # error: operator


def pictures(solution: bd.Solution) -> None:
    bd.plot.contacts(solution, sign=0)  # error: arg-type
    bd.plot.trajectory(solution).set_xlable("t")  # error: attr-defined
    bd.plot.animate(solution, draws_without_state, "film.gif")  # error: arg-type
"""


@pytest.fixture
def mypy(monkeypatch, request):
    """Run mypy as a user would, on the package that the tests run: {file: {line: codes}} of its errors."""
    api = pytest.importorskip("mypy.api")
    package = pathlib.Path(bd.__file__).parent.parent
    if "site-packages" not in package.parts:  # (there mypy finds it by itself)
        monkeypatch.setenv(
            "MYPYPATH", os.pathsep.join([str(package), os.environ.get("MYPYPATH", "")]).strip(os.pathsep)
        )
    cache = request.config.cache.mkdir("mypy")

    def run(*files):
        # (silent: of the package only its types, as if it were installed)
        options = ["--strict", "--follow-imports=silent", "--config-file=", "--no-pretty", f"--cache-dir={cache}"]
        out, crashed, _ = api.run([*options, *map(str, files)])
        assert not crashed, crashed
        found: dict[str, dict[int, list[str]]] = {file.name: {} for file in files}
        for path, line, code in re.findall(r"^(.+?):(\d+): error: .*\[([\w-]+)\]$", out, flags=re.M):
            found[pathlib.Path(path).name].setdefault(int(line), []).append(code)
        assert sum(len(codes) for errors in found.values() for codes in errors.values()) == out.count(": error: "), out
        return found, out

    return run


def test_a_script_with_types_and_one_with_mistakes(mypy, tmp_path):
    wrong = tmp_path / "wrong_script.py"
    wrong.write_text(WRONG)
    found, out = mypy(SCRIPT, wrong)
    assert found[SCRIPT.name] == {}, out
    expected = {
        number: [line.split("# error: ")[1]]
        for number, line in enumerate(WRONG.splitlines(), start=1)
        if "# error: " in line
    }
    assert found[wrong.name] == expected, out


def test_the_script_runs(tmp_path):
    script = runpy.run_path(str(SCRIPT))
    script["main"]()
    sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0])
    assert script["pictures"](sol, tmp_path).exists()
    script["derivative_pictures"](sol.bderivative())


def test_a_checker_finds_the_types():
    assert (pathlib.Path(bd.__file__).parent / "py.typed").exists()
