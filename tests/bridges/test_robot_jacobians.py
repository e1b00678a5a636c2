"""Jacobians of robots by formulas: against extrapolated differences of f and h, and the derivative of the flow against solves."""

import pickle

import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj
from bouligand.bridges.mujoco import compiled, jacobians

from ..helpers import extrapolated, robots
from .test_couplings import TWO, chain

# every kind of joint, a body that is fixed to a moving one and one that is fixed to the world, three trees, five actuators
MECHANISM = """<mujoco><option gravity="0.3 -0.2 -9.81"/><worldbody><geom name="floor" type="plane" size="3 3 .1"/>
<body pos="0 0 .5" gravcomp=".7"><joint name="rail" type="slide" axis="1 0 .2" stiffness="30" damping="2" springref=".1"/>
 <joint name="swing" axis="0 1 .3" pos=".1 0 0" armature=".1"/><geom type="box" size=".1 .05 .04" mass="2"/>
 <body pos=".1 0 -.05"><joint name="hip" type="ball" damping=".3" pos="0 .02 .01"/>
  <geom name="thigh" type="capsule" fromto="0 0 0 0 0 -.3" size=".04" mass="1"/>
  <body pos="0 0 -.3"><joint name="knee" axis="0 1 0" stiffness="5" range="-20 40" limited="true" KNEE/>
   <geom name="shin" type="capsule" fromto="0 0 0 .05 0 -.3" size=".03" mass=".6"/><site name="toe" pos="0 0 -.33"/>
   <body pos="0 .01 0" gravcomp="1"><geom name="bead" type="sphere" size=".03" mass=".2"/></body></body></body></body>
<body pos="0 .3 .3"><body pos="0 .1 .1"><joint name="lid" axis="1 0 0"/>
 <geom name="lid" type="box" size=".2 .1 .02" mass=".5"/></body></body>
<body pos=".2 0 .3"><freejoint name="ball"/><geom name="ball" type="sphere" size=".1" mass="1"/></body></worldbody>
<actuator><motor joint="rail" gear="2" ctrlrange="-1 1" ctrllimited="true"/>
<position joint="swing" kp="20" kv="1" forcerange="-4 4" forcelimited="true"/>
<general joint="knee" dyntype="filter" dynprm=".1" gaintype="affine" gainprm="3 .5 .2" biastype="affine"
 biasprm=".1 -.2 -.3" gear="1.5"/>
<general joint="lid" dyntype="integrator" gainprm="3" biastype="affine" biasprm="0 -3 0"/>
<velocity joint="knee" kv="2"/></actuator></mujoco>"""
TOUCHING = ("toe", ("ball", "thigh"), ("shin", "lid"), ("ball", "lid"), ("ball", "floor"))
SPRING, COULOMB = mj.Spring(500.0, 5.0, preload=2.0), mj.Coulomb(0.6, 0.3)
LUGRE = mj.LuGre(0.8, 0.6, stribeck=0.5, sigma0=20.0, sigma1=0.5, sigma2=0.1)


def mechanism(knee="", **options):
    options = {"params": {"gain": 0.3}, "contacts": TOUCHING, "law": SPRING, "friction": COULOMB, **options}
    return mj.load(MECHANISM.replace("KNEE", knee), **options)


def feedback(t, x, p, u):
    u[0] = 0.001 * p[0] * x[0] + 0.3 * x[1] * x[10]
    u[1] = np.sin(x[2]) + t * x[4]  # of a quaternion, too
    u[2] = x[3] ** 2
    u[3] = x[29] * x[3]
    u[4] = p[1] * x[9] + p[7] * x[20]  # p[7]: "gain"


def check(robot, name, x, word=None, step=2e-4, t=0.3):
    """Each column of a Jacobian to 1e-8 of its largest entry, beside the round-off of the differences (of columns that are zero,
    such as those of the place of a base, the differences are nothing else)."""
    p, of_f = np.array(robot.defaults), name in ("Df", "Dp_f")
    function, mode = robot.function("f" if of_f else "h"), (word,) if of_f else ()
    given = robot.function(name)(t, x, *mode, p)
    if name in ("Df", "Dh"):
        steps = np.full(robot.n, step)
        exact = extrapolated.jacobian(lambda y: function(t, y, *mode, p), x, steps)
    else:
        steps = 1e-2 * np.maximum(np.abs(p), 0.1)
        exact = extrapolated.jacobian(lambda q: function(t, x, *mode, q), p, steps)
    noise = 1000.0 * np.finfo(float).eps * np.abs(function(t, x, *mode, p)).max(initial=1.0) / steps
    worst = (np.abs(given - exact).max(axis=0) / (1e-8 * np.abs(exact).max(axis=0) + noise)).max()
    assert given.shape == exact.shape
    assert worst < 1.0, f"{name}: {worst:.1e} times the tolerance"


