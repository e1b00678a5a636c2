"""Robots that land, unload their feet for a moment and stand: no rollout is refused, and errors stay within kappa."""

import functools

import numpy as np
import pytest
from benchmarks import drops, scenes

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots


@functools.cache
def random_drops(name):
    """A robot; and of some drops the start, the end at a tight tolerance, and what errors on the way may grow to."""
    robot, stance = drops.load(drops.KINDS[name], "Spring", "no")
    references = []
    for seed in range(6):
        x0 = drops.start(robot, stance, seed)
        tight = bd.solve(robot, (0.0, drops.DURATION), x0, rtol=1e-8)
        references.append((x0, tight.x[-1], drops.amplification(robot, tight)))
    return robot, references


@pytest.mark.parametrize("name", ["solo12", "ant"])
@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-4])
def test_random_drops_complete(name, rtol):
    """Before, 35 of 40 drops of Solo12 were refused at rtol 1e-2, and every one of the ant's."""
    robot, references = random_drops(name)
    decided = 0
    for x0, end, amplification in references:
        sol = bd.solve(robot, (0.0, drops.DURATION), x0, rtol=rtol)
        error = np.abs(sol.x[-1] - end) / (rtol * drops.tolerance(end))
        assert (error < amplification).all()
        decided += int(np.count_nonzero(sol.margins["decided"]))
    if rtol > 1e-3:
        assert decided > 6


@pytest.mark.parametrize("name", ["solo12", "ant"])
def test_drops_complete_at_loose_tolerances(name):
    robot, stance = drops.load(drops.KINDS[name], "Spring", "yes")
    for seed in range(8):
        for rtol in (1e-1, 3e-2):
            assert bd.solve(robot, (0.0, drops.DURATION), drops.start(robot, stance, seed), rtol=rtol).success


@pytest.mark.parametrize(
    ("name", "law", "friction", "seed"),
    [("ant", "Spring", "yes", 24), ("ant", "HuntCrossley", "no", 21), ("solo12", "Spring", "yes", 32)],
)
def test_dampers_do_not_make_feet_slide_on_their_guards(name, law, friction, seed):
    """Beside the guard of a foot that pushes, by what a landing has left of the force, the damper turned its rate round: refused
    with SlidingError or NotEventSelectedError, although the force ends where the guard is."""
    robot, stance = drops.load(drops.KINDS[name], law, friction)
    assert bd.solve(robot, (0.0, drops.DURATION), drops.start(robot, stance, seed), rtol=1e-1).success


def test_feet_in_stance_are_not_searched_again_and_again():
    """Guards near their surfaces for seconds: h was evaluated 3.5 times as often as f, to find how near they came."""
    scene = scenes.Drop(friction=False)
    robot, x0 = scene.ours()
    counts = bd.solve(robot, (0.0, scene.duration), x0, rtol=1e-2).counts
    assert counts.h < 1.5 * counts.f


@pytest.mark.parametrize("rtol", [1e-1, 3e-2])
def test_guards_that_are_approached_ever_more_slowly(rtol):
    """Each hop onto one fell short, and the next one looked as near: 284 and 286 steps for 34 events."""
    scene = scenes.Ant(friction=True)
    robot, x0 = scene.ours()
    assert bd.solve(robot, (0.0, scene.duration), x0, rtol=rtol).counts.steps < 220


def test_fingers_that_slip_on_a_ball_at_loose_tolerances():
    """Behind a landing with friction, explicit steps went on at the limit of stability; and 1e-1 took the steps of 3e-2."""
    scene, times = scenes.Hand(friction=True), np.linspace(0.0, 1.0, 51)
    robot, x0 = scene.ours()
    loose, tight = (bd.solve(robot, (0.0, scene.duration), x0, rtol=rtol, t_eval=times) for rtol in (1e-1, 1e-7))
    assert np.sqrt(np.mean((loose.x - tight.x) ** 2)) < 0.1
    assert loose.counts.f < 240  # (it was 292)


