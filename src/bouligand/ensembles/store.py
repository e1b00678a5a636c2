"""Ensembles on disk: a Zarr group that ``xarray.open_zarr`` opens, written block by block.

Each array is cut into chunks, one for each block. A block is written once, whole, by whoever has integrated it: its chunks, then
its events (a group ``blocks/NUMBER`` of their own), then the metadata of that group, which is the mark that it is done and holds
hashes of all that was written. Files appear under their names complete or not at all, so that a process that is killed at
any moment leaves blocks that are done and blocks that are not. Results depend on nothing but the problem and the starts:
a block that is integrated again is the same to the last byte.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
import shutil
import uuid
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import need
from ..errors import StoreError, StoreMismatchError
from . import outcomes
from .kept import EVENT_FIELDS, row_arrays
from .labelled import beside, coordinates, dimensions, label, meanings
from .layout import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import IntArray
    from .inputs import Inputs
    from .problem import Problem

FORMAT = 1
OURS = "bouligand"  # the attribute of the group that has all of ours
_MARK = "zarr.json"


class Store:
    """The folder of an ensemble. It can be sent to other processes: only its path and its layout travel."""

    def __init__(self, path: Any) -> None:
        self.path = pathlib.Path(path)
        attributes = json.loads((self.path / _MARK).read_text())["attributes"]
        about = attributes.get(OURS)
        if about is None or about.get("format") != FORMAT:
            raise StoreMismatchError(
                f"{self.path} was not written by solve_many, or by a version of it that this one cannot read"
            )
        self.about: dict[str, Any] = about
        self.layout = Layout(tuple(about["shape"]), tuple(about["chunk"]))
        self._axes = tuple(about["axes"])

    def _zarr(self, name: str) -> Any:
        """One of the arrays that have a row for each trajectory."""
        return _opened(str(self.path))[label(name, self._axes)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.path,)

    # ------------------------------------------------------------------------------------------------------ making

    @classmethod
    def make(cls, path: Any, problem: Problem, inputs: Inputs, layout: Layout, identity: dict[str, str]) -> Store:
        """An empty store for a problem: whole, or not at all."""
        zarr = need("zarr", "cluster")
        path = pathlib.Path(path)
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.new")
        axes = ("trajectory",) if inputs.grid is None else inputs.grid.names
        about = {
            "format": FORMAT,
            "identity": identity,
            "shape": layout.shape,
            "chunk": layout.chunk,
            "axes": axes,
            "t_span": problem.t_span,
            "system": problem.system.name or "",
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            group = zarr.create_group(temporary, zarr_format=3, attributes={OURS: about})
            arrays = {**row_arrays(problem), **inputs.row_arrays()}
            for name, (shape, kind) in arrays.items():
                whole, chunk = (*layout.shape, *shape), (*layout.chunk, *shape)
                array = _create(group, label(name, axes), whole, chunk, kind, dimensions(name, axes))
                if name == "outcome":
                    array.attrs.update(meanings())
            columns = {beside(name, axes): values for name, values in coordinates(problem, arrays).items()}
            for name, values in {**columns, **({} if inputs.grid is None else inputs.grid.axes)}.items():
                if values.dtype.kind == "U":
                    _create(group, name, values.shape, values.shape, str, (name,))[:] = values.astype(object)
                else:
                    _create(group, name, values.shape, values.shape, values.dtype, (name,))[:] = values
            group.create_group("blocks")
            _consolidate(temporary)
            os.rename(temporary, path)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise StoreError(f"store: cannot write to {path.parent}: {error.strerror or error}") from error
        return cls(path)

    def grow(self, count: int) -> None:
        """Make room for so many trajectories, of a stream."""
        if self.layout.shape[0] >= count:
            return
        group = _opened(str(self.path))
        for _, array in group.arrays():
            if array.metadata.dimension_names[0] == "trajectory":
                array.resize((count, *array.shape[1:]))
        self.about["shape"] = [count]
        group.attrs.update({OURS: self.about})
        _consolidate(self.path)
        _opened.cache_clear()
        self.layout = Layout((count,), self.layout.chunk)

    def check(self, identity: dict[str, str], shape: tuple[int, ...] | None) -> None:
        """An error unless this is the store of that problem (``shape``: None for a stream)."""
        theirs = self.about["identity"]
        different = [name for name in {**theirs, **identity} if theirs.get(name) != identity.get(name)]
        if shape is not None and tuple(self.about["shape"]) != shape:
            different.append(f"the number of trajectories ({self.about['shape']}, not {list(shape)})")
        if different:
            raise StoreMismatchError(
                f"{self.path} holds the results of another problem; different: {', '.join(different)}. Give another store, or "
                "remove this one"
            )

    def clean(self) -> None:
        """Remove what writers that were killed have left: files that were not finished."""
        for partial in self.path.rglob("*.partial"):
            partial.unlink(missing_ok=True)
        for left in self.path.parent.glob(f"{self.path.name}.*.new"):
            shutil.rmtree(left, ignore_errors=True)

    # ------------------------------------------------------------------------------------------------------ blocks

    def folder(self, number: int) -> pathlib.Path:
        """The folder of a block."""
        return self.path / "blocks" / f"{number:08d}"

    def mark(self, number: int) -> dict[str, Any] | None:
        """What the mark of a block says, None if it is not done."""
        try:
            attributes: dict[str, Any] = json.loads((self.folder(number) / _MARK).read_text())["attributes"]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError):
            return {}  # damaged: `verify` says so
        return attributes

    def write(self, number: int, arrays: dict[str, NDArray[Any]], starts: str) -> dict[str, Any]:
        """Write a block: its arrays, its events, and the mark that it is done; ``starts`` is the hash of its inputs."""
        try:
            return self._write(number, arrays, starts)
        except OSError as error:
            raise StoreError(
                f"{self.path}: block {number} cannot be written: {error.strerror or error}. What is done is not lost: call "
                "solve_many again with this store when there is room"
            ) from error

    def _write(self, number: int, arrays: dict[str, NDArray[Any]], starts: str) -> dict[str, Any]:
        region, folder = self.layout.region(number), self.folder(number)
        lengths = tuple(part.stop - part.start for part in region)
        for name, values in arrays.items():
            if name in EVENT_FIELDS:
                _remove(folder / name)
                _create(folder / name, None, values.shape, (max(len(values), 1),), values.dtype, ("event",))[:] = values
            else:
                self._zarr(name)[region] = values.reshape(*lengths, *values.shape[1:])
        tally = np.bincount(arrays["outcome"], minlength=len(outcomes.NAMES))
        mark = {
            "starts": starts,
            "hashes": {name: _hash(values) for name, values in arrays.items()},
            "outcomes": {outcomes.NAMES[q]: int(tally[q]) for q in np.flatnonzero(tally)},
        }
        write_whole(folder / _MARK, json.dumps({"zarr_format": 3, "node_type": "group", "attributes": mark}, indent=1))
        return mark

    def forget(self, number: int) -> None:
        """Remove a block that is damaged: it is not done any more, and nothing of it is read again."""
        (self.folder(number) / _MARK).unlink(missing_ok=True)
        place = pathlib.Path("c", *map(str, self.layout.place(number)))
        for array in self.path.iterdir():
            if (array / place).exists():
                _remove(array / place)

    def verify(self) -> list[int]:
        """The blocks that are done according to their marks, and are not what was written."""
        return [number for number in self.layout if self._is_damaged(number)]

    def _is_damaged(self, number: int) -> bool:
        mark = self.mark(number)
        if mark is None:
            return False
        try:
            found = {name: _hash(self.read(number, name)) for name in mark["hashes"]}
        except Exception:  # whatever Zarr and its codecs make of a damaged file
            return True
        return bool(found != mark["hashes"])

    def read(self, number: int, name: str) -> NDArray[Any]:
        """An array of one block, with a row for each trajectory (or event)."""
        if name in EVENT_FIELDS:
            values: NDArray[Any] = need("zarr", "cluster").open_array(self.folder(number) / name, mode="r")[:]
            return values
        values = self._zarr(name)[self.layout.region(number)]
        return _by_row(values, len(self.layout.shape))

    # ------------------------------------------------------------------------------------------------------ as a source

    @property
    def names(self) -> tuple[str, ...]:
        """The arrays that an ensemble finds here: those of the first block that is done."""
        return tuple(next((mark["hashes"] for mark in map(self.mark, self.layout) if mark), ()))

    def array(self, name: str) -> NDArray[Any]:
        """A whole array."""
        if name in EVENT_FIELDS:
            return np.concatenate([self.read(number, name) for number in self.layout])
        values: NDArray[Any] = self._zarr(name)[...]
        return _by_row(values, len(self.layout.shape))

    def rows(self, name: str, first: int, stop: int) -> NDArray[Any]:
        """Some rows of an array of a stream."""
        values: NDArray[Any] = self._zarr(name)[first:stop]
        return values

    def tally(self) -> IntArray:
        """How many trajectories had each outcome."""
        out = np.zeros(len(outcomes.NAMES), dtype=np.int64)
        for number in self.layout:
            mark = self.mark(number)
            first, stop = self.layout.rows(number)
            for name, count in (mark["outcomes"] if mark else {"pending": stop - first}).items():
                out[outcomes.NAMES.index(name)] += count
        return out


def starts_of(inputs: Inputs, first: int, stop: int) -> str:
    """A hash of the starts and parameters that some trajectories have for themselves. (Axes of a grid, and what all have in
    common, are in the hash of the problem.)"""
    return "-".join(_hash(rows) for rows in inputs.kept_rows(first, stop).values())


def write_whole(path: pathlib.Path, text: str) -> None:
    """Write a file that appears under its name complete, and on the disk, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    try:
        with open(partial, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def _by_row(values: NDArray[Any], axes: int) -> NDArray[Any]:
    """Values over the axes of a grid, as rows."""
    return values.reshape(math.prod(values.shape[:axes]), *values.shape[axes:])


def _hash(values: NDArray[Any]) -> str:
    array = np.ascontiguousarray(values)
    return hashlib.blake2b(array.tobytes() + str((array.shape, array.dtype.str)).encode(), digest_size=16).hexdigest()


def _remove(path: pathlib.Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@lru_cache(maxsize=8)
def _opened(path: str) -> Any:
    """The group of a store, opened once in a process."""
    return need("zarr", "cluster").open_group(path, mode="r+", zarr_format=3, use_consolidated=False)


def _create(
    place: Any, name: str | None, shape: tuple[int, ...], chunk: tuple[int, ...], kind: Any, along: tuple[str, ...]
) -> Any:
    """A new array, in a group or at a path, whose chunks are compressed and have checksums."""
    zarr = need("zarr", "cluster")
    codecs = [zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()]
    chunks = tuple(max(length, 1) for length in chunk)
    options = {"shape": shape, "chunks": chunks, "dtype": kind, "dimension_names": along, "compressors": codecs}
    if np.dtype(kind if kind is not str else object).kind == "f":
        options["fill_value"] = np.nan
    return zarr.create_array(place, **options) if name is None else place.create_array(name, **options)


def _consolidate(path: pathlib.Path) -> None:
    """Gather the metadata of all arrays in one file, as xarray expects it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # (other implementations of Zarr may not read it, and do not need it)
        need("zarr", "cluster").consolidate_metadata(path)
