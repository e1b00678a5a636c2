"""The metadata of a store: what the folder says of itself, read and checked in one place.

The group's attribute ``bouligand`` has the problem's identity, the layout, digests of the metadata of all arrays, and a digest of
itself. (A stream grows: the lengths of its arrays along trajectories are at least that of the layout.)
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
import uuid
import warnings
from typing import TYPE_CHECKING, Any

from .._optional import need
from ..errors import StoreError, StoreMismatchError
from .layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT = 2
OURS = "bouligand"  # the attribute of the group that has all of ours
FILE = "zarr.json"
MOST_BLOCKS = 100_000_000
_COPY = "consolidated_metadata"  # in the group, of the metadata of all arrays

Json = dict[str, Any]


def read(path: pathlib.Path) -> tuple[Json, Layout]:
    """What a store says of itself, and how it is cut into blocks; an error that says what is wrong with it."""
    group = read_json(path / FILE)
    attributes = group.get("attributes")
    about = attributes.get(OURS) if isinstance(attributes, dict) else None
    if not isinstance(about, dict):
        raise StoreMismatchError(f"{path} was not written by solve_many: it is another store of Zarr")
    if about.get("format") != FORMAT:
        raise StoreMismatchError(
            f"{path} was written by another version of bouligand: it has the format {about.get('format')!r}; this version reads "
            f"{FORMAT}. Give another store, or remove this one"
        )
    version = group.get("zarr_format")
    is_group = _is_count(version) and version == 3 and group.get("node_type") == "group"
    if not is_group or not is_sealed(about) or not _is_ours(about):
        raise _damaged(path / FILE, "it was changed")
    layout = Layout(tuple(about["shape"]), tuple(about["chunk"]))
    if len(layout) > MOST_BLOCKS:
        raise _damaged(path / FILE, f"it has {len(layout)} blocks")
    copies = group.get(_COPY)
    copies = copies.get("metadata") if isinstance(copies, dict) else None
    for name in about["arrays"]:
        check_array(path, about, name)
        if not isinstance(copies, dict) or not _is_right(copies.get(name), about, name):
            raise _damaged(path / FILE, f"what it says of {name} was changed")
    return about, layout


def write(path: pathlib.Path, about: Json, arrays: Iterable[str]) -> Json:
    """Write what a store says of itself, sealed, beside copies of the metadata of its arrays, where xarray expects them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # (other implementations of Zarr may not read it, and do not need it)
        need("zarr", "cluster").consolidate_metadata(path)
    digests = {name: _digest_of_array(read_json(path / name / FILE), about) for name in arrays}
    about = sealed({**about, "format": FORMAT, "arrays": digests})
    group = read_json(path / FILE)
    group["attributes"] = {OURS: about}
    write_json(path / FILE, group)
    return about


def check_array(path: pathlib.Path, about: Json, name: str) -> None:
    """An error unless the metadata of an array are what was written."""
    file = path / name / FILE
    if not _is_right(read_json(file), about, name):
        raise _damaged(file, "it was changed")


# ------------------------------------------------------------------------------------------------------ files and digests


def read_json(file: pathlib.Path) -> Json:
    """The object in a file; an error that names the file if there is none."""
    try:
        found = json.loads(file.read_bytes())
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(file, "it is not JSON") from error
    if not isinstance(found, dict):
        raise _damaged(file, "it is no object of JSON")
    return found


def write_json(file: pathlib.Path, content: Json) -> None:
    """Write a file that appears under its name complete, and on the disk, or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.{uuid.uuid4().hex}.partial")
    try:
        with open(partial, "w") as out:
            json.dump(content, out, indent=1)
            out.flush()
            os.fsync(out.fileno())
        os.replace(partial, file)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def sealed(content: Json) -> Json:
    """The same with a digest of itself."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return {**rest, "digest": digest(rest)}


def is_sealed(content: Json) -> bool:
    """Whether that digest is right."""
    return bool(content.get("digest") == sealed(content)["digest"])


def digest(content: Any) -> str:
    """The digest of what can be written as JSON."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _damaged(file: pathlib.Path, why: str) -> StoreError:
    return StoreError(f"{file} is damaged: {why}. Bring it back from a copy, or remove the store")


# ------------------------------------------------------------------------------------------------------ what must hold


def _is_right(metadata: Any, about: Json, name: str) -> bool:
    """Whether this is the metadata of that array."""
    if not isinstance(metadata, dict) or _digest_of_array(metadata, about) != about["arrays"][name]:
        return False
    grows = _grows(metadata, about)
    return not grows or (_is_count(metadata["shape"][0]) and metadata["shape"][0] >= about["shape"][0])


def _digest_of_array(metadata: Json, about: Json) -> str:
    return digest({**metadata, "shape": metadata["shape"][1:]} if _grows(metadata, about) else metadata)


def _grows(metadata: Json, about: Json) -> bool:
    """Whether an array has a row for each trajectory of a stream."""
    shape, along = metadata.get("shape"), metadata.get("dimension_names")
    return (
        about["stream"] is True and isinstance(shape, list) and isinstance(along, list) and along[:1] == ["trajectory"]
    )


def _is_ours(about: Json) -> bool:
    """Whether all that is read from it is there, of the right type, and fits together."""
    shape: Any = about.get("shape")
    chunk: Any = about.get("chunk")
    axes: Any = about.get("axes")
    return (
        _are(shape, _is_count)
        and _are(chunk, _is_count)
        and _are(axes, _is_text)
        and len(shape) == len(chunk) == len(set(axes)) == len(axes) > 0
        and all(1 <= part <= max(length, 1) for part, length in zip(chunk, shape, strict=True))
        and math.prod(shape) < 2**62
        and isinstance(about.get("stream"), bool)
        and all(_are_texts(about.get(name)) for name in ("identity", "arrays", "columns"))
        and set(about["columns"]) <= set(about["arrays"])
        and all(name == pathlib.PurePath(name).name != ".." for name in about["arrays"])
    )


def _are(values: Any, kind: Any) -> bool:
    return isinstance(values, list) and all(map(kind, values))


def _are_texts(values: Any) -> bool:
    return isinstance(values, dict) and all(map(_is_text, values.values()))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
