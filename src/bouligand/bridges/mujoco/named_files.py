"""What a robot file brings with it: the files that it names, the files that these name, and all copies of what is repeated.

MuJoCo opens whatever a file names, also a pipe, at which it waits for ever, and follows models that attach each other until its
stack ends. So every file is looked at before. Where several places are possible for one (they depend on ``<compiler>``, on which
file says it, and on MuJoCo's version), all are.
"""

from __future__ import annotations

import os
import pathlib
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from .files import Files, size_of
from .hostile import DEEPEST, MOST_ELEMENTS, MOST_MEMORY, MOST_PIXELS, parse, read_text
from .links import check_links

MOST_PARTS = 5_000  # bodies, or geoms, or joints, with all copies of those that are repeated
MOST_ENTRIES = 10_000_000  # of a buffer that it asks for
MOST_FILES = 5_000
DEEPEST_FILES = 30  # files that name each other one after another
MOST_FOLDERS = 30  # in which one file says that others lie

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50, "e": 1 << 60}
_REPEATED = ("replicate", "composite", "flexcomp")
_PARTS = ("body", "geom", "joint", "freejoint", "site", "link", "collision", "visual", "attach", *_REPEATED)
_SIZES = ("njmax", "nconmax", "nuserdata", "nstack", "nkey")
_FOLDERS = ("meshdir", "texturedir", "assetdir")


def look_through(root: ET.Element, folder: pathlib.Path, what: str | pathlib.Path) -> None:
    """An error if a robot's text, or a file that it names, cannot be opened safely or asks for more than a robot needs.

    Of a URDF, whose meshes are looked for elsewhere, only the text.
    """
    _Reading(root).take(root, str(folder), [os.path.realpath(what)] if isinstance(what, pathlib.Path) else [])


