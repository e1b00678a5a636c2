"""Robot files that may be damaged, or made to do harm: looked at before MuJoCo takes memory for what they ask.

What MuJoCo itself finds wrong comes out as one exception or as Python warnings, and is not written to MUJOCO_LOG.TXT in the
current folder.
"""

from __future__ import annotations

import os
import pathlib
import struct
import threading
import xml.etree.ElementTree as ET

import mujoco
import numpy as np

from ...system.warning import warn_user

DEEPEST = 400  # elements inside each other
MOST_BYTES = 200_000_000  # of a file
MOST_ELEMENTS = 200_000
MOST_PIXELS = 50_000_000  # of a texture, or points of a height field
MOST_MEMORY = 4 << 30  # bytes that a file may ask for by itself

_handler = threading.RLock()  # MuJoCo has one handler of warnings for all threads


class RobotFileWarning(UserWarning):
    """A robot file contains something impossible or suspicious: an inertia that no body can have, which was replaced; a warning
    of MuJoCo's."""


class Caught:
    """A ``with`` block in which MuJoCo's fatal errors are ValueErrors about ``what``, and its warnings are Python's.

    (Not made by contextlib, whose frames would be taken for the user's.)
    """

    def __init__(self, what: object) -> None:
        self._what = what
        self._found: list[str] = []

    def __enter__(self) -> None:
        _handler.acquire()
        self._before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(self._found.append)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        mujoco.set_mju_user_warning(self._before)
        _handler.release()
        if isinstance(error, mujoco.FatalError):
            raise ValueError(f"{self._what} cannot be read: {_line([*self._found, str(error)])}") from None
        if isinstance(error, ValueError) and self._found and "failed to load" in str(error):
            raise ValueError(
                f"{self._what} cannot be read: {_line(self._found)}"
            ) from None  # (the reason was a warning)
        if error is None:
            for text in dict.fromkeys(self._found):
                warn_user(f"{self._what}: {_line([text])}", RobotFileWarning)


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