def state(robot, seed):
    x = robots.random_state(robot, seed)
    x[robot.model.nq + robot.model.nv :] *= 0.05  # bristles bend by centimetres at most
    return x


@pytest.mark.parametrize("friction", [None, COULOMB, LUGRE], ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("law", [SPRING, mj.HuntCrossley(2e4, 0.4)], ids=lambda law: type(law).__name__)
def test_laws(law, friction):
    """Solo12, all feet and stops pressed, and all of them open (where bristles relax)."""
    robot = robots.solo(law=law, friction=friction, limits=None)
    x = state(robot, 5)
    x[2] = 0.05
    for word in (np.ones(robot.m), -np.ones(robot.m)):
        check(robot, "Df", x, word)
        check(robot, "Dp_f", x, word)
    check(robot, "Dh", x)
    check(robot, "Dp_h", x)
    assert not robot.function("Dt_h")(0.3, x, robot.defaults).any()


@pytest.mark.parametrize(
    "file", [robots.GO2, robots.ANYMAL_C, robots.ALLEGRO, robots.ANT], ids=lambda path: path.parent.parent.stem
)
def test_robots(file):
    base = {} if file in (robots.ALLEGRO, robots.ANT) else {"free_base": True}
    touching = None if file == robots.ALLEGRO else "feet"
    robot = robots.quietly(file, contacts=touching, friction=COULOMB, joint_friction=0.5, **base)
    assert robot.jacobians.Df == robot.jacobians.Dp_f == "given"
    x = state(robot, 2)
    for word in (np.ones(robot.m), -np.ones(robot.m)):
        check(robot, "Df", x, word, step=1e-3)


@pytest.mark.parametrize("control", [None, feedback], ids=["no inputs", "feedback"])
def test_every_kind_of_joint_actuator_and_contact(control):
    robot = mechanism(control=control)
    for seed in (1, 2):
        x = state(robot, seed)
        for word in (np.ones(robot.m), -np.ones(robot.m)):
            check(robot, "Df", x, word)
            check(robot, "Dp_f", x, word)
        check(robot, "Dh", x)
        check(robot, "Dp_h", x)


def test_two_balls():
    """They touch along the line through their centres, and have formulas of their own: depth, force and Jacobians."""
    robot = mechanism(contacts=[("ball", "bead"), ("bead", "ball"), ("bead", "lid")])
    x, p, nq = state(robot, 3), robot.defaults, robot.model.nq
    word = np.ones(robot.m)

    def depth(x):
        one, two = (robot.data(x).geom(name).xpos for name in ("ball", "bead"))
        return 0.13 - np.linalg.norm(one - two)

    slope, h = robot.function("f")(0.3, x, word, p)[:nq], robot.function("h")(0.3, x, p)
    ahead, behind = (np.r_[x[:nq] + side * slope, x[nq:]] for side in (1e-5, -1e-5))
    rate = (depth(ahead) - depth(behind)) / 2e-5
    assert h[[0, 2]] == pytest.approx([depth(x)] * 2, abs=1e-14)
    assert h[[1, 3]] == pytest.approx([2.0 + 500.0 * depth(x) + 5.0 * rate] * 2, abs=1e-6)
    check(robot, "Df", x, word)
    check(robot, "Dh", x)


def test_limits_of_inputs_and_forces():
    """Beyond them nothing is passed on: of the input, of the actuator's force, and of the sum of two actuators on one joint."""
    robot = mechanism('actuatorfrcrange="-2 2" actuatorfrclimited="true"', control=feedback)
    free = mechanism(control=feedback)
    knee, limited = robot.states.index("qvel:knee"), 0
    for seed in range(6):
        x = state(robot, seed)
        x[0] *= 5.0
        word = -np.ones(robot.m)
        check(robot, "Df", x, word)
        here, there = (system.function("Df")(0.3, x, word, system.defaults)[knee, knee] for system in (robot, free))
        limited += here != there
    assert 0 < limited < 6


def test_the_length_of_a_quaternion():
    """Df of a quaternion that is not of unit length; along the quaternion itself accelerations do not change."""
    robot = robots.solo(friction=COULOMB)
    x = state(robot, 4)
    x[3:7] *= 1.7
    word = np.ones(robot.m)
    check(robot, "Df", x, word)
    assert np.abs(robot.function("Df")(0.0, x, word, robot.defaults)[19:, 3:7] @ x[3:7]).max() < 1e-8


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("</worldbody>", '</worldbody><tendon><fixed><joint joint="lid" coef="1"/></fixed></tendon>', "tendons"),
        ('gravity="0.3 -0.2 -9.81"', 'gravity="0 0 -9" viscosity=".1"', "a fluid around the robot"),
        ('type="ball" damping=".3"', 'type="ball" stiffness="2"', "the spring of the joint 'hip'"),
        ('<velocity joint="knee" kv="2"/>', '<motor site="toe" gear="1 0 0 0 0 0"/>', "does not drive a hinge"),
    ],
    ids=["tendon", "fluid", "ball spring", "site"],
)
def test_what_has_no_formula_is_differenced(old, new, reason):
    assert old in MECHANISM
    robot = mj.load(MECHANISM.replace("KNEE", "").replace(old, new), contacts="toe", law=SPRING)
    assert robot.jacobians.Df == "differences"
    assert robot.jacobians.reason.startswith("no formula for")
    assert reason in robot.jacobians.reason
    assert not robot.has("Df")
    assert not robot.has("Dp_f")


