"""Three preloaded legs: against a closed form, a body written with rotation matrices, and one-sided differences."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bouligand as bd
from bouligand.models.three_legs import DEFAULTS, START, TILTED, TURN, energy, exact, three_legs

from ..helpers.flow import end, falls_like_squares, richardson
from ..helpers.restarts import restarts
from ..helpers.systems import close

robot = three_legs()
LOSSLESS = {"c": 0.0, "preload": 25.0}


@pytest.mark.parametrize("params", [{}, LOSSLESS], ids=["damped", "lossless"])
def test_the_level_drop_against_its_closed_form(params):
    moments = np.linspace(0.0, 2.0, 41)
    sol = bd.solve(robot, (0.0, 2.0), START, params, rtol=1e-12, t_eval=moments)
    states, crossings = exact(moments, **params)
    close(sol.x[:, [0, 3]], states, 1e-10)
    assert len(sol.events) == 3 * len(crossings)
    assert len(crossings) == (7 if params else 15)
    for t in sol.t_events:  # all three feet at each of these instants
        close(t, crossings, 1e-10)
    close(sol.x[:, [1, 2, 4, 5, 6]], 0.0, 1e-10)  # it stays level


def test_the_closed_form_itself():
    """It satisfies its own differential equation on both sides of the floor, and does not jump."""
    p, s = DEFAULTS, 1e-5
    moments = np.linspace(0.01, 1.99, 400)
    _, crossings = exact([2.0])
    moments = moments[np.abs(moments[:, None] - crossings).min(axis=1) > 2 * s]
    z, v = exact(moments)[0].T
    later, earlier = exact(moments + s)[0], exact(moments - s)[0]
    close((later[:, 0] - earlier[:, 0]) / (2 * s), v, 1e-6)
    push = np.where(z < p["L"], 3 * (p["preload"] + p["k"] * (p["L"] - z) - p["c"] * v), 0.0)
    close((later[:, 1] - earlier[:, 1]) / (2 * s), push / p["mass"] - p["g"], 1e-3)
    close(exact(crossings)[0][:, 0], p["L"], 1e-12)
    # left of a crossing by s, right by s: apart by what the velocity (2.4 m/s at most) and the acceleration (60 at most) allow
    apart = np.abs(exact(crossings + s)[0] - exact(crossings - s)[0])
    assert (apart < [2 * s * 2.5, 2 * s * 60.0]).all()


def _rotation(roll, pitch):
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    return np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]]) @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])


class WithMatrices:
    """The same body with place, heading and a rotation matrix as states: (position, velocity, R, world angular velocity)."""

    def __init__(self, **params):
        self.p = {**DEFAULTS, **params}
        angle = 2 * math.pi / 3 * np.arange(3)
        self.hips = self.p["r"] * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(3)])

    def start(self, x):
        R = _rotation(x[1], x[2])
        return np.concatenate([[0, 0, x[0]], [0.1, -0.2, x[3]], R.ravel(), R @ x[4:7]])

    def reduced(self, y):
        R = y[6:15].reshape(3, 3)
        return np.array([y[2], math.atan2(R[2, 1], R[2, 2]), -math.asin(R[2, 0]), y[5], *(R.T @ y[15:])])

    def lengths(self, y):
        """Of each leg, from its hip along the body's axis down to the floor."""
        R = y[6:15].reshape(3, 3)
        return (y[2] + (self.hips @ R.T)[:, 2]) / R[2, 2]

    def depths(self, y):
        return self.p["L"] - self.lengths(y)

    def field(self, y, touching):
        p, R, w = self.p, y[6:15].reshape(3, 3), y[15:]
        axis, force, moment = R[:, 2], np.array([0, 0, -p["mass"] * p["g"]]), np.zeros(3)
        for hip, length in zip(self.hips[touching], self.lengths(y)[touching], strict=True):
            arm = R @ hip - length * axis  # from the centre to the foot
            # the foot stays on the floor: v_z + (w x arm)_z - length' axis_z = 0
            shortening = -(y[5] + np.cross(w, arm)[2]) / axis[2]
            axial = p["preload"] + p["k"] * (p["L"] - length) + p["c"] * shortening
            up = np.array([0, 0, axial / axis[2]])  # the guide of the leg takes what is across it
            force = force + up
            moment = moment + np.cross(arm, up)
        inertia = R @ np.diag([p["I1"], p["I1"], p["I3"]]) @ R.T
        turning = np.linalg.solve(inertia, moment - np.cross(w, inertia @ w))
        return np.concatenate([y[3:6], force / p["mass"], np.cross(w, R, axisb=0, axisc=0).ravel(), turning])


