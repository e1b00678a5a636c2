"""Files that a robot file names: MuJoCo opens a pipe and waits, and follows models that attach each other until it crashes.

Each is refused by one error; that MuJoCo itself would wait or crash is why nothing here calls it.
"""

import os
import pathlib
import struct
import zlib

import mujoco
import pytest

from bouligand.bridges import mujoco as mj
from bouligand.bridges.mujoco import files, hostile, named_files

BALL = '<worldbody><body name="ball"><freejoint/><geom name="ball" size="0.1"/></body></worldbody>'
ATTACH = (
    '<asset><model name="m" file="{}"/></asset><worldbody><frame><attach model="m" prefix="a"/></frame></worldbody>'
)


def robot(what):
    return f"<mujoco>{what}{BALL}</mujoco>"


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.xml").write_text(text)
    return folder / "main.xml"


def refused(path, *says, **options):
    with pytest.raises(ValueError, match=path.name if isinstance(path, pathlib.Path) else "XML text") as error:
        mj.load(path, **options)
    for words in says:
        assert words in str(error.value)


@pytest.fixture
def traps(tmp_path):
    """A pipe, devices, a file of the kernel's, and links to them."""
    for suffix in ("xml", "png", "obj", "stl", "skn", "urdf", "mjb"):
        os.mkfifo(tmp_path / f"pipe.{suffix}")
        os.symlink("/dev/zero", tmp_path / f"zero.{suffix}")
        os.symlink(f"pipe.{suffix}", tmp_path / f"link.{suffix}")
        os.symlink("/proc/self/status", tmp_path / f"kernel.{suffix}")
    return tmp_path


@pytest.mark.parametrize("name", ["pipe", "zero", "link", "kernel"])
def test_only_files_are_opened(traps, name):
    what = {"pipe": "is a named pipe", "link": "is a named pipe", "zero": "is a device", "kernel": "is empty"}[name]
    for suffix in ("xml", "urdf", "mjb"):
        refused(traps / f"{name}.{suffix}", what)
    for text in (
        f'<include file="{name}.xml"/>',
        f'<include file="nowhere/../{name}.xml"/>',
        f'<include xmlns="a" file=".\\{name}.xml"/>',
        f'<asset><model name="m" file="{name}.xml"/></asset>',
        f'<asset><mesh name="m" file="{name}.obj"/></asset>',
        f'<compiler strippath="true"/><asset><mesh name="m" file="some/where/{name}.stl"/></asset>',
        f'<compiler meshdir=".." assetdir="../.."/><asset><mesh name="m" file="{traps.name}/{name}.stl"/></asset>',
        f'<asset><texture name="t" type="2d" file="{name}.png"/></asset>',
        f'<asset><texture name="t" type="cube" fileright="{name}.png"/></asset>',
        f'<asset><hfield name="h" size="1 1 1 1" file="{traps}/{name}.png"/></asset>',
        f'<deformable><skin name="s" file="{name}.skn"/></deformable>',
        f'<worldbody><flexcomp name="f" type="mesh" dim="2" file="{name}.obj"/></worldbody>',
    ):
        refused(write(traps, main=robot(text)), what)
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    seen = f'<visual><geometry><mesh filename="{name}.stl"/></geometry></visual>'
    (traps / "arm.urdf").write_text(f'<robot name="r"><link name="a">{link}{seen}</link></robot>')
    with pytest.raises(ValueError, match=rf"{what}|there is no mesh"):
        mj.load(traps / "arm.urdf", free_base=True, meshes=True)
    refused(write(traps, main=robot('<asset><model name="m" file="arm.urdf"/></asset>')), what)


