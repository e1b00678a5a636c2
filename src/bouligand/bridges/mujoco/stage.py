"""Where a robot is filmed: MuJoCo's renderer without a window, a camera that follows, a floor, light, and marks."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..._typing import FloatArray

TOUCHING, SKY, LINK = (0.85, 0.12, 0.15, 1.0), (0.97, 0.98, 1.0, 1.0), (0.36, 0.44, 0.58, 1.0)
TILES = 24  # along each side of a floor that is drawn because the model has none
FORCE = (0.10, 0.45, 0.85, 1.0)
_GEOM = int(mujoco.mjtObj.mjOBJ_GEOM)
_ARROW = mujoco.mjtGeom.mjGEOM_ARROW
_BOX, _SPHERE, _STRAIGHT = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_SPHERE, np.eye(3)


class RenderingError(RuntimeError):
    """MuJoCo cannot render without a window here; the message names the environment variable to set."""


class Stage:
    """A renderer with its own copy of the model (nothing of the robot's is changed), a camera, a floor, and light."""

    def __init__(
        self,
        model: mujoco.MjModel,
        size: tuple[int, int],
        camera: str | int | mujoco.MjvCamera | None,
        floor: float | None,
    ) -> None:
        self.width, self.height = (int(side) for side in size)
        self.model = copy.copy(model)
        visual = self.model.vis
        visual.global_.offwidth = max(visual.global_.offwidth, self.width)
        visual.global_.offheight = max(visual.global_.offheight, self.height)
        self.needs_light = model.nlight == 0
        self.needs_sky = not np.any(model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX)
        if self.needs_light:
            visual.headlight.ambient[:], visual.headlight.diffuse[:] = 0.3, 0.3
        self.data = mujoco.MjData(self.model)
        self.glassy: set[int] = set()  # bodies through which arrows are seen
        self.tracking = camera is None
        self.camera = mujoco.MjvCamera() if self.tracking else self._known(camera)
        self.ground, self.tiled = ground_of(model, floor)
        self.option = mujoco.MjvOption()
        solid = np.zeros(model.nbody, dtype=bool)
        solid[model.geom_bodyid] = True
        # links of which the file has no shape are drawn as the box that has their inertia
        self.boxes = bool(np.any((model.body_mass > 0) & ~solid))
        self.option.flags[mujoco.mjtVisFlag.mjVIS_INERTIA] = self.boxes
        visual.rgba.inertia[:] = LINK
        if self.tiled:
            self.model.geom_rgba[model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE, 3] = 0.0
        self.renderer = _renderer(self.model, self.height, self.width)
        # (a floor that mirrors arrows shows forces that are not there)
        self.renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0

    def _known(self, camera: str | int | mujoco.MjvCamera) -> Any:
        if isinstance(camera, str):
            if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_CAMERA, camera) < 0:
                names = [self.model.camera(i).name for i in range(self.model.ncam)]
                raise ValueError(f"no camera is called {camera!r}; cameras: {', '.join(names) or 'none'}")
        elif isinstance(camera, int | np.integer) and not 0 <= camera < self.model.ncam:
            raise ValueError(f"camera {camera} does not exist; the model has {self.model.ncam}")
        return camera

    def look_at(self, positions: FloatArray) -> None:
        """Choose the distance of the camera, which then follows the middle of the robot, from its positions over the film."""
        boxes = [self._box(qpos) for qpos in positions[:: max(1, len(positions) // 20)]]
        self.reach = float(max(np.linalg.norm(high - low) for low, high in boxes))
        if self.ground is None:
            self.ground = float(min(low[2] for low, _ in boxes))
        # (MuJoCo draws up to zfar, in units of the model's extent)
        self.model.vis.map.zfar = max(self.model.vis.map.zfar, 100.0 * self.reach / self.model.stat.extent)
        if self.tracking:
            self.camera.type = mujoco.mjtCamera.mjCAMERA_FREE
            self.camera.azimuth, self.camera.elevation = 130.0, -15.0
            self.camera.distance = (1.8 if self.boxes else 1.5) * self.reach

    def _box(self, qpos: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Corners of a box around the moving bodies."""
        self._place(qpos)
        model, data = self.model, self.data
        moving = (model.body_weldid[model.geom_bodyid] != 0) & (model.geom_rgba[:, 3] > 0.0)
        bodies = model.body_weldid != 0
        # (boxes around shapes, in their own axes, turned into the world's)
        turns = data.geom_xmat[moving].reshape(-1, 3, 3)
        middles = data.geom_xpos[moving] + np.einsum("gij,gj->gi", turns, model.geom_aabb[moving, :3])
        halves = np.einsum("gij,gj->gi", np.abs(turns), model.geom_aabb[moving, 3:])
        points = np.vstack([middles, data.xpos[bodies]])
        sizes = np.vstack([halves, np.zeros((bodies.sum(), 3))])
        return (points - sizes).min(axis=0), (points + sizes).max(axis=0)

    def _place(self, qpos: FloatArray) -> None:
        self.data.qpos[:] = qpos
        mujoco.mj_normalizeQuat(self.model, self.data.qpos)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        mujoco.mj_tendon(self.model, self.data)

    def picture(
        self,
        qpos: FloatArray,
        spots: list[tuple[FloatArray, float]],
        arrows: list[tuple[FloatArray, FloatArray]] | tuple[()] = (),
    ) -> NDArray[np.uint8]:
        """One frame; ``spots``: (position, radius) of what to mark; ``arrows``: (from, to)."""
        low, high = self._box(qpos)  # (places everything, too)
        ground = low[2] if self.ground is None else self.ground
        if self.tracking:
            self.camera.lookat[:2] = 0.5 * (low + high)[:2]
            self.camera.lookat[2] = max(ground + 0.2 * self.reach, 0.5 * (low + high)[2])
        self.renderer.update_scene(self.data, self.camera, self.option)
        if arrows:
            self._see_through()
        self._light(0.5 * (low + high))
        if self.tiled:
            self._draw_floor(ground, 0.5 * (low + high))
        for spot, radius in spots:
            self._add(_SPHERE, [max((0.045 if self.boxes else 0.02) * self.reach, 1.15 * radius), 0, 0], spot, TOUCHING)
        for start, end in arrows:
            self._arrow(start, end)
        return self.renderer.render()

    def _see_through(self) -> None:
        """Links in which arrows would be hidden."""
        scene = self.renderer.scene
        for i in range(scene.ngeom):
            geom = scene.geoms[i]
            if geom.objtype == _GEOM and geom.rgba[3] > 0.0 and int(self.model.geom_bodyid[geom.objid]) in self.glassy:
                geom.rgba[3], geom.transparent = 0.22, 1

    def _arrow(self, start: FloatArray, end: FloatArray) -> None:
        geom = self._add(_ARROW, [1.0, 1.0, 1.0], start, FORCE)
        if geom is not None:
            mujoco.mjv_connector(geom, _ARROW, 0.012 * self.reach, start, end)
            geom.emission = 0.8

    def _light(self, middle: FloatArray) -> None:
        """Where the model has none of its own: a lamp above, and a bright wall behind everything instead of black."""
        scene = self.renderer.scene
        if self.needs_sky:
            eye = scene.camera[0]
            forward, up = np.array(eye.forward, dtype=float), np.array(eye.up, dtype=float)
            turn = np.column_stack([np.cross(forward, up), up, -forward])
            far = 25.0 * self.reach
            wall = self._add(_BOX, [3 * far, 3 * far, 0.01], np.array(eye.pos) + far * forward, SKY, turn)
            if wall is not None:
                wall.emission, wall.specular = 1.0, 0.0
        if self.needs_light:
            lamp = scene.lights[scene.nlight]
            lamp.type, lamp.castshadow, lamp.headlight = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, 0, 0
            lamp.pos[:] = middle + 2.0 * self.reach * np.array([-0.3, 0.3, 1.0])
            lamp.dir[:] = np.array([0.3, -0.3, -1.0]) / np.sqrt(1.18)
            lamp.ambient[:], lamp.diffuse[:], lamp.specular[:] = 0.1, 0.6, 0.1
            scene.nlight += 1

    def _draw_floor(self, height: float, middle: FloatArray) -> None:
        """Tiles that stay where they are while the robot walks over them."""
        tile = 0.25 * self.reach
        first = np.round(middle[:2] / tile).astype(int) - TILES // 2
        for i in range(first[0], first[0] + TILES):
            for j in range(first[1], first[1] + TILES):
                shade = 0.9 if (i + j) % 2 else 0.78
                centre = [i * tile, j * tile, height - 0.009 * tile]
                self._add(_BOX, [tile / 2, tile / 2, 0.01 * tile], centre, [shade, shade, shade, 1.0])

    def _add(
        self, kind: Any, size: ArrayLike, centre: ArrayLike, colour: ArrayLike, turn: FloatArray = _STRAIGHT
    ) -> Any:
        """One more shape in the scene (None where that is full)."""
        scene = self.renderer.scene
        if scene.ngeom >= scene.maxgeom:
            return None
        geom, size, centre = scene.geoms[scene.ngeom], np.array(size, dtype=float), np.asarray(centre, dtype=float)
        mujoco.mjv_initGeom(
            geom, kind, size, centre, np.ascontiguousarray(turn).ravel(), np.array(colour, dtype=np.float32)
        )
        scene.ngeom += 1
        return geom

    def close(self) -> None:
        self.renderer.close()


def ground_of(model: mujoco.MjModel, floor: float | None) -> tuple[float | None, bool]:
    """Height of the ground (None: not known), and whether tiles are to be drawn on it."""
    planes = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
    if not len(planes):
        return (None, False) if floor is None else (float(floor), True)
    first = planes[0]
    level = abs(model.geom_quat[first][0]) > 1.0 - 1e-9
    return float(model.geom_pos[first][2]), bool(level and model.geom_matid[first] < 0)


def _renderer(model: mujoco.MjModel, height: int, width: int) -> mujoco.Renderer:
    try:
        return mujoco.Renderer(model, height, width, max_geom=model.ngeom + TILES**2 + 2000)
    except Exception as error:  # each backend has errors of its own
        backend = os.environ.get("MUJOCO_GL") or "not set"
        raise RenderingError(
            f"MuJoCo cannot render here (MUJOCO_GL is {backend}): {error}\nSet MUJOCO_GL=egl before Python starts; without a "
            "graphics driver, MUJOCO_GL=osmesa (package libosmesa6)"
        ) from error
