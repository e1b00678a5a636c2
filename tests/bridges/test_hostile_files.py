"""Robot files that are damaged, or made to do harm: one error each, at once, and nothing is written anywhere."""

import struct
import warnings

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
mj = pytest.importorskip("bouligand.bridges.mujoco")

BALL = '<worldbody><body><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>'
LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
REPEAT = '<replicate count="100">'


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def chain(count, first="l0"):
    joint = '<joint name="j{0}" type="fixed"><parent link="{1}"/><child link="l{2}"/></joint>'
    links = "".join(f'<link name="l{i}">{LINK}</link>' for i in range(count + 1))
    return f'<robot name="r">{links}{"".join(joint.format(i, f"l{i}" if i else first, i + 1) for i in range(count))}</robot>'


LAUGHS = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>' + BALL, "1e.10 points"),
        ('<mujoco><asset><texture type="2d" builtin="flat" width="30000" height="30000"/></asset>' + BALL, "points"),
        ('<mujoco><size memory="900G"/>' + BALL, "memory='900G'"),
        ('<mujoco><size nuserdata="2000000000"/>' + BALL, "nuserdata"),
        ('<mujoco><size njmax="2000000000"/>' + BALL, "njmax"),
        ('<mujoco><include file="other.xml"/>' + BALL, "nuserdata"),
        (
            f"<mujoco><worldbody>{REPEAT * 3}<geom size='1'/>{'</replicate>' * 3}</worldbody></mujoco>",
            "5,000",
        ),
        (f"<mujoco><worldbody>{'<body>' * 200_000}{'</body>' * 200_000}</worldbody></mujoco>", "nested more than"),
        (f"<robot name='r'>{'<link>' * 200_000}{'</link>' * 200_000}</robot>", "nested more than"),
        (f"<robot name='r'>{'<link/>' * 300_000}</robot>", "more than 200,000 elements"),
        (chain(2000), "in a row"),
        (chain(3, first="l3"), "in a circle"),
        (f'<!DOCTYPE m [<!ENTITY e0 "aaaaaaaaaa">{LAUGHS}]><mujoco>&e9;</mujoco>', "DOCTYPE"),
        ("<mujoco><worldbody><body>", "not XML"),
        ("", "is empty"),
        ("\0\0\0", "not XML"),
        (b"\xff\xfe\xfd\x00", "not text"),
        (
            '<mujoco><worldbody><body pos="nan 0 0"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>',
            "not finite",
        ),
        ('<mujoco><worldbody><body><freejoint/><geom size="nan"/></body></worldbody></mujoco>', "nan size"),
    ],
)
def test_texts(text, says, here):
    (here / "other.xml").write_text('<mujoco><size nuserdata="2000000000"/></mujoco>')
    path = here / ("robot.urdf" if b"<robot" in (text if isinstance(text, bytes) else text.encode()) else "robot.xml")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=says) as caught:
        mj.load(path)
    assert "robot." in str(caught.value)


def test_warnings_of_mujoco_become_pythons(here):
    """They would go to the terminal and to a file in the current folder."""
    text = '<mujoco><custom><text name="a" data="nan"/></custom>' + BALL
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mj.load(text)
    assert all(issubclass(one.category, mj.RobotFileWarning) for one in caught)
    assert mujoco.get_mju_user_warning() is None


def test_damaged_binaries(here):
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_string("<mujoco>" + BALL), "robot.mjb", None)
    path = here / "robot.mjb"
    whole = path.read_bytes()
    assert mj.load(path).n == 13
    count = struct.unpack("5i", whole[:20])[2]
    for text in (b"no model at all, but text", whole[: len(whole) // 2], whole[:30]):
        path.write_bytes(text)
        with pytest.raises(ValueError, match=r"robot\.mjb cannot be read"):
            mj.load(path)
    rng = np.random.default_rng(1)
    for _ in range(100):  # sizes that cannot be, in the head
        place = 20 + 8 * int(rng.integers(count - 12))
        path.write_bytes(whole[:place] + struct.pack("q", int(rng.integers(10**6, 2**62))) + whole[place + 8 :])
        with pytest.raises(ValueError, match="declares impossible sizes"):
            mj.load(path)
    for _ in range(100):  # any byte: an error, or a model that can be loaded
        changed = bytearray(whole)
        changed[int(rng.integers(len(whole)))] = int(rng.integers(256))
        path.write_bytes(changed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mj.load(path)
            except ValueError as error:
                assert str(error)  # noqa: PT017
