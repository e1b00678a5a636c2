"""From a robot file, MJCF (.xml), compiled model (.mjb) or URDF, to a MuJoCo model."""

from __future__ import annotations

import os
import pathlib
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ...system.arguments import path as path_of
from ...system.warning import warn_user
from .files import size_of
from .hostile import RobotFileWarning, parse, read_binary, read_text
from .inertias import make_possible
from .links import check_links
from .meshes import Meshes
from .named_files import look_through

if TYPE_CHECKING:
    from ..._typing import Path


def read_model(
    source: Path | mujoco.MjSpec | mujoco.MjModel,
    *,
    free_base: bool = False,
    package_dirs: Path | Iterable[Path] = (),
    meshes: bool = False,
    edit: Callable[[mujoco.MjSpec], object] | None = None,
    height: float = 0.0,
) -> mujoco.MjModel:
    """A compiled MjModel of a path, of XML text, of an MjSpec or of an MjModel (which is taken as it is).

    The options are those of `load`; ``height`` is that of the floor that is added for pictures if the model has none.
    """
    if isinstance(source, mujoco.MjModel):
        if free_base or edit is not None:
            raise ValueError("free_base and edit need a file or an MjSpec: a compiled MjModel cannot be changed")
        return source
    if isinstance(source, mujoco.MjSpec):
        return _compile(source.copy(), free_base, edit, height)
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return _from_text(source, pathlib.Path.cwd(), "the XML text", free_base, package_dirs, meshes, edit, height)
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"model must be a path, XML text, an MjSpec or an MjModel; got {type(source).__name__}")
    path = path_of("model", source).expanduser()
    if not path.exists():
        raise FileNotFoundError(f"model: there is no robot file {str(path)!r}")
    if path.suffix.lower() not in (".xml", ".urdf", ".mjcf", ".mjb") or path.is_dir():
        raise ValueError(f"model: a robot file is .xml (MJCF), .urdf or .mjb; got {path.name!r}")
    size_of(path)
    if path.suffix.lower() == ".mjb":
        return read_model(read_binary(path), free_base=free_base, edit=edit)
    return _from_text(read_text(path), path.parent, path, free_base, package_dirs, meshes, edit, height)


def _from_text(
    text: str,
    folder: pathlib.Path,
    what: str | pathlib.Path,
    free_base: bool,
    package_dirs: Path | Iterable[Path],
    meshes: bool,
    edit: Callable[[mujoco.MjSpec], object] | None,
    height: float,
) -> mujoco.MjModel:
    root = parse(text, what)
    try:
        look_through(root, folder, what)
        if root.tag == "robot":
            spec = _urdf(root, folder, package_dirs, meshes, free_base)
        elif root.tag in ("mujoco", "mujocoinclude"):
            if isinstance(what, pathlib.Path):  # from the file: it may include others
                spec = mujoco.MjSpec.from_file(str(what))
            else:
                spec = mujoco.MjSpec.from_string(text)
        else:
            raise ValueError(f"its root is <{root.tag}>; expected <mujoco> (MJCF) or <robot> (URDF)")
        return _compile(spec, free_base, edit, height)
    except ValueError as error:
        raise ValueError(f"{what} cannot be read: {error}") from error


# ------------------------------------------------------------------------------------------------------------------- URDF


