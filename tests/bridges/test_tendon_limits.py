"""Limits of tendons: against joints with the same limit, MuJoCo's own tendon springs with a dead band, and closed forms."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj

ARM = """<mujoco><option gravity="0 0 -0.1"/><worldbody><body><joint name="q" axis="0 1 0" {joint}/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1"/></body></worldbody>{more}</mujoco>"""
FIXED = """<tendon><fixed name="twice" limited="true" range="-0.8 1"><joint joint="q" coef="2"/></fixed></tendon>"""

STRING = """<mujoco><worldbody><site name="hook" pos="0.1 0 1"/>
<body pos="0 0 0.7"><freejoint name="ball"/><geom type="sphere" size="0.05" mass="0.3"/><site name="eye" pos="0 0 0.05"/></body>
</worldbody><tendon><spatial name="string" {string}><site site="hook"/><site site="eye"/></spatial></tendon></mujoco>"""
LENGTH, STIFFNESS = 0.4, 3000.0


def test_a_tendon_of_one_joint_is_a_limit_of_that_joint():
    """A length of 2 q: half the limits, and twice the damping for each rad/s of the joint."""
    tendon = mj.load(ARM.format(joint="", more=FIXED), limits=mj.Stops(2500.0, 0.01))
    joint = mj.load(
        ARM.format(joint='limited="true" range="-22.918311805 28.647889757"', more=""), limits=mj.Stops(2500.0, 0.02)
    )
    assert tendon.guards == ("twice beyond its lower limit", "twice beyond its upper limit")
    ours, theirs = (bd.solve(robot, (0.0, 4.0), robot.x(q=-0.2, qvel=[2.0]), rtol=1e-10) for robot in (tendon, joint))
    assert len(ours.events.t) == len(theirs.events.t) > 6
    assert np.allclose(ours.events.t, theirs.events.t, atol=1e-8)  # (the range of the joint has eleven digits)
    assert np.allclose(ours.x[-1], theirs.x[-1], atol=1e-8)


def string(text, **options):
    return mj.load(STRING.format(string=text), **options)


def test_a_string_is_mujocos_tendon_spring_with_a_dead_band():
    """Without damping both have the same law; MuJoCo's spring needs no guard, ours has one."""
    limited = string(f'limited="true" range="0 {LENGTH}"', limits=mj.Stops(STIFFNESS, 0.0))
    assert limited.guards == ("string beyond its upper limit",)  # (no string is shorter than 0)
    inertia = 1.0 / limited.model.tendon_invweight0[0]
    spring = string(f'stiffness="{STIFFNESS * inertia:.17g}" springlength="0 {LENGTH}"')
    chance = np.random.default_rng(1)
    for _ in range(5):
        x = limited.neutral()
        x[:3] += 0.3 * chance.normal(size=3)
        x[7:] = chance.normal(size=6)
        h = limited.function("h")(0.0, x, limited.defaults)
        ours = limited.function("f")(0.0, x, np.sign(h), limited.defaults)
        theirs = spring.function("f")(0.0, x, np.zeros(0), spring.defaults)
        assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        Dh = limited.function("Dh")(0.0, x, limited.defaults)
        for i in range(limited.n):
            step = 1e-6 * np.eye(limited.n)[i]
            high, low = (limited.function("h")(0.0, x + d, limited.defaults) for d in (step, -step))
            assert np.allclose(Dh[:, i], (high - low) / 2e-6, atol=1e-8)


def test_a_ball_that_falls_into_its_string_and_back():
    """Straight down: free fall, half an oscillation about its rest, free flight."""
    text = STRING.replace('pos="0.1 0 1"', 'pos="0 0 1"')
    ball = mj.load(text.format(string=f'limited="true" range="0 {LENGTH}"'), limits=mj.Stops(STIFFNESS, 0.0))
    fall = LENGTH - 0.25  # from 0.7 + 0.05 to the hook
    rate = np.sqrt(STIFFNESS)  # (the inertia of the string is the mass of the ball: it hangs straight)
    speed = np.sqrt(2 * 9.81 * fall)
    taut = np.sqrt(2 * fall / 9.81)
    slack = taut + (np.pi + 2 * np.arctan(9.81 / (rate * speed))) / rate
    sol = bd.solve(ball, (0.0, slack + taut), ball.neutral(), rtol=1e-11, atol=1e-12)
    assert np.allclose(sol.events.t, [taut, slack], rtol=1e-9)
    assert sol.x[-1, 2] == pytest.approx(0.7, abs=1e-9)  # it is back at the start, at rest
    assert abs(sol.x[-1, 9]) < 1e-8


def test_limits_of_tendons_can_be_left_out_or_refused():
    limited = f'limited="true" range="0 {LENGTH}"'
    assert string(limited, limits="ignore").m == 0
    with pytest.raises(mj.UnsupportedFeatureError, match=r"limits of the tendons 'string'; give limits=Stops"):
        string(limited, limits="refuse")
    above = ARM.replace('fromto="0 0 0 0.4 0 0"', 'fromto="0 0 0 0 0 -0.4"').replace(
        "</body>", '<site name="end" pos="0 0 -0.4"/></body>'
    )
    rope = '<tendon><spatial name="rope" limited="true" range="0 1.5"><site site="hook"/><site site="end"/></spatial></tendon>'
    hung = above.replace("<worldbody>", '<worldbody><site name="hook" pos="0 0 1"/>').format(joint="", more=rope)
    with pytest.raises(mj.UnsupportedFeatureError, match="'rope', which nothing makes longer in the reference pose"):
        mj.load(hung)  # it hangs straight down from below the hook
