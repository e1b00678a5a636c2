"""Arrays in a file with a seal: NumPy's ``.npz``, and in it a digest of the names, types, shapes and bytes of all arrays.

A file is read whole or refused. What it says of itself is not believed before it is compared with the bytes that are there, so
that a small file cannot ask for much memory; arrays of objects, which would run code, are neither written nor read.
"""

from __future__ import annotations

import hashlib
import math
import os
import pathlib
import tempfile
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEAL = "seal"
_SUFFIX = ".npy"
_MOST_COMPRESSED = 1100  # bytes that one byte of a compressed file can stand for, at most (1032 by the format)


def write(target: pathlib.Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file that appears under its name complete, or not at all."""
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            named: dict[str, Any] = {**arrays, SEAL: np.array(seal_of(arrays))}
            np.savez_compressed(file, **named)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def read(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays in a file; a ValueError with the reason if they are not those that were sealed."""
    with open(path, "rb") as file:
        try:
            arrays = _members(file)
        except ValueError:
            raise
        except Exception as error:  # whatever zipfile, zlib and NumPy make of bytes that are damaged
            raise ValueError(f"it is damaged: {type(error).__name__}: {error}") from error
    seal = arrays.pop(SEAL, None)
    if seal is None:
        raise ValueError("it has no seal: it was written by an earlier version, or by something else")
    if seal.dtype.kind != "U" or seal.shape != () or seal.tobytes() != np.array(seal_of(arrays)).tobytes():
        raise ValueError("it is damaged, or was changed since: its contents are not those of its seal")
    return arrays


def seal_of(arrays: dict[str, NDArray[Any]]) -> str:
    """The digest of some arrays, in hexadecimal."""
    digest = hashlib.blake2b(digest_size=32)
    for name in sorted(arrays):
        array = arrays[name]
        head = repr((name, np.lib.format.dtype_to_descr(array.dtype), array.shape)).encode()
        digest.update(len(head).to_bytes(8, "little") + head)
        digest.update(array.tobytes())
    return digest.hexdigest()


def _members(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    length = file.seek(0, os.SEEK_END)
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(file) as zipped:
        if sum(member.compress_size for member in zipped.infolist()) > length:
            raise ValueError("its entries are longer than the file")
        for member in zipped.infolist():
            name = member.filename.removesuffix(_SUFFIX)
            if name == member.filename or name in arrays:
                raise ValueError(f"its entry {member.filename!r} is not an array, or is there twice")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"its entry {name!r} is compressed in another way than by NumPy")
            if member.file_size > _MOST_COMPRESSED * (member.compress_size + 1):
                raise ValueError(f"its entry {name!r} is said to be longer than it can be")
            with zipped.open(member) as data:
                arrays[name] = _array(name, data, member.file_size)
    return arrays


def _array(name: str, data: IO[bytes], size: int) -> NDArray[Any]:
    """One array, from so many bytes in NumPy's format."""
    if np.lib.format.read_magic(data) != (1, 0):
        raise ValueError(f"its array {name!r} has another version of NumPy's format")
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(data)
    if kind.hasobject:
        raise ValueError(f"its array {name!r} has objects")
    if min(shape, default=0) < 0 or math.prod(shape) * kind.itemsize != size - data.tell():
        raise ValueError(f"its array {name!r} is said to have the shape {shape}, which its bytes do not have")
    order: Any = "F" if by_columns else "C"
    return np.ndarray(shape, kind, data.read(), order=order).copy(order="C")
