"""Which parts of a robot may touch what: from names, patterns and pairs to points, planes and pairs of geoms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeGuard

import mujoco
import numpy as np

from .features import name_of
from .given import finite
from .laws import ExactCoulomb, FrictionLaw, LuGre, NormalLaw

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray

_GEOM, _SITE, _BODY = mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_BODY
_HFIELD, _SDF = int(mujoco.mjtGeom.mjGEOM_HFIELD), int(mujoco.mjtGeom.mjGEOM_SDF)
_SPHERE, _CAPSULE, _BOX, _PLANE = (
    int(mujoco.mjtGeom.mjGEOM_SPHERE),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE),
    int(mujoco.mjtGeom.mjGEOM_BOX),
    int(mujoco.mjtGeom.mjGEOM_PLANE),
)


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
        given = [part for part in (self.geom, self.site, self.body) if part is not None]
        if len(given) != 1:
            raise ValueError(f"Contact: give one of geom, site and body; got {self!r}")
        point = np.asarray(self.point, dtype=float)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ValueError(f"Contact: point must be three numbers; got {self.point!r}")
        if self.radius is not None and not finite("Contact: radius", self.radius) >= 0:
            raise ValueError(f"Contact: radius must not be negative; got {self.radius!r}")
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
    if isinstance(friction, bool) or not isinstance(friction, int | float | np.number):
        raise TypeError(f"friction must be a coefficient, a LuGre, a Coulomb or an ExactCoulomb; got {friction!r}")
    if not 0.0 < friction < np.inf:
        raise ValueError(f"friction, if it is a coefficient, must be positive; got {friction!r} (None is no friction)")


def find_places(model: mujoco.MjModel, contacts: Any) -> list[Place]:
    """The places of all contacts: ``"feet"``, a name or a pattern, a pair of names, a Contact, or a sequence of these."""
    if contacts is None:
        return []
    if isinstance(contacts, str | Contact) or _is_pair(contacts) or not np.iterable(contacts):
        contacts = [contacts]
    places: list[Place] = []
    for item in contacts:
        if isinstance(item, Contact):
            places += _of_contact(model, item)
        elif isinstance(item, str):
            places += _NAMED[item](model) if item in _NAMED else _of_pattern(model, item)
        elif _is_pair(item):
            places += [_pair(model, item[0], item[1], None)]
        else:
            raise TypeError(f"contacts: expected a name, a pattern, a pair of geoms or a Contact; got {item!r}")
    names = [place.name for place in places]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"contacts: {name!r} is there {names.count(name)} times; Contact(name=...) tells them apart"
            )
    return places


def _is_pair(item: object) -> TypeGuard[tuple[str, str]]:
    return isinstance(item, tuple) and len(item) == 2 and all(isinstance(part, str) for part in item)


# ---------------------------------------------------------------------------------------------------------------- by name


def _matching(model: mujoco.MjModel, kind: Any, count: int, pattern: str) -> list[int]:
    names = [mujoco.mj_id2name(model, kind, i) for i in range(count)]
    return [i for i, name in enumerate(names) if name is not None and fnmatchcase(name, pattern)]


def _index(model: mujoco.MjModel, kind: Any, count: int, name: str, what: str) -> int:
    for i in range(count):
        if mujoco.mj_id2name(model, kind, i) == name:
            return i
    known = [mujoco.mj_id2name(model, kind, i) for i in range(count)]
    known = [other for other in known if other]
    raise ValueError(
        f"contacts: no {what} is called {name!r}; {what}s with a name: {', '.join(known[:12]) or 'none'}"
        + (f" and {len(known) - 12} more" if len(known) > 12 else "")
    )


def _moves(model: mujoco.MjModel, body: int) -> bool:
    return _last_dof(model, body) >= 0


def _last_dof(model: mujoco.MjModel, body: int) -> int:
    while body > 0:
        if model.body_dofnum[body]:
            return int(model.body_dofadr[body] + model.body_dofnum[body] - 1)
        body = model.body_parentid[body]
    return -1


def _of_pattern(model: mujoco.MjModel, pattern: str) -> list[Place]:
    geoms = [i for i in _matching(model, _GEOM, model.ngeom, pattern) if _moves(model, model.geom_bodyid[i])]
    if geoms:
        return [place for i in geoms for place in _of_geom(model, i, name_of(model, _GEOM, i), None)]
    sites = [i for i in _matching(model, _SITE, model.nsite, pattern) if _moves(model, model.site_bodyid[i])]
    if sites:
        return [_of_site(model, i, None) for i in sites]
    bodies = [i for i in _matching(model, _BODY, model.nbody, pattern) if _moves(model, i)]
    if bodies:
        return [place for i in bodies for place in _of_body(model, i)]
    some = [name_of(model, _GEOM, i) for i in range(model.ngeom) if mujoco.mj_id2name(model, _GEOM, i)]
    some += [name_of(model, _SITE, i) for i in range(model.nsite) if mujoco.mj_id2name(model, _SITE, i)]
    some += [name_of(model, _BODY, i) for i in range(1, model.nbody)]
    raise ValueError(
        f"contacts: no geom, site or body that moves is called {pattern!r} or matches it; there are {', '.join(some[:20])}"
        + (f" and {len(some) - 20} more" if len(some) > 20 else "")
    )


def _of_contact(model: mujoco.MjModel, contact: Contact) -> list[Place]:
    if contact.against is not None:
        if contact.geom is None:
            raise ValueError(
                "contacts: against= needs geom=: two geoms have a distance, a site or a body's frame has none"
            )
        return [_pair(model, contact.geom, contact.against, contact)]
    if contact.geom is not None:
        i = _index(model, _GEOM, model.ngeom, contact.geom, "geom")
        _must_move(model, model.geom_bodyid[i], contact)
        return _of_geom(model, i, contact.name or contact.geom, contact)
    if contact.site is not None:
        i = _index(model, _SITE, model.nsite, contact.site, "site")
        _must_move(model, model.site_bodyid[i], contact)
        return [_of_site(model, i, contact)]
    assert contact.body is not None
    fused = [i for i in range(model.nsite) if mujoco.mj_id2name(model, _SITE, i) == contact.body]
    named = [i for i in range(model.nbody) if mujoco.mj_id2name(model, _BODY, i) == contact.body]
    if fused and not named:
        _must_move(model, model.site_bodyid[fused[0]], contact)
        return [_of_site(model, fused[0], contact)]
    i = _index(model, _BODY, model.nbody, contact.body, "body")
    _must_move(model, i, contact)
    return [Place(contact.name or contact.body, i, tuple(contact.point), contact.radius or 0.0, contact=contact)]


def _must_move(model: mujoco.MjModel, body: int, contact: Contact) -> None:
    if not _moves(model, body):
        raise ValueError(f"contacts: {contact!r} is fixed to the world, it can touch nothing")


def _rotation(quat: ArrayLike) -> FloatArray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat, dtype=float))
    return matrix.reshape(3, 3)


def _of_site(model: mujoco.MjModel, i: int, contact: Contact | None) -> Place:
    name = (contact and contact.name) or name_of(model, _SITE, i)
    offset = np.zeros(3) if contact is None else np.asarray(contact.point, dtype=float)
    point = model.site_pos[i] + _rotation(model.site_quat[i]) @ offset
    radius = 0.0 if contact is None or contact.radius is None else float(contact.radius)
    return Place(name, int(model.site_bodyid[i]), tuple(point), radius, contact=contact)


def _of_geom(model: mujoco.MjModel, i: int, name: str, contact: Contact | None) -> list[Place]:
    """A geom against a plane as balls: itself, its two ends, its corners."""
    body, turn, size = int(model.geom_bodyid[i]), _rotation(model.geom_quat[i]), model.geom_size[i]
    kind = int(model.geom_type[i])
    if contact is not None and contact.radius is not None:
        offsets, radius = [np.asarray(contact.point, dtype=float)], contact.radius
    elif kind == _SPHERE:
        offsets, radius = [np.zeros(3)], size[0]
    elif kind == _CAPSULE:
        offsets, radius = [np.array([0.0, 0.0, -size[1]]), np.array([0.0, 0.0, size[1]])], size[0]
    elif kind == _BOX:
        offsets = [size * np.array([a, b, c]) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
        radius = 0.0
    else:
        shape = mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower()
        raise ValueError(
            f"contacts: the geom {name!r} is a {shape}; spheres, capsules and boxes are taken as they are, for others say "
            f"where they touch: Contact(geom={name!r}, point=(x, y, z), radius=r)"
        )
    points = [model.geom_pos[i] + turn @ offset for offset in offsets]
    several = len(points) > 1
    return [
        Place(f"{name}:{q}" if several else name, body, tuple(point), float(radius), contact=contact)
        for q, point in enumerate(points)
    ]


def _shapes(model: mujoco.MjModel, body: int) -> list[int]:
    """The geoms of a body: those that can touch in MuJoCo, or all, where none of them can (they are there to be seen)."""
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body]
    return [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]] or geoms


def _of_body(model: mujoco.MjModel, i: int) -> list[Place]:
    """The geoms of a body that have a shape to touch with, or its frame's origin."""
    name, shapes = name_of(model, _BODY, i), _shapes(model, i)
    geoms = [g for g in shapes if model.geom_type[g] in (_SPHERE, _CAPSULE, _BOX)]
    solid = [g for g in shapes if model.geom_contype[g] or model.geom_conaffinity[g]]
    if solid and not geoms:
        raise ValueError(
            f"contacts: no geom of the body {name!r} is a sphere, a capsule or a box; say where it touches: "
            f"Contact(body={name!r}, point=(x, y, z), radius=r)"
        )
    if not geoms:
        return [Place(name, i)]
    if len(geoms) == 1:
        return _of_geom(model, geoms[0], name, None)
    return [place for q, g in enumerate(geoms) for place in _of_geom(model, g, f"{name}/{q}", None)]


