"""Which links of a URDF hang on which, and which joints follow which: checked before MuJoCo goes along them."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter

LONGEST_CHAIN = 1000  # links one after another


def check_links(root: ET.Element) -> None:
    """An error if the links of a URDF do not make a tree, or if its joints follow each other in a way that they cannot."""
    _only_once(root)
    _refuse_long_chains(root)
    _check_mimics(root)


def _only_once(root: ET.Element) -> None:
    """Refuse two links or two joints of the same name."""
    for tag in ("link", "joint"):
        names = Counter(element.get("name") for element in root.findall(tag))
        twice = sorted(str(name) for name, count in names.items() if count > 1)
        if twice:
            raise ValueError(f"it has more than one {tag} called {', '.join(map(repr, twice))}")


def _refuse_long_chains(root: ET.Element) -> None:
    """Refuse links that hang on each other in a longer row than MuJoCo can go along, or in a circle."""
    parents: dict[str | None, str | None] = {}
    for joint in root.findall("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if parent is not None and child is not None:
            parents[child.get("link")] = parent.get("link")
    lengths: dict[str | None, int] = {}
    for link in parents:
        row: list[str | None] = []
        while link in parents and link not in lengths and len(row) <= LONGEST_CHAIN:
            row.append(link)
            link = parents[link]
        for number, member in enumerate(reversed(row), lengths.get(link, 0) + 1):
            lengths[member] = number
            if number > LONGEST_CHAIN:
                raise ValueError(f"its joints are more than {LONGEST_CHAIN} in a row, or in a circle")


def _check_mimics(root: ET.Element) -> None:
    """Refuse joints that follow one that does not exist or does not move, or themselves, directly or by way of others."""
    kinds = {joint.get("name"): joint.get("type") for joint in root.findall("joint")}
    mimics = {joint.get("name"): mimic for joint in root.findall("joint") for mimic in joint.findall("mimic")}
    for name, mimic in mimics.items():
        if mimic.get("joint") is None:
            raise ValueError(
                f'the joint {name!r} has a <mimic> that does not say whom it follows: <mimic joint="..."/>'
            )
        for what in ("multiplier", "offset"):
            if not _is_finite(mimic.get(what, "0")):
                raise ValueError(
                    f"the joint {name!r} mimics with the {what} {mimic.get(what)!r}; it must be a finite number"
                )
    leaders = {name: mimic.get("joint") for name, mimic in mimics.items()}
    for name, leader in leaders.items():
        if kinds.get(leader) not in ("revolute", "continuous", "prismatic"):
            what = "does not exist" if leader not in kinds else f"is {kinds[leader]}"
            raise ValueError(
                f"the joint {name!r} mimics {leader!r}, which {what}; a hinge or a slide can be followed: correct the "
                "file, or remove <mimic>"
            )
        seen = [name]
        while leader in leaders and leader not in seen:
            seen.append(leader)
            leader = leaders[leader]
        if leader in seen:
            raise ValueError(f"the joint {name!r} mimics itself, by way of {', '.join(map(repr, seen))}")


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