def _urdf(
    root: ET.Element, folder: pathlib.Path, package_dirs: Path | Iterable[Path], meshes: bool, free_base: bool
) -> mujoco.MjSpec:
    """A spec of a URDF: without what dynamics does not need, inertias possible, frames of fixed links kept as sites."""
    check_links(root)
    kept = Meshes(meshes, lambda name: _resolve(name, folder, package_dirs))
    for link in root.iter("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                mesh = element.find("geometry/mesh")
                if (mesh is None and tag == "visual") or (mesh is not None and not kept.keep(mesh, tag)):
                    link.remove(element)
    kept.warn()
    make_possible(root, free_base)
    # links on fixed joints become part of the link they are fixed to (their frames stay, as sites)
    for old in root.findall("mujoco"):
        root.remove(old)
    options = {"discardvisual": "false", "strippath": "false", "fusestatic": "true"}
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", options)
    spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"), assets=kept.assets or None)
    for geom in spec.geoms:
        geom.mass = 0.0  # in a URDF a shape has none of its own
    fixed = {child.get("link") for child in root.findall(".//joint[@type='fixed']/child")}
    for body in spec.bodies:
        if body.name in fixed:
            body.add_site(name=body.name)
    return spec


def _resolve(name: str, folder: pathlib.Path, package_dirs: Path | Iterable[Path]) -> pathlib.Path:
    """The file that ``package://name/rest`` means: below a given folder, or below one that the URDF itself lies in."""
    if name.startswith("file://"):
        return pathlib.Path(name.removeprefix("file://"))
    if not name.startswith("package://"):
        return (folder / name).resolve()
    rest = pathlib.PurePosixPath(name.removeprefix("package://"))
    within = pathlib.PurePosixPath(*rest.parts[1:])  # without the package's name: it may be a folder of another name
    given = [package_dirs] if isinstance(package_dirs, str | os.PathLike) else list(package_dirs)
    places = [pathlib.Path(place) for place in given] + list(folder.resolve().parents) + [folder.resolve()]
    for place in places:
        for candidate in (place / rest, place / within):
            if candidate.exists():
                return candidate
    raise ValueError(f"{name} is in none of {', '.join(map(str, places[:4]))} ...; say where with package_dirs=")


# ---------------------------------------------------------------------------------------------------------------- compile


def _compile(
    spec: mujoco.MjSpec,
    free_base: bool,
    edit: Callable[[mujoco.MjSpec], object] | None,
    height: float,
) -> mujoco.MjModel:
    if free_base:
        _free(spec)
    if edit is not None:
        try:
            edit(spec)
        except Exception as error:
            error.add_note("in edit(spec), the function that changes a robot file")
            raise
    if not any(geom.type == mujoco.mjtGeom.mjGEOM_PLANE for geom in spec.worldbody.geoms):  # something to be rendered
        spec.worldbody.add_geom(
            name=_unused(spec, "floor"),
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0.0, 0.0, 1.0],
            pos=[0.0, 0.0, height],
            rgba=[0.8, 0.8, 0.8, 1.0],
            contype=0,
            conaffinity=0,
        )
    try:
        return _compiled(spec)
    except ValueError as error:
        if "balanceinertia" not in str(error):
            raise
        spec.compiler.balanceinertia = True
        model = _compiled(spec)
        names = [body.name for body in spec.bodies if _refused(body)] or re.findall(r"name '([^']*)'", str(error))
        warn_user(
            f"no body can have the inertias of {', '.join(names)}; MuJoCo replaced each by a ball's (balanceinertia)",
            RobotFileWarning,
        )
        return model


def _compiled(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The model of a spec. Since version 4 MuJoCo gives some warnings twice; all go to where `Caught` collects them."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = spec.compile()
    tell = mujoco.get_mju_user_warning() or warnings.warn
    for one in said:
        tell(str(one.message))
    return model


def _refused(body: Any) -> bool:
    if not body.explicitinertial:
        return False
    full = np.asarray(body.fullinertia, dtype=float)
    if np.isfinite(full).all():
        a, b, c, d, e, f = full
        moments = np.linalg.eigvalsh([[a, d, e], [d, b, f], [e, f, c]])
    else:
        moments = np.sort(body.inertia)
    return moments[0] + moments[1] < moments[2]


def _free(spec: mujoco.MjSpec) -> None:
    roots = [body for body in spec.worldbody.bodies if body.name != "floor"]
    if not roots:
        raise ValueError(
            "it is empty, without a link or body; if it is a template (xacro) or a part of another file, load what is made of it"
        )
    root = roots[0]
    if len(root.joints):
        raise ValueError(
            f"free_base=True: the base {root.name!r} already has the joint {root.joints[0].name!r}; leave free_base out"
        )
    root.add_freejoint(name=_unused(spec, "base"))


def _unused(spec: mujoco.MjSpec, name: str) -> str:
    taken = {element.name for element in (*spec.geoms, *spec.joints, *spec.sites)}
    while name in taken:
        name = f"{name}_"
    return name
