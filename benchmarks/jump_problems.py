"""Problems with jumps and sticking that all peers are given, as compiled functions: field, margin, and what happens at an event.

``field(t, x, b, dx)``: x' in the mode b. ``margin(t, x, b)``: positive until the next event. ``land(t, x, b)``: changes x
and b at an event, and returns how many guards fire there. What is asked for is the time of every event (as often as guards
fire) and the state at the end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numba import njit
from scipy.integrate import quad, solve_ivp

import bouligand as bd
from bouligand.models.adex import PARAMETERS
from bouligand.models.bouncing_ball import bounces, exact
from bouligand.models.friction_oscillator import exact as friction_exact
from bouligand.models.neurons import spikes
from bouligand.models.rimless_wheel import ALPHA, GAMMA
from bouligand.models.rimless_wheel import START as WHEEL

build = njit(error_model="numpy")
G, E = 9.81, 0.8
CURRENT, PULSE = 1.5, 0.05
FRICTION = 0.4
C, LEAK, REST, VT, WIDTH, TAU, A, B, RESET, CUT = PARAMETERS.values()
I_ADEX = 1000.0


@dataclass(frozen=True)
class Problem:
    key: str
    title: str
    x0: np.ndarray = field(repr=False)
    b0: float
    tf: float
    system: Callable
    functions: tuple = field(repr=False)  # field, margin, land
    answer: Callable = field(repr=False)  # times of events, state at the end
    grid: float = 0.05  # longest step for peers that test for events at the ends of steps

    @property
    def n(self):
        return len(self.x0)

    def reference(self):
        """As one row: times of all events, then the state at the end."""
        return answered(self.answer)

    def result(self, times, end):
        """What an arm returns, in the form of the reference; an error if it has not found all events."""
        expected = self.reference().shape[1] - self.n
        if len(times) != expected:
            raise ValueError(f"{len(times)} events; there are {expected}")
        return np.concatenate([times, end])


@cache
def answered(answer):
    """(Once: arms compare the number of their events with it, while they are timed.)"""
    times, end = answer()
    return np.concatenate([times, end])[None]


# ----------------------------------------------------------------------------------------------- a ball that bounces


@build
def ball_field(t, x, b, dx):
    dx[0], dx[1] = x[1], -G


@build
def ball_margin(t, x, b):
    return x[0]


@build
def ball_land(t, x, b):
    x[0] = 0.0
    x[1] = -E * x[1]
    return 1


def ball_answer():
    times = bounces(20)
    return times[times < 3.0], exact([3.0])[0]


# ----------------------------------------------------------------------------------------------- a rimless wheel


@build
def wheel_field(t, x, b, dx):
    dx[0], dx[1] = x[1], G * math.sin(x[0])


@build
def wheel_margin(t, x, b):
    return GAMMA + ALPHA - x[0]


@build
def wheel_land(t, x, b):
    x[0] = GAMMA - ALPHA
    x[1] = math.cos(2.0 * ALPHA) * x[1]
    return 1


def wheel_speed(theta, omega):
    """At an angle, from omega behind an impact: energy is kept."""
    return math.sqrt(omega**2 + 2.0 * G * (math.cos(GAMMA - ALPHA) - math.cos(theta)))


def wheel_answer():
    """Times of steps by quadrature (energy is kept between impacts), the last part by SciPy at 1e-13."""
    t, omega, times = 0.0, WHEEL[1], []
    while True:
        took = quad(lambda q, w=omega: 1.0 / wheel_speed(q, w), GAMMA - ALPHA, GAMMA + ALPHA, epsabs=0.0, epsrel=1e-13)[
            0
        ]
        if t + took > 5.0:
            break
        t += took
        times.append(t)
        omega = math.cos(2.0 * ALPHA) * wheel_speed(GAMMA + ALPHA, omega)
    run = solve_ivp(
        lambda t, x: (x[1], G * math.sin(x[0])), (t, 5.0), (GAMMA - ALPHA, omega), "DOP853", rtol=1e-13, atol=1e-14
    )
    return np.array(times), run.y[:, -1]


# ----------------------------------------------------------------------------------------------- neurons with pulses


@build
def neurons_field(t, x, b, dx):
    for i in range(x.size):
        dx[i] = CURRENT - x[i]


@build
def neurons_margin(t, x, b):
    return 1.0 - x.max()


@build
def neurons_land(t, x, b):
    fired = np.zeros(x.size, np.bool_)
    new = x >= x.max() - 1e-9  # (the highest is there, those in step with it too)
    while new.any():
        pulses = PULSE * new.sum()
        for i in range(x.size):
            if not fired[i] and not new[i]:
                x[i] += pulses
        fired |= new
        for i in range(x.size):
            if fired[i]:
                x[i] = 0.0
        new = x >= 1.0
    return fired.sum()


def neurons_answer():
    times, firing, end = spikes(6.0, neurons_start())
    return np.repeat(times, [len(who) for who in firing]), end


def neurons_start():
    return bd.models.available()["neurons"].build(10)[1]


# ----------------------------------------------------------------------------------------------- a neuron that adapts


@build
def adex_field(t, x, b, dx):
    dx[0] = (LEAK * (REST - x[0]) + LEAK * WIDTH * math.exp((x[0] - VT) / WIDTH) - x[1] + I_ADEX) / C
    dx[1] = (A * (x[0] - REST) - x[1]) / TAU


@build
def adex_margin(t, x, b):
    return CUT - x[0]


@build
def adex_land(t, x, b):
    x[0] = RESET
    x[1] += B
    return 1


def adex_answer():
    """Ours at 1e-13; SciPy's DOP853 at 1e-13 and mpmath's Taylor series say the same to 1e-9 (tests/models)."""
    sol = bd.solve(bd.models.adex(), (0.0, 100.0), [REST, 0.0], rtol=1e-13, atol=1e-13, method="dop853")
    return sol.events.t, sol.x[-1]


# ----------------------------------------------------------------------------------------------- friction that sticks


@build
def friction_field(t, x, b, dx):
    if b[0] == 0.0:
        dx[0] = dx[1] = 0.0
    else:
        dx[0], dx[1] = x[1], -x[0] - FRICTION * b[0]


@build
def friction_margin(t, x, b):
    return 1.0 if b[0] == 0.0 else b[0] * x[1]


@build
def friction_land(t, x, b):
    x[1] = 0.0
    b[0] = 0.0 if abs(x[0]) <= FRICTION else -math.copysign(1.0, x[0])
    return 1


def friction_answer():
    return math.pi * np.arange(1, 5), friction_exact([20.0])[0]


def problems():
    return [
        Problem(
            "ball",
            "bouncing ball, 6 impacts",
            np.array([1.0, 0.0]),
            1.0,
            3.0,
            bd.models.bouncing_ball,
            (ball_field, ball_margin, ball_land),
            ball_answer,
        ),
        Problem(
            "wheel",
            "rimless wheel, 5 s",
            WHEEL,
            1.0,
            5.0,
            bd.models.rimless_wheel,
            (wheel_field, wheel_margin, wheel_land),
            wheel_answer,
        ),
        Problem(
            "neurons",
            "10 neurons with pulses",
            neurons_start(),
            1.0,
            6.0,
            lambda: bd.models.neurons(10),
            (neurons_field, neurons_margin, neurons_land),
            neurons_answer,
        ),
        Problem(
            "adex",
            "AdEx neuron, 100 ms",
            np.array([REST, 0.0]),
            1.0,
            100.0,
            bd.models.adex,
            (adex_field, adex_margin, adex_land),
            adex_answer,
            grid=1.0,
        ),
        Problem(
            "friction",
            "friction oscillator, sticks",
            np.array([3.0, 0.0]),
            -1.0,
            20.0,
            bd.models.friction_oscillator,
            (friction_field, friction_margin, friction_land),
            friction_answer,
            grid=0.5,
        ),
    ]
