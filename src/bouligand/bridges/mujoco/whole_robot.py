"""Contacts of a whole robot: ``"feet"``, and ``"everything"``."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from .contacts import Place
from .features import name_of
from .shapes import BODY, BOX, CAPSULE, GEOM, SPHERE, geoms_of, moves, of_geom, of_site, outline, rotation


def feet(model: mujoco.MjModel) -> list[Place]:
    """The tips of the robot's last links, those of them that are lowest in its reference pose (within a tenth of its height).

    The tip of a link is its sphere, or its capsule's far end, or the four lower corners of its box, or the frame fixed to it that
    is farthest from its joint.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    parents = {int(i) for i in model.body_parentid[1:]}
    leaves = [i for i in range(1, model.nbody) if i not in parents and moves(model, i)]
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

    sites = [of_site(model, s, None) for s in range(model.nsite) if model.site_bodyid[s] == body]
    geoms = geoms_of(model, body)
    boxes = [g for g in geoms if model.geom_type[g] == BOX]
    if boxes and not any(model.geom_type[g] in (SPHERE, CAPSULE) for g in geoms):
        return _sole(model, boxes, sites, body)
    for kind in (SPHERE, CAPSULE):
        balls = [(p, g) for g in geoms if model.geom_type[g] == kind for p in of_geom(model, g, "", None)]
        if balls:
            ball, geom = max(balls, key=lambda pair: far(pair[0]))
            inside = [s.name for s in sites if np.linalg.norm(np.subtract(s.point, ball.point)) <= ball.radius]
            name = mujoco.mj_id2name(model, GEOM, geom) or (inside and inside[0]) or name_of(model, BODY, body)
            return [replace(ball, name=name)]
    return [max(sites, key=far)] if sites else []


def _sole(model: mujoco.MjModel, boxes: list[int], sites: list[Place], body: int) -> list[Place]:
    """A flat foot: the four corners of its largest box that are lowest in the reference pose."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    box = max(boxes, key=lambda g: float(np.prod(model.geom_size[g])))
    name = mujoco.mj_id2name(model, GEOM, box) or (sites and sites[0].name) or name_of(model, BODY, body)
    corners = of_geom(model, box, name, None)
    return sorted(corners, key=lambda corner: _height(data, corner))[:4]


def _height(data: mujoco.MjData, place: Place) -> float:
    """Of the lowest point of a place."""
    return float((data.xpos[place.body] + data.xmat[place.body].reshape(3, 3) @ place.point)[2]) - place.radius


def everything(model: mujoco.MjModel) -> list[Place]:
    """Every shape of a moving body that can touch: spheres, ends of capsules, corners of boxes, points on the rims of cylinders
    and on ellipsoids, the outermost vertices of meshes."""
    places: list[Place] = []
    for body in range(1, model.nbody):
        if not moves(model, body):
            continue
        for geom in geoms_of(model, body):
            own = mujoco.mj_id2name(model, GEOM, geom) or f"{name_of(model, BODY, body)}/{geom}"
            if model.geom_type[geom] in (SPHERE, CAPSULE, BOX):
                places += of_geom(model, geom, own, None)
            else:
                turn = rotation(model.geom_quat[geom])
                spots = [model.geom_pos[geom] + turn @ point for point in outline(model, geom)]
                places += [Place(f"{own}:{q}", body, tuple(spot)) for q, spot in enumerate(spots)]
    if not places:
        raise ValueError(
            "contacts='everything': no body that moves has a shape; meshes of a URDF are kept by meshes=True, or name a Contact"
        )
    return places
