"""Laws of contact, in SI units. ``d`` is the depth of penetration, ``v`` its rate (positive while it grows).

Each law is smooth on both sides of the guard that switches it on. Where a law would start to pull, a second guard switches it
off. ``rate(...)`` of a law estimates its fastest time constant as a rate in 1/s: an explicit method cannot take steps much longer
than a few times 1 / rate, whatever the tolerance.

>>> from bouligand.bridges.mujoco import Coulomb, Spring
>>> Spring(stiffness=20_000.0, damping=100.0).rate(mass=0.5)
200.0
>>> Coulomb(mu=0.8).rate(mass=0.5, force=10.0)
1600.0
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

from ...system.arguments import flag, not_negative, number, positive

__all__ = ["Coulomb", "ExactCoulomb", "HuntCrossley", "JointFriction", "LuGre", "Spring", "Stops"]


class _Law:
    """Base of the laws. Fields that are numbers become parameters of the system."""

    _switches = ("adhesion",)

    @property
    def has_pull_guard(self) -> bool:
        """Whether there is a second guard, at which the contact stops pushing."""
        return False

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Names of the numbers, in order."""
        return tuple(f.name for f in fields(cls) if f.name not in cls._switches)  # type: ignore[arg-type]

    def parameter_values(self) -> list[float]:
        """The numbers, in the order of `parameter_names`."""
        return [float(getattr(self, name)) for name in self.parameter_names()]

    def _need(self, condition: bool, what: str) -> None:
        if not condition:
            raise ValueError(f"{type(self).__name__}: {what}; got {self!r}")

    def _numbers(self) -> None:
        for name in self.parameter_names():
            number(f"{type(self).__name__}: {name}", getattr(self, name))
        for name in self._switches:
            flag(f"{type(self).__name__}: {name}", getattr(self, name, False))


class NormalLaw(_Law):
    """A law of the force along the normal; `touching.normal_force` has it compiled, under its number ``kind``."""

    kind: ClassVar[int]
    adhesion: bool


class FrictionLaw(_Law):
    """A law of the force in the tangential plane; `touching.friction` has it compiled, under its number ``kind``."""

    kind: ClassVar[int]


SPRING, HUNT_CROSSLEY = 0, 1
SLIPPING = 0.9  # friction of a contact that slips, of that which holds it, where one coefficient is given
NO_FRICTION, COULOMB, LUGRE, EXACT_COULOMB = 0, 1, 2, 3


@dataclass(frozen=True)
class Spring(NormalLaw):
    """A linear spring and damper along the normal: ``F = preload + stiffness d + damping v``.

    Parameters
    ----------
    stiffness : float
        In N/m, not negative.
    damping : float
        In N s/m, not negative. The force then jumps at touchdown, as it does with a preload.
    preload : float
        In N: the force at d = 0, as of the legs of the paper's three-legged hopper.
    adhesion : bool
        False (default): the contact never pulls; a second guard, F = 0, ends the force before the contact opens. True: the
        contact may pull until it opens.

    Notes
    -----
    The rate is ``sqrt(stiffness / m)`` or ``damping / m``, whichever is larger, with m the effective mass at the contact: for the
    foot of a robot that of the lower leg, not of the robot.
    """

    stiffness: float  # N/m
    damping: float = 0.0  # N s/m
    preload: float = 0.0  # N
    adhesion: bool = False

    kind = SPRING

    def __post_init__(self) -> None:
        self._numbers()
        self._need(self.stiffness >= 0 and self.damping >= 0, "stiffness and damping must not be negative")

    @property
    def has_pull_guard(self) -> bool:
        # (a spring without damper and preload pulls exactly where it is not touching)
        return not self.adhesion and (self.damping != 0.0 or self.preload < 0.0)

    def rate(self, mass: float) -> float:
        """The fastest rate, in 1/s, of a contact with this effective mass (kg)."""
        mass = positive("mass", mass)
        return max(math.sqrt(self.stiffness / mass), self.damping / mass)