def _pair(model: mujoco.MjModel, one: str, two: str, contact: Contact | None) -> Place:
    i = _index(model, _GEOM, model.ngeom, one, "geom")
    j = _index(model, _GEOM, model.ngeom, two, "geom")
    round_ones = [g for g in (i, j) if model.geom_type[g] in (_SPHERE, _CAPSULE)]
    if not round_ones:
        raise ValueError(
            f"contacts: neither {one!r} nor {two!r} is a sphere or a capsule; their distance has corners where two faces or "
            "edges meet, and no direction at zero"
        )
    for geom, name in ((i, one), (j, two)):
        if model.geom_type[geom] in (_HFIELD, _SDF):
            raise ValueError(
                f"contacts: of the geom {name!r}, a height field or an SDF, MuJoCo has no distance to others"
            )
    if model.body_weldid[model.geom_bodyid[i]] == model.body_weldid[model.geom_bodyid[j]]:
        raise ValueError(f"contacts: {one!r} and {two!r} belong to the same body")
    if not _moves(model, model.geom_bodyid[i]):
        i, j = j, i
    friction = None if contact is None else contact.friction
    if isinstance(friction, LuGre | ExactCoulomb):
        raise ValueError(
            f"contacts: {type(friction).__name__} is for contacts with a plane; between two geoms use Coulomb"
        )
    name = (contact and contact.name) or f"{one}-{two}"
    return Place(name, int(model.geom_bodyid[i]), geoms=(i, j), contact=contact)


