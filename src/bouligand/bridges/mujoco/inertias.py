"""Masses and inertias of a URDF's links, made such that MuJoCo takes them: each change is named in a warning.

Pinocchio takes a mass without inertia, and links without either, as they are. MuJoCo wants both of every link that moves. A mass
without inertia is given that of a grain of a tenth of a millimetre; a moving link without mass (one of the virtual links between
the three hinges of a shoulder, say) a millionth of the robot's mass, as a ball of one centimetre.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np

from ...system.warning import warn_user
from .hostile import RobotFileWarning

if TYPE_CHECKING:
    from ..._typing import FloatArray

GRAIN = 1e-4  # m: radius of what has a mass and no inertia
SMALLEST = 1e-13  # kg m^2: moments below are none for MuJoCo
SHARE, BALL = 1e-6, 1e-2  # of the robot's mass, and the radius in m, for a moving link that has none

_ENTRIES = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}


def make_possible(root: ET.Element, free_base: bool) -> None:
    """Make every inertia one that a body can have, and give every link that moves one; warnings name the links."""
    changed: list[str] = []  # inertias that were
    points: list[str] = []  # masses without one
    masses: dict[str, float] = {}
    for link in root.findall("link"):
        name = str(link.get("name"))
        masses[name] = 0.0
        inertial = link.find("inertial")
        tensor = None if inertial is None else inertial.find("inertia")
        mass = None if inertial is None else inertial.find("mass")
        if inertial is None or mass is None:
            continue
        if tensor is None:
            tensor = ET.SubElement(inertial, "inertia")
        try:
            inertia, weight = _tensor(tensor), float(mass.get("value", 0.0))
        except ValueError as error:
            raise ValueError(f"mass and inertia of the link {name!r}: {error}") from None
        if not weight > 0 and not inertia.any():
            link.remove(inertial)
            continue
        masses[name] = weight
        possible = _possible_inertia(inertia, weight)
        if possible is not inertia:
            (changed if inertia.any() else points).append(name)
            for key, (i, j) in _ENTRIES.items():
                tensor.set(key, repr(float(possible[i, j])))
    light = _fill_empty(root, free_base, masses)
    for names, what in (
        (changed, "no body can have the inertias of {}; each was replaced by the nearest that one can"),
        (points, "masses without inertia: {}; each is a point, with the inertia of a grain of 0.1 mm"),
        (light, "links that move and have no mass: {}; each was given a millionth of the robot's"),
    ):
        if names:
            warn_user(what.format(", ".join(names)), RobotFileWarning)


def _fill_empty(root: ET.Element, free_base: bool, masses: dict[str, float]) -> list[str]:
    """Give a mass to each moving link that has none, nor any link fixed to it. Returns their names."""
    parents: dict[str, str] = {}
    moving: list[str] = []
    for joint in root.findall("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if parent is None or child is None:
            continue
        if joint.get("type") == "fixed":
            parents[str(child.get("link"))] = str(parent.get("link"))
        else:
            moving.append(str(child.get("link")))
    children = {str(child.get("link")) for child in root.findall("joint/child")}
    if free_base:
        moving += [name for name in masses if name not in children][:1]
    total = dict.fromkeys(masses, 0.0)  # of each link with those that are fixed to it
    for name, mass in masses.items():
        at, seen = name, 0
        while at in parents and seen <= len(parents):
            at, seen = parents[at], seen + 1
        if at in total:
            total[at] += mass
    mass = SHARE * sum(masses.values()) or SHARE
    empty = [name for name in moving if total.get(name) == 0.0]
    for link in root.findall("link"):
        if link.get("name") in empty:
            for old in link.findall("inertial"):
                link.remove(old)
            inertial = ET.SubElement(link, "inertial")
            moment = repr(0.4 * mass * BALL**2 + SMALLEST)
            ET.SubElement(inertial, "mass", value=repr(mass))
            ET.SubElement(inertial, "inertia", {key: moment if i == j else "0" for key, (i, j) in _ENTRIES.items()})
    return empty


def _tensor(element: ET.Element) -> FloatArray:
    inertia = np.zeros((3, 3))
    for key, (i, j) in _ENTRIES.items():
        inertia[i, j] = inertia[j, i] = float(element.get(key, 0.0))
    return inertia


def _possible_inertia(inertia: FloatArray, mass: float) -> FloatArray:
    """The inertia itself, or the nearest possible: the second moments ``trace/2 - I`` of a body are never negative."""
    moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    least = max(1e-9 * np.abs(moments).max(), 0.2 * mass * GRAIN**2, SMALLEST)
    if moments.min() >= 0.0 and np.sort(moments)[1] > 0.0:
        return inertia
    moments = np.maximum(moments, least)
    return np.trace(np.diag(moments)) * np.eye(3) - axes @ np.diag(moments) @ axes.T
