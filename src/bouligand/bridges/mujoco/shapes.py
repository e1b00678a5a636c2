"""The shapes of a model as places that touch a plane: balls around points of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from .contacts import Contact, Place
from .features import name_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray

GEOM, SITE, BODY = mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_BODY
SPHERE, CAPSULE, BOX = (
    int(kind) for kind in (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_BOX)
)


def moves(model: mujoco.MjModel, body: int) -> bool:
    """Whether some dof moves a body."""
    return bool(model.body_weldid[body] != 0)


def rotation(quat: ArrayLike) -> FloatArray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat, dtype=float))
    return matrix.reshape(3, 3)


def of_site(model: mujoco.MjModel, i: int, contact: Contact | None) -> Place:
    name = (contact and contact.name) or name_of(model, SITE, i)
    offset = np.zeros(3) if contact is None else np.asarray(contact.point, dtype=float)
    point = model.site_pos[i] + rotation(model.site_quat[i]) @ offset
    radius = 0.0 if contact is None or contact.radius is None else float(contact.radius)
    return Place(name, int(model.site_bodyid[i]), tuple(point), radius, contact=contact)


def of_geom(model: mujoco.MjModel, i: int, name: str, contact: Contact | None) -> list[Place]:
    """A geom against a plane as balls: itself, its two ends, its corners."""
    body, turn, size = int(model.geom_bodyid[i]), rotation(model.geom_quat[i]), model.geom_size[i]
    kind = int(model.geom_type[i])
    if contact is not None and contact.radius is not None:
        offsets, radius = [np.asarray(contact.point, dtype=float)], contact.radius
    elif kind == SPHERE:
        offsets, radius = [np.zeros(3)], size[0]
    elif kind == CAPSULE:
        offsets, radius = [np.array([0.0, 0.0, -size[1]]), np.array([0.0, 0.0, size[1]])], size[0]
    elif kind == BOX:
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


def geoms_of(model: mujoco.MjModel, body: int) -> list[int]:
    """The geoms of a body: those that can touch in MuJoCo, or all, where none of them can (they are there to be seen)."""
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body]
    return [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]] or geoms


def of_body(model: mujoco.MjModel, i: int) -> list[Place]:
    """The geoms of a body that have a shape to touch with, or its frame's origin."""
    name, shapes = name_of(model, BODY, i), geoms_of(model, i)
    geoms = [g for g in shapes if model.geom_type[g] in (SPHERE, CAPSULE, BOX)]
    solid = [g for g in shapes if model.geom_contype[g] or model.geom_conaffinity[g]]
    if solid and not geoms:
        raise ValueError(
            f"contacts: no geom of the body {name!r} is a sphere, a capsule or a box; say where it touches: "
            f"Contact(body={name!r}, point=(x, y, z), radius=r)"
        )
    if not geoms:
        return [Place(name, i)]
    if len(geoms) == 1:
        return of_geom(model, geoms[0], name, None)
    return [place for q, g in enumerate(geoms) for place in of_geom(model, g, f"{name}/{q}", None)]


def outline(model: mujoco.MjModel, geom: int) -> FloatArray:
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
