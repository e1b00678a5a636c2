"""Meshes of URDFs, for pictures: which are kept, converted, or left out with a word; and friction that is a coefficient."""

import os
import sys

import numpy as np
import pytest

import bouligand as bd

mj = pytest.importorskip("bouligand.bridges.mujoco")

DAE = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="{name}" meter="{meter}"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0  1 0 0  0 1 0  0 0 1</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def urdf(folder, mesh):
    path = folder / "one.urdf"
    path.write_text(
        f"""<robot name="one"><link name="link"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><mesh filename="{mesh}" scale="0.1 0.1 0.1"/></geometry></visual></link></robot>"""
    )
    return path


@pytest.mark.parametrize(("name", "meter"), [("meter", 1.0), ("millimeter", 0.001)])
def test_dae_is_converted(tmp_path, name, meter):
    pytest.importorskip("collada")
    (tmp_path / "shape.dae").write_text(DAE.format(name=name, meter=meter))
    robot = mj.load(urdf(tmp_path, "shape.dae"), free_base=True, meshes=True)
    assert robot.model.nmesh == 1
    # a corner of a cube of 10 cm (or a tenth of a millimetre), whatever the axes that MuJoCo has turned it to
    size = np.linalg.norm(np.ptp(robot.model.mesh_vert, axis=0))
    assert 0.1 * meter < size < 0.2 * meter
    assert mj.load(urdf(tmp_path, "shape.dae"), free_base=True).model.nmesh == 0


def test_pictures_that_a_dae_names_are_not_opened(tmp_path):
    """One may be a pipe, at which the converter would wait for ever."""
    pytest.importorskip("collada")
    os.mkfifo(tmp_path / "pipe.png")
    shown = """<library_images><image id="i"><init_from>pipe.png</init_from></image></library_images>
    <library_effects><effect id="e"><profile_COMMON>
    <newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>
    <newparam sid="w"><sampler2D><source>f</source></sampler2D></newparam>
    <technique sid="c"><phong><diffuse><texture texture="w" texcoord="t"/></diffuse></phong></technique>
    </profile_COMMON></effect></library_effects>
    <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials><library_geometries>"""
    bound = """<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="k" target="#m"/>
    </technique_common></bind_material></instance_geometry>"""
    text = (
        DAE.format(name="meter", meter=1)
        .replace("<library_geometries>", shown)
        .replace("<triangles ", '<triangles material="k" ')
    )
    (tmp_path / "shape.dae").write_text(text.replace('<instance_geometry url="#g"/>', bound))
    assert mj.load(urdf(tmp_path, "shape.dae"), free_base=True, meshes=True).model.nmesh == 1


def test_meshes_that_are_missing_damaged_or_of_another_kind(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"there is no mesh .*gone\.stl; say where with package_dirs="):
        mj.load(urdf(tmp_path, "gone.stl"), free_base=True, meshes=True)
    (tmp_path / "odd.ply").write_text("ply")
    with pytest.warns(mj.RobotFileWarning, match=r"left out: odd\.ply"):
        mj.load(urdf(tmp_path, "odd.ply"), free_base=True, meshes=True)
    (tmp_path / "shape.dae").write_text("<COLLADA")
    if "collada" in sys.modules or pytest.importorskip("collada"):
        with pytest.raises(ValueError, match=r"the mesh .*shape\.dae cannot be read"):
            mj.load(urdf(tmp_path, "shape.dae"), free_base=True, meshes=True)
    monkeypatch.setitem(sys.modules, "collada", None)  # (as if it were not installed)
    with pytest.warns(mj.RobotFileWarning, match=r"pip install 'bouligand\[meshes\]'"):
        mj.load(urdf(tmp_path, "shape.dae"), free_base=True, meshes=True)


BALLS = """<mujoco><worldbody>
<body name="a" pos="0 0 1"><freejoint/><geom name="a" type="sphere" size="0.1" mass="1"/></body>
<body name="b" pos="0 0 2"><freejoint/><geom name="b" type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""


def test_a_coefficient_is_lugre_on_the_floor_and_coulomb_between_geoms():
    robot = mj.load(BALLS, ["a", ("a", "b"), mj.Contact(geom="b", friction=0.3)], friction=0.5)
    p = dict(zip(robot.params, robot.defaults, strict=True))
    assert (p["mu_s"], p["mu_d"], p["mu"]) == (0.5, 0.45, 0.5)
    assert (p["mu_s[b]"], p["mu_d[b]"]) == pytest.approx((0.3, 0.27))
    assert sum(name.startswith("bristle:") for name in robot.states) == 4
    alike = mj.load(BALLS, "a", friction=mj.LuGre(0.5, 0.45))
    one = mj.load(BALLS, "a", friction=0.5)
    assert bd.solve(one, (0.0, 0.5), one.neutral()).x[-1] == pytest.approx(
        bd.solve(alike, (0.0, 0.5), alike.neutral()).x[-1]
    )
    for wrong, kind in (
        (0.0, ValueError),
        (-1.0, ValueError),
        (np.nan, ValueError),
        ("0.8", TypeError),
        (True, TypeError),
    ):
        with pytest.raises(kind, match="friction"):
            mj.load(BALLS, "a", friction=wrong)
