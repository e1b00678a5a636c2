"""A user's script with types. `test_types` runs it, and has mypy check it with --strict: no result may be Any."""

import pathlib
from collections.abc import Callable
from typing import Literal, assert_type

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import bouligand as bd
from bouligand.bridges import mujoco as mj
from bouligand.derivative.pieces import Piece
from bouligand.derivative.trajectory_corners import TrajectoryCorner
from bouligand.models import Model
from bouligand.solution.record import Record
from bouligand.solution.solution import Counts
from bouligand.system.binding import Compiled
from bouligand.system.check_report import Report

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
Ints = NDArray[np.int64]
Rows = NDArray[np.void]
Status = Literal["running", "finished", "terminated", "failed"]


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


# ---------------------------------------------------------------------------------------------------------- integrations


def solutions(system: bd.System) -> bd.Solution:
    bd.solve(system, [0, 1], np.array([2.0, 0.0]), [9.81, 1000.0, 1.0], atol=[1e-8, 1e-8], terminal={"foot": 2})
    bd.solve(system, np.array([0.0, 1.0]), (2.0, 0.0), eps={"foot": 1e-3}, projection=3, terminal="foot")
    bd.solve(system, (0.0, 0.1), [2, 0], b0=[-1], method="dop853", max_step=0.1, max_steps=1000, breakpoints=[0.05])
    sol = bd.solve(system, (0.0, 1.0), [2.0, 0.0], {"g": 9.8}, rtol=1e-8, on_failure="return", progress=False)
    assert_type(sol, bd.Solution)
    assert_type(sol.t, Array)
    assert_type(sol.x, Array)
    assert_type(sol.y, Array)
    assert_type(sol.b, Signs)
    assert_type(sol.p, Array)
    assert_type(sol(0.5), Array)
    assert_type(sol([0.1, 0.2]), Array)
    assert_type(sol.word(0.5, side="left"), Signs)
    assert_type(sol.rate(0.5), Array)
    assert_type(sol.t_events, list[Array])
    assert_type(sol.y_events, list[Array])
    assert_type(sol.margins, Rows)
    assert_type(sol.system, bd.System)
    assert_type(sol.status, Status)
    assert_type(sol.success, bool)
    assert_type(sol.message, str)
    assert_type(sol.error, BaseException | None)
    assert_type(sol.ended_by, int | None)
    assert_type(sol.nfev, int)
    assert_type(sol.counts, Counts)
    assert_type(sol.counts.Dh, int)
    assert_type(sol.record, Record)
    assert_type(sol.record.t, Array)
    assert_type(sol.record.steps, Rows)
    assert_type(sol.record.legs, tuple[tuple[int, Array], ...] | None)
    return sol


def events(sol: bd.Solution) -> float:
    found = sol.events
    assert_type(found, bd.Events)
    assert_type(found.t, Array)
    assert_type(found.x, Array)
    assert_type(found.guard, Ints)
    assert_type(found.direction, Signs)
    assert_type(found.name, NDArray[np.object_])
    assert_type(found.residual, Array)
    assert_type(found.before, Signs)
    assert_type(found.after, Signs)
    assert_type(found.array, Rows)
    assert_type(found[0], np.void)
    assert_type(found[1:], Rows)
    assert_type(found[found.direction > 0], Rows)
    assert_type(found["t"], Array)
    assert_type(found["guard"], Ints)
    assert_type(found["direction"], Signs)
    assert_type(len(found), int)
    return sum(float(event["t"]) for event in found)


def stepping(system: bd.System) -> bd.Solution:
    stepper = bd.Stepper(system, (0.0, 1.0), [2.0, 0.0], rtol=1e-7, t_eval=np.linspace(0.0, 1.0, 5))
    assert_type(stepper.step(), None)
    assert_type(stepper.t, float)
    assert_type(stepper.x, Array)
    assert_type(stepper.b, Signs)
    assert_type(stepper.p, Array)
    stepper.p = {"g": 1.62}
    stepper.p = [9.81, 1000.0, 1.0]
    assert_type(stepper.status, Status)
    assert_type(stepper.message, str)
    assert_type(stepper.error, BaseException | None)
    assert_type(stepper.solution, bd.Solution)
    return stepper.finish("raise", progress=None)


# ----------------------------------------------------------------------------------------------------------- derivatives


