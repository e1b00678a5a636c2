"""Guards that matter in some modes only: feet that land without slip stick from there on. One-sided differences as references."""

import numpy as np
import pytest

import bouligand as bd

G = 9.81
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def f(t, x, b, p, dx):
    """Two feet, each a mass on a spring and damper under it, pulled along by a; floor that moves with the speed c."""
    k, d, mu, _, a = p
    for i in range(x.size // 4):
        z, vz = x[4 * i + 1], x[4 * i + 3]
        push = -k * z - d * vz if b[2 * i] > 0 else 0.0
        dx[4 * i] = x[4 * i + 2]
        dx[4 * i + 1] = vz
        dx[4 * i + 2] = a - mu * push * b[2 * i + 1]
        dx[4 * i + 3] = push - G


def h(t, x, p, out):
    for i in range(x.size // 4):
        out[2 * i] = -x[4 * i + 1]
        out[2 * i + 1] = x[4 * i + 2] - p[3]


def feet(count=1, **changed):
    guards = [name for i in range(count) for name in (f"touches{i}", f"slips{i}")]
    return bd.System(
        f, h, n=4 * count, guards=guards, params={"k": 1e3, "d": 20.0, "mu": 0.6, "c": 0.3, "a": 0.5, **changed},
        sliding="filippov", active_while={f"slips{i}": f"touches{i}" for i in range(count)},
    )  # fmt: skip


def without_slip(height=0.1, a=0.5, c=0.3):
    """A start from which a foot lands with the speed of the floor."""
    return [0.0, height, c - a * np.sqrt(2.0 * height / G), 0.0]


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_a_foot_that_lands_without_slip_sticks(rtol):
    sol = bd.solve(feet(), (0.0, 0.2), without_slip(), rtol=rtol)
    assert sol.events.name.tolist() == ["touches0"]
    assert sol.b[0].tolist() == [-1, 1]
    assert sol.b[-1].tolist() == [1, 0]
    lands = np.sqrt(0.2 / G)
    moves = without_slip()[2] * lands + 0.25 * lands**2 + 0.3 * (0.2 - lands)
    assert sol.x[-1, [0, 2]] == pytest.approx([moves, 0.3], abs=30 * rtol)


def test_in_the_air_the_slip_has_no_events():
    start = [0.0, 0.1, 0.2, 0.0]  # it passes the speed of the floor in the air, where nothing depends on that
    sol = bd.solve(feet(a=2.0), (0.0, 0.14), start)
    assert len(sol.events) == 0
    landed = bd.solve(feet(a=2.0), (0.0, 0.2), start, rtol=1e-9)
    assert landed.events.name.tolist() == ["touches0", "slips0"]
    assert landed.b[-1].tolist() == [1, 0]


@pytest.mark.filterwarnings("ignore::bouligand.errors.DerivativeWarning")  # (nothing depends on mu, but round-off)
def test_its_derivative_in_states_and_parameters():
    system, start = feet(), np.array(without_slip())
    B = bd.solve(system, (0.0, 0.2), start, rtol=1e-9).bderivative(params=True)
    M, p = np.hstack([B.matrix(), B.matrix(wrt="p")]), system.defaults
    end = bd.solve(system, (0.0, 0.2), start, **TIGHT).x[-1]
    for z in np.eye(9):
        for step in (1e-6, -1e-6):
            step *= max(1.0, *(z[4:] * p))
            moved = bd.solve(system, (0.0, 0.2), start + step * z[:4], p + step * z[4:], **TIGHT).x[-1]
            assert M @ z == pytest.approx((moved - end) / step, abs=3e-4)


def test_two_feet_that_land_together_are_one_matrix():
    system, start = feet(2), np.array(without_slip() * 2)
    sol = bd.solve(system, (0.0, 0.2), start, rtol=1e-9)
    assert sol.b[-1].tolist() == [1, 0, 1, 0]
    B = sol.bderivative()
    one = bd.solve(feet(), (0.0, 0.2), start[:4], rtol=1e-9).bderivative().matrix()
    assert B.is_linear
    assert B.matrix() == pytest.approx(np.kron(np.eye(2), one), abs=1e-6)


def test_what_is_refused():
    def system(**options):
        return bd.System(f, h, n=4, guards=("touches", "slips"), params=np.ones(5), **options)

    with pytest.raises(ValueError, match="sliding='filippov'"):
        system(active_while={"slips": "touches"})
    with pytest.raises(TypeError, match="maps a guard"):
        system(sliding=True, active_while="slips")
    with pytest.raises(ValueError, match="one or two other guards"):
        system(sliding=True, active_while={"slips": "slips"})
    with pytest.raises(ValueError, match="depends on others"):
        system(sliding=True, active_while={"slips": "touches", "touches": "slips"})
    with pytest.raises(ValueError, match="nosuch"):
        system(sliding=True, active_while={"slips": "nosuch"})
    with pytest.raises(ValueError, match="has a jump"):
        system(sliding=True, active_while={"slips": "touches"}, jumps={"slips": lambda t, x, b, p: x})


def test_ensembles_know_it():
    starts = np.array([without_slip(z) for z in (0.1, 0.12, 0.15)])
    many = bd.solve_many(feet(), (0.0, 0.2), starts, rtol=1e-9)
    for x0, x1 in zip(starts, many.x, strict=True):
        assert bd.solve(feet(), (0.0, 0.2), x0, rtol=1e-9).x[-1].tolist() == x1.tolist()


def test_a_guard_that_wakes_with_the_sign_it_slept_with_is_watched():
    """A foot sinks in; a push begins as it touches, and friction grows with the depth: it slips, then sticks."""

    def f(t, x, b, p):
        touches = 1.0 if b[0] > 0 else 0.0
        return x[2], -1.0, touches * (p[0] + p[1] * x[1] * b[1])

    system = bd.System(
        f, lambda t, x, p: (-x[1], x[2]), states=("x", "z", "v"), guards=("touches", "slips"), params={"a": 2.0, "k": 8.0},
        sliding="filippov", active_while={"slips": "touches"},
    )  # fmt: skip
    sol = bd.solve(system, (0.0, 3.0), [0.0, 0.5, 0.0], rtol=1e-9)
    slips_for = 2.0 * 2.0 / 8.0  # v = a s - k s^2 / 2
    assert sol.events.t == pytest.approx([0.5, 0.5 + slips_for], abs=1e-8)
    assert sol.b[-1].tolist() == [1, 0]
    assert sol.x[-1, [0, 2]] == pytest.approx([2.0 * slips_for**2 / 2.0 - 8.0 * slips_for**3 / 6.0, 0.0], abs=1e-9)
