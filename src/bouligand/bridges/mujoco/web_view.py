"""A solution of a robot in a web browser, for live use (extra ``view``): meshes, ground, contact forces, a slider for the time.

viser serves the page; nothing of it is imported before a view is opened.
"""

from __future__ import annotations

import contextlib
import io
import threading
import time
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ..._optional import need
from ...plot.film import moments
from .stage import FORCE, LINK, TOUCHING, ground_of
from .web_guard import Guard

if TYPE_CHECKING:
    from ..._typing import FloatArray
    from ...solution.solution import Solution
    from .robot import Robot

_TYPE = mujoco.mjtGeom
SHOWN_GROUPS = 3  # groups of geoms that MuJoCo's own viewer shows: 0 to 2


class WebView:
    """A page with a robot that moves as in a solution; `pictures.serve` opens one. Close it, or use it in a ``with`` block.

    Attributes
    ----------
    url : str
        The address of the page.
    times : array
        The times of its pictures.
    """

    def __init__(
        self, robot: Robot, solution: Solution, speed: float, fps: float, host: str, port: int, floor: float | None
    ) -> None:
        viser = need("viser", "view")
        self._robot, self._p = robot, solution.p
        self.times = moments(float(solution.t[0]), float(solution.t[-1]), fps, speed)
        self._states, self._words = solution(self.times), solution.word(self.times)
        self._forces: dict[int, FloatArray] = {}  # at the contacts, of pictures that have been shown
        self._drawn: tuple[int, bool] | None = None  # the picture that is shown, and whether with forces
        self._fps, self._lock, self._open = fps, threading.RLock(), True
        self._guard = Guard(host)
        with _quietly():
            self.server = self._guard.start(
                lambda: viser.ViserServer(host=host, port=port, label=robot.name, verbose=False)
            )
        self.url = f"http://{'localhost' if host in ('127.0.0.1', '0.0.0.0') else host}:{self.server.get_port()}"
        scene = Scene(self.server, robot)
        self._scene = scene
        ground, _ = ground_of(robot.model, 0.0 if floor is None else floor)
        scene.draw_ground(0.0 if ground is None else ground)
        scene.aim_camera(robot.data(self._states[0]))
        self._add_controls(speed)
        self.show(float(self.times[0]))
        self._player = threading.Thread(target=self._play, name="bouligand-view", daemon=True)
        self._player.start()

    def _add_controls(self, speed: float) -> None:
        gui, first, last = self.server.gui, float(self.times[0]), float(self.times[-1])
        step = 1e-3 if last - first < 100.0 else 1e-2
        self._slider = gui.add_slider(
            "time (s)", min=first, max=max(last, first + step), step=step, initial_value=first
        )
        self._playing = gui.add_checkbox("play", initial_value=len(self.times) > 1)
        self._pace = gui.add_slider(
            "speed (of real time)", min=0.02, max=2.0, step=0.02, initial_value=min(max(speed, 0.02), 2.0)
        )
        self._arrows = gui.add_checkbox("contact forces", initial_value=True)
        self._slider.on_update(lambda _: self._draw(self._nearest(self._slider.value)))
        self._arrows.on_update(lambda _: self._draw(self._nearest(self._slider.value)))

    def _nearest(self, t: float) -> int:
        return int(np.abs(self.times - t).argmin())

    def show(self, t: float) -> None:
        """Show the picture nearest to a time; the slider follows."""
        if not self._open:
            raise RuntimeError("this view has been closed; pictures.serve(robot, solution) opens another")
        index = self._nearest(float(t))
        self._slider.value = float(self.times[index])
        self._draw(index)

    def pause(self, t: float) -> None:
        """Stop playing, and show the picture nearest to a time."""
        self._playing.value = False
        self.show(t)

    def _draw(self, index: int) -> None:
        drawn = (index, bool(self._arrows.value))
        with self._lock:
            if drawn == self._drawn:
                return
            self._drawn = drawn
            x, b = self._states[index], self._words[index]
            if index not in self._forces:
                self._forces[index] = self._robot.forces(x, b, self._p, float(self.times[index]))
            with self.server.atomic():
                self._scene.place(self._robot.data(x))
                if self._robot.contacts:
                    shown = self._forces[index] if self._arrows.value else 0.0 * self._forces[index]
                    self._scene.place_contacts(self._robot.points(x), self._robot.touching(b), shown)

    def _play(self) -> None:
        """Advance the time while that is asked for, again from the start behind the end."""
        first, last, now = float(self.times[0]), float(self.times[-1]), time.perf_counter()
        while self._open:
            time.sleep(1.0 / self._fps)
            before, now = now, time.perf_counter()
            if self._open and self._playing.value and last > first:
                t = self._slider.value + (now - before) * self._pace.value
                self.show(first if t > last else t)

    def wait(self) -> None:
        """Return when the view is closed, or Ctrl-C is pressed, which closes it."""
        try:
            while self._open:
                time.sleep(0.1)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stop the server; the page says that it has lost the connection."""
        if self._open:
            self._open = False
            self._player.join()
            self._guard.close_soon()
            with _quietly():
                self.server.stop()

    def __enter__(self) -> WebView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Scene:
    """The shapes of a robot on a page, under a frame for each of its bodies."""

    def __init__(self, server: Any, robot: Robot) -> None:
        self._server, self._model = server, robot.model
        model = robot.model
        server.scene.set_up_direction("+z")
        self._frames = [server.scene.add_frame(f"/bodies/{body}", show_axes=False) for body in range(model.nbody)]
        has_shape = np.zeros(model.nbody, dtype=bool)
        for geom in range(model.ngeom):
            if model.geom_group[geom] < SHOWN_GROUPS and model.geom_rgba[geom, 3] > 0.0:
                has_shape[model.geom_bodyid[geom]] |= self._add_geom(geom)
        for body in np.flatnonzero((model.body_mass > 0) & ~has_shape):
            self._add_inertia(int(body))
        data = robot.data(robot.neutral())
        self.reach = float(np.linalg.norm(np.ptp(data.xipos[1:], axis=0))) if model.nbody > 2 else 0.0
        self.reach = max(self.reach, 2.0 * float(model.geom_rbound[model.geom_bodyid > 0].max(initial=0.0)), 1e-3)
        weight = float(np.sum(model.body_mass) * np.linalg.norm(model.opt.gravity)) or 1.0
        self._length = self.reach / weight  # of an arrow, for each newton
        self._marks = [
            server.scene.add_icosphere(
                f"/contacts/{i}",
                radius=max(0.02 * self.reach, 1.15 * place.radius),
                color=_colour(TOUCHING),
                visible=False,
            )
            for i, place in enumerate(robot.places)
        ]
        self._pushes: Any = None

    def draw_ground(self, height: float) -> None:
        """A grid, tinted so that it is seen as a floor."""
        cell = 0.25 * self.reach
        self._server.scene.add_grid(
            "/ground", width=60 * cell, height=60 * cell, cell_size=cell, section_size=4 * cell, position=(0.0, 0.0, height),
            section_color=(185, 190, 200), cell_color=(215, 218, 225), plane_color=(236, 238, 242), plane_opacity=0.9,
        )  # fmt: skip

    def aim_camera(self, data: mujoco.MjData) -> None:
        """Look at the robot from the side and a little from above, as films do."""
        middle = data.subtree_com[0]
        self._server.initial_camera.look_at = tuple(middle)
        self._server.initial_camera.position = tuple(middle + 1.35 * self.reach * np.array([0.75, -0.9, 0.45]))

    def place(self, data: mujoco.MjData) -> None:
        """Move all bodies to where they are in MuJoCo's data."""
        for body in range(1, self._model.nbody):
            self._frames[body].position, self._frames[body].wxyz = data.xpos[body].copy(), data.xquat[body].copy()

    def place_contacts(self, points: FloatArray, touching: Any, forces: FloatArray) -> None:
        """Mark the contacts that touch, and draw their forces as arrows: the robot's weight is as long as the robot."""
        for mark, point, shown in zip(self._marks, points, touching, strict=True):
            mark.position, mark.visible = point, bool(shown)
        segments = np.stack([points, points + self._length * forces], axis=1).astype(np.float32)
        if self._pushes is None:
            thick = 0.01 * self.reach
            self._pushes = self._server.scene.add_arrows(
                "/forces", segments, _colour(FORCE), shaft_radius=thick, head_radius=2.5 * thick, head_length=5 * thick
            )
        else:
            self._pushes.points = segments

    def _add_geom(self, geom: int) -> bool:
        """One shape of the file. Returns False for what is no shape of a body: planes, height fields."""
        model, scene = self._model, self._server.scene
        kind, size = int(model.geom_type[geom]), model.geom_size[geom]
        common = {
            "name": f"/bodies/{model.geom_bodyid[geom]}/{geom}",
            "position": model.geom_pos[geom].copy(),
            "wxyz": model.geom_quat[geom].copy(),
            "color": _colour(self._rgba(geom)),
        }
        if kind == _TYPE.mjGEOM_BOX:
            scene.add_box(dimensions=tuple(2.0 * size), **common)
        elif kind == _TYPE.mjGEOM_SPHERE:
            scene.add_icosphere(radius=float(size[0]), **common)
        elif kind == _TYPE.mjGEOM_ELLIPSOID:
            scene.add_icosphere(radius=1.0, scale=tuple(size), **common)
        elif kind == _TYPE.mjGEOM_CYLINDER:
            scene.add_cylinder(radius=float(size[0]), height=2.0 * float(size[1]), **common)
        elif kind == _TYPE.mjGEOM_CAPSULE:
            shape = need("trimesh", "view").creation.capsule(height=2.0 * float(size[1]), radius=float(size[0]))
            middle = np.asarray(shape.vertices) - shape.bounds.mean(axis=0)
            scene.add_mesh_simple(vertices=middle, faces=np.asarray(shape.faces), **common)
        elif kind == _TYPE.mjGEOM_MESH:
            mesh = model.mesh(model.geom_dataid[geom])
            first, many = int(mesh.vertadr[0]), int(mesh.vertnum[0])
            faces = model.mesh_face[int(mesh.faceadr[0]) : int(mesh.faceadr[0]) + int(mesh.facenum[0])]
            vertices = model.mesh_vert[first : first + many]
            scene.add_mesh_simple(vertices=vertices, faces=faces, flat_shading=True, **common)
        else:
            return False
        return True

    def _rgba(self, geom: int) -> Any:
        material = int(self._model.geom_matid[geom])
        default = np.allclose(self._model.geom_rgba[geom], 0.5 * np.array([1, 1, 1, 2]))
        return self._model.mat_rgba[material] if material >= 0 and default else self._model.geom_rgba[geom]

    def _add_inertia(self, body: int) -> None:
        """A link without shapes: the box that has its inertia."""
        model = self._model
        a, b, c = model.body_inertia[body] * 6.0 / model.body_mass[body]
        sides = np.sqrt(np.maximum([b + c - a, a + c - b, a + b - c], 0.0))
        if (sides > 1e-4).all():
            self._server.scene.add_box(
                f"/bodies/{body}/inertia", color=_colour(LINK), dimensions=tuple(sides),
                position=model.body_ipos[body].copy(), wxyz=model.body_iquat[body].copy(),
            )  # fmt: skip


def _quietly() -> Any:
    """Without what viser prints when it starts and stops."""
    return contextlib.redirect_stdout(io.StringIO())


def _colour(rgba: Any) -> tuple[int, int, int]:
    red, green, blue = (round(255 * float(part)) for part in np.clip(rgba[:3], 0.0, 1.0))
    return red, green, blue
