"""A URDF file rewritten for MuJoCo's URDF reader."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

from tactile_sim import share
from tactile_sim.addresses import of_address
from tactile_sim.errors import SceneError

_XACRO = "http://www.ros.org/wiki/xacro"


def urdf_for_mujoco(path: Path, text: str) -> str:
    """Rewrite a URDF so that links stay bodies, mesh paths are absolute and visuals are left out.

    Args:
        path: the URDF file, where relative mesh paths start.
        text: its content.

    Raises:
        SceneError: broken XML, a xacro file, a name used twice, or a mesh that does not exist.
    """
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise SceneError(f"{path}: broken XML: {error}") from None
    if any(element.tag.startswith(f"{{{_XACRO}}}") for element in robot.iter()):
        expanded = f"{path.name.split('.')[0]}{'_expanded' * (path.suffixes == ['.urdf'])}.urdf"
        raise SceneError(f"{path}: is a xacro file; expand it first: xacro {path.name} > {expanded}")
    for kind in ("link", "joint"):
        names = [element.get("name") for element in robot.findall(kind)]
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise SceneError(f"{path}: {kind} {twice!r} is there twice; give one another name")
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    meshes = path.parent / compiler.attrib.pop("meshdir", "")
    # MuJoCo would otherwise cut paths down to the file's name, and weld links into one body.
    compiler.set("strippath", "false")
    compiler.attrib.setdefault("fusestatic", "false")
    if compiler.attrib.setdefault("discardvisual", "true") == "true":
        for link in robot.iter("link"):
            for visual in link.findall("visual"):
                link.remove(visual)
    for mesh in robot.iter("mesh"):
        if "filename" in mesh.attrib:
            mesh.set("filename", str(_mesh_file(mesh.attrib["filename"], path, meshes)))
    try:
        return ElementTree.tostring(robot, encoding="unicode")
    except RecursionError:
        raise SceneError(f"{path}: its elements are nested too deeply") from None


def _mesh_file(name: str, urdf: Path, meshes: Path) -> Path:
    """Return the absolute path of a mesh: at its address, else in MuJoCo's ``meshdir``."""
    if name.startswith("package://"):
        package, _, inside = name.removeprefix("package://").partition("/")
        folder = share.package_folder(package) or _package_around(urdf, package)
        found = folder / unquote(inside) if folder else None
    elif name.startswith("file://"):
        found = of_address(name, f"{urdf}: mesh ")
    else:
        found = meshes / name
    for path in (found, urdf.parent / name, meshes / Path(name).name):
        if path is not None and os.path.isfile(path):
            return path.absolute()
    if found is None:
        raise SceneError(
            f"{urdf}: mesh {name}: no package {package!r} in AMENT_PREFIX_PATH or ROS_PACKAGE_PATH;"
            " source its workspace"
        )
    raise SceneError(f"{urdf}: mesh {name}: no such file: {found}")


def _package_around(urdf: Path, package: str) -> Path | None:
    """Return the folder of a package that contains the URDF: a checkout that is not installed."""
    folders = (folder for folder in urdf.resolve().parents if (folder / "package.xml").is_file())
    return next((folder for folder in folders if folder.name == package), None)
