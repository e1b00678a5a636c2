"""Films: frames to a GIF (Pillow) or an MP4 (ffmpeg, which imageio-ffmpeg brings along)."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .._optional import need
from ..system import arguments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import FloatArray, Path

SUFFIXES = (".gif", ".mp4")
MOST = 100_000  # frames


def check_path(path: Path, fps: float) -> pathlib.Path:
    """The path, after checking that a film can be saved there: suffix, folder, and the package that writes it.

    Raises
    ------
    ValueError, FileNotFoundError, MissingExtraError
    """
    path = arguments.path("path", path)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"path: a film is saved as .gif or .mp4; got {path.name!r}")
    if not 0.0 < arguments.number("fps", fps) <= 100.0:
        raise ValueError(f"fps must be between 0 and 100; got {fps!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save {path.name} in")
    if path.suffix.lower() == ".gif":
        need("PIL", "film")
    else:
        need("imageio_ffmpeg", "film")
    return path


def save(frames: Iterable[NDArray[np.uint8]], path: Path, fps: float = 25) -> pathlib.Path:
    """Write a film. The file appears when it is complete.

    Parameters
    ----------
    frames : iterable of arrays (height, width, 3) of uint8
        The pictures, all of the same size.
    path : path
        ``.gif`` or ``.mp4``.
    fps : float
        Frames per second.

    Returns
    -------
    pathlib.Path
    """
    path = check_path(path, fps)
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        (_gif if path.suffix.lower() == ".gif" else _mp4)(frames, temporary, fps)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def moments(start: float, end: float, fps: float, speed: float = 1.0) -> FloatArray:
    """Times of the frames of a film that shows the interval [start, end] at ``speed`` times its pace.

    Examples
    --------
    >>> moments(0.0, 0.2, fps=10, speed=0.5)
    array([0.  , 0.05, 0.1 , 0.15, 0.2 ])
    """
    if not arguments.number("speed", speed) > 0.0:
        raise ValueError(f"speed must be positive (0.1: ten times slower than it happens); got {speed!r}")
    count = max(1, round(min((end - start) / speed * fps, 1e9)))
    if count > MOST:
        raise ValueError(
            f"speed and fps make a film of {count} frames, more than {MOST}; got speed = {speed:g}, fps = {fps:g}"
        )
    return np.linspace(start, end, count + 1)


def _gif(frames: Iterable[NDArray[np.uint8]], path: pathlib.Path, fps: float) -> None:
    """GIF counts time in hundredths of a second: frames are shown for one or the other number of them, right on average."""
    image = need("PIL.Image", "film")
    pictures = [image.fromarray(np.asarray(frame)).quantize(256, dither=image.Dither.NONE) for frame in frames]
    if not pictures:
        raise ValueError("a film needs at least one frame")
    ticks = np.round(np.arange(len(pictures) + 1) * 100.0 / fps).astype(int)
    durations = [10 * int(tick) for tick in np.diff(ticks)]
    pictures[0].save(path, format="GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0)


def _mp4(frames: Iterable[NDArray[np.uint8]], path: pathlib.Path, fps: float) -> None:
    ffmpeg = need("imageio_ffmpeg", "film")
    writer = None
    try:
        for frame in frames:
            frame = np.asarray(frame)
            frame = np.ascontiguousarray(
                frame[: frame.shape[0] // 2 * 2, : frame.shape[1] // 2 * 2]
            )  # H.264 wants even
            if writer is None:
                size = (frame.shape[1], frame.shape[0])
                writer = ffmpeg.write_frames(str(path), size, fps=fps, quality=7, macro_block_size=2)
                writer.send(None)
            writer.send(frame)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise ValueError("a film needs at least one frame")