def along(robot, x, word, dx, dp, t=0.3):
    """Df dx + Dp_f dp of a few directions (columns), by the function for these; called as the core does, directly after f."""
    n, many, p = robot.n, dx.shape[1], np.array(robot.defaults)
    D, tangents, out = np.zeros((many, n + len(p))), np.ascontiguousarray(dx), np.full((n, many), np.nan)
    D[:, n:] = dp.T
    address, keep = robot.memory()
    ctx, dummy = np.array([n, robot.m, len(p), address], dtype=np.int64), np.empty(n)
    here = [a.ctypes.data for a in (x, word, p)]
    assert compiled.entries()["f"](t, *here, dummy.ctypes.data, ctx.ctypes.data) == 0
    parameters = D.ctypes.data + 8 * n if dp.any() else 0
    more = tangents.ctypes.data, many, many, parameters, n + len(p), out.ctypes.data
    assert jacobians.entry("along")(t, *here, *more, ctx.ctypes.data) == 0
    del keep
    return out


DIRECTED = {
    "Solo12": lambda: robots.solo(law=mj.HuntCrossley(2e4, 0.4), friction=COULOMB, limits=None),
    "bristles": lambda: robots.solo(law=SPRING, friction=LUGRE, limits=None, joint_friction=0.5),
    "held inputs": lambda: robots.solo(control=mj.Hold([0.0, 0.2, 0.4], u=np.ones((3, 12))), friction=COULOMB),
    "every kind": mechanism,
    "feedback": lambda: mechanism(control=feedback),
    "limits": lambda: mechanism('actuatorfrcrange="-2 2" actuatorfrclimited="true"', control=feedback),
    "balls": lambda: mechanism(contacts=[("ball", "bead"), ("bead", "ball"), ("bead", "lid")]),
    "a cost": lambda: mechanism(cost=lambda t, x, p, u: np.sum(x[:5] ** 2) * p[0] + u[0] ** 2, control=feedback),
    "ANYmal": lambda: robots.quietly(
        robots.ANYMAL_C, contacts="feet", friction=COULOMB, joint_friction=0.5, free_base=True
    ),
    "joints that follow": lambda: chain(TWO, contacts="tip", law=SPRING, limits=None),
}