def test_links_to_files_and_files_in_other_folders_are_opened(tmp_path):
    """A link to a file is one; what an included file includes is looked for next to the main file first, as by MuJoCo."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "legs.xml").write_text('<mujocoinclude><include file="feet.xml"/></mujocoinclude>')
    feet = '<mujocoinclude><worldbody><geom name="{}" size="1" pos="9 9 9"/></worldbody></mujocoinclude>'
    (tmp_path / "parts" / "feet.xml").write_text(feet.format("far"))
    (tmp_path / "real.xml").write_text(robot('<include file="parts/legs.xml"/>'))
    os.symlink("real.xml", tmp_path / "main.xml")
    assert mj.load(tmp_path / "main.xml").model.geom("far").id >= 0
    (tmp_path / "feet.xml").write_text(feet.format("near"))
    assert mj.load(tmp_path / "main.xml").model.geom("near").id >= 0


def test_files_that_name_each_other_in_a_circle(tmp_path):
    """MuJoCo ends with a segmentation fault."""
    refused(
        write(tmp_path, main=f"<mujoco>{ATTACH.format('main.xml')}</mujoco>"), "in a circle: 'main.xml', 'main.xml'"
    )
    other = f"<mujoco>{ATTACH.format('../{}/main.xml')}</mujoco>".replace("{}", tmp_path.name)
    refused(
        write(tmp_path, main=f"<mujoco>{ATTACH.format('b.xml')}</mujoco>", b=other), "'main.xml', 'b.xml', 'main.xml'"
    )
    # one of them is included; a link has another name
    inside = f"<mujocoinclude>{ATTACH.format('c.xml')}</mujocoinclude>"
    os.symlink("main.xml", tmp_path / "c.xml")
    refused(write(tmp_path, main=robot('<include file="b.xml"/>'), b=inside), "in a circle")
    refused(write(tmp_path, main=robot('<include file="main.xml"/>')), "in a circle")
    # from a text, too, whose files are those of the current folder
    (tmp_path / "d.xml").write_text(f"<mujoco>{ATTACH.format('d.xml')}</mujoco>")
    refused(f"<mujoco>{ATTACH.format(tmp_path / 'd.xml')}</mujoco>", "in a circle: 'd.xml', 'd.xml'")
    # links of a URDF that is attached
    joint = '<joint name="{0}" type="fixed"><parent link="{0}"/><child link="{1}"/></joint>'
    circle = f"<link name='a'/><link name='b'/>{joint.format('a', 'b')}{joint.format('b', 'a')}"
    (tmp_path / "e.urdf").write_text(f'<robot name="r">{circle}</robot>')
    refused(write(tmp_path, main=f"<mujoco>{ATTACH.format('e.urdf')}</mujoco>"), "in a circle")


def test_what_is_attached_counts(tmp_path):
    """Each time that it is, and with what it attaches itself."""
    many = "<geom size='1'/>" * 100
    part = f'<mujoco><worldbody><body name="b">{many}</body></worldbody></mujoco>'
    frames = '<frame><attach model="m" body="b" prefix="a{}"/></frame>'
    whole = '<mujoco><asset><model name="m" file="part.xml"/></asset><worldbody><body><freejoint/>{}</body></worldbody></mujoco>'
    path = write(tmp_path, part=part, main=whole.format("".join(frames.format(k) for k in range(3))))
    assert mj.load(path).model.ngeom == 300 + 1  # (the floor)
    refused(write(tmp_path, main=whole.format("".join(frames.format(k) for k in range(51)))), "more than 5,000 <geom>")
    repeated = f'<replicate count="60">{frames.format(0)}</replicate>'
    refused(write(tmp_path, main=whole.format(repeated)), "more than 5,000 <geom>")
    # twice as many in each file of a row; and a row that is too long
    twice = '<asset><model name="m" file="{0}.xml"/><model name="n" file="{0}.xml"/></asset>'
    row = {f"r{k}": f"<mujoco>{twice.format(f'r{k + 1}')}{BALL}</mujoco>" for k in range(25)}
    refused(write(tmp_path, main=robot(twice.format("r0")), r25=robot(""), **row), "more than")
    row = {f"r{k}": f"<mujoco>{ATTACH.format(f'r{k + 1}.xml')}</mujoco>" for k in range(40)}
    refused(
        write(tmp_path, main=f"<mujoco>{ATTACH.format('r0.xml')}</mujoco>", r40=robot(""), **row), "one after another"
    )
    deep = f"<mujoco><worldbody>{'<body>' * 250}{'</body>' * 250}</worldbody></mujoco>"
    inner = f"<worldbody>{'<body>' * 250}<attach model='m' prefix='a'/>{'</body>' * 250}</worldbody>"
    main = f'<mujoco><asset><model name="m" file="deep.xml"/></asset>{inner}</mujoco>'
    refused(write(tmp_path, main=main, deep=deep), "nested more than 400")


def test_files_that_are_too_large(tmp_path, monkeypatch):
    with open(tmp_path / "large.obj", "wb") as file:
        file.truncate(10**12)
    refused(write(tmp_path, main=robot('<asset><mesh name="m" file="large.obj"/></asset>')), "at most 200,000,000")
    with open(tmp_path / "large.xml", "wb") as file:
        file.truncate(10**12)
    refused(tmp_path / "large.xml", "at most 200,000,000")
    # a picture of a hundred bytes with ten thousand million points
    head = b"IHDR" + struct.pack(">2I5B", 100_000, 100_000, 8, 2, 0, 0, 0)
    picture = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    (tmp_path / "large.png").write_bytes(picture)
    refused(
        write(tmp_path, main=robot('<asset><texture name="t" type="2d" file="large.png"/></asset>')), "1e+10 points"
    )
    monkeypatch.setattr(files, "MOST_OF_ALL", 1000)
    (tmp_path / "a.obj").write_bytes(b"#" * 600)
    (tmp_path / "b.obj").write_bytes(b"#" * 600)
    both = '<asset><mesh name="a" file="a.obj"/><mesh name="b" file="b.obj"/></asset>'
    refused(write(tmp_path, main=robot(both)), "more than 1,000 bytes")


def test_a_doctype_cannot_hide_anything(tmp_path):
    """MuJoCo takes the first > for its end, and so finds another tree behind it."""
    hidden = "<!DOCTYPE m [<!ENTITY a \"><mujoco><include file='pipe.xml'/></mujoco><!--\">]>" + robot("")
    os.mkfifo(tmp_path / "pipe.xml")
    refused(write(tmp_path, main=hidden), "DOCTYPE")
    refused(write(tmp_path, main=robot('<include file="b.xml"/>'), b=hidden), "DOCTYPE")


def test_everything_that_mujoco_opens_was_looked_at(tmp_path):
    """Of a robot with meshes in a folder of their own, in files that it includes and attaches."""
    tetra = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    for name in ("meshes/a.obj", "arm/parts/b.obj", "c.obj"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(tetra)
    shown = '<asset><mesh name="{0}" file="{0}.obj"/></asset>'
    shown += '<worldbody><body name="{0}"><geom type="mesh" mesh="{0}"/></body></worldbody>'
    (tmp_path / "arm" / "arm.xml").write_text(f'<mujoco><compiler assetdir="parts"/>{shown.format("b")}</mujoco>')
    included = f'<mujocoinclude><compiler meshdir="meshes"/>{shown.format("a")}</mujocoinclude>'
    path = write(
        tmp_path, main=robot('<include file="included.xml"/>' + ATTACH.format("arm/arm.xml")), included=included
    )
    assert mj.load(path).model.nmesh == 2
    reading = named_files._Reading(hostile.parse(path.read_text(), path))
    reading.take(reading._main, str(tmp_path), [str(path)])
    found = {os.path.relpath(one, tmp_path) for one in reading._files._seen if pathlib.Path(one).is_file()}
    assert found == {"included.xml", "meshes/a.obj", "arm/arm.xml", "arm/parts/b.obj"}
    spec = mujoco.MjSpec.from_file(str(path))
    assert {mesh.file for mesh in spec.meshes} <= {pathlib.Path(one).name for one in found}


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def read(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, main=robot(""))
    monkeypatch.setattr(pathlib.Path, "read_text", read)  # (a test that runs as root may read everything)
    refused(path, "main.xml cannot be read: Permission denied")
