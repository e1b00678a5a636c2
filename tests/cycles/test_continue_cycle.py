"""Families of cycles: period doublings, folds and grazes against closed forms and the literature."""

import math

import numpy as np
import pytest

import bouligand as bd
from bouligand.models import buck_converter, rimless_wheel, simplest_walker
from bouligand.models.buck_converter import doubling, pulse


def test_the_buck_converter_doubles_its_period():
    from bouligand.models.buck_converter import START

    cycle = bd.find_cycle(buck_converter(), START, section="clock", settle=0.02)
    branch = bd.continue_cycle(cycle, "Vin", stop=25.0, step=0.1, max_step=0.2)
    (found,) = branch.bifurcations
    assert found.kind == "period doubling"
    assert found.value == pytest.approx(doubling(), abs=1e-6)
    assert found.value == pytest.approx(24.516, abs=1e-3)  # (Fossas and Olivar; di Bernardo)
    assert branch.values[-1] == pytest.approx(25.0, abs=1e-9)
    assert branch[-1].at_section[:2] == pytest.approx(pulse(25.0)[1], abs=1e-7)
    assert branch.stable[0] is True
    assert branch.stable[-1] is False
    assert branch.periods == pytest.approx(400e-6, rel=1e-9)


def test_a_step_along_a_branch_needs_one_jacobian(monkeypatch):
    from bouligand.cycles.problem import Problem
    from bouligand.models.rimless_wheel import START

    cycle = bd.find_cycle(rimless_wheel(), START, section="forward")
    counted, linearise = [], Problem.linearise

    def counting(self, *arguments):
        counted.append(1)
        return linearise(self, *arguments)

    monkeypatch.setattr(Problem, "linearise", counting)
    branch = bd.continue_cycle(cycle, "gamma", stop=0.1)
    assert branch.values[-1] == pytest.approx(0.1, abs=1e-9)
    assert len(counted) <= len(branch.cycles) + 3  # (the first one; the last step, which went too far)


def test_the_walker_doubles_its_period():
    """Garcia and others: the long gait is stable up to a slope of about 0.0151."""
    cycle = bd.find_cycle(simplest_walker(), [0.2, -0.2, 0.4, -0.016], section="heel strike")
    branch = bd.continue_cycle(cycle, "gamma", stop=0.016, step=0.2, max_step=0.3)
    (found,) = branch.bifurcations
    assert found.kind == "period doubling"
    assert found.value == pytest.approx(0.0151, abs=5e-5)
    # small slopes: the angle grows like 0.970956 gamma^(1/3), in the limit
    down = bd.continue_cycle(cycle, "gamma", stop=0.001, step=0.2, max_step=0.3)
    assert down.states("theta")[-1] / 0.001 ** (1.0 / 3.0) == pytest.approx(0.970956, abs=0.02)


def test_a_fold():
    """r' = r (mu + 2 r^2 - r^4), a turn in 2 pi: cycles at r^2 = 1 +- sqrt(1 + mu), which meet in a fold at mu = -1.
    Multipliers exp(2 pi (4 r^2 - 4 r^4))."""

    def f(t, x, b, p):
        s = x[0] ** 2 + x[1] ** 2
        growth = p[0] + 2.0 * s - s * s
        return growth * x[0] - x[1], growth * x[1] + x[0]

    system = bd.System(
        f, lambda t, x, p: (x[1],), states=("x", "y"), guards=("axis",), params={"mu": -0.7}, observers=("axis",)
    )
    cycle = bd.find_cycle(system, [1.3, -0.1], section="axis")
    branch = bd.continue_cycle(cycle, "mu", stop=-1.5, backward=-0.6, step=0.05)
    (found,) = branch.bifurcations
    assert found.kind == "fold"
    assert found.value == pytest.approx(-1.0, abs=1e-7)
    assert branch.values[-1] == pytest.approx(-0.6, abs=1e-9)
    r2 = branch.states("x") ** 2
    sides = np.where(np.arange(len(branch)) <= np.argmin(branch.values), 1.0, -1.0)
    away = np.abs(branch.values + 1.0) > 1e-3
    assert r2[away] == pytest.approx((1.0 + sides * np.sqrt(1.0 + branch.values))[away], abs=1e-6)
    assert branch.multipliers[:, 0].real == pytest.approx(np.exp(2 * math.pi * (4 * r2 - 4 * r2**2)), rel=1e-5)
    assert branch.stable[0] is True
    assert branch.stable[-1] is False


def test_a_graze_is_reported():
    """A forced oscillator, x = c cos(w t) with c = 1 / (1 - w^2) < 0, and a soft stop at x = gap: it is touched where
    gap = |c|."""

    def f(t, x, b, p):
        return x[1], -x[0] - (20.0 * (x[0] - p[0]) if b[0] > 0.0 else 0.0) - 0.1 * x[1] + math.cos(1.8 * t)

    system = bd.System(f, lambda t, x, p: (x[0] - p[0],), states=("x", "v"), guards=("stop",), params={"gap": 0.8})
    T = 2 * math.pi / 1.8
    size = 1.0 / math.hypot(1.0 - 1.8**2, 0.1 * 1.8)
    cycle = bd.find_cycle(system, [0.0, 0.0], period=T, settle=60 * T)
    assert cycle.signature == ()
    assert np.abs(cycle.multipliers) == pytest.approx(math.exp(-0.05 * T), abs=1e-7)
    branch = bd.continue_cycle(cycle, "gap", stop=0.3)
    (found,) = [found for found in branch.bifurcations if found.kind == "grazing"]
    assert found.value == pytest.approx(size, abs=1e-4)
    assert "'stop'" in found.about
    assert len(branch[-1].signature) == 2


def test_the_end_of_a_branch_is_told():
    """On too flat a slope the wheel does not go over the top: its gait ends, and the branch says where."""
    cycle = bd.find_cycle(rimless_wheel(), [-0.3, 1.6], section="forward")
    branch = bd.continue_cycle(cycle, "gamma", stop=0.0, step=0.05)
    assert "no next cycle" in branch.message
    # in the gait, energy at the top is zero where omega^2 = 2 (g / l) (1 - cos(gamma - alpha)) behind an impact
    alpha = math.pi / 8
    gamma = branch.values[-1]
    omega2 = 4 * 9.81 * math.sin(alpha) * math.sin(gamma)  # (c / (1 - c) = 1)
    assert omega2 == pytest.approx(2 * 9.81 * (1 - math.cos(gamma - alpha)), abs=1e-3)
    assert len(branch) > 5


def test_wrong_arguments_are_named():
    cycle = bd.find_cycle(rimless_wheel(), [-0.3, 1.6], section="forward")
    with pytest.raises(ValueError, match="slope"):
        bd.continue_cycle(cycle, "slope", 0.1)
    with pytest.raises(ValueError, match="differ"):
        bd.continue_cycle(cycle, "gamma", 0.08)
    with pytest.raises(ValueError, match="step"):
        bd.continue_cycle(cycle, "gamma", 0.1, step=0.5)
    with pytest.raises(ValueError, match="no state"):
        bd.continue_cycle(cycle, "gamma", 0.081, step=0.1).states("phi")
