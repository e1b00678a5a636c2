"""Friction whose limit is the force of a contact at rest: blocks that bounce, come to rest on a floor, and stick or slip."""

import numpy as np
import pytest

import bouligand as bd

G, MU, E = 9.81, 0.3, 0.5
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def field(t, x, b, p, dx):
    """Along and across a slope; a force that swings along it; friction; ``wedge``: the share of friction that presses."""
    dx[0], dx[1] = x[2], x[3]
    dx[2] = p[1] * np.sin(p[2]) + p[4] * np.sin(p[5] * t) - p[0] * p[8] * b[1]
    dx[3] = -p[1] * np.cos(p[2]) - p[7] * p[0] * p[8] * b[1]


def guards(t, x, p, out):
    """A floor that may move up and down, A sin(w t); the slip."""
    out[0], out[1] = x[1] - p[6] * np.sin(p[5] * t), x[2]


def impact(t, x, b, p, xnew):
    speed = p[6] * p[5] * np.cos(p[5] * t)
    xnew[3] = speed - p[3] * (x[3] - speed)


PARAMS = {"mu": MU, "g": G, "slope": 0.0, "e": 0.0, "push": 0.0, "w": 2.0, "A": 0.0, "wedge": 0.0, "N": 0.0}


def system(rest={"floor": "N"}, params=PARAMS, **options):  # noqa: B006
    given = {"sliding": "filippov", "active_while": {"slips": "floor"}} | options
    return bd.System(
        field, guards, states=("x", "z", "vx", "vz"), guards=("floor", "slips"), params=params, jumps={"floor": impact},
        rest=rest, **given,
    )  # fmt: skip


BLOCK = system()


@pytest.mark.parametrize("e", [0.0, E])
@pytest.mark.parametrize("v", [2.0, -1.0])
def test_a_thrown_block_stops_where_friction_says(e, v):
    sol = bd.solve(BLOCK, (0.0, 4.0), [0.0, 0.5, v, 0.0], {"e": e}, **TIGHT)
    lands = np.sqrt(2.0 * 0.5 / G) * (1.0 + e) / (1.0 - e)
    stops, way = lands + abs(v) / (MU * G), v * lands + v * abs(v) / (2.0 * MU * G)
    assert sol.events.name[-1] == "slips"
    assert set(sol.events.name[:-1]) == {"floor"}
    assert sol.events.t[-1] == pytest.approx(stops, abs=1e-8)
    np.testing.assert_allclose(sol.x[-1], [way, 0.0, 0.0, 0.0], atol=1e-8)
    assert list(sol.b[-1]) == [0, 0]
    np.testing.assert_allclose(sol.rate(4.0), 0.0, atol=1e-13)  # it does not creep


@pytest.mark.parametrize(("slope", "sticks"), [(0.28, True), (0.3, False)])  # tan(slope) below and above mu
def test_on_a_slope_the_angle_of_friction_decides(slope, sticks):
    sol = bd.solve(BLOCK, (0.0, 2.0), [0.0, 0.0, 0.0, 0.0], {"slope": slope}, **TIGHT)
    a = 0.0 if sticks else G * (np.sin(slope) - MU * np.cos(slope))
    assert list(sol.b[-1]) == [0, 0 if sticks else 1]
    np.testing.assert_allclose(sol.x[-1], [2.0 * a, 0.0, 2.0 * a, 0.0], atol=1e-9)


def test_it_slips_where_a_floor_that_falls_away_takes_the_force():
    """On a slope that moves up and down with A sin(w t) the force is g cos - A w^2 sin(w t)."""
    slope, A, w = 0.2, 0.02, 15.0
    p = {"slope": slope, "A": A, "w": w}
    sol = bd.solve(BLOCK, (0.0, 0.12), [0.0, 0.0, 0.0, A * w], p, **TIGHT)
    least = G * np.sin(slope) / MU  # of the force that holds it
    slips = np.arcsin((G * np.cos(slope) - least) / (A * w**2)) / w
    assert list(sol.events.name) == ["slips"]
    assert sol.events.t[0] == pytest.approx(slips, abs=1e-9)
    t = 0.1
    a = G * np.sin(slope) - MU * (G * np.cos(slope) - A * w**2 * np.sin(w * t))
    assert sol.rate(t)[2] == pytest.approx(a, rel=1e-9)