# ------------------------------------------------------------------------------------------------------------------- feet


def _feet(model: mujoco.MjModel) -> list[Place]:
    """The tips of the robot's last links, those of them that are lowest in its reference pose (within a tenth of its height).

    The tip of a link is its sphere, or its capsule's far end, or the four lower corners of its box, or the frame fixed to it that
    is farthest from its joint.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    parents = {int(i) for i in model.body_parentid[1:]}
    leaves = [i for i in range(1, model.nbody) if i not in parents and _moves(model, i)]
    tips = [tip for i in leaves for tip in _tips(model, i)]
    if not tips:
        raise ValueError("contacts='feet': no link at the end of a chain has a shape or a frame; name the contacts")
    heights = [_height(data, tip) for tip in tips]
    top = max(float(data.xpos[i][2]) for i in range(1, model.nbody))
    lowest = min(heights)
    return [
        tip for tip, z in zip(tips, heights, strict=True) if z <= lowest + 0.1 * (max(top, *heights) - lowest) + 1e-9
    ]


def _tips(model: mujoco.MjModel, body: int) -> list[Place]:
    """The tip of a link, or the corners of its sole; named after its geom, the frame that lies in its ball, or its body."""

    def far(place: Place) -> float:
        return float(np.linalg.norm(place.point))

    sites = [_of_site(model, s, None) for s in range(model.nsite) if model.site_bodyid[s] == body]
    geoms = _shapes(model, body)
    boxes = [g for g in geoms if model.geom_type[g] == _BOX]
    if boxes and not any(model.geom_type[g] in (_SPHERE, _CAPSULE) for g in geoms):
        return _sole(model, boxes, sites, body)
    for kind in (_SPHERE, _CAPSULE):
        balls = [(p, g) for g in geoms if model.geom_type[g] == kind for p in _of_geom(model, g, "", None)]
        if balls:
            ball, geom = max(balls, key=lambda pair: far(pair[0]))
            inside = [s.name for s in sites if np.linalg.norm(np.subtract(s.point, ball.point)) <= ball.radius]
            name = mujoco.mj_id2name(model, _GEOM, geom) or (inside and inside[0]) or name_of(model, _BODY, body)
            return [replace(ball, name=name)]
    return [max(sites, key=far)] if sites else []


def _sole(model: mujoco.MjModel, boxes: list[int], sites: list[Place], body: int) -> list[Place]:
    """A flat foot: the four corners of its largest box that are lowest in the reference pose."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    box = max(boxes, key=lambda g: float(np.prod(model.geom_size[g])))
    name = mujoco.mj_id2name(model, _GEOM, box) or (sites and sites[0].name) or name_of(model, _BODY, body)
    corners = _of_geom(model, box, name, None)
    return sorted(corners, key=lambda corner: _height(data, corner))[:4]


