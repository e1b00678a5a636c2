"""The hand: ties, permuted fingers, bookkeeping, and a reference that is written with complex numbers."""

import cmath
import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import bouligand as bd
from bouligand.models.hand import CLOSED, DEFAULTS, start

from ..helpers.flow import falls_like_squares
from ..helpers.restarts import restarts
from ..helpers.systems import close

hands = {n: bd.models.hand(n) for n in (3, 4, 5)}


class Complex:
    """The same hand: points and forces in the plane are complex numbers, one finger after the other."""

    def __init__(self, fingers, **params):
        self.n, self.p, self.torque = fingers, {**DEFAULTS, **params}, 0.16
        self.middle = [cmath.exp(2j * math.pi * i / fingers) for i in range(fingers)]
        self.hinge = [e * (CLOSED + 1j * self.p["length"]) for e in self.middle]

    def finger(self, x, i):
        """Unit vector to the disc, depth, its rate, speed of slipping, lever of the tip's contact about the hinge."""
        n, p = self.n, self.p
        centre, velocity = complex(x[0], x[1]), complex(x[3 + n], x[4 + n])
        link = -1j * self.middle[i] * p["length"] * cmath.exp(1j * x[3 + i])
        turn, spin = x[6 + n + i], x[5 + n]
        apart = centre - (self.hinge[i] + link)
        normal = apart / abs(apart)
        of_disc = velocity + 1j * spin * (-p["radius"] * normal)  # the disc's surface, the tip's surface
        of_tip = 1j * turn * (link + p["tip"] * normal)
        depth = p["radius"] + p["tip"] - abs(apart)
        slip = ((of_disc - of_tip) / (1j * normal)).real
        return normal, depth, -((velocity - 1j * turn * link) / normal).real, slip, link + p["tip"] * normal

    def forces(self, x, i):
        """Normal force and drag of a finger that touches."""
        _, depth, rate, slip, _ = self.finger(x, i)
        push = self.p["k"] * depth + self.p["c"] * rate
        return push, -self.p["mu"] * push * slip / math.hypot(slip, self.p["slip"])

    def field(self, x, word):
        n, p = self.n, self.p
        total, moment, turning = 0j, 0.0, []
        for i in range(n):
            torque = -self.torque - p["stiffness"] * x[3 + i] - p["damping"] * x[6 + n + i]
            if word[i] and word[n + i]:
                normal, _, _, _, lever = self.finger(x, i)
                push, drag = self.forces(x, i)
                force = normal * complex(push, drag)
                total += force
                moment += (np.conj(-p["radius"] * normal) * force).imag
                torque -= (np.conj(lever) * force).imag
            turning.append(torque / p["inertia"])
        acceleration = (total - p["drag"] * complex(x[3 + n], x[4 + n])) / p["mass"]
        disc = p["mass"] * p["radius"] ** 2 / 2.0
        spin = (moment - p["drag"] * p["radius"] ** 2 / 2.0 * x[5 + n]) / disc
        return np.array([*x[3 + n :], acceleration.real, acceleration.imag, spin, *turning])

    def guards(self, x):
        touch = [self.finger(x, i)[1] for i in range(self.n)]
        return np.array([*touch, *(self.forces(x, i)[0] for i in range(self.n))])


@pytest.mark.parametrize("fingers", [3, 5])
def test_against_another_formulation_with_restarts(fingers):
    """Nearly simultaneous contacts, and tips that bounce and let go: table and end."""
    x0 = start(fingers, 0.002, 0.001)
    other = Complex(fingers)
    final, table = restarts(other.field, other.guards, (0.0, 0.09), x0)
    sol = bd.solve(hands[fingers], (0.0, 0.09), x0, rtol=1e-12, atol=1e-14)
    assert [(k, d) for _, k, d in table] == list(zip(sol.events.guard, sol.events.direction, strict=True))
    assert len(table) == {3: 14, 5: 22}[fingers]
    close([t for t, _, _ in table], sol.events.t, 1e-10)
    close(final, sol.x[-1], 1e-9)


@pytest.mark.parametrize("fingers", [3, 4, 5])
def test_all_fingers_at_the_same_instant(fingers):
    sol = bd.solve(hands[fingers], (0.0, 1.0), start(fingers), rtol=1e-9)
    touch = [sol.t_events[i] for i in range(fingers)]
    assert all(len(t) == 1 for t in touch)
    assert np.ptp(np.concatenate(touch)) < 1e-13
    close(sol.x[:, [0, 1, 3 + fingers, 4 + fingers]], 0.0, 1e-12)  # pushed from all sides: the disc stays in the middle
    assert np.ptp(sol.x[:, 3 : 3 + fingers], axis=1).max() < 1e-11  # all fingers alike
    assert (sol.b[-1] == 1).all()


def test_a_disc_off_the_middle_ends_up_held():
    """All fingers touch and push for the rest of the time; the disc creeps far slower than the speed `slip`."""
    for fingers, hand in hands.items():
        sol = bd.solve(hand, (0.0, 1.0), start(fingers, 0.002, 0.001), rtol=1e-8)
        assert (sol.b[-1] == 1).all()
        assert sol.events.t[-1] < 0.1
        speed = np.hypot(*sol.x[-1][3 + fingers : 5 + fingers])
        assert speed < 0.05 * DEFAULTS["slip"]
        assert np.hypot(*sol.x[-1][:2]) < np.hypot(0.002, 0.001)  # and towards the middle


