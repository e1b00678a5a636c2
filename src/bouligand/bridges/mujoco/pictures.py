"""Films of a robot: frames that MuJoCo renders without a window, with the contacts that touch marked.

Rendering without a screen needs ``MUJOCO_GL=egl`` (or ``osmesa``, slower and without a graphics driver) in the environment before MuJoCo is
imported; the command ``bouligand`` sets it, importing this does not.
"""

import copy
import os

import mujoco
import numpy as np

from ...film import check_path, moments, save

TOUCHING, SKY = (0.85, 0.12, 0.15, 1.0), (0.97, 0.98, 1.0, 1.0)
TILES = 24  # along each side of a floor that is drawn because the model has none
_BOX, _SPHERE, _STRAIGHT = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_SPHERE, np.eye(3)


class RenderingError(RuntimeError):
    """MuJoCo cannot render here; the message says what to set."""


def film(robot, solution, path, fps=25, progress=None, **options):
    """Save a film of a solution as GIF or MP4, by the path's suffix. ``options`` are those of `frames`; ``progress`` shows a bar."""
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
        With its ``model``, ``points(x)`` (where each contact is) and ``touching(b)`` (which of them touch under a word).
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
        Height of a chequered floor, drawn if the model has no plane; None: none.
    mark : bool
        A red ball on each contact that touches.
    """
    given = times is not None
    times = np.asarray(times, dtype=float) if given else moments(solution.t[0], solution.t[-1], fps, speed)
    states, words = solution(times), solution.word(times)
    stage = _Stage(robot.model, size, camera, floor)
    try:
        stage.look_at(states[:, : robot.model.nq])
        for x, b in zip(states, words, strict=True):
            spots = robot.points(x)[np.asarray(robot.touching(b), dtype=bool)] if mark and len(b) else ()
            yield stage.picture(x[: robot.model.nq], spots)
    finally:
        stage.close()


class _Stage:
    """A renderer with its own copy of the model (nothing of the robot's is changed), a camera, a floor, and light."""

    def __init__(self, model, size, camera, floor):
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
        self.tracking = camera is None
        self.camera = mujoco.MjvCamera() if self.tracking else self._known(camera)
        has_plane = np.any(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
        self.floor = None if has_plane else floor
        self.renderer = _renderer(self.model, self.height, self.width)

    def _known(self, camera):
        if isinstance(camera, str):
            if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_CAMERA, camera) < 0:
                names = [self.model.camera(i).name for i in range(self.model.ncam)]
                raise ValueError(f"no camera is called {camera!r}; cameras: {', '.join(names) or 'none'}")
        elif isinstance(camera, int | np.integer) and not 0 <= camera < self.model.ncam:
            raise ValueError(f"camera {camera} does not exist; the model has {self.model.ncam}")
        return camera

    def look_at(self, positions):
        """Where the robot is over the film decides the distance; the camera then follows its middle, smoothly as that moves."""
        boxes = [self._box(qpos) for qpos in positions[:: max(1, len(positions) // 20)]]
        self.reach = float(max(np.linalg.norm(high - low) for low, high in boxes))
        self.low = float(min(low[2] for low, _ in boxes)) if self.floor is None else float(self.floor)
        # (MuJoCo draws up to zfar, in units of the model's extent)
        self.model.vis.map.zfar = max(self.model.vis.map.zfar, 100.0 * self.reach / self.model.stat.extent)
        if self.tracking:
            self.camera.type = mujoco.mjtCamera.mjCAMERA_FREE
            self.camera.azimuth, self.camera.elevation = 130.0, -15.0
            self.camera.distance = 1.5 * self.reach

    def _box(self, qpos):
        """Corners of a box around the moving bodies."""
        self._place(qpos)
        moving = self.model.body_weldid[self.model.geom_bodyid] != 0
        points, radii = self.data.geom_xpos[moving], self.model.geom_rbound[moving][:, None]
        if not len(points):
            points, radii = self.data.xpos[1:], np.full((max(len(self.data.xpos) - 1, 1), 1), 0.05)
        return (points - radii).min(axis=0), (points + radii).max(axis=0)

    def _place(self, qpos):
        self.data.qpos[:] = qpos
        mujoco.mj_normalizeQuat(self.model, self.data.qpos)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        mujoco.mj_tendon(self.model, self.data)

    def picture(self, qpos, spots):
        low, high = self._box(qpos)  # (places everything, too)
        if self.tracking:
            self.camera.lookat[:2] = 0.5 * (low + high)[:2]
            self.camera.lookat[2] = self.low + 0.35 * self.reach
        self.renderer.update_scene(self.data, self.camera)
        self._light(0.5 * (low + high))
        if self.floor is not None:
            self._draw_floor(0.5 * (low + high))
        for spot in spots:
            self._add(_SPHERE, [0.025 * self.reach, 0, 0], spot, TOUCHING)
        return self.renderer.render()

    def _light(self, middle):
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

    def _draw_floor(self, middle):
        """Tiles that stay where they are while the robot walks over them."""
        tile = 0.25 * self.reach
        first = np.round(middle[:2] / tile).astype(int) - TILES // 2
        for i in range(first[0], first[0] + TILES):
            for j in range(first[1], first[1] + TILES):
                shade = 0.9 if (i + j) % 2 else 0.78
                centre = [i * tile, j * tile, self.floor - 0.01 * tile]
                self._add(_BOX, [tile / 2, tile / 2, 0.01 * tile], centre, [shade, shade, shade, 1.0])

    def _add(self, kind, size, centre, colour, turn=_STRAIGHT):
        """One more shape in the scene (None where that is full)."""
        scene = self.renderer.scene
        if scene.ngeom >= scene.maxgeom:
            return None
        geom, size, centre = scene.geoms[scene.ngeom], np.array(size, dtype=float), np.asarray(centre, dtype=float)
        mujoco.mjv_initGeom(geom, kind, size, centre, np.ascontiguousarray(turn).ravel(), np.array(colour, dtype=np.float32))
        scene.ngeom += 1
        return geom

    def close(self):
        self.renderer.close()


def _renderer(model, height, width):
    try:
        return mujoco.Renderer(model, height, width, max_geom=model.ngeom + TILES**2 + 2000)
    except Exception as error:  # each backend has errors of its own
        backend = os.environ.get("MUJOCO_GL") or "not set"
        raise RenderingError(
            f"MuJoCo cannot render here (MUJOCO_GL is {backend}): {error}\nSet MUJOCO_GL=egl before Python starts; without a "
            "graphics driver, MUJOCO_GL=osmesa (package libosmesa6)"
        ) from error