def _height(data: mujoco.MjData, place: Place) -> float:
    """Of the lowest point of a place."""
    return float((data.xpos[place.body] + data.xmat[place.body].reshape(3, 3) @ place.point)[2]) - place.radius


def _everything(model: mujoco.MjModel) -> list[Place]:
    """Every shape of a moving body that can touch: spheres, ends of capsules, corners of boxes, points on the rims of cylinders
    and on ellipsoids, the outermost vertices of meshes."""
    places: list[Place] = []
    for body in range(1, model.nbody):
        if not _moves(model, body):
            continue
        for geom in _shapes(model, body):
            own = mujoco.mj_id2name(model, _GEOM, geom) or f"{name_of(model, _BODY, body)}/{geom}"
            if model.geom_type[geom] in (_SPHERE, _CAPSULE, _BOX):
                places += _of_geom(model, geom, own, None)
            else:
                turn = _rotation(model.geom_quat[geom])
                spots = [model.geom_pos[geom] + turn @ point for point in _outline(model, geom)]
                places += [Place(f"{own}:{q}", body, tuple(spot)) for q, spot in enumerate(spots)]
    if not places:
        raise ValueError(
            "contacts='everything': no body that moves has a shape; meshes of a URDF are kept by meshes=True, or name a Contact"
        )
    return places


def _outline(model: mujoco.MjModel, geom: int) -> FloatArray:
    """Points on the surface of a geom that has no other stand-in, in its own frame."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    around = np.array([[np.cos(a), np.sin(a), 0.0] for a in np.arange(8) * np.pi / 4])
    if kind == int(mujoco.mjtGeom.mjGEOM_CYLINDER):
        ends = np.array([0.0, 0.0, size[1]])
        return np.concatenate([size[0] * around - ends, size[0] * around + ends])
    ways = np.array([[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if a or b or c], dtype=float)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    if kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):  # where its normal has these directions
        reach = ways * size[:3] ** 2
        return reach / np.linalg.norm(ways * size[:3], axis=1)[:, None]
    if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
        mesh = int(model.geom_dataid[geom])
        first = int(model.mesh_vertadr[mesh])
        vertices = np.asarray(model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])], dtype=float)
        return vertices[np.unique(np.argmax(vertices @ ways.T, axis=0))]
    return np.empty((0, 3))


_NAMED = {"feet": _feet, "everything": _everything}