@pytest.mark.parametrize("fingers", [3, 4, 5])
def test_turning_the_hand_permutes_the_fingers(fingers):
    """The disc's start turned by 2 pi / n: finger i does what finger i - 1 did."""
    turn = cmath.exp(2j * math.pi / fingers)
    place = 0.002 + 0.001j
    one, two = (
        bd.solve(hands[fingers], (0.0, 0.2), start(fingers, at.real, at.imag), rtol=1e-11)
        for at in (place, place * turn)
    )
    half = 3 + fingers
    for first in (0, half):  # positions, then velocities
        plane = complex(*one.x[-1][first : first + 2]) * turn
        close([plane.real, plane.imag], two.x[-1][first : first + 2], 1e-8)
        close(one.x[-1][first + 2], two.x[-1][first + 2], 1e-7)
        close(
            np.roll(one.x[-1][first + 3 : first + half], 1),
            two.x[-1][first + 3 : first + half],
            1e-7 if first else 1e-9,
        )
    kind, finger = np.divmod(one.events.guard, fingers)
    assert (kind * fingers + (finger + 1) % fingers == two.events.guard).all()


def test_momentum_and_energy():
    """What the disc gains is what the fingers push; what all of it gains is what the motors give less what rubs and damps."""
    fingers, other = 3, Complex(3)
    sol = bd.solve(hands[3], (0.0, 0.15), start(3, 0.002, 0.001), rtol=1e-11)
    p, edges = other.p, np.unique([0.0, *sol.events.t, 0.15])
    momentum, work, lost = 0j, 0.0, 0.0
    for left, right in pairwise(edges):  # smooth between events: Simpson's rule
        t = np.linspace(left, right, 2 * math.ceil((right - left) / 5e-5) + 21)
        word, states = sol.word(0.5 * (left + right)) > 0, sol(t)
        rows = np.zeros((len(t), 4))
        for row, x in zip(rows, states, strict=True):
            velocity, spin, turn = complex(x[6], x[7]), x[8], x[9:]
            force = 0j
            power = float(np.sum((-other.torque - p["stiffness"] * x[3:6]) * turn))
            loss = float(p["damping"] * np.sum(turn**2))
            loss += p["drag"] * (abs(velocity) ** 2 + 0.5 * (p["radius"] * spin) ** 2)
            for i in range(fingers):
                if word[i] and word[3 + i]:
                    normal, _, rate, slip, _ = other.finger(x, i)
                    push, drag = other.forces(x, i)
                    assert push > -1e-7  # a tip never pulls
                    force += normal * complex(push, drag)
                    power -= push * rate  # goes into the pad: its spring and its damper
                    loss -= drag * slip
            row[:] = force.real - p["drag"] * velocity.real, force.imag - p["drag"] * velocity.imag, power, loss
        sums = cumulative_simpson(rows, x=t, axis=0)[-1]
        momentum, work, lost = momentum + complex(*sums[:2]), work + sums[2], lost + sums[3]
        assert sums[3] >= 0.0
    x = sol.x[-1]
    close([momentum.real, momentum.imag], p["mass"] * x[6:8], 1e-9)
    disc = p["mass"] * p["radius"] ** 2 / 2.0
    kinetic = 0.5 * (p["mass"] * np.sum(x[6:8] ** 2) + disc * x[8] ** 2 + p["inertia"] * np.sum(x[9:] ** 2))
    assert work > 0.05
    close(kinetic, work - lost, 1e-9)


@pytest.mark.parametrize("direction", [(1.0, 0.0), (-0.3, 0.8), (-0.5, -0.7)])
def test_the_derivative_at_the_tie_against_one_sided_differences(direction):
    span, x0 = (0.0, 0.055), start(4)  # six milliseconds after four fingers have touched together
    sol = bd.solve(hands[4], span, x0, rtol=1e-12, atol=1e-14)
    assert np.ptp(sol.events.t[-4:]) < 1e-13
    B = sol.bderivative()
    d = np.zeros(14)
    d[:2] = direction
    d[4] = 3.0  # and one finger more open
    falls_like_squares(hands[4], span, x0, d, B, start=1e-4, floor=1e-9)


def test_each_finger_has_a_torque_of_its_own():
    weak = bd.models.hand(3, torque=[0.16, 0.16, 0.1])
    sol = bd.solve(weak, (0.0, 0.07), start(3), rtol=1e-8)
    first, second, last = (sol.t_events[i][0] for i in range(3))
    assert abs(first - second) < 1e-12
    assert last > first + 1e-3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"fingers": 0}, "fingers must be a whole number, at least 1; got 0"),
        ({"fingers": 3, "torque": [1.0, 2.0]}, "one for each of the 3 fingers"),
        ({"fingers": 3, "stifness": 1.0}, "does not know"),
    ],
)
def test_bad_arguments_are_named(arguments, says):
    with pytest.raises(ValueError, match=says):
        bd.models.hand(**arguments)
