"""Laws of contact, in SI units. ``d`` is how deep a contact is pressed, ``v`` the speed at which it is pressed deeper.

Each law is smooth on both sides of the guard at which it is switched on; where a law stops pushing there is a second guard
instead of a clip. ``rate(...)`` of a law says how fast its fastest motion is, in 1/s: steps of an explicit method cannot be much
longer than a few times 1 / rate, whatever the tolerance.
"""

import math
from dataclasses import dataclass, fields

from . import layout as at
from .given import finite


class _Law:
    """Fields that are numbers become parameters of the system."""

    _switches = ("adhesion",)

    @property
    def has_pull_guard(self):
        """Whether there is a second guard, where the contact stops pushing."""
        return False

    @classmethod
    def parameter_names(cls):
        return tuple(f.name for f in fields(cls) if f.name not in cls._switches)  # type: ignore[arg-type]

    def parameter_values(self):
        return [float(getattr(self, name)) for name in self.parameter_names()]

    def _need(self, condition, what):
        if not condition:
            raise ValueError(f"{type(self).__name__}: {what}; got {self!r}")

    def _numbers(self):
        for name in self.parameter_names():
            finite(f"{type(self).__name__}: {name}", getattr(self, name))


@dataclass(frozen=True)
class Spring(_Law):
    """A spring and a damper along the normal: ``F = preload + stiffness d + damping v``.

    With a preload the push jumps from zero to a finite force at the instant of touching, as in the paper's three-legged hopper.
    A damper jumps as well. ``adhesion=False`` (default): a contact never pulls; the force ends at a second guard, F = 0,
    before the contact opens. ``adhesion=True``: it pulls, if it comes to that, until the contact opens.

    Rate: ``sqrt(stiffness / m)`` or ``damping / m`` with m the mass that the contact sees (of a robot's foot: that of the
    lower leg, not of the robot).
    """

    stiffness: float  # N/m
    damping: float = 0.0  # N s/m
    preload: float = 0.0  # N
    adhesion: bool = False

    kind = at.SPRING

    def __post_init__(self):
        self._numbers()
        self._need(self.stiffness >= 0 and self.damping >= 0, "stiffness and damping must not be negative")

    @property
    def has_pull_guard(self):
        # (a spring without damper and preload pulls exactly where it is not touching)
        return not self.adhesion and (self.damping != 0.0 or self.preload < 0.0)

    def rate(self, mass):
        return max(math.sqrt(self.stiffness / mass), self.damping / mass)


@dataclass(frozen=True)
class HuntCrossley(_Law):
    """Hunt and Crossley's law: ``F = stiffness d^exponent (1 + damping v)``, continuous at touching and at leaving.

    Beyond d = 0 it goes on as the odd function ``-|d|^exponent``, which is as smooth there as the law itself, so that no trial
    stage sees a NaN. It would pull only when leaving faster than ``1 / damping``; ``adhesion=False`` (default) has a second
    guard there, ``1 + damping v = 0``.

    Rate: ``sqrt(exponent stiffness d^(exponent - 1) / m)`` at depth d.
    """

    stiffness: float  # N/m^exponent
    damping: float = 0.0  # s/m
    exponent: float = 1.5
    adhesion: bool = False

    kind = at.HUNT_CROSSLEY

    def __post_init__(self):
        self._numbers()
        self._need(self.stiffness >= 0 and self.damping >= 0, "stiffness and damping must not be negative")
        self._need(self.exponent >= 1, "exponent must be at least 1")

    @property
    def has_pull_guard(self):
        return not self.adhesion and self.damping != 0.0

    def rate(self, mass, depth):
        slope = self.exponent * self.stiffness * depth ** (self.exponent - 1)
        return math.sqrt(slope / mass)


@dataclass(frozen=True)
class Coulomb(_Law):
    """Dry friction, regularised: ``-mu F v_t / sqrt(|v_t|^2 + slip_speed^2)``.

    It approximates Coulomb's law where |v_t| is well above slip_speed; what should stick creeps instead, at a speed of about
    ``slip_speed * load / (mu F)``. Rate: ``mu F / (slip_speed m)``: ten times less creep is ten times stiffer.
    """

    mu: float
    slip_speed: float = 0.01  # m/s

    kind = at.COULOMB

    def __post_init__(self):
        self._numbers()
        self._need(self.mu >= 0 and self.slip_speed > 0, "mu must not be negative, slip_speed must be positive")

    def rate(self, mass, force):
        return self.mu * force / (self.slip_speed * mass)


@dataclass(frozen=True)
class LuGre(_Law):
    """Friction by bristles that bend (two states for each contact), which really sticks:
    ``z' = v_t - sigma0 |v_t| z / g``, ``F_t = -F (sigma0 z + sigma1 z' + sigma2 v_t)``, with
    ``g = mu_d + (mu_s - mu_d) exp(-|v_t|^2 / stribeck^2)``.

    All per newton of normal force F: sigma0 in 1/m, sigma1 and sigma2 in s/m. It approximates Coulomb's law with static friction
    mu_s and dynamic friction mu_d; below ``mu_s F`` a contact holds like a spring of stiffness ``sigma0 F``. ``|v_t|`` is rounded
    off below a hundredth of the Stribeck speed, where it would have a corner. In the air bristles relax with the time ``relax``.
    Against planes only. Rates: ``sqrt(sigma0 F / m)`` and ``sigma1 F / m`` while sticking, ``sigma0 |v_t| / mu_d`` while sliding.
    """

    mu_s: float
    mu_d: float
    stribeck: float = 0.05  # m/s
    sigma0: float = 2000.0  # 1/m
    sigma1: float = 5.0  # s/m
    sigma2: float = 0.0  # s/m
    relax: float = 0.01  # s

    kind = at.LUGRE

    def __post_init__(self):
        self._numbers()
        self._need(0 < self.mu_d <= self.mu_s, "0 < mu_d <= mu_s")
        self._need(min(self.stribeck, self.sigma0, self.relax) > 0, "stribeck, sigma0 and relax must be positive")
        self._need(min(self.sigma1, self.sigma2) >= 0, "sigma1 and sigma2 must not be negative")

    def rate(self, mass, force, speed=0.0):
        held = max(math.sqrt(self.sigma0 * force / mass), self.sigma1 * force / mass)
        return max(held, self.sigma0 * speed / self.mu_d, 1.0 / self.relax)


@dataclass(frozen=True)
class Stops(_Law):
    """The stops at the limits of joints: ``I stiffness d (1 + damping v)`` beyond a limit, with I the joint's own inertia (as
    MuJoCo has it in the pose ``qpos0``), so that one pair of numbers serves all joints.

    Continuous when a limit is reached and left. Rate: ``sqrt(stiffness)``, at the default 50 / s as MuJoCo's own default stops.
    """

    stiffness: float = 2500.0  # 1/s^2
    damping: float = 0.5  # s/rad, or s/m for a slide

    def __post_init__(self):
        self._numbers()
        self._need(self.stiffness >= 0 and self.damping >= 0, "stiffness and damping must not be negative")

    def rate(self):
        return math.sqrt(self.stiffness)