@pytest.mark.parametrize("make", DIRECTED.values(), ids=DIRECTED)
def test_a_few_directions_are_products_with_the_jacobians(make):
    """One to four directions, in states alone and with parameters; beside differences of a user's function, to round-off."""
    robot, rng = make(), np.random.default_rng(3)
    p, by_user = np.array(robot.defaults), robot.memory.driver.function is not None
    for seed in range(4):
        x = state(robot, seed)
        for word in (np.ones(robot.m), -np.ones(robot.m), np.where(rng.random(robot.m) < 0.5, 1.0, -1.0)):
            Df = robot.function("Df")(0.3, x, word, p)
            Dp_f = robot.function("Dp_f")(0.3, x, word, p) if len(p) else np.zeros((robot.n, 0))
            for many in (1, 3, 4):
                dx, dp = rng.normal(size=(robot.n, many)), rng.normal(size=(len(p), many)) * np.abs(p)[:, None]
                dp *= rng.random(many) < 0.7  # some in states alone
                exact, size = Df @ dx + Dp_f @ dp, np.abs(Df) @ np.abs(dx) + np.abs(Dp_f) @ np.abs(dp)
                error = np.abs(along(robot, x, word, dx, dp) - exact).max() / size.max()
                assert error < (1e-9 if by_user else 1e-13)


def test_a_pickled_robot_keeps_them():
    robot = mechanism()
    again = pickle.loads(pickle.dumps(robot))
    x, word = state(robot, 1), np.ones(robot.m)
    assert again.jacobians.Df == "given"
    one, two = (system.function("Df")(0.0, x, word, system.defaults) for system in (robot, again))
    assert (one == two).all()


def test_the_derivative_of_the_flow_against_solves():
    """Solo12 lands on four feet, one after the other: columns of B against one-sided differences of solves, and the adjoint."""
    robot = robots.solo(friction=mj.Coulomb(0.7, 0.05))
    x = robots.above_floor(robot, 0.02)
    x[3:7] += [0.0, 0.02, 0.01, 0.0]
    x[3:7] /= np.linalg.norm(x[3:7])
    span, tight = (0.0, 0.09), {"rtol": 1e-11, "atol": 1e-12}
    sol = bd.solve(robot, span, x, **tight)
    assert len(set(robots.when(sol, "touches"))) == 4
    B = sol.bderivative(params=True)
    rng = np.random.default_rng(1)
    parameters = len(robot.defaults)
    for _ in range(3):
        dx, dp = robot.lift(x) @ rng.normal(size=robot.tangents), rng.normal(size=parameters) * robot.defaults
        step = 1e-6
        moved = bd.solve(robot, span, x + step * dx, p=robot.defaults + step * dp, **tight)
        difference = (moved.x[-1] - sol.x[-1]) / step
        assert B(dx, dp) == pytest.approx(difference, abs=2e-4 * np.abs(difference).max())
        w = rng.normal(size=robot.n)
        in_x, in_p = B.vjp(w)
        assert in_x @ dx + in_p @ dp == pytest.approx(w @ B(dx, dp), rel=1e-6)
    matrix = B.matrix()
    assert matrix @ dx == pytest.approx(B(dx, np.zeros(parameters)), abs=1e-7 * np.abs(matrix @ dx).max())


def test_a_few_perturbations_do_not_need_the_matrix():
    """Two of them in one pass, one at several times, and with a parameter: as the matrix has it, without Df at each stage."""
    robot = robots.solo(friction=mj.Coulomb(0.7, 0.05), control=mj.Hold([0.0, 0.05], u=np.zeros((2, 12))))
    x = robots.above_floor(robot, 0.02)
    x[3:7] += [0.0, 0.02, 0.01, 0.0]
    x[3:7] /= np.linalg.norm(x[3:7])
    sol = bd.solve(robot, (0.0, 0.09), x)
    assert len(sol.events) > 3
    rng, times = np.random.default_rng(2), np.array([0.03, 0.07, 0.09])
    dx, dp = rng.normal(size=(2, robot.n)), np.zeros(len(robot.defaults))
    dp[robot.held] = rng.normal(size=24)
    B, at_times = sol.bderivative(params=True), sol.bderivative(times)
    matrix, by_p, whole = B.matrix(), B.matrix(wrt="p"), at_times.matrix()
    size = np.abs(matrix).max()
    new = sol.bderivative(params=True)
    assert new(dx) == pytest.approx(dx @ matrix.T, abs=1e-11 * size)
    assert new._map._links is None
    assert new(dx[0], dp) == pytest.approx(matrix @ dx[0] + by_p @ dp, abs=1e-11 * size)
    for _ in range(2):
        assert new(dx) == pytest.approx(dx @ matrix.T, abs=1e-11 * size)
    assert new._map._links is not None or new._map.width > 100  # from the fifth on
    assert sol.bderivative(times)(dx[0]) == pytest.approx(whole @ dx[0], abs=1e-11 * size)
    assert sol.bderivative()(np.empty((0, robot.n))).shape == (0, robot.n)
