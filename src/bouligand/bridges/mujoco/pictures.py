"""Films of a robot: frames that MuJoCo renders without a window, with the contacts that touch marked.

Rendering without a screen needs ``MUJOCO_GL=egl`` (or ``osmesa``, slower and without a graphics driver) in the environment before
MuJoCo is imported; the command ``bouligand`` sets it, importing this does not.
"""

from __future__ import annotations

import os
import pathlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import mujoco
import numpy as np

from ...plot.film import check_path, moments, save
from ...system.arguments import flag, number, one_of, positive, short, text, vector, whole
from ...system.words import pair
from .stage import RenderingError, Stage

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..._typing import FloatArray, Path
    from ...solution.solution import Solution
    from .robot import Robot
    from .web_view import WebView

__all__ = ["RenderingError", "film", "frames", "serve", "view"]


def film(
    robot: Robot,
    solution: Solution,
    path: Path,
    fps: float = 25,
    progress: bool | str | None = None,
    *,
    speed: float = 1.0,
    times: ArrayLike | None = None,
    size: tuple[int, int] = (640, 480),
    camera: str | int | mujoco.MjvCamera | None = None,
    floor: float | None = 0.0,
    mark: bool = True,
    forces: bool = False,
) -> pathlib.Path:
    """Save a film of a solution as GIF or MP4, chosen by the suffix of the path.

    Parameters
    ----------
    robot : Robot
    solution : Solution
    path : path
        ``.gif`` (needs Pillow) or ``.mp4`` (needs imageio-ffmpeg), in a folder that exists.
    fps : float
        Frames per second.
    progress : bool or str, optional
        Show a progress bar (with this title) if it takes more than two seconds.
    speed, times, size, camera, floor, mark, forces
        As in `frames`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    RenderingError
        If MuJoCo cannot render here.
    """
    path = check_path(path, fps)
    view: dict[str, Any] = {"size": size, "camera": camera, "floor": floor, "mark": mark, "forces": forces}
    pictures: Iterable[NDArray[np.uint8]] = frames(robot, solution, fps, speed, times, **view)
    if progress:
        from tqdm import tqdm

        total = len(_times(solution, fps, speed, times))
        title = progress if isinstance(progress, str) else "film"
        pictures = tqdm(pictures, total=total, desc=title, unit="frame", delay=2)
    return save(pictures, path, fps)


def frames(
    robot: Robot,
    solution: Solution,
    fps: float = 25,
    speed: float = 1.0,
    times: ArrayLike | None = None,
    size: tuple[int, int] = (640, 480),
    camera: str | int | mujoco.MjvCamera | None = None,
    floor: float | None = 0.0,
    mark: bool = True,
    forces: bool = False,
) -> Iterator[NDArray[np.uint8]]:
    """Render the pictures of a film one after the other.

    Parameters
    ----------
    robot : Robot
    solution : Solution
        A solution of that robot.
    fps : float
        Frames per second.
    speed : float
        ``speed=0.1`` shows the motion ten times slower than it happens.
    times : array, optional
        Times of the frames, instead of fps and speed.
    size : (int, int)
        Width and height in pixels.
    camera : str, int or mujoco.MjvCamera, optional
        A camera of the model by name or number, or one of your own. Default: a free camera that follows the robot.
    floor : float or None
        Height of a chequered floor, which is drawn if the model has no plane, or one without a material. None: no such floor.
    mark : bool
        Whether to mark each contact that touches by a red sphere.
    forces : bool
        Whether to draw the force at each contact as an arrow; the robot's weight is as long as the robot.

    Returns
    -------
    iterator of arrays (height, width, 3) of uint8

    Raises
    ------
    RenderingError
        If MuJoCo cannot render here.
    """
    _check(robot, solution)
    pixels = pair("size", size, "the width and the height in pixels")
    width, height = (whole("size, in pixels,", side, 1) for side in pixels)
    flag("mark", mark)
    flag("forces", forces)
    if floor is not None:
        number("floor", floor)
    return _frames(robot, solution, _times(solution, fps, speed, times), (width, height), camera, floor, mark, forces)


def _frames(
    robot: Robot,
    solution: Solution,
    chosen: FloatArray,
    size: tuple[int, int],
    camera: str | int | mujoco.MjvCamera | None,
    floor: float | None,
    mark: bool,
    forces: bool,
) -> Iterator[NDArray[np.uint8]]:
    states, words = solution(chosen), solution.word(chosen)
    nq, radii = robot.model.nq, np.array([place.radius for place in robot.places])
    stage = Stage(robot.model, size, camera, floor)
    try:
        stage.look_at(states[:, :nq])
        hiding = _in_the_way(robot, states[0], stage.reach) if forces else []
        for t, x, b in zip(chosen, states, words, strict=True):
            spots: list[tuple[FloatArray, float]] = []
            if mark and len(radii):
                which = np.flatnonzero(robot.touching(b))
                spots = list(zip(robot.points(x)[which], radii[which], strict=True))
            arrows: list[tuple[FloatArray, FloatArray]] = []
            if forces:
                pushes = robot.forces(x, b, solution.p, float(t))
                arrows = _arrows(robot, x, pushes, stage.reach)
                stage.glassy = set().union(*(hiding[i] for i in np.flatnonzero(pushes.any(axis=1))))
            yield stage.picture(x[:nq], spots, arrows)
    finally:
        stage.close()


