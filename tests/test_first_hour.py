"""Tasks of the first hour, written as people write them who have read the first pages of the docs only.

Starts and targets by name, events of a guard by its name, a jump alone where there is one guard, functions that return arrays.
(Schedules, fits, files and robots are tasks of the pages under docs/howto, which run as tests too.)
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bouligand as bd
from bouligand.blocks import relay, thresholds

G = 9.81


def free_fall(t, x, b, p):
    return np.array([x[1], -9.81])


def height(t, x, p):
    return np.array([x[0]])


def test_a_ball_by_names():
    def f(t, x, b, p):
        m, k, c = p
        force = -k * x[0] - c * x[1] if b[0] > 0 else 0.0
        return [x[1], force / m - 9.81]

    ball = bd.System(f, lambda t, x, p: -x[0], states=["z", "v"], guards=["floor"], params={"m": 0.5, "k": 4e3, "c": 0})
    sol = bd.solve(ball, (0, 1.5), {"v": 0, "z": 1.0}, rtol=1e-9)
    assert sol.x[0].tolist() == [1.0, 0.0]
    assert_allclose(sol.events["floor"]["t"][0], np.sqrt(2 / G), rtol=1e-8)
    assert len(sol.events["floor"]) == len(sol.events) == 4
    for wrong, said in (({"z": 1.0}, "v missing"), ({"z": 1.0, "v": 0.0, "w": 0.0}, "no state is called 'w'")):
        with pytest.raises(ValueError, match=said):
            bd.solve(ball, (0, 1), wrong)
    with pytest.raises(ValueError, match="no guard is called 'wall'; guards: floor"):
        sol.events["wall"]
    table = bd.solve_many(ball, (0, 1.5), {"z": [1.0, 2.0], "v": 0.0}, {"k": [3e3, 4e3]}).to_pandas()
    assert list(table.columns) == ["k", "z", "status", "t_end", "events", "z_end", "v_end"]
    assert table.z.tolist() == [1.0, 2.0]
    assert set(table.status) == {"finished"}


def test_a_thermostat_with_hysteresis():
    loss, outside, power = 0.2, 5.0, 6.0
    room = bd.System(
        lambda t, x, b, p: [-p[0] * (x[0] - p[1]) + p[2] * x[1], 0.0],
        lambda t, x, p: thresholds(x[0], 19.0, 21.0),
        states=["T", "heater"],
        guards=["cold", "warm"],
        params={"loss": loss, "outside": outside, "power": power},
        **relay("cold", "warm", state="heater", low=1, high=0),
    )
    sol = bd.solve(room, (0, 12), {"T": 15, "heater": 1}, rtol=1e-9)
    off = np.log((21.0 - outside) / (19.0 - outside)) / loss
    on = np.log((outside + power / loss - 19.0) / (outside + power / loss - 21.0)) / loss
    assert_allclose(np.diff(sol.events["cold"]["t"]), on + off, rtol=1e-7)
    with pytest.raises(ValueError, match="no state is called 'boiler'"):
        bd.System(
            lambda t, x, b, p: x, lambda t, x, p: x, n=2, guards=["a", "b"], **relay("a", "b", "boiler", low=1, high=0)
        )


def test_four_feet_land_together():
    X, Y = np.array([0.3, 0.3, -0.3, -0.3]), np.array([0.2, -0.2, 0.2, -0.2])

    def f(t, x, b, p):
        k, c = p
        z, r, q, vz, wr, wq = x
        depth = 0.4 - z - Y * r + X * q
        force = np.where(b > 0, k * depth - c * (vz + Y * wr - X * wq), 0.0)
        return np.array([vz, wr, wq, force.sum() / 10.0 - 9.81, (force * Y).sum() / 0.3, -(force * X).sum() / 0.6])

    def h(t, x, p):
        return 0.4 - x[0] - Y * x[1] + X * x[2]

    table = bd.System(
        f,
        h,
        states=["z", "roll", "pitch", "vz", "wroll", "wpitch"],
        guards=["FL", "FR", "HL", "HR"],
        params={"k": 5e3, "c": 50.0},
    )
    sol = bd.solve(table, [0, 0.5], [0.6, 0, 0, 0, 0, 0], rtol=1e-8)
    assert np.ptp(sol.events.t[:4]) == 0.0
    assert_allclose(sol.events.t[0], np.sqrt(2 * 0.2 / G), rtol=1e-9)


@pytest.mark.parametrize("e", [0.5, 0.8])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_restitution_ends_at_rest(e, rtol):
    """The jump returns an array, which takes the place of memory that was freed too early, once."""

    def bounce(t, x, b, p):
        return np.array([x[0], -p[0] * x[1]])

    ball = bd.System(
        free_fall, height, states=["z", "v"], guards=["floor"], params={"e": e}, jumps=bounce, rest="floor"
    )
    sol = bd.solve(ball, (0, 5), [1.0, 0.0], rtol=rtol)
    assert_allclose(sol.events.t[-1], np.sqrt(2 / G) * (1 + e) / (1 - e), atol=20 * rtol)
    assert sol.b[-1, 0] == 0
    assert_allclose(sol.x[-1], 0.0, atol=1e-12)


def test_rest_with_one_function_for_all_jumps():
    """jump_many returns an array, too."""

    def impacts(t, x, fired, b, p):
        return np.array([x[0], -0.5 * x[1] if fired[0] > 0 else x[1]])

    ball = bd.System(free_fall, height, states=["z", "v"], guards=["floor"], jump_many=impacts, rest="floor")
    sol = bd.solve(ball, (0, 3), [1.0, 0.0], rtol=1e-8)
    assert_allclose(sol.events.t[-1], 3.0 * np.sqrt(2 / G), atol=1e-7)
    assert sol.b[-1, 0] == 0


def test_a_jump_alone_needs_a_single_guard():
    with pytest.raises(TypeError, match=r"jumps maps guards to functions; got a function alone. Give jumps=\{'a': "):
        bd.System(
            lambda t, x, b, p: x, lambda t, x, p: (x[0], x[1]), n=2, guards=["a", "b"], jumps=lambda t, x, b, p: x
        )


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_a_block_on_a_belt(rtol):
    """With one coefficient of friction the block leaves the belt once, and from then on just reaches its speed in every period:
    grazes at which friction jumps, but a block that reached the belt earlier would only stick up to the same place."""
    k, mu, belt = 20.0, 0.3, 0.5
    block = bd.System(
        lambda t, x, b, p: [x[1], -p[0] * x[0] - p[1] * 9.81 * b[0]],
        lambda t, x, p: x[1] - p[2],
        states=["x", "v"],
        guards=["slip"],
        params={"k": k, "mu": mu, "belt": belt},
        sliding=True,
    )
    sol = bd.solve(block, (0, 5), {"x": 0, "v": 0}, rtol=rtol)
    w, rest = np.sqrt(k), mu * G / k
    sticks = np.arcsin(belt / (w * rest)) / w
    slips = sticks + (rest - rest * (1 - np.cos(w * sticks))) / belt
    assert_allclose(sol.events.t[:2], [sticks, slips], atol=20 * rtol)
    exact = [rest + belt / w * np.sin(w * (5 - slips)), belt * np.cos(w * (5 - slips))]
    assert_allclose(sol.x[-1], exact, atol=300 * rtol)
    assert all(row["returns"] for row in sol.margins)


def test_a_block_that_never_slides_back_still_grazes():
    """Without sliding modes the same graze is refused: what is beyond the guard is another motion."""
    block = bd.System(
        lambda t, x, b, p: [x[1], -20.0 * x[0] + (3.0 if b[0] < 0 else 1.0)],
        lambda t, x, p: x[1] - 0.5,
        states=["x", "v"],
        guards=["fast"],
    )
    with pytest.raises(bd.GrazingError):
        bd.solve(block, (0, 5), {"x": 3.0 / 20.0 - 0.5 / np.sqrt(20.0), "v": 0})


def test_a_plan_with_a_target_by_name():
    def f(t, x, b, p):
        wall = -500 * (x[0] - 1.0) if b[0] > 0 else 0.0
        return np.array([x[1], p[0] + wall])

    cart = bd.System(f, lambda t, x, p: x[0] - 1.0, states=("x", "v"), guards=("wall",), params={"u": 0.0})
    plan = bd.planning.Plan(
        cart,
        np.linspace(0, 2, 21),
        running=bd.planning.Quadratic(u=1e-3),
        end=bd.planning.Quadratic({"x": 0.2}, x={"x": 10, "v": 1}),
        inputs="u",
        limits=(-5, 5),
    )
    found = plan.solve({"x": 0.0, "v": 1.0})
    assert found.success
    assert_allclose(found.x[-1], [0.2, 0.0], atol=5e-3)
    with pytest.raises(ValueError, match="target: no state is called 'y'"):
        bd.planning.Plan(cart, [0, 1], end=bd.planning.Quadratic({"y": 1.0}, x=1.0), inputs="u").solve([0, 0])


def test_notebooks_show_tables():
    sol = bd.solve(bd.models.hopper(), (0, 1), {"z": 2.0, "vz": 0.0})
    assert "<table" in sol._repr_html_()
    assert "foot" in sol.events._repr_html_()