@dataclass(frozen=True)
class HuntCrossley(NormalLaw):
    """The law of Hunt and Crossley: ``F = stiffness d^exponent (1 + damping v)``, continuous at touchdown and lift-off.

    Parameters
    ----------
    stiffness : float
        In N/m^exponent, not negative.
    damping : float
        In s/m, not negative.
    exponent : float
        At least 1; 3/2 is that of Hertz for a sphere on a plane.
    adhesion : bool
        False (default): a second guard, ``1 + damping v = 0``, ends the force where it would pull, which happens only when
        the contact opens faster than ``1 / damping``. True: there is no such guard.

    Notes
    -----
    For d < 0 the law continues as the odd function ``-|d|^exponent``, so that stages of a step beyond the guard are finite and
    smooth. The rate is ``sqrt(exponent stiffness d^(exponent - 1) / m)``.
    """

    stiffness: float  # N/m^exponent
    damping: float = 0.0  # s/m
    exponent: float = 1.5
    adhesion: bool = False

    kind = HUNT_CROSSLEY

    def __post_init__(self) -> None:
        self._numbers()
        self._need(self.stiffness >= 0 and self.damping >= 0, "stiffness and damping must not be negative")
        self._need(self.exponent >= 1, "exponent must be at least 1")

    @property
    def has_pull_guard(self) -> bool:
        return not self.adhesion and self.damping != 0.0

    def rate(self, mass: float, depth: float) -> float:
        """The fastest rate, in 1/s, of a contact with this effective mass (kg), at this depth (m)."""
        mass, depth = positive("mass", mass), not_negative("depth", depth)
        slope = self.exponent * self.stiffness * depth ** (self.exponent - 1)
        return math.sqrt(slope / mass)


@dataclass(frozen=True)
class Coulomb(FrictionLaw):
    """Dry friction, regularised: ``-mu F v_t / sqrt(|v_t|^2 + slip_speed^2)``, with v_t the tangential velocity.

    Parameters
    ----------
    mu : float
        Coefficient of friction, not negative.
    slip_speed : float
        In m/s, positive. The law is Coulomb's for speeds well above it. A contact that should stick creeps at about
        ``slip_speed * load / (mu F)`` instead.

    Notes
    -----
    The rate is ``mu F / (slip_speed m)``: ten times less creep is ten times stiffer.
    """

    mu: float
    slip_speed: float = 0.01  # m/s

    kind = COULOMB

    def __post_init__(self) -> None:
        self._numbers()
        self._need(self.mu >= 0 and self.slip_speed > 0, "mu must not be negative, slip_speed must be positive")

    def rate(self, mass: float, force: float) -> float:
        """The fastest rate, in 1/s, of a contact with this effective mass (kg), under this normal force (N)."""
        return self.mu * not_negative("force", force) / (self.slip_speed * positive("mass", mass))


@dataclass(frozen=True)
class ExactCoulomb(FrictionLaw):
    """Dry friction that sticks exactly: ``-mu F sign(v)``, and while it sticks whatever keeps the slip v at zero.

    The slip is a guard of the system (``"NAME slips"``): sticking is a sliding mode on it, without creep and without a state.
    In three dimensions each of two directions in the plane has its own guard (``"NAME slips along"``, ``"... across"``) and
    its own ``mu F``: the limits of friction are a square, not a circle, and diagonally it holds up to 1.41 mu F.

    Parameters
    ----------
    mu : float
        Coefficient of friction, positive.

    Notes
    -----
    For contacts with planes, one for each body: of two that stick on one body the friction is not unique. f is evaluated once
    more for each direction that sticks, and stiff steps are only taken if asked for: for planar models and few contacts; `LuGre`
    for others.
    """

    mu: float

    kind = EXACT_COULOMB

    def __post_init__(self) -> None:
        self._numbers()
        self._need(self.mu > 0, "mu must be positive (friction=None is none)")


