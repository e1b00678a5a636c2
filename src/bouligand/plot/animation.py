"""Animations of mechanisms, drawn with matplotlib."""

from .film import check_path, moments, save
from .gait import contacts


def animate(solution, draw, path, fps=25, speed=1.0, gait=None, size=(6.4, 4.8), dpi=100, progress=None):
    """Save a film of a solution: GIF or MP4, by the path's suffix.

    Parameters
    ----------
    solution : Solution
    draw : function
        ``draw(ax, t, x, b, p)`` draws the mechanism on empty axes, at time t in the state x with the word b and parameters p,
        and sets the limits of the axes. `bouligand.plot.mechanisms` has those of the ready models.
    path : path
        ``.gif`` (needs Pillow) or ``.mp4`` (needs imageio-ffmpeg).
    fps, speed : float
        Frames a second; ``speed=0.25`` shows it four times slower than it happens.

    Other parameters
    ----------------
    gait : True, str or sequence, optional
        A gait diagram runs along below: of all contacts, or of these guards (names or patterns, as in `contacts`).
    size, dpi : (width, height) in inches, dots per inch
    progress : bool or str, optional
        Show a progress bar (with this title).
    """
    path = check_path(path, fps)
    times = moments(float(solution.t[0]), float(solution.t[-1]), fps, speed)
    frames = _frames(solution, draw, times, gait, size, dpi)
    if progress:
        from tqdm import tqdm

        frames = tqdm(
            frames, total=len(times), desc=progress if isinstance(progress, str) else "film", unit="frame", delay=2
        )
    return save(frames, path, fps)


def _frames(solution, draw, times, gait, size, dpi):
    """The frames, one after the other; the figure is not pyplot's, so that it need not be closed."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=dpi, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    cursor = None
    if gait is None or gait is False:
        ax = figure.subplots()
    else:
        ax, below = figure.subplots(2, 1, height_ratios=[4, 1])
        contacts(solution, None if gait is True else gait, ax=below)
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
