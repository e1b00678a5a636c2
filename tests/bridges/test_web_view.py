"""The web viewer: a real server, to which a client connects."""

import socket
import urllib.request
from typing import Any

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


def client_of(page, origin):
    """A websocket to a page, as a browser opens it for the page ``origin``."""
    from websockets.sync.client import connect
    from websockets.typing import Origin, Subprotocol

    return connect(
        page.url.replace("http", "ws"),
        origin=origin and Origin(origin),
        subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
    )


def test_a_page_is_served_and_its_robot_moves():
    robot, sol = fallen()
    landed = float(sol.events.t[list(sol.events.name).index("foot touches")]) + 0.004
    with mj.pictures.serve(robot, sol, speed=0.05, port=free_port()) as page:
        moment = page.times[page._nearest(landed)]
        assert b"<html" in urllib.request.urlopen(page.url, timeout=10).read().lower()
        page._playing.value = False
        with client_of(page, page.url) as client:
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


def answer(page, *headers):
    """The first line of what a request with these headers gets."""
    with socket.create_connection(("localhost", page.server.get_port()), 5) as one:
        one.sendall("\r\n".join(("GET / HTTP/1.1", *headers, "", "")).encode())
        return one.recv(200).partition(b"\r\n")[0]


def test_only_the_page_itself_may_use_the_server():
    """Not another page of the same browser, nor one that gives its own name this computer's address."""
    from websockets.exceptions import InvalidStatus

    robot, sol = fallen()
    with mj.pictures.serve(robot, sol, port=free_port()) as page:
        port = page.server.get_port()
        for name in (f"localhost:{port}", f"127.0.0.1:{port}", "[::1]:9000", socket.gethostname()):
            assert b"200" in answer(page, f"Host: {name}"), name
            assert b"200" in answer(page, f"Host: {name}", f"Origin: http://{name}"), name
        for wrong in (
            ("Host: evil.example",),
            (f"Host: localhost.evil.example:{port}",),
            (f"Host: evil@localhost:{port}",),
            (f"Host: localhost:{port}", "Host: evil.example"),
            (),
            (f"Host: localhost:{port}", "Origin: http://evil.example"),
            (f"Host: localhost:{port}", f"Origin: http://localhost:{port + 1}"),
            (f"Host: localhost:{port}", "Origin: null"),
            (f"Host: localhost:{port}", f"Origin: http://localhost:{port}", "Origin: http://evil.example"),
            (f"Host: localhost:{port}", "Upgrade: WebSocket", "Connection: Upgrade"),
        ):
            assert b"403" in answer(page, *wrong), wrong
        for origin in (None, "http://evil.example", f"http://localhost:{port + 1}", f"http://127.0.0.1:{port}"):
            with pytest.raises(InvalidStatus, match="403"):
                client_of(page, origin)
        with client_of(page, page.url) as client:
            assert len(client.recv(timeout=10)) > 100


def test_the_page_closes_whatever_its_clients_do():
    """Clients that have not asked for anything, and one that does not answer when the server says goodbye: that took six
    seconds, now a third of one."""
    import threading
    import time

    robot, sol = fallen()
    page = mj.pictures.serve(robot, sol, port=free_port())
    port = page.server.get_port()
    clients = [socket.create_connection(("localhost", port), 5) for _ in range(20)]
    clients[0].sendall(
        f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: {page.url}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n\r\n".encode()
    )
    assert b"101 Switching" in clients[0].recv(100)
    before = time.perf_counter()
    page.close()
    assert time.perf_counter() - before < 2.0
    page.close()  # (again: nothing happens)
    assert not [one for one in threading.enumerate() if one.name == "bouligand-view"]
    for one in clients:
        one.close()


def test_a_server_that_cannot_be_guarded_is_stopped():
    from bouligand.bridges.mujoco.web_guard import Guard

    class Other:
        stopped = False

        def stop(self):
            self.stopped = True

    other = Other()
    with pytest.raises(RuntimeError, match=r"install viser 1\.1"):
        Guard("127.0.0.1").start(lambda: other)
    assert other.stopped


def test_what_cannot_be_shown_is_refused_by_name_at_the_call():
    robot, sol = fallen()
    of_page: list[dict[str, Any]] = [
        {"port": 1.5}, {"port": "8080"}, {"port": 70_000}, {"host": 3}, {"host": ""}, {"speed": 0.0}, {"speed": None},
        {"fps": -1.0}, {"fps": float("nan")}, {"floor": "low"},
    ]  # fmt: skip
    of_film: list[dict[str, Any]] = [
        {"size": 3}, {"size": (0, 10)}, {"size": (9, 9, 9)}, {"fps": 0}, {"speed": "fast"}, {"mark": 1}, {"floor": [0]},
    ]  # fmt: skip
    for show, wrong in ((mj.pictures.serve, of_page), (mj.pictures.frames, of_film)):
        for options in wrong:
            with pytest.raises((TypeError, ValueError), match=next(iter(options))):
                show(robot, sol, **options)
        with pytest.raises(TypeError, match="robot must be a Robot"):
            show(sol, sol)
        with pytest.raises(TypeError, match="solution must be a Solution"):
            show(robot, robot)
