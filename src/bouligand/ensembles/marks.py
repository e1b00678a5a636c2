"""The files of a block of a store, and its mark: that it is done, and the digests of these files.

A mark is the metadata of the block's own group, ``blocks/NUMBER/zarr.json``, and is written last.
"""

from __future__ import annotations

import hashlib
import pathlib
from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from . import metadata, outcomes
from .kept import EVENT_FIELDS
from .labelled import DIMENSIONS, label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .layout import Layout
    from .metadata import Json


class Marks:
    """The marks of the blocks of a store."""

    def __init__(self, path: pathlib.Path, about: Json) -> None:
        self._path, self._axes = path, tuple(about["axes"])
        self._rows = {name for name in about["arrays"] if name not in about["columns"]}
        self._of = metadata.digest([about["identity"], about["chunk"]])  # a mark is that of one problem

    def folder(self, number: int) -> pathlib.Path:
        """The folder of a block, with its mark and its events."""
        return self._path / "blocks" / f"{number:08d}"

    def read(self, number: int) -> Json | None:
        """What the mark of a block says: None if it is not there, nothing if it is damaged."""
        file = self.folder(number) / metadata.FILE
        try:
            if not file.exists():
                return None
            attributes = metadata.read_json(file).get("attributes")
        except (OSError, StoreError):  # (it is there, and cannot be read)
            return {}
        if not isinstance(attributes, dict) or not metadata.is_sealed(attributes) or not _is_mark(attributes):
            return {}
        names = attributes["files"]
        rows = {label(name, self._axes) for name in names if name not in EVENT_FIELDS}
        has_all = rows == self._rows and all((name in names) == ("event_count" in rows) for name in EVENT_FIELDS)
        is_its_own = (attributes.get("of"), attributes.get("block")) == (self._of, number)
        return attributes if has_all and is_its_own else {}

    def write(self, layout: Layout, number: int, names: Iterable[str], starts: str, tally: dict[str, int]) -> Json:
        """Mark a block as done, whose arrays are written."""
        digests = {name: self.digest(layout, number, name) for name in names}
        of = {"of": self._of, "block": number}
        mark = metadata.sealed({**of, "starts": starts, "files": digests, "outcomes": tally})
        content = {"zarr_format": 3, "node_type": "group", "attributes": mark}
        metadata.write_json(self.folder(number) / metadata.FILE, content)
        return mark

    def remove(self, layout: Layout, number: int) -> None:
        """Remove a block: it is not done any more, and nothing of it is read again."""
        mark = self.folder(number) / metadata.FILE
        mark.unlink(missing_ok=True)
        for name in self._rows:
            chunk = self._chunk(layout, number, name, 0)
            for file in chunk.rglob("*") if chunk.is_dir() else (chunk,):
                if file.is_file():
                    file.unlink()

    def damage(self, layout: Layout, number: int, names: Iterable[str] | None = None) -> str:
        """What of a block is not as it was written: nothing, its mark, or an array (of these, or of all)."""
        mark = self.read(number)
        if mark is None:
            return "its mark is missing"
        if not mark:
            return "its mark is damaged"
        files = mark["files"]
        changed = (name for name in names or files if files.get(name) != self.digest(layout, number, name))
        name = next(changed, "")
        return f"{label(name, self._axes)} is missing or damaged" if name else ""

    def digest(self, layout: Layout, number: int, name: str) -> str:
        """The digest of the files that an array has for a block. (Zarr writes no file for a chunk of zeros: that counts, too.)"""
        if name in EVENT_FIELDS:
            folder = self.folder(number) / name
            return digest_of(folder / metadata.FILE, folder / "c" / "0")
        return digest_of(self._chunk(layout, number, label(name, self._axes), len(DIMENSIONS.get(name, ()))))

    def _chunk(self, layout: Layout, number: int, label: str, more: int) -> pathlib.Path:
        """The file of a block in an array with so many dimensions besides those of the trajectories."""
        return self._path.joinpath(label, "c", *map(str, layout.place(number)), *("0" for _ in range(more)))


def digest_of(*files: pathlib.Path) -> str:
    """A digest of the bytes of some files, of which some may be missing."""
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        try:
            content = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            digest.update(b"missing")
        except OSError as error:
            digest.update(f"{file}: {error}".encode())  # (what cannot be read is not what was written)
        else:
            digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def _is_mark(found: Any) -> bool:
    starts, files, tally = (found.get(name) for name in ("starts", "files", "outcomes"))
    return (
        isinstance(starts, str)
        and isinstance(files, dict)
        and all(isinstance(digest, str) for digest in files.values())
        and isinstance(tally, dict)
        and all(name in outcomes.NAMES and isinstance(count, int) and count >= 0 for name, count in tally.items())
    )
