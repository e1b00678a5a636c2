"""Films of a robot: frames that MuJoCo renders without a window, with the contacts that touch marked.

Rendering without a screen needs ``MUJOCO_GL=egl`` (or ``osmesa``, slower and without a graphics driver) in the environment before
MuJoCo is imported; the command ``bouligand`` sets it, importing this does not.
"""

import numpy as np

from ...plot.film import check_path, moments, save
from .stage import RenderingError, Stage

__all__ = ["RenderingError", "film", "frames"]


def film(robot, solution, path, fps=25, progress=None, **options):
    """Save a film of a solution as GIF or MP4, by the path's suffix. ``options`` are those of `frames`.

    ``progress``: show a bar (with this title) if it takes more than two seconds.
    """
    path = check_path(path, fps)
    pictures = frames(robot, solution, fps=fps, **options)
    if progress:
        from tqdm import tqdm

        total = len(moments(solution.t[0], solution.t[-1], fps, options.get("speed", 1.0)))
        title = progress if isinstance(progress, str) else "film"
        pictures = tqdm(pictures, total=total, desc=title, unit="frame", delay=2)
    return save(pictures, path, fps)


def frames(robot, solution, fps=25, speed=1.0, times=None, size=(640, 480), camera=None, floor=0.0, mark=True):
    """Pictures, arrays (height, width, 3) of uint8, one after the other.

    Parameters
    ----------
    robot : Robot
        With its ``model``, ``points(x)`` (where each contact is), ``touching(b)`` (which of them touch under a word), and
        ``places``, which have a ``radius`` each.
    solution : Solution
        Its states begin with qpos.
    fps, speed : float
        Frames a second; ``speed=0.1`` shows it ten times slower than it happens.

    Other parameters
    ----------------
    times : array, optional
        Times of the frames, instead of fps and speed.
    size : (width, height)
    camera : str, int or mujoco.MjvCamera, optional
        A camera of the model by name or number, or one of your own. Default: a free one that follows the robot.
    floor : float or None
        Height of a chequered floor, drawn if the model has none (a plane without a material is chequered as well); None: none.
    mark : bool
        A red ball on each contact that touches.
    """
    given = times is not None
    times = np.asarray(times, dtype=float) if given else moments(solution.t[0], solution.t[-1], fps, speed)
    states, words = solution(times), solution.word(times)
    nq, radii = robot.model.nq, np.array([place.radius for place in robot.places])
    stage = Stage(robot.model, size, camera, floor)
    try:
        stage.look_at(states[:, :nq])
        for x, b in zip(states, words, strict=True):
            spots = []
            if mark and len(radii):
                which = np.flatnonzero(robot.touching(b))
                spots = list(zip(robot.points(x)[which], radii[which], strict=True))
            yield stage.picture(x[:nq], spots)
    finally:
        stage.close()
