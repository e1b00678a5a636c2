"""A user's script with types. `test_types` runs it, and has mypy check it with --strict: no result may be Any."""

import pathlib
from collections.abc import Callable
from typing import assert_type

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import bouligand as bd
from bouligand.bridges import mujoco as mj
from bouligand.system.binding import Compiled
from bouligand.system.check import Report

Array = NDArray[np.float64]
Signs = NDArray[np.int8]


# ------------------------------------------------------------------------------------------------------------- functions


def field(t: float, x: Array, b: Array, p: Array, dx: Array) -> None:
    dx[0] = x[1]
    dx[1] = (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]


def field_returned(t: float, x: Array, b: Array, p: Array) -> tuple[float, float]:
    return x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]


def guard(t: float, x: Array, p: Array, out: Array) -> None:
    out[0] = p[2] - x[0]


def guard_returned(t: float, x: Array, p: Array) -> Array:
    return np.array([p[2] - x[0]])


def guard_row(t: float, x: Array, k: int, p: Array) -> list[float]:
    return [-1.0, 0.0]


class Gravity:
    """A callable object is a function too."""

    def __call__(self, t: float, x: Array, b: Array, p: Array) -> list[float]:
        return [x[1], -9.81]


# --------------------------------------------------------------------------------------------------------------- systems


def systems() -> list[bd.System]:
    params = {"g": 9.81, "k": 1000.0, "rest": 1.0}
    names = ["z", "vz"]
    everything = bd.System(
        field,
        guard,
        states=names,
        guards=("foot",),
        params=params,
        direction={"foot": 1},
        observers=["foot"],
        breakpoints=[0.5],
        Dh_row=guard_row,
        compile=False,
        name="hopper",
    )
    assert_type(everything.states, tuple[str, ...])
    assert_type(everything.n, int)
    assert_type(everything.defaults, Array)
    assert_type(everything.observers, NDArray[np.bool_])
    assert_type(everything.parameters({"g": 1.62}), Array)
    assert_type(everything.guard_index("foot"), int)
    assert_type(everything.compiled, Compiled)
    assert_type(everything.function("f"), Callable[..., Array])
    return [
        everything,
        bd.System(field_returned, guard_returned, n=2, m=1, params=[9.81, 1000.0, 1.0]),
        bd.System(lambda t, x, b, p: (x[1], -x[0]), n=2),
        bd.System(Gravity(), n=2, compile=False),
        bd.System(h=lambda t, x, p: x[0], f0=lambda t, x, p: [1.0], g=lambda t, x, k, p: [-0.5], n=1, m=1),
        bd.System(lambda t, x, b, p: x, n=4, unit=[slice(0, 2), [2, 3]], direction=0, params=np.zeros(3)),
    ]


def checks(system: bd.System) -> None:
    report = bd.check(system, [1.5, -1.0])
    assert_type(report, Report)
    assert_type(report.ok, bool)
    assert_type(report.jacobians, dict[str, float])
    assert_type(report.speeds, Array)
    assert_type(system.check([1.5, -1.0], guards=["foot"]), Report)
    assert_type(bd.normalised(system, 1e-3, [1.0, -4.0]), Array)


def listing() -> None:
    result = bd.integrate(
        lambda x, b: [1.0 if b[0] < 0 else 0.5], lambda x: x, lambda x: [[1.0]], 1e-3, [-1.0], 0.0, 2.0, projection=3
    )
    assert_type(result, tuple[Array, Array])
    assert result[0].dtype == np.float64


# ------------------------------------------------------------------------------------------------------- errors and plots


def report_failure(error: bd.SolveError) -> str:
    assert_type(error.guard, str | int | None)
    assert_type(error.hdot, float | None)
    if isinstance(error, bd.StiffnessError):
        assert_type(error.states, tuple[str, ...])
    return f"{error} (guard {error.guard}, t = {error.t:g})"


def draw(ax: Axes, t: float, x: Array, b: Signs, p: Array) -> None:
    ax.plot([0.0], [x[0]], "o", color="red" if b[0] > 0 else "black")


def pictures(solution: bd.Solution, folder: pathlib.Path) -> pathlib.Path:
    above, below = Figure().subplots(2)
    assert_type(bd.plot.trajectory(solution, ["z", 1], ax=above), Axes)
    assert_type(bd.plot.contacts(solution, "foot", ax=below, sign=-1), Axes)
    assert_type(bd.plot.stretches(solution), list[list[tuple[float, float]]])
    assert_type(bd.plot.select(solution.system, ["foot"]), list[int])
    film = bd.plot.animate(solution, draw, folder / "film.gif", fps=10, size=(2.0, 2.0), gait=True)
    assert_type(film, pathlib.Path)
    return film


def derivative_pictures(B: bd.BDerivative) -> None:
    before, after = Figure().subplots(1, 2)
    assert_type(bd.plot.perturbations(B, 0.01, ("z", "vz"), count=8, ax=[before, after]), NDArray[np.object_])
    assert_type(bd.plot.fan(B, 0.1, count=2, ax=Figure().subplots()), Axes)


# --------------------------------------------------------------------------------------------------------------- bridges

BALL = """
<mujoco><worldbody><body><freejoint name="ball"/>
  <geom name="ball" type="sphere" size="0.1" mass="1"/>
</body></worldbody></mujoco>
"""


def robots() -> mj.Robot:
    feet = [mj.Contact(geom="ball", law=mj.HuntCrossley(1e5), friction=mj.Coulomb(0.8))]
    robot = bd.bridges.mujoco.load(BALL, feet, law=mj.Spring(20_000.0, damping=10.0), limits="ignore")
    assert_type(robot, mj.Robot)
    assert_type(robot.x(qpos=[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0]), Array)
    assert_type(robot.energy(robot.neutral()), Array)
    assert_type(robot.touching([1, 1]), NDArray[np.bool_])
    assert_type(robot.inputs, tuple[str, ...])
    assert_type(robot.tangent(np.eye(robot.n), robot.neutral(), robot.neutral()), Array)
    assert_type(mj.LuGre(0.9, 0.7).rate(mass=1.0, force=10.0), float)
    trot = mj.PD({"hip": mj.Sinusoid(amplitude=0.3), "knee": -0.8}, kp=40.0)
    assert_type(trot.kp, float)
    return robot


def main() -> None:
    hopper = systems()[0]
    checks(hopper)
    listing()
    robots()
    assert report_failure(bd.SlidingError("sliding", t=1.0, guard="foot")).startswith("sliding")
    assert_type(bd.PerformanceWarning("slow"), bd.PerformanceWarning)