def test_a_tilted_landing_against_rotation_matrices():
    """Two landings on all feet, also with spin; the reference has its own equations, integrator and event search."""
    x0 = TILTED + [0, 0, 0, 0, 0.3, -0.2, 2.0]
    other = WithMatrices()
    final, table = restarts(other.field, other.depths, (0.0, 0.75), other.start(x0))
    sol = bd.solve(robot, (0.0, 0.75), x0, rtol=1e-12, atol=1e-14)
    assert [(k, d) for _, k, d in table] == list(zip(sol.events.guard, sol.events.direction, strict=True))
    assert len(table) == 12
    close([t for t, _, _ in table], sol.events.t, 1e-9)
    close(other.reduced(final), sol.x[-1], 1e-8)


def test_near_ties_are_continuous_in_the_gap():
    """A tilt of 1e-3 .. 1e-13 rad: the feet land up to a tenth of a millisecond apart, and the end moves in proportion."""
    span = (0.0, 0.5)
    level = end(robot, span, START)
    for direction in ((1.0, 0.0), (-0.6, 0.8), (0.0, -1.0)):
        moved = []
        for tilt in 10.0 ** -np.arange(3.0, 14.0, 2.0):
            x0 = START.copy()
            x0[1:3] = tilt * np.array(direction)
            sol = bd.solve(robot, span, x0, rtol=1e-12, atol=1e-14)
            assert [len(t) for t in sol.t_events] == [2, 2, 2]
            gap = np.ptp(sol.events.t[:3])
            assert gap <= 0.2 * tilt + 1e-15
            moved.append((tilt, np.abs(sol.x[-1] - level).max()))
        slope = moved[0][1] / moved[0][0]
        assert all(change <= 1.5 * slope * tilt + 1e-11 for tilt, change in moved), moved


@pytest.mark.parametrize("angle", [0.0, 0.9, 2.2, 3.6, 5.1])
def test_the_derivative_by_tilt_against_one_sided_differences(angle):
    span = (0.0, 0.29)  # in the first stance: three feet have landed together
    sol = bd.solve(robot, span, START, rtol=1e-12, atol=1e-14)
    B = sol.bderivative()
    tilt = np.array([0.0, math.cos(angle), math.sin(angle), 0.0, 0.0, 0.0, 0.0])
    falls_like_squares(robot, span, START, tilt, B, start=1e-3, floor=1e-10)


def test_at_this_tie_the_derivative_is_one_matrix():
    """Six orders of landing, one linear map: a leg's push changes the acceleration, not the speed at which the other feet come
    down (Dh of a foot is zero on the jump of another), so that the order shows in second order only. Three landings on."""
    sol = bd.solve(robot, (0.0, 0.99), START, rtol=1e-12, atol=1e-14)
    B = sol.bderivative()
    matrix = B.matrix()
    for angle in np.linspace(0.0, 2.0 * math.pi, 7)[:-1] + 0.2:
        tilt = np.array([0.0, math.cos(angle), math.sin(angle), 0.0, 0.0, 0.0, 0.0])
        close(B(tilt), matrix @ tilt, 1e-6 * np.abs(matrix).max())
    # by the height of the drop, against the closed form
    by_height = richardson(lambda z: exact([0.99], z[0])[0][0], [START[0]], [1.0], 1e-3)
    close(matrix[[0, 3], 0], by_height, 1e-6)


