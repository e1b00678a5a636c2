"""A short part of the fuzz, and of what it compares with: the closed forms are checked against cases that are known by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from tests.attacks.affine import Leg, Problem
from tests.attacks.exact import follow, generator
from tests.attacks.fuzz import DOUBT, NEEDLESS, RIGHT, WRONG, attack, made
from tests.attacks.kinds import KINDS


def bouncing(span=(0.0, 2.0)):
    """A mass that falls from 2 onto a spring at 1."""
    A = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [-1000.0, 0.0]]])
    c = np.array([[0.0, -9.81], [0.0, 1000.0]])
    leg = Leg(A, c, np.zeros(2), np.zeros((1, 2)), np.array([[-1.0, 0.0]]), np.array([-1.0]), np.zeros(1))
    return Problem([leg], [], span, np.array([2.0, 0.0]), options={"rtol": 1e-8})


def test_the_closed_form_of_a_hopper():
    touch = np.sqrt(2.0 / 9.81)
    rate, speed = np.sqrt(1000.0), 9.81 * touch
    stay = 2.0 * (np.pi - np.arctan(rate * speed / 9.81)) / rate  # half a swing about the loaded position, and the rest
    found = follow(bouncing())
    times = [crossing.t for crossing in found.crossings]
    np.testing.assert_allclose(times[:2], [touch, touch + stay], rtol=1e-13)
    assert [crossing.sign for crossing in found.crossings[:2]] == [1, -1]


@pytest.mark.parametrize("kind", ["plain", "breakpoints", "one-sided"])
def test_the_derivative_in_closed_form_is_that_of_the_closed_form(kind):
    checked = 0
    for seed in range(12):
        problem = made(kind, seed)
        found = follow(problem)
        if found.status != "finished" or found.margin < 1e-3 or found.growth > 100.0:
            continue
        for i in range(problem.n):
            step = 1e-6 * np.eye(problem.n)[i]
            ahead, behind = follow(problem, problem.x0 + step), follow(problem, problem.x0 - step)
            np.testing.assert_allclose((ahead.x - behind.x) / 2e-6, found.derivative[:, i], atol=1e-5 * found.growth)
        checked += 1
    assert checked > 3


def test_between_crossings_the_closed_form_is_a_matrix_exponential():
    problem = replace(made("plain", 3), span=(0.0, 0.7))
    problem.legs[0].level[:] = 1e6 * np.linalg.norm(problem.legs[0].N, axis=1)
    M = generator(problem.legs[0], -np.ones(problem.m))
    np.testing.assert_allclose(follow(problem).x, (expm(0.7 * M) @ np.r_[problem.x0, 0.0, 1.0])[:-2], rtol=1e-12)


@pytest.mark.parametrize(("kind", "seed"), [("starts", 600128), ("combined", 20090)])
def test_a_guard_that_a_perturbed_start_crosses_back_is_refused(kind, seed):
    found = attack(kind, seed)
    assert "NotEventSelectedError" in str(found), found


@pytest.mark.parametrize("seed", [50, 1033, 20259, 300088])
def test_an_end_just_behind_a_landing_is_reached(seed):
    """The time that is left is shorter than what the landing has left of h: the guard is still short of zero at the end."""
    assert attack("ends", seed).name in (RIGHT, DOUBT)


def test_breakpoints_nearer_than_a_difference_of_h():
    """Between two breakpoints 1.4 ms apart h is differenced to neither side beyond them. (It took 20,000 steps.)"""
    assert attack("combined", 7003994).name == RIGHT


@pytest.mark.parametrize("seed", [8001767, 8005606])
def test_a_hop_of_femtoseconds_between_two_ties_says_nothing_of_the_next_step(seed):
    """(The round-off of its stages made the next step 1e-11 long, and differences over that showed a graze.)"""
    assert attack("corners", seed).name == RIGHT


@pytest.mark.parametrize("seed", [1794976644, 1794980440])
def test_hops_that_are_short_behind_a_jump_bend(seed):
    """Two balls that gained energy at impacts a few tolerances above the floor, and never came to rest."""
    assert attack("stacks", seed).name == RIGHT


@pytest.mark.parametrize("kind", KINDS)
def test_some_of_each_kind(kind):
    for seed in range(12 if kind != "spans" else 5):
        found = attack(kind, seed)
        assert found.name not in (*WRONG, NEEDLESS), f"--kind {kind} --seed {seed} --count 1: {found}"