def derivatives(sol: bd.Solution, with_parameters: bool) -> None:
    B = sol.bderivative()
    assert_type(B, bd.BDerivative)
    assert_type(B, bd.BDerivative[Array])
    assert_type(B([1.0, 0.0]), Array)
    assert_type(B(dt0=1e-3), Array)
    assert_type(B.matrix(), Array)
    assert_type(B.matrix([1.0, 0.0], wrt="t0"), Array)
    assert_type(B.vjp([1.0, 0.0]), Array)
    assert_type(B.offset([1.0, 0.0]), Array)
    assert_type(B.orders(), list[tuple[str, ...]])
    assert_type(B.event_times(), Array)
    assert_type(B.events, Ints)
    assert_type(B.event, int | None)
    assert_type(B.t, float)
    assert_type(B.n, int)
    assert_type(B.is_linear, bool | None)
    assert_type(B.pieces(), list[Piece[str]])
    assert_type(B.pieces()[0].matrix, Array)
    assert_type(B.pieces()[0].dx, Array)
    assert_type(B.pieces()[0].orders, list[tuple[tuple[str, ...], ...]])
    assert_type(B.corners, list[TrajectoryCorner])
    for corner in B.corners:
        assert_type(corner.t, float)
        assert_type(corner.guards, tuple[str, ...])
        assert_type(corner.order([1.0, 0.0]), tuple[str, ...])
        assert_type(corner.kind, Literal["tie", "start", "end", "event", "breakpoint", "jump"])
    both = sol.bderivative(0.9, since=0.1, params=True, merge=1e-6)
    assert_type(both(dp={"g": 1.0}), Array)
    assert_type(both.matrix(wrt="p"), Array)
    assert_type(both.vjp([1.0, 0.0]), tuple[Array, Array])
    by_start, by_parameters = both.vjp([1.0, 0.0])
    assert_type(by_parameters, Array)
    many = sol.bderivative([0.1, 0.9])
    assert_type(many, bd.BDerivativeAtTimes)
    assert_type(many([1.0, 0.0]), Array)
    assert_type(many.matrix(wrt=("z", "vz")), Array)
    assert_type(many.vjp(np.ones((2, 2))), Array)
    assert_type(many.corners, list[TrajectoryCorner])
    assert_type(many.is_linear, bool | None)
    with_both = sol.bderivative(np.array([0.1, 0.9]), params=True, rtol=1e-4)
    assert_type(with_both.vjp(np.ones((2, 2))), tuple[Array, Array])
    assert_type(sol.sensitivity("p", [0.1, 0.9]), Array)
    either = sol.bderivative(event=-1, params=with_parameters).vjp(np.ones(2))
    assert_type(either, Array | tuple[Array, Array])
    assert by_start.shape == (either[0] if isinstance(either, tuple) else either).shape


def corners() -> None:
    table = {(-1, -1): (1.0, 1.0), (-1, 1): (1.0, 0.75), (1, -1): (0.5, 1.0), (1, 1): (1.0, 0.5)}
    corner = bd.Corner(table, [[1, 0], [0, 1]])
    assert_type(corner, bd.Corner)
    assert_type(corner, bd.Corner[int])
    assert_type(corner([-0.25, 0.0]), Array)
    assert_type(corner.matrix([-0.25, 0.0]), Array)
    assert_type(corner.order([-0.25, 0.0]), tuple[int, ...])
    assert_type(corner.guards, tuple[int, ...])
    assert_type(corner.units, int)
    assert_type(corner.is_linear, bool | None)
    assert_type(corner.pieces(), list[Piece])
    assert_type(corner.pieces()[0].orders, list[tuple[tuple[int, ...], ...]])
    assert_type(bd.Corner(lambda word: word + 2.0, np.eye(2), Dt_h=[0.0, 0.0], before=[-1, -1]), bd.Corner[int])
    assert_type(bd.saltation([2.0], np.array([0.7]), [1.0], Dt_h=-0.5), Array)


def shooting(system: bd.System) -> None:
    shot = bd.Shooting(system, (0.0, 0.2), [2.0, 0.0], free=("z", "g"), rtol=1e-8, method="dop853")
    assert_type(shot.free, tuple[str, ...])
    assert_type(shot.start, Array)
    assert_type(shot.solves, int)
    assert_type(shot(shot.start), Array)
    assert_type(shot.jacobian([2.0, 9.81]), Array)
    assert_type(shot.solution([2.0, 9.81]), bd.Solution)
    height = shot.value_and_gradient(lambda x: (x[0], [1.0, 0.0]))
    assert_type(height([2.0, 9.81]), tuple[float, Array])
    fit = shot.fit([0.1, 0.2], [1.9, 1.8], observe="z", weights=[1.0, 2.0])
    assert_type(fit, bd.Fit)
    assert_type(fit([2.0, 9.81]), Array)
    assert_type(fit.jacobian([2.0, 9.81]), Array)
    assert_type(fit.cost_and_gradient([2.0, 9.81]), tuple[float, Array])
    speed = shot.fit([0.1, 0.2], [1.9, 1.8], observe=lambda x: ([x[1]], [[0.0, 1.0]]))
    assert_type(speed.t, Array)


def planning(system: bd.System) -> None:
    P = bd.planning
    cost = P.Quadratic([1.5, 0.0], x={"z": 1.0}) + P.Smooth(lambda t, x, u: 1e-3 * u[0] ** 2)
    plan = P.Plan(system, [0.0, 0.1, 0.2], cost, lambda t, x: x[0], inputs="g", limits=(0.0, 20.0), rtol=1e-6)
    found = plan.solve([2.0, 0.0], iterations=2)
    assert_type(found, bd.planning.PlanResult)
    assert_type(found.u, Array)
    assert_type(found.cost, float)
    assert_type(found.solution, bd.Solution)
    assert_type(plan.gradient([2.0, 0.0]), tuple[float, Array])
    assert_type(plan.objective([2.0, 0.0])(found.u.ravel()), tuple[float, Array])
    assert_type(plan.rollout([2.0, 0.0]).linearise(), tuple[Array, Array])
    mpc = P.MPC(plan, deadline=1.0)
    assert_type(mpc.plan(0.0, [2.0, 0.0]), Array)
    assert_type(mpc.statistics.percentile(99.0), float)


