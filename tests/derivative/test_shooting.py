"""The outcome as a function for optimisers, and the pictures of a derivative."""

import matplotlib as mpl
import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START

from ..helpers import systems
from ..helpers.flow import richardson
from ..helpers.systems import close

mpl.use("Agg")


def shooting():
    plate = bd.models.plate(3)
    return bd.Shooting(plate, (0.0, 0.7), START, free=("z", "k", "theta"), rtol=1e-11, atol=1e-13)


def test_jacobian_and_gradient():
    shot = shooting()
    theta = shot.start
    known = np.array([richardson(shooting(), theta, np.eye(3)[q] * theta[q], 1e-4) / theta[q] for q in range(3)]).T
    close(shot.jacobian(theta), known, 1e-6 * np.abs(known).max())
    assert shot.solves == 1
    target = np.arange(6.0)
    value, gradient = shot.value_and_gradient(lambda x: (0.5 * np.sum((x - target) ** 2), x - target))(theta)
    assert shot.solves == 1
    close(value, 0.5 * np.sum((shot(theta) - target) ** 2), 1e-12)
    close(gradient, shot.jacobian(theta).T @ (shot(theta) - target), 1e-8 * np.abs(gradient).max())


def test_at_a_corner_the_piece_lies_ahead():
    shot = bd.Shooting(systems.corner, (0.0, 2.0), [-1.25, -1.0])
    shot([-1.25, -1.0])
    close(shot.jacobian([-1.0, -1.0]), [[0.5, 0.5], [0, 0.5]], 1e-8)  # x0 has been growing: it is crossed first


def test_bad_names():
    with pytest.raises(ValueError, match="'y' is neither a state nor a parameter; states: z, vz"):
        bd.Shooting(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], free=("y",))
    with pytest.raises(ValueError, match=r"theta must have 2 values \(z, vz\)"):
        bd.Shooting(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0])([1.0])


def test_level_landing_example():
    from examples.level_landing import solve_for_start

    with_b, shot = solve_for_start(True)
    without, other = solve_for_start(False)
    assert np.abs(with_b.fun).max() < 1e-9
    close(with_b.x, without.x, 1e-6)
    assert shot.solves < 0.5 * other.solves


def test_pictures_of_a_derivative():
    import matplotlib.pyplot as plt

    B = bd.solve(systems.six, (0.0, 2.0), [-1.0, -1.0, -1.0]).bderivative()
    axes = bd.plot.perturbations(B, radius=0.1, count=60)
    legend = [text.get_text() for text in axes[1].get_legend().get_texts()]
    assert len(legend) == 7  # six orders, and the true flow
    ax = bd.plot.fan(B, radius=0.1, count=5)
    assert ax.get_xlabel() == "x0"
    with pytest.raises(ValueError, match="no state is called 'z'"):
        bd.plot.fan(B, radius=0.1, plane=("z", 0))
    plt.close("all")


def test_six_orders_example(tmp_path, capsys):
    from examples.six_orders import main

    main(tmp_path)
    assert capsys.readouterr().out.count("[[") == 6
    assert (tmp_path / "perturbations.png").stat().st_size > 10_000
