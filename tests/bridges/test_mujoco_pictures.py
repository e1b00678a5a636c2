"""Films of a robot by MuJoCo: rendered in a process of its own, where MUJOCO_GL is set before MuJoCo is imported."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("mujoco")

# A robot as the pictures want it, without the bridge: a box on a free joint with two feet; one touches after half the time.
SCRIPT = """
import sys
from types import SimpleNamespace

import mujoco
import numpy as np

from bouligand.bridges.mujoco import pictures

XML = '''<mujoco><worldbody><camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/><body pos="0 0 .5"><freejoint/>
<geom type="box" size=".3 .15 .06" mass="1" rgba="0 0 1 1"/></body></worldbody></mujoco>'''
model = mujoco.MjModel.from_xml_string(XML)
before = model.vis.global_.offwidth


class Path:
    t = np.array([0.0, 1.0])

    def __call__(self, t):
        x = np.tile(np.concatenate([model.qpos0, np.zeros(6)]), (len(t), 1))
        x[:, 0] += 3.0 * np.asarray(t)
        return x

    def word(self, t):
        return np.where(np.asarray(t)[:, None] > [0.5, 2.0], 1, -1)


robot = SimpleNamespace(
    model=model,
    states=(),
    places=[SimpleNamespace(radius=0.05)] * 2,
    points=lambda x: x[:3] + [[0.3, 0.15, -0.2], [-0.3, 0.15, -0.2]],
    touching=lambda b: b > 0,
)


Path.system = robot  # (a solution knows of what it is one)


def red(frame):
    frame = frame.astype(int)
    return np.count_nonzero((frame[..., 0] > 100) & (frame[..., 1] < 60) & (frame[..., 2] < 60))


def blue(frame):
    frame = frame.astype(int)
    return np.argwhere((frame[..., 2] > 60) & (frame[..., 0] < 40))
"""

CHECKS = {
    "marks": """
frames = list(pictures.frames(robot, Path(), fps=4, size=(800, 300)))
assert len(frames) == 5 and all(frame.shape == (300, 800, 3) and frame.dtype == np.uint8 for frame in frames)
assert model.vis.global_.offwidth == before  # the robot's own model is as it was
assert [red(frame) > 0 for frame in frames] == [False, False, False, True, True]
assert all(red(frame) == 0 for frame in pictures.frames(robot, Path(), fps=4, mark=False))
""",
    "follows": """
frames = list(pictures.frames(robot, Path(), times=[0.0, 1.0], mark=False))
middles = [blue(frame).mean(axis=0) for frame in frames]
assert np.abs(middles[0] - middles[1]).max() < 3.0  # pixels, after 3 m
fixed = [blue(frame) for frame in pictures.frames(robot, Path(), times=[0.0, 0.4], camera="side")]
assert np.abs(fixed[0].mean(axis=0) - fixed[1].mean(axis=0)).max() > 100.0
""",
    "floor": """
low = [frame[-60:].std(axis=(0, 1)).max() for frame in
       (next(pictures.frames(robot, Path(), times=[0.0], floor=height)) for height in (0.0, None))]
assert low[0] > 5.0 > low[1], low  # tiles, or nothing at all
""",
    "film": """
from PIL import Image

for name in ("a.gif", "a.mp4"):
    pictures.film(robot, Path(), f"{sys.argv[1]}/{name}", fps=5, size=(160, 120))
assert Image.open(f"{sys.argv[1]}/a.gif").n_frames == 6
import imageio_ffmpeg
assert imageio_ffmpeg.count_frames_and_secs(f"{sys.argv[1]}/a.mp4")[0] == 6
""",
    "names": """
for camera, says in (("front", "no camera is called 'front'; cameras: side"), (3, "camera 3 does not exist")):
    try:
        next(pictures.frames(robot, Path(), camera=camera))
    except ValueError as error:
        assert says in str(error), error
    else:
        raise AssertionError(camera)
""",
}


PLANE = SCRIPT.replace("<worldbody>", '<worldbody><geom type="plane" size="0 0 1"/>')
SCRIPTS = {
    **{name: SCRIPT + check for name, check in CHECKS.items()},
    "chequered plane": PLANE
    + "assert next(pictures.frames(robot, Path(), times=[0.0], floor=None))[-60:].std(axis=(0, 1)).max() > 5.0",
}

# all of them in one process, each from its first line on (what they import is imported once): what was raised, by name
ALL = """
import json, sys, traceback
raised = {}
for name, script in json.load(sys.stdin).items():
    try:
        exec(script, {"__name__": name})
    except BaseException:
        raised[name] = traceback.format_exc()
print(json.dumps(raised))
"""


def run(script, folder, gl, given=""):
    command = [sys.executable, "-c", script, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, input=given, env={**os.environ, "MUJOCO_GL": gl})


@pytest.fixture(scope="module")
def raised(tmp_path_factory):
    done = run(ALL, tmp_path_factory.mktemp("films"), "egl", json.dumps(SCRIPTS))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.fresh
@pytest.mark.parametrize("name", SCRIPTS)
def test_pictures(raised, name):
    assert name not in raised, raised[name]


@pytest.mark.fresh
def test_where_nothing_renders_it_says_what_to_set(tmp_path):
    """MUJOCO_GL=disable: MuJoCo without any rendering."""
    done = run(SCRIPT + "next(pictures.frames(robot, Path()))", tmp_path, "disable")
    assert done.returncode != 0
    assert "RenderingError" in done.stderr
    assert "MUJOCO_GL=egl" in done.stderr
    assert "MUJOCO_GL=osmesa" in done.stderr
