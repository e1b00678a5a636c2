"""Ensembles on disk: a Zarr group that ``xarray.open_zarr`` opens, written block by block.

Each array is cut into chunks, one for each block. A block is written once, whole, by whoever has integrated it: its chunks, then
its events (a group ``blocks/NUMBER`` of their own), then its mark (see `marks`), which says that it is done and has digests of
all that was written. Files appear under their names complete or not at all, so that a process that is killed at any moment
leaves blocks that are done and blocks that are not. Results depend on nothing but the problem and the starts: a block that is
integrated again is the same to the last byte. Nothing is read whose digest is not the one that was written.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import pathlib
import shutil
import uuid
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import need
from ..errors import StoreError, StoreMismatchError
from . import metadata, outcomes
from .kept import EVENT_FIELDS, row_arrays
from .labelled import beside, coordinates, dimensions, label, meanings
from .marks import Marks, digest_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import IntArray
    from .inputs import Inputs
    from .layout import Layout
    from .problem import Problem

AGAIN = "ens.verify(repair=True) removes it, and solve_many with this store integrates it again"


class Store:
    """The folder of an ensemble. It can be sent to other processes: only its path travels."""

    def __init__(self, path: Any) -> None:
        self.path = pathlib.Path(path).absolute()
        self.about, self.layout = metadata.read(self.path)
        self._axes = tuple(self.about["axes"])
        self._marks = Marks(self.path, self.about)
        self.damaged: dict[int, str] = {}  # blocks, as far as they were looked at, and what of them

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.path,)

    def _zarr(self, name: str, mode: str = "r") -> Any:
        """One of the arrays that have a row for each trajectory."""
        here = label(name, self._axes)
        metadata.check_array(self.path, self.about, here)
        return _opened(str(self.path), mode)[here]

    # ------------------------------------------------------------------------------------------------------ making

    @classmethod
    def make(
        cls, path: Any, problem: Problem, inputs: Inputs, layout: Layout, identity: dict[str, str], stream: bool = False
    ) -> Store:
        """An empty store for a problem: whole, or not at all."""
        zarr = need("zarr", "cluster")
        path = pathlib.Path(path)
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.new")
        axes = ("trajectory",) if inputs.grid is None else inputs.grid.names
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            group = zarr.create_group(temporary, zarr_format=3)
            arrays = {**row_arrays(problem), **inputs.row_arrays()}
            for name, (shape, kind) in arrays.items():
                whole, chunk = (*layout.shape, *shape), (*layout.chunk, *shape)
                array = _create(group, label(name, axes), whole, chunk, kind, dimensions(name, axes))
                if name == "outcome":
                    array.attrs.update(meanings())
            columns = {beside(name, axes): values for name, values in coordinates(problem, arrays).items()}
            columns |= {} if inputs.grid is None else inputs.grid.axes
            for name, values in columns.items():
                if values.dtype.kind == "U":
                    _create(group, name, values.shape, values.shape, str, (name,))[:] = values.astype(object)
                else:
                    _create(group, name, values.shape, values.shape, values.dtype, (name,))[:] = values
            group.create_group("blocks")
            about = {
                "identity": identity,
                "shape": list(layout.shape),
                "chunk": list(layout.chunk),
                "axes": list(axes),
                "stream": stream,
                "t_span": list(problem.t_span),
                "system": problem.system.name or "",
                "columns": {name: digest_of(temporary / name / "c" / "0") for name in columns},
            }
            metadata.write(temporary, about, [*(label(name, axes) for name in arrays), *columns])
            os.rename(temporary, path)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise StoreError(f"store: cannot write to {path.parent}: {error.strerror or error}") from error
        return cls(path)

    def grow(self, count: int) -> None:
        """Make room for so many trajectories, of a stream."""
        if self.layout.shape[0] >= count:
            return
        with self._zarr_says("it cannot grow"):
            for name in self.about["arrays"]:
                array = _opened(str(self.path), "r+")[name]
                if array.metadata.dimension_names[0] == "trajectory":
                    array.resize((count, *array.shape[1:]))
            metadata.write(self.path, {**self.about, "shape": [count]}, self.about["arrays"])
        self.about, self.layout = metadata.read(self.path)

    def check(self, identity: dict[str, str], shape: tuple[int, ...] | None) -> None:
        """An error unless this is the store of that problem (``shape``: None for a stream)."""
        theirs = self.about["identity"]
        different = [name for name in {**theirs, **identity} if theirs.get(name) != identity.get(name)]
        if shape is not None and self.layout.shape != shape:
            different.append(f"the number of trajectories ({list(self.layout.shape)}, not {list(shape)})")
        if self.about["stream"] != (shape is None):
            different.append("the kind of x0 (an iterator of blocks, or arrays)")
        if different:
            raise StoreMismatchError(
                f"{self.path} holds the results of another problem; different: {', '.join(different)}. Give another store, or "
                "remove this one"
            )

    def clean(self) -> None:
        """Remove what writers that were killed have left: files that were not finished."""
        with self._zarr_says("it cannot be written"):
            for partial in self.path.rglob("*.partial"):
                partial.unlink(missing_ok=True)
            for left in self.path.parent.glob(f"{self.path.name}.*.new"):
                shutil.rmtree(left, ignore_errors=True)

    # ------------------------------------------------------------------------------------------------------ blocks

    def starts(self, number: int) -> str | None:
        """The hash of the inputs that a block was integrated from; None if it is not done, empty if its mark is damaged."""
        mark = self._marks.read(number)
        return None if mark is None else mark.get("starts", "")

    def write(self, number: int, arrays: dict[str, NDArray[Any]], starts: str) -> dict[str, Any]:
        """Write a block: its arrays, its events, and the mark that it is done; ``starts`` is the hash of its inputs."""
        advice = ". What is done is not lost: when that is mended, call solve_many again with this store"
        with self._zarr_says(f"block {number} cannot be written", advice):
            return self._write(number, arrays, starts)

    def _write(self, number: int, arrays: dict[str, NDArray[Any]], starts: str) -> dict[str, Any]:
        region, folder = self.layout.region(number), self._marks.folder(number)
        lengths = tuple(part.stop - part.start for part in region)
        for name, values in arrays.items():
            if name in EVENT_FIELDS:
                _remove(folder / name)
                _create(folder / name, None, values.shape, (max(len(values), 1),), values.dtype, ("event",))[:] = values
            else:
                self._zarr(name, "r+")[region] = values.reshape(*lengths, *values.shape[1:])
        tally = np.bincount(arrays["outcome"], minlength=len(outcomes.NAMES))
        found = {outcomes.NAMES[q]: int(tally[q]) for q in np.flatnonzero(tally)}
        return self._marks.write(self.layout, number, arrays, starts, found)

    def look_at(self, number: int, names: tuple[str, ...] | None = None) -> str:
        """What of a block (of these arrays, or of all) is missing or damaged; empty if nothing. Damage is kept in ``damaged``."""
        damage, is_done = self._marks.damage(self.layout, number, names), self._marks.read(number) is not None
        if damage and is_done:
            self.damaged[number] = damage
        elif names is None:
            self.damaged.pop(number, None)
        return damage

    def look_at_columns(self) -> list[str]:
        """The coordinates that are damaged, which nobody reads but xarray."""
        return [
            name for name, digest in self.about["columns"].items() if digest_of(self.path / name / "c" / "0") != digest
        ]

    def verify(self) -> list[int]:
        """The blocks that are not what was written."""
        return [number for number in self.layout if self.look_at(number)]

    def forget(self, number: int) -> None:
        """Remove a block that is damaged: it is not done any more, and nothing of it is read again."""
        with self._zarr_says(f"block {number} cannot be removed"):
            self._marks.remove(self.layout, number)
        self.damaged.pop(number, None)

    # ------------------------------------------------------------------------------------------------------ as a source

    @property
    def names(self) -> tuple[str, ...]:
        """The arrays that an ensemble finds here: those of the first block that is done."""
        return tuple(next((mark["files"] for mark in map(self._marks.read, self.layout) if mark), ()))

    def array(self, name: str) -> NDArray[Any]:
        """A whole array."""
        for number in self.layout:
            self._need_whole(number, name)
        with self._zarr_says(f"{name} cannot be read"):
            if name in EVENT_FIELDS:
                return np.concatenate([self._events(number, name) for number in self.layout])
            values: NDArray[Any] = self._zarr(name)[tuple(slice(length) for length in self.layout.shape)]
            return values.reshape(math.prod(self.layout.shape), *values.shape[len(self.layout.shape) :])

    def rows(self, name: str, first: int, stop: int) -> NDArray[Any]:
        """Some rows of an array of a stream."""
        for number in range(first // self.layout.chunk[0], -(-stop // self.layout.chunk[0])):
            self._need_whole(number, name)
        with self._zarr_says(f"{name} cannot be read"):
            values: NDArray[Any] = self._zarr(name)[first:stop]
            return values

    def _events(self, number: int, name: str) -> NDArray[Any]:
        values: NDArray[Any] = need("zarr", "cluster").open_array(self._marks.folder(number) / name, mode="r")[:]
        return values

    def _need_whole(self, number: int, name: str) -> None:
        """An error if an array of a block is not what was written."""
        damage = self.look_at(number, (name,))
        if damage:
            raise StoreError(f"{self.path}: block {number}: {damage}; {AGAIN}")

    def tally(self) -> IntArray:
        """How many trajectories had each outcome. (Those of damaged blocks have none.)"""
        out = np.zeros(len(outcomes.NAMES), dtype=np.int64)
        for number in self.layout:
            mark = self._marks.read(number)
            if mark is None:
                self.damaged.pop(number, None)
                first, stop = self.layout.rows(number)
                out[outcomes.PENDING] += stop - first
            elif mark and number not in self.damaged:
                for name, count in mark["outcomes"].items():
                    out[outcomes.NAMES.index(name)] += count
        return out

    def count_damaged(self) -> int:
        """How many trajectories are in damaged blocks."""
        return sum(stop - first for first, stop in map(self.layout.rows, self.damaged))

    @contextlib.contextmanager
    def _zarr_says(self, what: str, advice: str = "") -> Iterator[None]:
        """Whatever the file system, Zarr and its codecs raise becomes an error that names the store."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            why = (error.strerror if isinstance(error, OSError) else None) or f"{type(error).__name__}: {error}"
            raise StoreError(f"{self.path}: {what}: {why}{advice}") from error


def starts_of(inputs: Inputs, first: int, stop: int) -> str:
    """A hash of the starts and parameters that some trajectories have for themselves. (Axes of a grid, and what all have in
    common, are in the hash of the problem.)"""
    return "-".join(_hash(rows) for rows in inputs.kept_rows(first, stop).values())


def _hash(values: NDArray[Any]) -> str:
    array = np.ascontiguousarray(values)
    return hashlib.blake2b(array.tobytes() + str((array.shape, array.dtype.str)).encode(), digest_size=16).hexdigest()


def _remove(path: pathlib.Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@lru_cache(maxsize=8)
def _opened(path: str, mode: str) -> Any:
    """The group of a store, opened once in a process."""
    return need("zarr", "cluster").open_group(path, mode=mode, zarr_format=3, use_consolidated=False)


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
