"""Meshes of a URDF, for pictures: MuJoCo reads STL and OBJ; DAE (Collada) is converted, with the extra ``meshes``."""

from __future__ import annotations

import io
import pathlib
from collections.abc import Callable
from xml.etree import ElementTree as ET

from ..._optional import MissingExtraError, need
from ...system.warning import warn_user
from .files import Files
from .hostile import RobotFileWarning, parse, read_text

READABLE = (".stl", ".obj", ".msh")
CONVERTED = (".dae",)


class Meshes:
    """The meshes that are kept: ``assets`` has those that were converted, by the names that the URDF has for them now."""

    def __init__(self, wanted: bool, resolve: Callable[[str], pathlib.Path]) -> None:
        self._wanted, self._resolve = wanted, resolve
        self.assets: dict[str, bytes] = {}
        self._names: dict[pathlib.Path, str] = {}
        self._files = Files()
        self._left_out: dict[str, list[str]] = {}  # why, and which

    def keep(self, mesh: ET.Element, tag: str) -> bool:
        """Whether a mesh of a link is kept, that is shown; its file name is then one that MuJoCo can read."""
        name = mesh.get("filename", "")
        suffix = pathlib.PurePosixPath(name).suffix.lower()
        if not self._wanted or tag != "visual":
            return False
        if suffix not in (*READABLE, *CONVERTED):
            self._leave_out("MuJoCo reads STL and OBJ; DAE is converted", name)
            return False
        path = self._resolve(name)
        if not path.is_file():
            raise ValueError(
                f"there is no mesh {path}; say where with package_dirs=, or leave meshes out (meshes=False)"
            )
        self._files.check(str(path))
        if suffix in READABLE:
            mesh.set("filename", str(path))
            return True
        if path not in self._names:
            try:
                self._convert(path)
            except MissingExtraError:
                self._leave_out("DAE is converted by trimesh: pip install 'bouligand[meshes]'", name)
                return False
        mesh.set("filename", self._names[path])
        return True

    def _convert(self, path: pathlib.Path) -> None:
        """A Collada file as STL; as other readers for robots do, without a look at its up-axis. It is read here, and so are none
        of the pictures that it names."""
        trimesh = need("trimesh", "meshes")
        need("collada", "meshes")
        try:
            text = read_text(path)
            parse(text, path.name)
            scene = trimesh.load_scene(io.BytesIO(text.encode()), file_type="dae")
            if scene.units not in (None, "meters"):
                scene = scene.convert_units("meters")
            shape = scene.to_mesh()
            if not len(shape.faces):
                raise ValueError("it has no faces")
            self.assets[f"dae{len(self.assets)}.stl"] = shape.export(file_type="stl")
        except Exception as error:  # whatever a damaged file makes of either package
            raise ValueError(f"the mesh {path} cannot be read: {error or type(error).__name__}") from error
        self._names[path] = f"dae{len(self.assets) - 1}.stl"

    def _leave_out(self, why: str, name: str) -> None:
        self._left_out.setdefault(why, []).append(pathlib.PurePosixPath(name).name)

    def warn(self) -> None:
        """Say which meshes were left out, so that their links are drawn as boxes."""
        for why, names in self._left_out.items():
            some = ", ".join(sorted(set(names))[:4]) + (" ..." if len(set(names)) > 4 else "")
            warn_user(f"meshes are left out: {some} ({why})", RobotFileWarning)
