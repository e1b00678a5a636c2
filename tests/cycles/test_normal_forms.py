"""Bifurcations of a circle beside which a normal form is at rest: multipliers and places are known exactly."""

import numpy as np
import pytest

import bouligand as bd


def circle(x, dx):
    """The unit circle, of period 1: what is beside it returns as exp(-2)."""
    radial = 1.0 - x[0] * x[0] - x[1] * x[1]
    dx[0] = x[0] * radial - 2.0 * np.pi * x[1]
    dx[1] = x[1] * radial + 2.0 * np.pi * x[0]


def hopf(t, x, b, p, dx):
    circle(x, dx)
    rate = p[0] - x[2] * x[2] - x[3] * x[3]
    dx[2] = rate * x[2] - p[1] * x[3]
    dx[3] = rate * x[3] + p[1] * x[2]


def pitchfork(t, x, b, p, dx):
    circle(x, dx)
    dx[2] = p[0] * x[2] - x[2] * x[2] * x[2]


def axis(t, x, p, out):
    out[0] = x[1]


def test_a_torus_where_a_complex_pair_leaves_the_unit_circle():
    system = bd.System(
        hopf, axis, n=4, guards=("axis",), params={"mu": -0.3, "omega": 1.3}, observers="axis", direction=1
    )
    cycle = bd.find_cycle(system, [1.0, -0.1, 0.0, 0.0], section="axis")
    exact = [np.exp(-0.3 + 1.3j), np.exp(-0.3 - 1.3j), np.exp(-2.0)]
    assert np.abs(np.sort_complex(cycle.multipliers) - np.sort_complex(exact)).max() < 1e-7
    branch = bd.continue_cycle(cycle, "mu", stop=0.3)
    assert [found.kind for found in branch.bifurcations] == ["torus"]
    assert abs(branch.bifurcations[0].value) < 1e-7


@pytest.mark.parametrize(
    ("symmetry", "kind"),
    [
        (None, "branch point"),
        ([-1.0, -1.0, 1.0], "branch point"),  # half a turn maps the new branches to themselves,
        ([-1.0, -1.0, -1.0], "symmetry breaking"),  # or to each other
    ],
)
def test_a_pitchfork(symmetry, kind):
    direction = 1 if symmetry is None else 0
    system = bd.System(
        pitchfork, axis, n=3, guards=("axis",), params={"mu": -0.3}, observers="axis", direction=direction
    )
    cycle = bd.find_cycle(system, [1.0, -0.1, 0.0], section="axis", symmetry=symmetry)
    assert np.abs(np.sort(cycle.multipliers.real) - [np.exp(-2.0), np.exp(-0.3)]).max() < 1e-7
    branch = bd.continue_cycle(cycle, "mu", stop=0.3)
    assert [found.kind for found in branch.bifurcations] == [kind]
    assert abs(branch.bifurcations[0].value) < 1e-7
