"""The force of a contact at rest where it is hard to find: floors that tremble, late times, several contacts, jumps that write
the position, too."""

import numpy as np
import pytest

import bouligand as bd
from tests.jumps.test_rest_friction import BLOCK, MU, PARAMS, TIGHT, E, G, field, guards, impact


@pytest.mark.parametrize(("w", "A"), [(2e4, 1e-8), (2e5, 1e-10)])
def test_a_floor_that_trembles(w, A):
    """A w^2 = 4, far faster than any step that is chosen beforehand."""
    slope, end = 0.2, 1e-3
    sol = bd.solve(BLOCK, (0.0, end), [0.0, 0.0, 1.0, A * w], {"slope": slope, "A": A, "w": w}, rtol=1e-8, atol=1e-10)
    speed = 1.0 + G * (np.sin(slope) - MU * np.cos(slope)) * end + MU * A * w * (1.0 - np.cos(w * end))
    assert list(sol.b[-1]) == [0, 1]
    assert sol.x[-1, 2] == pytest.approx(speed, abs=1e-10)
    t = end / 3.0
    force = G * np.cos(slope) - A * w**2 * np.sin(w * t)
    assert sol.rate(t)[2] == pytest.approx(G * np.sin(slope) - MU * force, abs=1e-9)


def test_a_floor_that_moves_at_a_late_time():
    slope, A, w = 0.2, 0.02, 16.0
    start = 2.0 * np.pi / w * 159155
    p = {"slope": slope, "A": A, "w": w}
    x0 = [0.0, A * np.sin(w * start), 0.0, A * w * np.cos(w * start)]
    sol = bd.solve(BLOCK, (start, start + 0.11), x0, p, rtol=1e-6, atol=1e-9)
    t = start + 0.1
    force = G * np.cos(slope) - A * w**2 * np.sin(w * t)
    assert sol.rate(t)[2] == pytest.approx(G * np.sin(slope) - MU * force, abs=1e-6)


@pytest.mark.parametrize("e", [0.0, E])
def test_a_jump_may_put_the_state_onto_the_contact(e):
    """What it writes to the position is no part of the contact force."""

    def lands(t, x, b, p, xnew):
        impact(t, x, b, p, xnew)
        xnew[1] = p[6] * np.sin(p[5] * t)

    block = bd.System(
        field, guards, states=("x", "z", "vx", "vz"), guards=("floor", "slips"), params=PARAMS, jumps={"floor": lands},
        rest={"floor": "N"}, sliding="filippov", active_while={"slips": "floor"},
    )  # fmt: skip
    sol = bd.solve(block, (0.0, 4.0), [0.0, 0.5, 2.0, 0.0], {"e": e}, max_steps=1000, **TIGHT)
    rests = np.sqrt(1.0 / G) * (1.0 + e) / (1.0 - e)
    np.testing.assert_allclose(sol.x[-1], [2.0 * rests + 4.0 / (2.0 * MU * G), 0.0, 0.0, 0.0], atol=1e-8)
    assert list(sol.b[-1]) == [0, 0]


def test_two_blocks_with_a_spring_between_them():
    """One is pulled, slips, and takes the other along; among four guards those with a force are not neighbours."""

    def f(t, x, b, p, dx):
        spring = 50.0 * (x[1] - x[0] - 1.0)
        for i in range(4):
            dx[i] = x[4 + i]
        dx[4] = spring - 0.4 * p[0] * b[2]
        dx[5] = (p[2] * t - spring) / 2.0 - 0.3 * p[1] * b[3]
        dx[6] = dx[7] = -G

    def h(t, x, p, out):
        for i in range(2):
            out[i], out[2 + i] = x[2 + i], x[4 + i]

    def first(t, x, b, p, xnew):
        xnew[6] = 0.0

    def second(t, x, b, p, xnew):
        xnew[7] = 0.0

    blocks = bd.System(
        f, h, n=8, guards=("floor1", "floor2", "slip1", "slip2"), params={"N1": 0.0, "N2": 0.0, "pull": 6.0},
        jumps={"floor1": first, "floor2": second}, rest={"floor1": "N1", "floor2": "N2"}, sliding="filippov",
        active_while={"slip1": "floor1", "slip2": "floor2"},
    )  # fmt: skip
    for height in (0.0, 0.01):  # (both lie there, or the first falls, and sticks)
        sol = bd.solve(blocks, (0.0, 2.2), [0.0, 1.0, height, 0.0, 0.0, 0.0, 0.0, 0.0], **TIGHT)
        slips = 2.0 * 0.3 * G / 6.0
        assert list(sol.events.name[-2:]) == ["slip2", "slip1"]
        assert sol.events.t[-2] == pytest.approx(slips, abs=1e-9)
        assert 50.0 * (sol(sol.events.t[-1])[1] - 1.0) == pytest.approx(0.4 * G, abs=1e-8)
        w, s = 5.0, sol.events.t[-1] - slips  # of the second alone: 2 x'' = 6 s - 50 x
        stretch = 6.0 / 50.0 * (s - np.sin(w * s) / w)
        assert sol(sol.events.t[-1])[1] - 1.0 == pytest.approx(stretch, abs=1e-8)