def view(
    robot: Robot,
    solution: Solution,
    speed: float = 1.0,
    fps: float = 60.0,
    *,
    viewer: Literal["auto", "window", "web"] = "auto",
    port: int = 8080,
) -> None:
    """Show a solution, again and again: in MuJoCo's own viewer until its window is closed, or on a web page until Ctrl-C.

    Parameters
    ----------
    robot : Robot
    solution : Solution
    speed : float
        ``speed=0.1`` shows the motion ten times slower than it happens.
    fps : float
        Pictures per second.
    viewer : {"auto", "window", "web"}
        "window" is MuJoCo's own viewer and needs a screen; "web" needs the extra ``view`` and a browser, see `serve`. "auto":
        the window where there is a screen, else the page.
    port : int
        Of the page; the next free one is taken.

    Raises
    ------
    RenderingError
        If there is no screen, and ``viewer="window"``.
    """
    one_of("viewer", viewer, ("auto", "window", "web"))
    _check(robot, solution)
    port = whole("port", port, 1, 65535)
    times = _times(solution, fps, speed, None)
    if viewer == "web" or (viewer == "auto" and not _has_screen()):
        with serve(robot, solution, speed, port=port) as page:
            print(f"{robot.name} is shown on {page.url} (Ctrl-C ends that)", flush=True)
            page.wait()
        return
    if not _has_screen():
        raise RenderingError(
            "view: there is no screen here (DISPLAY is not set); viewer='web' shows it in a browser, and film(robot, solution, "
            "path) needs neither"
        )
    from mujoco import viewer as window_of

    states, data = solution(times), mujoco.MjData(robot.model)
    with window_of.launch_passive(robot.model, data) as window:
        while window.is_running():
            for x in states:
                began = time.perf_counter()
                data.qpos[:] = x[: robot.model.nq]
                mujoco.mj_kinematics(robot.model, data)
                window.sync()
                if not window.is_running():
                    break
                time.sleep(max(0.0, 1.0 / fps - (time.perf_counter() - began)))


def serve(
    robot: Robot,
    solution: Solution,
    speed: float = 1.0,
    fps: float = 30.0,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    floor: float | None = 0.0,
) -> WebView:
    """Open a web page with a solution: shapes, meshes, ground, contact forces, a slider for the time. Needs the extra ``view``.

    Parameters
    ----------
    robot : Robot
    solution : Solution
    speed : float
        As in `view`; it can be changed on the page.
    fps : float
        Pictures per second.
    host : str
        Where the page can be reached from: ``"127.0.0.1"``, this computer only; ``"0.0.0.0"``, the network. Requests from other
        pages, or under a host name that is neither this nor this computer's, are refused.
    port : int
        The port; the next free one is taken.
    floor : float or None
        Height of the ground, for a model without a plane.

    Returns
    -------
    WebView
        With ``url``, ``show(t)``, ``pause(t)``, ``wait()`` and ``close()``. It serves in the background until it is closed.
    """
    from .web_view import WebView

    _check(robot, solution)
    text("host", host)
    if floor is not None:
        number("floor", floor)
    port = whole("port", port, 1, 65535)
    return WebView(robot, solution, positive("speed", speed), positive("fps", fps), host, port, floor)


def _check(robot: Robot, solution: Solution) -> None:
    for what, given, kind, its in (("robot", robot, "Robot", "model"), ("solution", solution, "Solution", "system")):
        if not hasattr(given, its):
            raise TypeError(f"{what} must be a {kind}; got {short(given)}")
    if solution.system.states != robot.states:
        raise ValueError(
            f"solution: it is one of {solution.system.name or 'another system'}, with {solution.system.n} states, not of the "
            f"robot {robot.name}, with {robot.n}"
        )


def _has_screen() -> bool:
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _arrows(robot: Robot, x: FloatArray, pushes: FloatArray, reach: float) -> list[tuple[FloatArray, FloatArray]]:
    weight = float(np.sum(robot.model.body_mass) * np.linalg.norm(robot.model.opt.gravity)) or 1.0
    feet = robot.points(x)
    return [(foot, foot + reach / weight * push) for foot, push in zip(feet, pushes, strict=True) if push.any()]


def _in_the_way(robot: Robot, x: FloatArray, reach: float) -> list[set[int]]:
    """Of each contact the links that hide its arrow: its own, and those above it as far as the arrows of a robot at rest go."""
    data, links, out = robot.data(x), len({place.body for place in robot.places}), []
    for place, point in zip(robot.places, robot.points(x), strict=True):
        body, found = place.body, {place.body}
        while body > 0 and np.linalg.norm(data.xpos[body] - point) < 0.6 * reach / links:
            body = int(robot.model.body_parentid[body])
            found.add(body)
        out.append(found - {0})
    return out


def _times(solution: Solution, fps: float, speed: float, times: ArrayLike | None) -> FloatArray:
    if times is not None:
        chosen = vector("times", times)
        if not len(chosen):
            raise ValueError("times must not be empty: a picture is made for each")
        return chosen
    return moments(float(solution.t[0]), float(solution.t[-1]), positive("fps", fps), positive("speed", speed))
