"""What a user says of a contact, and what has been found in a model: `Contact` and `Place`."""

from __future__ import annotations

from dataclasses import dataclass

from ...system.arguments import finite_numbers, not_negative, number, text
from .laws import FrictionLaw, NormalLaw


@dataclass(frozen=True)
class Contact:
    """One place of a robot that may touch something.

    Parameters
    ----------
    geom, site, body : str
        The name of one of these three. (A link that a URDF fixes to another counts as a body.) A geom has its shape: a sphere
        touches with its surface, a capsule with the spheres at its ends, a box with its corners. A site or a body touches
        with the sphere of ``radius`` around ``point``.
    point : (float, float, float)
        A point in the frame of the geom, site or body.
    radius : float, optional
        Radius of the sphere around ``point``; 0 if not given. A geom that is no sphere, capsule or box needs it.
    against : str, optional
        A geom to touch instead of the floor. One of the two geoms must be a sphere or a capsule.
    law : Spring or HuntCrossley, optional
        The normal force. Default: that of `load`.
    friction : float, LuGre, Coulomb or ExactCoulomb, optional
        The tangential force, or a coefficient of friction, as for `load`. Default: that of `load`.
    name : str, optional
        How guards and parameters call it. Default: the name of the geom, site or body.

    Examples
    --------
    >>> from bouligand.bridges.mujoco import Contact, Spring
    >>> Contact(site="toe", radius=0.02, law=Spring(5_000.0)).site
    'toe'
    """

    geom: str | None = None
    site: str | None = None
    body: str | None = None
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float | None = None
    against: str | None = None
    law: NormalLaw | None = None
    friction: FrictionLaw | float | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        for what in ("geom", "site", "body", "against", "name"):
            if getattr(self, what) is not None:
                text(f"Contact: {what}", getattr(self, what))
        given = [part for part in (self.geom, self.site, self.body) if part is not None]
        if len(given) != 1:
            raise ValueError(f"Contact: give one of geom, site and body; got {self!r}")
        point = finite_numbers("Contact: point", self.point)
        if point.shape != (3,):
            raise ValueError(f"Contact: point must be three numbers; got {self.point!r}")
        if self.radius is not None:
            not_negative("Contact: radius", self.radius)
        if self.against is not None and (self.radius is not None or point.any()):
            raise ValueError(f"Contact: against= takes both geoms as they are, without point and radius; got {self!r}")
        if self.geom is not None and self.radius is None and point.any():
            raise ValueError(f"Contact: a geom with a point needs a radius too (0 for the point itself); got {self!r}")
        check_laws(self.law, self.friction)


@dataclass(frozen=True)
class Place:
    """A contact that has been found in a model: a ball around a point of a body, or two geoms."""

    name: str
    body: int = 0
    point: tuple[float, ...] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    geoms: tuple[int, int] | None = None
    contact: Contact | None = None


def check_laws(law: object, friction: object) -> None:
    """Raise unless these are laws of the normal and of the tangential force, or None."""
    if law is not None and not isinstance(law, NormalLaw):
        raise TypeError(f"law must be a Spring or a HuntCrossley; got {law!r}")
    if friction is None or isinstance(friction, FrictionLaw):
        return
    if not number("friction, if it is no LuGre, Coulomb or ExactCoulomb,", friction) > 0.0:
        raise ValueError(f"friction, if it is a coefficient, must be positive; got {friction!r} (None is no friction)")