@dataclass(frozen=True)
class LuGre(FrictionLaw):
    """The LuGre law of friction, which sticks: bristles that bend, with two more states for each contact.

    ``z' = v_t - sigma0 |v_t| z / g``, ``F_t = -F (sigma0 z + sigma1 z' + sigma2 v_t)``, with
    ``g = mu_d + (mu_s - mu_d) exp(-|v_t|^2 / stribeck^2)``. All coefficients are per newton of the normal force F.

    Parameters
    ----------
    mu_s, mu_d : float
        Coefficients of static and dynamic friction, ``0 < mu_d <= mu_s``.
    stribeck : float
        Stribeck speed in m/s, positive. ``|v_t|`` is smoothed below a hundredth of it.
    sigma0 : float
        Stiffness of the bristles in 1/m, positive: below ``mu_s F`` a contact holds like a spring of ``sigma0 F``.
    sigma1, sigma2 : float
        Damping of the bristles, and viscous friction, in s/m, not negative.
    relax : float
        Time constant in s, positive, with which the bristles relax while the contact is open.

    Notes
    -----
    For contacts with planes only. The rates are ``sqrt(sigma0 F / m)`` and ``sigma1 F / m`` while sticking, and
    ``sigma0 |v_t| / mu_d`` while slipping.
    """

    mu_s: float
    mu_d: float
    stribeck: float = 0.05  # m/s
    sigma0: float = 2000.0  # 1/m
    sigma1: float = 5.0  # s/m
    sigma2: float = 0.0  # s/m
    relax: float = 0.01  # s

    kind = LUGRE

    def __post_init__(self) -> None:
        self._numbers()
        self._need(0 < self.mu_d <= self.mu_s, "0 < mu_d <= mu_s")
        self._need(min(self.stribeck, self.sigma0, self.relax) > 0, "stribeck, sigma0 and relax must be positive")
        self._need(min(self.sigma1, self.sigma2) >= 0, "sigma1 and sigma2 must not be negative")

    def rate(self, mass: float, force: float, speed: float = 0.0) -> float:
        """The fastest rate, in 1/s, of a contact with this effective mass (kg), normal force (N) and slip speed (m/s)."""
        mass, force, speed = positive("mass", mass), not_negative("force", force), not_negative("speed", speed)
        held = max(math.sqrt(self.sigma0 * force / mass), self.sigma1 * force / mass)
        return max(held, self.sigma0 * speed / self.mu_d, 1.0 / self.relax)


def friction_of(given: FrictionLaw | float | None, with_floor: bool) -> FrictionLaw | None:
    """The law that is meant by a coefficient: LuGre's for contacts with the floor, which sticks; between two geoms Coulomb's."""
    if given is None or isinstance(given, FrictionLaw):
        return given
    return LuGre(float(given), SLIPPING * float(given)) if with_floor else Coulomb(float(given))


@dataclass(frozen=True)
class Stops(_Law):
    """The stops at the limits of joints and tendons: ``I stiffness d (1 + damping v)`` beyond a limit, continuous there.

    I is the inertia of the joint (or of what pulls at the tendon) itself, as MuJoCo computes it for the pose ``qpos0``, so that
    the same numbers suit all of them.

    Parameters
    ----------
    stiffness : float
        In 1/s^2, not negative. The rate is its square root; the default, 50 / s, is that of MuJoCo's own default stops.
    damping : float
        In s/rad (s/m for a slide), not negative.
    """

    stiffness: float = 2500.0  # 1/s^2
    damping: float = 0.5  # s/rad, or s/m for a slide

    def __post_init__(self) -> None:
        self._numbers()
        self._need(self.stiffness >= 0 and self.damping >= 0, "stiffness and damping must not be negative")

    def rate(self) -> float:
        """The fastest rate, in 1/s."""
        return math.sqrt(self.stiffness)


@dataclass(frozen=True)
class JointFriction(_Law):
    """Dry friction of joints (frictionloss) that sticks: a bristle for each dof, one more state, after LuGre.

    A joint that sticks is held by a spring that bends by ``deflection`` under the full friction, and does not crawl.

    Parameters
    ----------
    deflection : float
        In rad (m for a slide), positive.
    damping : float
        Damping ratio of a joint that sticks, positive; of its own inertia, as MuJoCo computes it for the pose ``qpos0``.
    """

    deflection: float = 0.01  # rad, or m for a slide
    damping: float = 0.5

    def __post_init__(self) -> None:
        self._numbers()
        self._need(self.deflection > 0 and self.damping > 0, "deflection and damping must be positive")

    def rate(self, inertia: float, friction: float, speed: float = 0.0) -> float:
        """The fastest rate, in 1/s, of a joint with this inertia (kg m^2), friction (N m) and speed (rad/s)."""
        inertia, friction, speed = (
            positive("inertia", inertia),
            not_negative("friction", friction),
            not_negative("speed", speed),
        )
        held = math.sqrt(friction / (self.deflection * inertia))
        return max(held, 2.0 * self.damping * held, speed / self.deflection)
