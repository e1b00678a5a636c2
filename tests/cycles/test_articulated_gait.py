"""The walking gait of a robot with 6 x 3 joints, read from a file (examples/six_legs_gait.py)."""

import importlib.util
import pathlib

import numpy as np
import pytest

import bouligand as bd

pytest.importorskip("mujoco")
EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "six_legs_gait.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("six_legs_gait", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def six(example):
    return example.robot()


@pytest.fixture(scope="module")
def gait(example, six):
    return example.find(six)


def stride(six, gait, x):
    return bd.solve(six, (gait.t0, gait.t0 + gait.period), x, gait.p, rtol=1e-12, atol=1e-14).x[-1]


def test_a_tight_solve_comes_back_after_one_stride(six, gait):
    assert gait.drift[0] > 0.15
    assert np.abs(stride(six, gait, gait.x0) - gait.drift - gait.x0).max() < 1e-9


def test_tripods_alternate_and_all_but_place_and_heading_is_forgotten(six, gait):
    halves = gait.signature
    assert len(halves) == 12  # each foot of one tripod lands and begins to push, each of the other one leaves
    assert np.allclose(gait.multipliers[:2], 1.0, atol=1e-6)
    assert np.abs(gait.multipliers[2:]).max() < 1e-2


def test_the_derivative_around_the_gait_against_differences(six, gait):
    M = gait.solution.bderivative().matrix()
    G, rng, step = six.lift(gait.x0), np.random.default_rng(0), 1e-6
    for _ in range(3):
        d = G @ rng.standard_normal(G.shape[1])
        ends = [stride(six, gait, gait.x0 + sign * step * d) for sign in (1.0, -1.0)]
        assert np.allclose(M @ d, (ends[0] - ends[1]) / (2.0 * step), atol=1e-6 * np.linalg.norm(d))