def trot(friction):
    """Solo12, diagonal legs in turn, by a PD controller."""
    gait: dict[str, float | mj.Sinusoid] = {}
    for leg, phase in zip(robots.LEGS, (0.0, np.pi, np.pi, 0.0), strict=True):
        front = 1.0 if leg[0] == "F" else -1.0
        gait[f"{leg}_HAA"] = 0.0
        gait[f"{leg}_HFE"] = mj.Sinusoid(0.8 * front, 0.15, 2.0, phase)
        gait[f"{leg}_KFE"] = mj.Sinusoid(-1.6 * front, 0.25 * front, 2.0, phase + 0.5 * np.pi)
    return robots.solo(control=mj.PD(gait, kp=6.0, kd=0.2), friction=friction)


@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-4])
def test_a_trot_completes(rtol):
    robot = trot(mj.Coulomb(0.8, 0.05))
    sol = bd.solve(robot, (0.0, 1.5), robots.above_floor(robot, 0.01), rtol=rtol)
    assert sol.success
    lifts = {str(name) for name in sol.events.name if name.endswith("touches")}
    assert len(lifts) == 4
    assert 0.1 < sol.x[-1, 2] < 0.4  # (it does not fall)


@pytest.mark.parametrize("name", ["solo12", "ant"])
@pytest.mark.parametrize("speed", [0.0, -0.3])
def test_a_start_with_the_feet_exactly_on_the_floor(name, speed):
    robot, x = drops.load(drops.KINDS[name], "Spring", "yes")
    h, touches = robot.function("h"), [k for k, guard in enumerate(robot.guards) if guard.endswith("touches")]
    for _ in range(5):
        x[2] += h(0.0, x, robot.defaults)[touches].max()
    assert np.abs(h(0.0, x, robot.defaults)[touches]).max() < 1e-15
    x[robot.model.nq + 2] = speed
    loose, tight = (bd.solve(robot, (0.0, 0.2), x, rtol=rtol) for rtol in (1e-4, 1e-8))
    assert loose.x[-1] == pytest.approx(tight.x[-1], abs=5e-2)
    assert robot.touching(tight.b[-1]).all() or speed < 0.0


ARM = """<mujoco><option gravity="0 0 {}"/><worldbody><body name="arm" pos="0 0 1">
<joint name="hinge" axis="0 1 0" limited="true" range="-60 0"/>
<geom name="rod" type="capsule" fromto="0 0 0 0.5 0 0" size="0.02"/></body></worldbody></mujoco>"""


def test_a_start_exactly_on_the_limit_of_a_joint():
    """At rest without a load it stays; it leaves with its own speed; under its weight it sinks into the stop."""
    free = mj.load(ARM.format(0.0))
    assert np.array_equal(bd.solve(free, (0.0, 0.3), free.neutral()).x[-1], [0.0, 0.0])
    assert bd.solve(free, (0.0, 0.3), [0.0, -1.0]).x[-1] == pytest.approx([-0.3, -1.0])
    back = bd.solve(free, (0.0, 0.3), [0.0, 1.0], rtol=1e-8)
    assert back.x[-1, 1] < 0.0
    heavy = mj.load(ARM.format(-9.81))
    assert 0.0 < bd.solve(heavy, (0.0, 0.3), heavy.neutral()).x[-1, 0] < 0.1


@pytest.mark.parametrize("which", [0, 1])
def test_a_robot_that_starts_with_all_joints_on_their_limits(which):
    robot = robots.quietly(robots.ANT, contacts="feet", law=mj.Spring(5000.0, 30.0))
    x = robot.neutral()
    x[7 : robot.model.nq] = robot.model.jnt_range[1:, which]
    x[2] += 1.0
    for rtol in (1e-3, 1e-6):
        assert bd.solve(robot, (0.0, 0.2), x, rtol=rtol).success