@pytest.mark.parametrize(("c", "d"), [(0.5, 0.5), (0.9, 0.9), (0.99, 0.95), (-0.6, -0.6), (3.0, -1.0)])
def test_two_forces_that_friction_couples(c, d):
    """N1 = g + c N2, N2 = 1.5 g + d N1: the friction of each block presses the other, or lifts it. By repetition alone these
    would be found slowly near c d = 1, and not at all beyond -1."""

    def f(t, x, b, p, dx):
        for i in range(4):
            dx[i] = x[4 + i]
        dx[4], dx[5] = -MU * p[0] * b[2], -MU * p[1] * b[3]
        dx[6], dx[7] = -G - p[2] * p[1] * b[3], -1.5 * G - p[3] * p[0] * b[2]

    def h(t, x, p, out):
        for i in range(2):
            out[i], out[2 + i] = x[2 + i], x[4 + i]

    def lands(k):
        def jump(t, x, b, p, xnew):
            xnew[6 + k] = 0.0

        return jump

    blocks = bd.System(
        f, h, n=8, guards=("floor1", "floor2", "slip1", "slip2"), params={"N1": 0.0, "N2": 0.0, "c": c, "d": d},
        jumps={"floor1": lands(0), "floor2": lands(1)}, rest={"floor1": "N1", "floor2": "N2"}, sliding="filippov",
        active_while={"slip1": "floor1", "slip2": "floor2"},
    )  # fmt: skip
    forces = np.linalg.solve([[1.0, -c], [-d, 1.0]], [G, 1.5 * G])
    speeds = [0.0, 0.0, 0.0, 0.0, 1.0, 1.5, 0.0, 0.0]
    end = 0.5 / (MU * forces.max())
    sol = bd.solve(blocks, (0.0, end), speeds, **TIGHT)
    assert list(sol.b[-1]) == [0, 0, 1, 1]
    np.testing.assert_allclose(sol.x[-1, 4:6], [1.0, 1.5] - MU * forces * end, rtol=1e-9)


@pytest.mark.parametrize("slip", [1.0, -1e-3])
def test_friction_in_the_jump_and_in_f_is_refused(slip):
    """At rest the contact would act along the direction of the impact, friction with it, and f has friction as well."""

    def brakes(t, x, b, p, xnew):
        impulse = -(1.0 + p[3]) * x[3]
        xnew[2] = x[2] - np.sign(x[2]) * min(p[0] * impulse, abs(x[2]))
        xnew[3] = x[3] + impulse

    options = {"sliding": "filippov", "active_while": {"slips": "floor"}, "jumps": {"floor": brakes}}
    names = {"states": ("x", "z", "vx", "vz"), "guards": ("floor", "slips"), "params": PARAMS}
    with pytest.raises(bd.FunctionError, match="act twice"):
        bd.solve(bd.System(field, guards, rest={"floor": "N"}, **names, **options), (0.0, 2.0), [0.0, 0.5, slip, 0.0])


def test_an_impulse_along_several_velocities_is_not_refused():
    """A rod whose lower end rests on a smooth floor falls over: speeds by its energy. An impact changes both its speeds."""
    length, inertia = 1.0, 1.0 / 12.0

    def falls(t, x, b, p):
        return np.array([x[2], x[3], -G, 0.0 * p[0]])

    def foot(t, x, p):
        return np.array([x[0] - 0.5 * length * np.sin(x[1])])

    def impact(t, x, b, p, xnew):
        arm = 0.5 * length * np.cos(x[1])
        impulse = -(x[2] - arm * x[3]) / (1.0 + arm * arm / inertia)
        xnew[2], xnew[3] = x[2] + impulse, x[3] - arm * impulse / inertia

    rod = bd.System(falls, foot, n=4, guards=("foot",), params={"N": 0.0}, jumps={"foot": impact}, rest={"foot": "N"})
    sol = bd.solve(rod, (0.0, 0.6), [0.5 * np.sin(1.2), 1.2, 0.0, 0.0], **TIGHT)
    z, angle, vz, rate = sol.x[-1]
    assert list(sol.b[-1]) == [0]
    assert angle < 0.7
    assert z == pytest.approx(0.5 * np.sin(angle), abs=1e-9)
    assert rate**2 * (np.cos(angle) ** 2 / 8.0 + 1.0 / 24.0) == pytest.approx(
        0.5 * G * (np.sin(1.2) - np.sin(angle)), rel=1e-8
    )
    assert vz == pytest.approx(0.5 * np.cos(angle) * rate, rel=1e-8)


def test_sliding_along_a_guard_that_moves_slowly_by_differences():
    """The step of differences in time must not follow from how slowly the state moves: it would be ten seconds here."""
    A = 1e-9
    slow = bd.System(
        lambda t, x, b, p: np.array([-2.0 * A * b[0]]), lambda t, x, p: np.array([x[0] - A * np.sin(t)]), n=1, m=1,
        sliding="filippov", compile=False,
    )  # fmt: skip
    sol = bd.solve(slow, (0.0, 3.0), [0.5 * A], rtol=1e-8, atol=1e-8 * A)
    assert list(sol.b[-1]) == [0]
    assert sol.x[-1, 0] == pytest.approx(A * np.sin(3.0), rel=1e-6)
    assert sol.rate(2.0)[0] == pytest.approx(A * np.cos(2.0), rel=1e-6)
