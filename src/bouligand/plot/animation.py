"""Animations of mechanisms, drawn with matplotlib."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..system import words
from ..system.arguments import numbers, positive, short
from . import given
from .film import check_path, moments, save
from .gait import contacts, select

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from .._typing import FloatArray, Guards, Path, SignArray
    from ..solution.solution import Solution

LARGEST, FINEST = 100.0, 1200.0  # inches, and pixels in each


def animate(
    solution: Solution,
    draw: Callable[[Axes, float, FloatArray, SignArray, FloatArray], object],
    path: Path,
    fps: float = 25,
    speed: float = 1.0,
    gait: Guards | bool | None = None,
    size: tuple[float, float] = (6.4, 4.8),
    dpi: float = 100,
    progress: bool | str | None = None,
) -> pathlib.Path:
    """Save a film of a solution as GIF or MP4, chosen by the suffix of the path.

    Parameters
    ----------
    solution : Solution
    draw : callable
        ``draw(ax, t, x, b, p)`` draws the mechanism on empty axes, at time t in the state x with the mode b and the
        parameters p, and sets the limits of the axes. `bouligand.plot.mechanisms` has those of the ready models.
    path : path
        ``.gif`` (needs Pillow) or ``.mp4`` (needs imageio-ffmpeg), in a folder that exists.
    fps : float
        Frames per second, up to 100.
    speed : float
        ``speed=0.25`` shows the motion four times slower than it happens.
    gait : bool, str or sequence, optional
        Draw a gait diagram below the mechanism: True for all contacts, otherwise the guards to show (as in `contacts`).
    size : (float, float)
        Width and height in inches.
    dpi : float
        Pixels per inch.
    progress : bool or str, optional
        Show a progress bar (with this title).

    Returns
    -------
    pathlib.Path
        The file. It appears when it is complete, and not at all if drawing fails.

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.
    FileNotFoundError
        If the folder does not exist.
    ImportError
        If the package that writes the file is not installed; the message is the command that installs it.

    Examples
    --------
    >>> import bouligand as bd, pathlib, tempfile
    >>> sol = bd.solve(bd.models.hopper(), (0.0, 0.1), [2.0, 0.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film = bd.plot.animate(sol, bd.plot.mechanisms.hopper, pathlib.Path(folder) / "hopper.gif", size=(2, 2))
    ...     film.name
    'hopper.gif'
    """
    solution = given.trajectory_of("solution", solution)
    draw = words.function("draw", draw, "ax, t, x, b, p")
    path = check_path(path, fps)
    times = moments(float(solution.t[0]), float(solution.t[-1]), fps, speed)
    if gait is not None and not isinstance(gait, bool):
        select(solution.system, gait, "gait")
    progress = words.progress(progress)
    inches = numbers("size", size)
    if inches.shape != (2,) or not ((inches > 0.0) & (inches <= LARGEST)).all():
        raise ValueError(f"size must be the width and the height in inches, up to {LARGEST:g}; got {short(size)}")
    if not positive("dpi", dpi) * inches.min() >= 2.0 or dpi > FINEST:
        raise ValueError(f"dpi must give two pixels at least, and be at most {FINEST:g}; got {short(dpi)}")
    frames: Iterable[NDArray[np.uint8]] = _frames(solution, draw, times, gait, size, dpi)
    if progress:
        from tqdm import tqdm

        frames = tqdm(
            frames, total=len(times), desc=progress if isinstance(progress, str) else "film", unit="frame", delay=2
        )
    return save(frames, path, fps)


def _frames(
    solution: Solution,
    draw: Callable[[Axes, float, FloatArray, SignArray, FloatArray], object],
    times: FloatArray,
    gait: Guards | bool | None,
    size: tuple[float, float],
    dpi: float,
) -> Iterator[NDArray[np.uint8]]:
    """The frames, one after the other; the figure is not pyplot's, so that it need not be closed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=dpi, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    cursor = None
    if gait is None or gait is False:
        ax = figure.subplots()
    else:
        ax, below = figure.subplots(2, 1, height_ratios=[4, 1])
        contacts(solution, None if isinstance(gait, bool) else gait, ax=below)
        if len(below.get_yticks()) > 8:  # no room for names
            below.set_yticks([])
        cursor = below.axvline(times[0], color="0.2", lw=1.0, zorder=4)
    states, words = solution(times), solution.word(times)
    for t, x, b in zip(times, states, words, strict=True):
        ax.clear()
        draw(ax, t, x, b, solution.p)
        if cursor is not None:
            cursor.set_xdata([t, t])
        canvas.draw()
        if t == times[0]:
            figure.set_layout_engine("none")  # keep this layout, so that nothing moves from frame to frame
        yield np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
