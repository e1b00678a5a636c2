"""Which parts of a robot may touch what: from names, patterns and pairs to points, planes and pairs of geoms."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, TypeGuard

import mujoco

from ...system.words import listed
from .contacts import Contact, Place
from .features import name_of
from .laws import ExactCoulomb, LuGre
from .shapes import BODY, CAPSULE, GEOM, SITE, SPHERE, moves, of_body, of_geom, of_site
from .whole_robot import everything, feet

_HFIELD, _SDF = int(mujoco.mjtGeom.mjGEOM_HFIELD), int(mujoco.mjtGeom.mjGEOM_SDF)
_NAMED = {"feet": feet, "everything": everything}


def find_places(model: mujoco.MjModel, contacts: Any) -> list[Place]:
    """The places of all contacts: ``"feet"``, a name or a pattern, a pair of names, a Contact, or a sequence of these."""
    if contacts is None:
        return []
    if isinstance(contacts, str | Contact) or _is_pair(contacts):
        contacts = [contacts]
    places: list[Place] = []
    for item in listed("contacts", contacts, "a name, a pattern, a pair of geoms or a Contact, or several"):
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


def _of_pattern(model: mujoco.MjModel, pattern: str) -> list[Place]:
    geoms = [i for i in _matching(model, GEOM, model.ngeom, pattern) if moves(model, model.geom_bodyid[i])]
    if geoms:
        return [place for i in geoms for place in of_geom(model, i, name_of(model, GEOM, i), None)]
    sites = [i for i in _matching(model, SITE, model.nsite, pattern) if moves(model, model.site_bodyid[i])]
    if sites:
        return [of_site(model, i, None) for i in sites]
    bodies = [i for i in _matching(model, BODY, model.nbody, pattern) if moves(model, i)]
    if bodies:
        return [place for i in bodies for place in of_body(model, i)]
    some = [name_of(model, GEOM, i) for i in range(model.ngeom) if mujoco.mj_id2name(model, GEOM, i)]
    some += [name_of(model, SITE, i) for i in range(model.nsite) if mujoco.mj_id2name(model, SITE, i)]
    some += [name_of(model, BODY, i) for i in range(1, model.nbody)]
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
        i = _index(model, GEOM, model.ngeom, contact.geom, "geom")
        _must_move(model, model.geom_bodyid[i], contact)
        return of_geom(model, i, contact.name or contact.geom, contact)
    if contact.site is not None:
        i = _index(model, SITE, model.nsite, contact.site, "site")
        _must_move(model, model.site_bodyid[i], contact)
        return [of_site(model, i, contact)]
    assert contact.body is not None
    fused = [i for i in range(model.nsite) if mujoco.mj_id2name(model, SITE, i) == contact.body]
    named = [i for i in range(model.nbody) if mujoco.mj_id2name(model, BODY, i) == contact.body]
    if fused and not named:
        _must_move(model, model.site_bodyid[fused[0]], contact)
        return [of_site(model, fused[0], contact)]
    i = _index(model, BODY, model.nbody, contact.body, "body")
    _must_move(model, i, contact)
    return [Place(contact.name or contact.body, i, tuple(contact.point), contact.radius or 0.0, contact=contact)]


def _must_move(model: mujoco.MjModel, body: int, contact: Contact) -> None:
    if not moves(model, body):
        raise ValueError(f"contacts: {contact!r} is fixed to the world, it can touch nothing")


def _pair(model: mujoco.MjModel, one: str, two: str, contact: Contact | None) -> Place:
    i = _index(model, GEOM, model.ngeom, one, "geom")
    j = _index(model, GEOM, model.ngeom, two, "geom")
    round_ones = [g for g in (i, j) if model.geom_type[g] in (SPHERE, CAPSULE)]
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
    if not moves(model, model.geom_bodyid[i]):
        i, j = j, i
    friction = None if contact is None else contact.friction
    if isinstance(friction, LuGre | ExactCoulomb):
        raise ValueError(
            f"contacts: {type(friction).__name__} is for contacts with a plane; between two geoms use Coulomb"
        )
    name = (contact and contact.name) or f"{one}-{two}"
    return Place(name, int(model.geom_bodyid[i]), geoms=(i, j), contact=contact)