def models() -> bd.System:
    assert_type(bd.models.circle(), bd.System)
    assert_type(bd.models.hand(4, torque=[0.1, 0.2, 0.1, 0.2], mu=0.5), bd.System)
    assert_type(bd.models.hexapod(body=(0.5, 0.3, 0.1), pulling=False), bd.System)
    assert_type(bd.models.order_test(), bd.System)
    assert_type(bd.models.oscillators(3, a=0.5), bd.System)
    assert_type(bd.models.plate(positions=[-0.5, 0.5]), bd.System)
    assert_type(bd.models.neurons(3, pulse=0.1), bd.System)
    assert_type(bd.models.rocking_block(restitution=0.9), bd.System)
    assert_type(bd.models.three_blocks(mu=(0.5, 0.4, 0.3)), bd.System)
    assert_type(bd.models.three_legs(c=0.0), bd.System)
    found = bd.models.available()
    assert_type(found, dict[str, Model])
    assert_type(found["plate"].build(5), tuple[bd.System, Array])
    assert_type(found["plate"].unit("vx"), str)
    return bd.models.hopper(g=1.62)


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
    film = bd.plot.animate(solution, draw, folder / "film.gif", fps=10, size=(2.0, 2.0), gait=True)
    assert_type(film, pathlib.Path)
    return film


def derivative_pictures(B: bd.BDerivative[object]) -> None:
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
    assert_type(robot.touching([1]), NDArray[np.bool_])
    assert_type(robot.inputs, tuple[str, ...])
    assert_type(robot.tangent(np.eye(robot.n), robot.neutral(), robot.neutral()), Array)
    assert_type(mj.LuGre(0.9, 0.7).rate(mass=1.0, force=10.0), float)
    trot = mj.PD({"hip": mj.Sinusoid(amplitude=0.3), "knee": -0.8}, kp=40.0)
    assert_type(trot.kp, float)
    return robot


def cycles(hopper: bd.System) -> bd.Branch:
    cycle = bd.find_cycle(hopper, [2.0, 0.0], {"k": 900.0}, section=("foot", 1), symmetry=np.ones(2), rtol=1e-8)
    assert_type(cycle, bd.Cycle)
    assert_type(cycle.period, float)
    assert_type(cycle.multipliers, NDArray[np.complex128])
    assert_type(cycle.pieces, list[NDArray[np.complex128]])
    assert_type(cycle.stable, bool | None)
    assert_type(cycle.solution, bd.Solution)
    assert_type(cycle.signature, tuple[tuple[str, int], ...])
    branch = bd.continue_cycle(cycle, "k", stop=950.0, step=0.1)
    assert_type(branch.values, Array)
    assert_type(branch.bifurcations, list[bd.Bifurcation])
    assert_type(branch[0], bd.Cycle)
    return branch


def estimation(hopper: bd.System) -> bd.Track:
    data = {"t": np.array([0.1, 0.2]), "z": np.array([1.95, 1.8])}
    found = bd.fit(hopper, data, [2.0, 0.0], free="g", sigma={"z": 0.01}, bounds={"g": (1.0, 20.0)})
    assert_type(found, bd.FitResult)
    assert_type(found.values, dict[str, float])
    assert_type(found.covariance, Array)
    estimator = bd.Filter(hopper, [2.0, 0.0], [0.01, 0.01], R=1e-4, estimate={"rest": 0.1})
    assert_type(estimator.predict(0.05), bd.Filter)
    assert_type(estimator.update([2.0], observe="z").nis, float)
    assert_type(estimator.contact("foot", False), float)
    track = estimator.run(data)
    assert_type(track["z"], Array)
    assert_type(track.smooth(), bd.Track)
    assert_type(bd.particle_filter(hopper, data, [2.0, 0.0], [0.01, 0.01], R=1e-4, count=20), bd.Track)
    return track


def main() -> None:
    hopper = systems()[0]
    assert len(cycles(bd.models.hopper())) > 1
    assert len(estimation(bd.models.hopper())) == 2
    checks(hopper)
    listing()
    sol = solutions(hopper)
    assert events(sol) > 0.0
    assert stepping(hopper).t.size == 5
    derivatives(sol, with_parameters=True)
    corners()
    shooting(hopper)
    planning(hopper)
    assert models().n == 2
    robots()
    assert report_failure(bd.SlidingError("sliding", t=1.0, guard="foot")).startswith("sliding")
    assert_type(bd.PerformanceWarning("slow"), bd.PerformanceWarning)