def test_where_it_leaves_the_floor_friction_ends():
    slope, A, w = 0.1, 0.05, 20.0
    p = {"slope": slope, "A": A, "w": w}
    sol = bd.solve(BLOCK, (0.0, 0.06), [0.0, 0.0, 1.0, A * w], p, **TIGHT)
    leaves = np.arcsin(G * np.cos(slope) / (A * w**2)) / w
    assert list(sol.events.name) == ["floor"]
    assert sol.events.t[0] == pytest.approx(leaves, abs=1e-9)
    assert list(sol.b[-1]) == [1, 1]
    np.testing.assert_allclose(sol.rate(0.06)[2:], [G * np.sin(slope), -G * np.cos(slope)], rtol=1e-12)
    speed = 1.0 + (G * np.sin(slope) - MU * G * np.cos(slope)) * leaves + MU * A * w * (1.0 - np.cos(w * leaves))
    assert sol(leaves)[2] == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize("c", [1.5, 2.6, 3.2, -2.0, -20.0])
def test_friction_that_presses_and_force_are_found_together(c):
    """N = g + c mu N: the force depends on friction, and friction on the force; by repetition alone it would be found for
    |c mu| < 1, slowly near 1."""
    N = G / (1.0 - c * MU)
    sol = bd.solve(BLOCK, (0.0, 2.0 / (MU * N)), [0.0, 0.0, 1.0, 0.0], {"wedge": c}, **TIGHT)
    assert sol.events.t[0] == pytest.approx(1.0 / (MU * N), rel=1e-8)
    assert sol.x[-1, 0] == pytest.approx(0.5 / (MU * N), rel=1e-8)


def test_no_force_is_enough():
    with pytest.raises(bd.SlidingError, match="forces of contacts at rest"):  # (c mu > 1)
        bd.solve(BLOCK, (0.0, 1.0), [0.0, 0.0, 1.0, 0.0], {"wedge": 4.0})


CASES = {
    "slips": (1.2, [0.0, 0.5, 2.0, 0.0], {"e": E}),
    "sticks": (3.0, [0.0, 0.5, -2.0, 0.0], {"e": E, "slope": 0.05}),
    "inelastic": (3.0, [0.0, 0.5, 2.0, 0.0], {"slope": 0.05}),
    "pushed": (3.0, [0.0, 0.1, 1.0, 0.0], {"push": 4.0}),
}


@pytest.mark.parametrize("case", CASES)
def test_derivative_against_one_sided_differences(case):
    end, x0, given = CASES[case]
    p = BLOCK.parameters(given)

    def run(x, q):
        return bd.solve(BLOCK, (0.0, end), x, q, **TIGHT)

    sol = run(np.array(x0), p)
    B = sol.bderivative(params=True)
    # (beyond an inelastic impact, e = 0, there is another motion; N is no parameter of a user's)
    varied = [("x", i) for i in range(4)] + [("p", i) for i in range(5) if p[i] != 0.0 or i == 2]
    for kind, i in varied:
        for sign in (1e-5, -1e-5):
            dx, dp = np.zeros(4), np.zeros(p.size)
            (dx if kind == "x" else dp)[i] = sign
            difference = (run(x0 + dx, p + dp).x[-1] - sol.x[-1]) / 1e-5
            np.testing.assert_allclose(
                B(dx * 1e5, dp * 1e5), difference, atol=4e-4 * max(1.0, np.abs(difference).max())
            )


def test_derivative_of_the_way_in_closed_form():
    sol = bd.solve(BLOCK, (0.0, 4.0), [0.0, 0.5, 2.0, 0.0], {"e": E}, **TIGHT)
    B = sol.bderivative(params=True)
    lands = np.sqrt(1.0 / G) * (1.0 + E) / (1.0 - E)
    by_x = [1.0, 2.0 * lands, lands + 2.0 / (MU * G)]  # x, z, vx: lands ~ sqrt(z)
    np.testing.assert_allclose(B.matrix()[0, :3], by_x, rtol=1e-6)
    by_e = 2.0 * np.sqrt(1.0 / G) * 2.0 / (1.0 - E) ** 2
    np.testing.assert_allclose(B.matrix(wrt="p")[0, [0, 3]], [-4.0 / (2.0 * MU**2 * G), by_e], rtol=1e-5)
    np.testing.assert_allclose(B.vjp([1.0, 0.0, 0.0, 0.0])[0], B.matrix()[0], atol=1e-9)


def test_what_is_declared_wrongly():
    with pytest.raises(ValueError, match="the force of 'floor' is to be the parameter 'M'"):
        system(rest={"floor": "M"})
    with pytest.raises(ValueError, match="give it the default 0"):
        system(params=PARAMS | {"N": 1.0})
    with pytest.raises(ValueError, match="has no jump"):
        system(rest={"slips": "N"})
    assert (system(rest={"floor": None}).rest_forces == -1).all()


def test_the_force_cannot_be_given():
    """It is found at rest, and zero elsewhere: with another value friction would act in the air."""
    block = system()
    for p in ({"N": 5.0}, np.where(np.array(block.params) == "N", 5.0, block.defaults)):
        with pytest.raises(ValueError, match="'N' is the force of a contact at rest"):
            bd.solve(block, (0.0, 1.0), np.zeros(block.n), p)
