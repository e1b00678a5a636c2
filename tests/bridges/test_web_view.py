"""The web viewer: a real server, to which a client connects."""

import socket
import urllib.request

import numpy as np
import pytest

import bouligand as bd

mj = pytest.importorskip("bouligand.bridges.mujoco")
viser = pytest.importorskip("viser")

SHAPES = """<mujoco><asset><mesh name="wedge" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1"/></asset><worldbody>
<body name="body" pos="0 0 0.5"><freejoint/>
<geom type="box" size=".1 .05 .02"/><geom type="capsule" fromto="0 0 0 0 0 -.1" size=".02"/>
<geom name="foot" type="sphere" pos="0 0 -.1" size=".03"/>
<geom type="cylinder" size=".02 .05"/><geom type="ellipsoid" size=".02 .03 .04"/><geom type="mesh" mesh="wedge"/>
<body pos="0.1 0 0"><joint name="hinge"/><inertial pos="0 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/></body>
</body></worldbody></mujoco>"""


def fallen(**options):
    robot = mj.load(SHAPES, "foot", law=mj.Spring(1e4, 50.0), **options)
    return robot, bd.solve(robot, (0.0, 0.6), robot.neutral(), rtol=1e-6)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_page_is_served_and_its_robot_moves():
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    robot, sol = fallen()
    landed = float(sol.events.t[list(sol.events.name).index("foot touches")]) + 0.004
    with mj.pictures.serve(robot, sol, speed=0.05, port=free_port()) as page:
        moment = page.times[page._nearest(landed)]
        assert b"<html" in urllib.request.urlopen(page.url, timeout=10).read().lower()
        page._playing.value = False
        with connect(
            page.url.replace("http", "ws"), subprotocols=[Subprotocol(f"viser-v{viser.__version__}")]
        ) as client:
            assert len(client.recv(timeout=10)) > 100  # (the scene, so far)
            page.show(landed)
        body = robot.model.body("body").id
        frame, data = page._scene._frames[body], robot.data(sol(moment))
        assert frame.position == pytest.approx(data.xpos[body])
        assert frame.wxyz == pytest.approx(data.xquat[body])
        assert page._scene._marks[0].visible
        # an arrow for the force at the foot, the robot's weight as long as the robot
        start, end = page._scene._pushes.points[0]
        force = robot.forces(sol(moment), sol.word(moment), sol.p)[0]
        weight = 9.81 * robot.model.body_mass.sum()
        assert end - start == pytest.approx(force * page._scene.reach / weight, rel=1e-4, abs=1e-6)
        assert end[2] > start[2]
        page.show(0.0)
        assert not page._scene._marks[0].visible
        url = page.url
    with pytest.raises(OSError, match=r"refused|urlopen"):
        urllib.request.urlopen(url, timeout=2)
    with pytest.raises(RuntimeError, match="has been closed"):
        page.show(0.1)


def test_it_plays_by_itself():
    import time

    robot, sol = fallen()
    with mj.pictures.serve(robot, sol, port=free_port()) as page:
        seen = set()
        for _ in range(50):
            seen.add(page._slider.value)
            if len(seen) > 3:
                break
            time.sleep(0.05)
        assert len(seen) > 3
        assert np.isfinite(sorted(seen)).all()


def test_view_takes_the_page_where_there_is_no_screen(monkeypatch, capsys):
    robot, sol = fallen()
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    from bouligand.bridges.mujoco.web_view import WebView

    def pressed(page):  # Ctrl-C
        page.close()

    monkeypatch.setattr(WebView, "wait", pressed)
    mj.pictures.view(robot, sol, port=free_port())
    assert "is shown on http://localhost:" in capsys.readouterr().out
    with pytest.raises(mj.pictures.RenderingError, match="viewer='web'"):
        mj.pictures.view(robot, sol, viewer="window")
    with pytest.raises(ValueError, match="viewer"):
        mj.pictures.view(robot, sol, viewer="hologram")
    with pytest.raises(ValueError, match="port"):
        mj.pictures.serve(robot, sol, port=0)