def test_integrators_that_ignore_the_guards_fail():
    """At each tolerance SciPy's RK45 with the test of contact inside f takes more evaluations, and ends hundreds of times farther
    off. The preload alone does that: there is no damping here, and without the preload f would have no jump."""
    f, h, p = robot.function("f"), robot.function("h"), robot.parameters(LOSSLESS)

    def ignoring(t, x):
        return f(t, x, np.where(h(t, x, p) > 0.0, 1.0, -1.0), p)

    truth = exact([1.5], **LOSSLESS)[0][0]
    for rtol in (1e-4, 1e-6, 1e-8):
        options = {"rtol": rtol, "atol": rtol / 100}
        theirs = solve_ivp(ignoring, (0.0, 1.5), START, method="RK45", **options)
        ours = bd.solve(robot, (0.0, 1.5), START, LOSSLESS, **options)
        their_error, our_error = (np.abs(x[[0, 3]] - truth).max() for x in (theirs.y[:, -1], ours.x[-1]))
        assert our_error < 30.0 * rtol
        assert their_error > 500.0 * rtol
        assert ours.counts.f < theirs.nfev


def test_energy_without_damping():
    sol = bd.solve(robot, (0.0, 1.5), TILTED, LOSSLESS, rtol=1e-12)
    assert len(sol.events) > 12
    close(energy(sol.x, sol.b > 0, **LOSSLESS), energy(TILTED, [False] * 3, **LOSSLESS), 1e-9)


def test_a_third_of_a_turn_permutes_the_feet():
    def turned(x):
        """The same body, described in axes that are turned by a third about its own: u and w turn back."""
        u = np.array([-math.sin(x[2]), math.cos(x[2]) * math.sin(x[1]), math.cos(x[2]) * math.cos(x[1])])
        c, s = math.cos(TURN), math.sin(TURN)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        u, w = turn @ u, turn @ x[4:7]
        return np.array([x[0], math.atan2(u[1], u[2]), -math.asin(u[0]), x[3], *w])

    x0 = TILTED + [0, 0, 0, 0, 0.1, 0.2, 0.3]
    one, two = (bd.solve(robot, (0.0, 0.7), x, rtol=1e-11) for x in (x0, turned(x0)))
    close(turned(one.x[-1]), two.x[-1], 1e-8)
    assert ((one.events.guard + 1) % 3 == two.events.guard).all()


def test_a_body_that_would_float_is_refused_by_name():
    with pytest.raises((bd.ChatteringError, bd.SlidingError), match="foot") as refused:
        bd.solve(robot, (0.0, 5.0), START, {"preload": 25.0, "c": 30.0})
    assert 0.3 < refused.value.solution.t[-1] < 5.0


@pytest.mark.parametrize(("z0", "params"), [(0.3, {}), (0.7, {"c": 1e3}), (0.7, {"preload": 25.0, "c": 30.0})])
def test_the_closed_form_says_where_it_ends(z0, params):
    with pytest.raises(ValueError, match="exact: "):
        exact([5.0], z0, **params)


def test_an_unknown_parameter_is_named():
    with pytest.raises(ValueError, match=r"\['mas'\]; parameters: g, mass"):
        three_legs(mas=1.0)


def test_tipping_over_is_told_as_a_pole_of_the_guards():
    """On its side a leg's foot never reaches the floor along its own line: h divides by zero there."""
    tipping = np.array(TILTED, dtype=float)
    tipping[1:3] += (0.04, -0.04)
    tipping[4] -= 3.0
    with pytest.raises(bd.NotFiniteError, match="has a pole near"):
        bd.solve(bd.models.three_legs(), (0.0, 3.0), tipping, rtol=1e-8)