class Extent:
    """How much a model takes: elements (counted each time its file is read), depth, and parts with all their copies."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.depth = 0

    def add(self, kind: str, many: int) -> None:
        self.counts[kind] += many
        most = MOST_ELEMENTS if kind == "element" else MOST_FILES if kind == "file" else MOST_PARTS
        if self.counts[kind] > most:
            of_what = {"element": "elements", "file": "other files"}.get(kind, f"<{kind}>")
            raise ValueError(f"it has more than {most:,} {of_what}, with all copies and those in files that it names")

    def deepen(self, depth: int) -> None:
        self.depth = max(self.depth, depth)
        if self.depth > DEEPEST:
            raise ValueError(f"its elements are nested more than {DEEPEST} deep, with those in files that it names")


class _Reading:
    """What was read for one robot."""

    def __init__(self, main: ET.Element) -> None:
        self._main = main
        self._models: dict[str, Extent] = {}  # by path
        self._files = Files()

    def take(self, root: ET.Element, folder: str, chain: list[str]) -> Extent:
        """How much a model takes. ``chain`` has the files that led to it, and its own."""
        extent, folders, named = Extent(), {""}, list[tuple[str, str]]()
        models, copies_of, depths = list[tuple[str, Extent]](), Counter[str](), Counter[str]()
        for element, copies, depth, here in self._elements(root, folder, chain):
            tag = _local(element.tag)
            extent.add("element", 1)
            extent.deepen(depth)
            if tag in _PARTS:
                extent.add(tag, copies)
            if tag == "compiler":
                folders |= {element.get(name, "") for name in _FOLDERS}
            elif tag == "model":
                models.append((element.get("name", ""), self._model(extent, element, folder, here, chain)))
            elif tag == "attach":
                name = element.get("model", "")
                copies_of[name], depths[name] = copies_of[name] + copies, max(depths[name], depth)
            if root.tag != "robot" or (tag == "mesh" and root is not self._main):
                for attribute, value in element.attrib.items():
                    if _local(attribute).startswith("file"):
                        extent.add("file", 1)
                        named.append((here, value))
        for name, model in models:
            extent.deepen(depths[name] + model.depth)
            for kind in _PARTS:
                extent.add(kind, max(1, copies_of[name]) * model.counts[kind])
        if len(folders) > MOST_FOLDERS:
            raise ValueError(f"its files lie in more than {MOST_FOLDERS} folders")
        for here, name in dict.fromkeys(named):
            for path in _places(name, (folder, here), sorted(folders), strip=True):
                self._files.check(path)
        return extent

    def _elements(self, root: ET.Element, folder: str, chain: list[str]) -> Iterator[tuple[ET.Element, int, int, str]]:
        """The elements of a model with those of the files that it includes: each with the number of its copies, its depth, and
        the folder of the file that it is in."""
        todo, included = [(root, 1, 1, folder, chain)], set[str]()
        while todo:
            element, copies, depth, here, files = todo.pop()
            copies = min(copies * _copies(element), 10**12)
            _refuse_sizes(element)
            if _local(element.tag) == "include":
                path = _first(element.get("file", ""), (folder, here))
                if path is not None and path not in included:  # (twice is once too often for MuJoCo)
                    included.add(path)
                    inside, longer = self._parse(path, files)
                    todo.append((inside, copies, depth, os.path.dirname(path), longer))
            yield element, copies, depth, here
            todo += [(child, copies, depth + 1, here, files) for child in element]

    def _model(self, extent: Extent, element: ET.Element, folder: str, here: str, chain: list[str]) -> Extent:
        """How much a file takes whose parts can be attached; reading it counts each time that it is named."""
        path = _first(element.get("file", ""), (here, folder))
        if path is None:
            return Extent()
        if path not in self._models:
            inside, longer = self._parse(path, chain)
            if inside.tag == "robot":
                check_links(inside)
            self._models[path] = self.take(inside, os.path.dirname(path), longer)
        found = self._models[path]
        extent.add("element", found.counts["element"])
        extent.add("file", 1 + found.counts["file"])
        return found

    def _parse(self, path: str, chain: list[str]) -> tuple[ET.Element, list[str]]:
        real = os.path.realpath(path)
        if real in chain:
            names = ", ".join(repr(os.path.basename(one)) for one in (*chain[chain.index(real) :], real))
            raise ValueError(f"its files name each other in a circle: {names}")
        if len(chain) >= DEEPEST_FILES:
            raise ValueError(f"more than {DEEPEST_FILES} of its files name each other one after another")
        self._files.check(path)
        return parse(read_text(pathlib.Path(path)), path), [*chain, real]


def _first(name: str, folders: Iterable[str]) -> str | None:
    """The first file of that name in some folders."""
    return next((path for path in _places(name, folders) if size_of(path)), None)


def _places(name: str, folders: Iterable[str], below: Iterable[str] = ("",), strip: bool = False) -> Iterator[str]:
    """Where a file of that name may be, as MuJoCo makes paths: ``..`` is taken literally, and a backslash is a slash."""
    name = name.replace("\\", "/")
    names = [name, re.sub("^(package|file)://", "", name), *([os.path.basename(name)] if strip else [])]
    for last in filter(None, dict.fromkeys(names)):
        for folder in dict.fromkeys((*folders, "")):  # (also in the current one)
            for between in below:
                yield os.path.normpath(os.path.join(folder, between.replace("\\", "/"), last))


def _local(name: str) -> str:
    """A tag or attribute without its namespace, which MuJoCo does not know."""
    return name.rpartition("}")[2]


def _copies(element: ET.Element) -> int:
    if _local(element.tag) not in _REPEATED:
        return 1
    return int(max(1.0, min(1e12, float(np.prod([max(1.0, n) for n in _numbers(element, "count")])))))


def _refuse_sizes(element: ET.Element) -> None:
    tag = _local(element.tag)
    if tag in ("hfield", "texture"):
        sides = ("nrow", "ncol") if tag == "hfield" else ("width", "height")
        points = float(np.prod([max(_numbers(element, side), default=1.0) for side in sides]))
        if points > MOST_PIXELS:
            raise ValueError(
                f"<{tag} name={element.get('name', '')!r}> has {points:.3g} points; at most {MOST_PIXELS:,} are read"
            )
    if tag == "size":
        for name in _SIZES:
            if max(_numbers(element, name), default=0.0) > MOST_ENTRIES:
                raise ValueError(f"<size {name}={element.get(name)!r}>: at most {MOST_ENTRIES:,} are read")
        amount = re.fullmatch(r"\s*(\d+)\s*([kmgtpe]?)\s*", element.get("memory", "").lower())
        if amount and int(amount[1]) * _UNITS[amount[2]] > MOST_MEMORY:
            raise ValueError(f"<size memory={element.get('memory')!r}>: at most {MOST_MEMORY >> 30}G are taken")


def _numbers(element: ET.Element, name: str) -> list[float]:
    """The finite numbers in an attribute; what is none is left to MuJoCo."""
    out = []
    for word in element.get(name, "").split():
        try:
            out.append(float(word))
        except ValueError:
            continue
    return [number for number in out if np.isfinite(number)]
