"""Robot files that may be damaged, or made to do harm: looked at before MuJoCo takes memory for what they ask.

What MuJoCo itself finds wrong comes out as one exception or as Python warnings, and is not written to MUJOCO_LOG.TXT in the
current folder.
"""

from __future__ import annotations

import os
import pathlib
import struct
import threading
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np

DEEPEST = 400  # elements inside each other
MOST_BYTES = 200_000_000  # of a file
MOST_ELEMENTS = 200_000
MOST_PIXELS = 50_000_000  # of a texture, or points of a height field
MOST_MEMORY = 4 << 30  # bytes that a file may ask for by itself

_handler = threading.RLock()  # MuJoCo has one handler of warnings for all threads


class RobotFileWarning(UserWarning):
    """A robot file contains something impossible or suspicious: an inertia that no body can have, which was replaced; a warning
    of MuJoCo's."""


@contextmanager
def caught(what: object, stacklevel: Any) -> Iterator[None]:
    """MuJoCo's fatal errors as ValueErrors about ``what``, its warnings as Python's."""
    found: list[str] = []
    with _handler:
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(found.append)
        try:
            yield
        except mujoco.FatalError as error:
            raise ValueError(f"{what} cannot be read: {_line([*found, str(error)])}") from None
        except ValueError as error:
            if found and "failed to load" in str(error):  # (MuJoCo has given the reason as a warning)
                raise ValueError(f"{what} cannot be read: {_line(found)}") from None
            raise
        finally:
            mujoco.set_mju_user_warning(before)
    for text in dict.fromkeys(found):
        warnings.warn(f"{what}: {_line([text])}", RobotFileWarning, stacklevel=stacklevel())


def _line(texts: list[str]) -> str:
    return "; ".join(" ".join(text.split()) for text in dict.fromkeys(texts))


# ------------------------------------------------------------------------------------------------------------------- text


class _Shallow(ET.TreeBuilder):
    """Builds a tree, and stops where it gets too deep: code that goes through it calls itself for each level.

    MuJoCo's parser takes the first ``>`` for the end of ``<!DOCTYPE ...>``, and so could find another tree.
    """

    depth = count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> ET.Element:
        self.depth, self.count = self.depth + 1, self.count + 1
        if self.depth > DEEPEST:
            raise ValueError(f"its elements are nested more than {DEEPEST} deep")
        if self.count > MOST_ELEMENTS:
            raise ValueError(f"it has more than {MOST_ELEMENTS:,} elements")
        return super().start(tag, attributes)

    def doctype(self, *_: object) -> None:
        raise ValueError("it has a <!DOCTYPE>; leave that out")

    def end(self, tag: str) -> ET.Element:
        self.depth -= 1
        return super().end(tag)


def read_text(path: pathlib.Path) -> str:
    """The text of a file that is one."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text, and so neither MJCF nor URDF") from None


def parse(text: str, what: object) -> ET.Element:
    """The tree of an XML text."""
    try:
        return ET.fromstring(text, parser=ET.XMLParser(target=_Shallow()))
    except ET.ParseError as error:
        raise ValueError(f"{what} is not XML: {error}") from None
    except (ValueError, LookupError) as error:
        raise ValueError(f"{what} cannot be read: {error}") from None


# ----------------------------------------------------------------------------------------------------------------- binary


def read_binary(path: pathlib.Path) -> mujoco.MjModel:
    """A compiled model (.mjb), if what its head says can be true."""
    _refuse_huge_binary(path)
    return mujoco.MjModel.from_binary_path(str(path))


def refuse_not_finite(model: mujoco.MjModel, what: object) -> None:
    """An error if a number of the model is NaN or infinite."""
    for name in dir(model):
        values = None if name.startswith("_") else getattr(model, name, None)
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{what} cannot be read: {name} is not finite")


def _refuse_huge_binary(path: pathlib.Path) -> None:
    """The head of an .mjb has five numbers, the third of which is the number of sizes that follow. None but the last few, which
    are those of buffers, can be larger than the file."""
    length = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(20)
        count = struct.unpack("5i", head)[2] if len(head) == 20 else 0
        if not 0 < count < 1000:
            raise ValueError(f"{path} cannot be read: it is not a compiled model of MuJoCo")
        sizes = np.frombuffer(file.read(8 * count).ljust(8 * count, b"\0"), dtype=np.int64)
    stored, buffers = sizes[:-12], sizes[-12:]
    if max(map(int, stored), default=0) > length or max(map(int, buffers), default=0) > MOST_MEMORY:
        raise ValueError(f"{path} cannot be read: its header declares impossible sizes; the file is damaged")
