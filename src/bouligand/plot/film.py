"""Films: frames to a GIF (Pillow) or an MP4 (ffmpeg, which imageio-ffmpeg brings along)."""

import os
import pathlib

import numpy as np

from .._optional import need

SUFFIXES = (".gif", ".mp4")


def check_path(path, fps):
    """The path, as one that a film can be saved to; an error before any frame is drawn if not."""
    path = pathlib.Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"a film is saved as .gif or .mp4; got {path.name!r}")
    if not 0.0 < fps <= 100.0:
        raise ValueError(f"fps must be between 0 and 100; got {fps!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save {path.name} in")
    if path.suffix.lower() == ".gif":
        need("PIL", "film")
    else:
        need("imageio_ffmpeg", "film")
    return path


def save(frames, path, fps=25):
    """Write frames, arrays (height, width, 3) of uint8 all alike, to a file that appears when it is complete."""
    path = check_path(path, fps)
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        (_gif if path.suffix.lower() == ".gif" else _mp4)(frames, temporary, fps)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def moments(start, end, fps, speed=1.0):
    """Times of the frames of a film that shows [start, end] at ``speed`` times its pace; the last frame is the end."""
    if not speed > 0.0:
        raise ValueError(f"speed must be positive (0.1: ten times slower than it happens); got {speed!r}")
    count = max(1, round((end - start) / speed * fps))
    return np.linspace(start, end, count + 1)


def _gif(frames, path, fps):
    """GIF counts time in hundredths of a second: frames are shown for one or the other number of them, right on average."""
    image = need("PIL.Image", "film")
    pictures = [image.fromarray(np.asarray(frame)).quantize(256, dither=image.Dither.NONE) for frame in frames]
    if not pictures:
        raise ValueError("a film needs at least one frame")
    ticks = np.round(np.arange(len(pictures) + 1) * 100.0 / fps).astype(int)
    durations = [10 * int(tick) for tick in np.diff(ticks)]
    pictures[0].save(path, format="GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0)


def _mp4(frames, path, fps):
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
