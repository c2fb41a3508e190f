"""Rewrite URDF files for MuJoCo's URDF reader."""

from __future__ import annotations

import logging
import os
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from tactile_sim import share
from tactile_sim.addresses import of_address
from tactile_sim.errors import SceneError, suggest
from tactile_sim.scenes import xacro_files
from tactile_sim.scenes.gazebo_elements import ignored_switches
from tactile_sim.scenes.inertias import repair_inertias
from tactile_sim.scenes.meshes import mujoco_mesh
from tactile_sim.scenes.urdf_repairs import repair_elements

_LOG = logging.getLogger("tactile_sim.scenes")
MOST_REPAIRS = 20
"""Maximum number of repairs of a file that are logged as warnings; the others are logged as information."""
_LEVELS = 6
"""Number of parent folders of a URDF to search for a package that is not installed."""


@dataclass(frozen=True)
class UrdfOptions:
    """Options for reading URDF files; an MJCF uses only `self_collision`."""

    strict: bool = False
    """True to reject malformed and physically impossible elements instead of repairing them."""
    floating_base: bool = False
    """True to add a free joint to the root link."""
    self_collision: str = "auto"
    """Which links of a robot can collide with one another: ``all``, ``off`` (none) or ``apart`` (all pairs
    that do not overlap in the initial pose). ``auto`` is ``apart`` for a URDF and ``all`` for an MJCF."""
    package_paths: tuple[str, ...] = ()
    """Folders that are searched first for packages."""
    xacro_arguments: Mapping[str, str] = field(default_factory=dict)
    """Values of ``<xacro:arg>``, keyed by name."""


def urdf_for_mujoco(path: Path, text: str, options: UrdfOptions | None = None) -> str:
    """Rewrite a URDF for MuJoCo.

    By default, all links are kept as bodies and visuals are removed. Meshes get absolute paths and formats
    that MuJoCo can read. Malformed or physically impossible elements are repaired and each repair is logged.

    Args:
        path: The URDF or xacro file. Relative mesh paths start from its folder.
        text: Content of the file.
        options: Options for reading the file.

    Raises:
        SceneError: The XML is malformed, a name is used twice, a joint has an unknown link, an attribute is
            not a valid number, a mesh does not exist or cannot be read, xacro is needed but not installed, or
            something would be repaired and ``strict`` is set.
    """
    options = options or UrdfOptions()
    robot = _expanded(path, text, options)
    for kind in ("link", "joint"):
        names = [element.get("name") for element in robot.findall(kind)]
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise SceneError(f"{path}: {kind} {twice!r} is defined twice; rename one")
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    meshes = path.parent / compiler.attrib.pop("meshdir", "")
    # Otherwise, MuJoCo would strip folders from paths and fuse welded links into one body.
    compiler.set("strippath", "false")
    compiler.attrib.setdefault("fusestatic", "false")
    if compiler.attrib.setdefault("discardvisual", "true") == "true":
        for link in robot.iter("link"):
            for visual in link.findall("visual"):
                link.remove(visual)
    try:
        _check_tree(robot)
        repairs = repair_elements(robot) + repair_inertias(robot, options.floating_base)
        repairs += ignored_switches(robot)
    except ValueError as error:
        raise SceneError(f"{path}: {error}") from None
    if repairs and options.strict:
        more = f" (and {len(repairs) - 1} more)" if len(repairs) > 1 else ""
        raise SceneError(f"{path}: {repairs[0].partition('; ')[0]}{more}; strict_urdf: false repairs it")
    for number, repair in enumerate(repairs):
        _LOG.log(logging.WARNING if number < MOST_REPAIRS else logging.INFO, "%s: %s", path, repair)
    if len(repairs) > MOST_REPAIRS:
        _LOG.warning("%s: and %d more repairs", path, len(repairs) - MOST_REPAIRS)
    for mesh in robot.iter("mesh"):
        if "filename" in mesh.attrib:
            name = mesh.attrib["filename"]
            found_mesh = _mesh_file(name, path, meshes, options.package_paths)
            mesh.set("filename", str(mujoco_mesh(found_mesh, f"{path}: mesh {name}")))
    try:
        return ElementTree.tostring(robot, encoding="unicode")
    except RecursionError:
        raise SceneError(f"{path}: its elements are nested too deeply") from None


def _check_tree(robot: ElementTree.Element) -> None:
    """Check that joints connect existing links and that there is a root link.

    Raises:
        ValueError: A joint connects an unknown link or a link to itself, or there is no root link.
    """
    links = {link.get("name", "") for link in robot.findall("link")}
    children = set()
    for joint in robot.findall("joint"):
        where = f"joint {joint.get('name')!r}"
        parent, child = (joint.find(role) for role in ("parent", "child"))
        if parent is None or child is None:
            continue  # MuJoCo reports it
        ends = {"parent": parent.get("link", ""), "child": child.get("link", "")}
        for role, name in ends.items():
            if name not in links:
                raise ValueError(f"{where}: {role} must be a link, got {name!r}{suggest(name, links)}")
        if ends["parent"] == ends["child"]:
            raise ValueError(f"{where}: parent and child must differ, got {ends['child']!r}")
        children.add(ends["child"])
    if links and children >= links:
        raise ValueError("one link must be the root, but each is the child of a joint; remove one of these")


def described_urdf(path: Path, text: str, options: UrdfOptions) -> str:
    """Return a URDF for other programs, with xacro expanded and relative paths replaced by addresses.

    Arguments and errors are the same as for `urdf_for_mujoco`.
    """
    robot = _expanded(path, text, options)
    for element in robot.iter():
        name = element.get("filename", "")
        if element.tag in ("mesh", "texture") and name and "://" not in name:
            element.set("filename", Path(os.path.realpath(path.parent / name)).as_uri())
    return ElementTree.tostring(robot, encoding="unicode")


def control_blocks(urdf: str, prefix: str = "") -> str:
    """Return the ``<ros2_control>`` elements of a URDF.

    Args:
        urdf: The URDF, with xacro expanded.
        prefix: Prefix to add to the names of the elements and of their joints, sensors and GPIOs.
    """
    blocks = ElementTree.fromstring(urdf).findall("ros2_control")
    for block in blocks:
        for element in (block, *(part for part in block if part.tag in ("joint", "sensor", "gpio"))):
            element.set("name", prefix + element.get("name", ""))
        for mimic in block.iterfind("joint/param[@name='mimic']"):
            mimic.text = prefix + (mimic.text or "").strip()
    return "".join(ElementTree.tostring(block, encoding="unicode") for block in blocks)


def _expanded(path: Path, text: str, options: UrdfOptions) -> ElementTree.Element:
    """Parse a URDF or xacro file and return the root element, with xacro expanded."""
    robot = _parsed(path, text)
    if not xacro_files.is_xacro(robot):
        return robot
    expanded = xacro_files.expand(
        path,
        options.xacro_arguments,
        lambda package: share.package_folder(package, options.package_paths),
    )
    return _parsed(path, expanded)


def _parsed(path: Path, text: str) -> ElementTree.Element:
    try:
        # XML allows neither whitespace before its declaration nor the final null that C programs may write.
        return ElementTree.fromstring(text.lstrip().rstrip("\0 \t\r\n"))
    except ElementTree.ParseError as error:
        raise SceneError(f"{path}: broken XML: {error}") from None


def _mesh_file(name: str, urdf: Path, meshes: Path, package_paths: tuple[str, ...]) -> Path:
    """Return the absolute path of a mesh that a URDF references.

    Args:
        name: Address with ``package://`` or ``file://``, or path relative to ``meshes`` or to the URDF.
        urdf: The URDF file.
        meshes: Folder of meshes according to MuJoCo's ``meshdir``.
        package_paths: Folders that are searched first for packages.

    Raises:
        SceneError: There is no such package or file.
    """
    package = found = None
    if name.startswith("package://"):
        package, _, inside = name.removeprefix("package://").lstrip("/").partition("/")
        inside = unquote(inside)
        folder = share.package_folder(package, package_paths)
        candidates = [folder / inside] if folder else []
        candidates += _around(urdf, package, inside)
        found = next(filter(os.path.isfile, candidates), candidates[0] if folder else None)
    elif name.startswith("file://"):
        found = of_address(name, f"{urdf}: mesh ")
    else:
        found = meshes / name
    for path in (found, urdf.parent / name, meshes / Path(name).name):
        if path is not None and os.path.isfile(path):
            return path.absolute()
    if found is None:
        raise SceneError(
            f"{urdf}: mesh {name}: no package {package!r} in package_paths, AMENT_PREFIX_PATH or"
            " ROS_PACKAGE_PATH; source its workspace, or add its parent folder to package_paths"
        )
    raise SceneError(f"{urdf}: mesh {name}: no such file: {found}")


def _around(urdf: Path, package: str, inside: str) -> Iterator[Path]:
    """Yield paths that a package's file may have in the source checkout that contains the URDF.

    Args:
        urdf: The URDF file.
        package: Name of the package.
        inside: Path of the file inside the package.
    """
    for parent in urdf.resolve().parents[:_LEVELS]:
        if parent.name == package:
            yield parent / inside
        yield parent / package / inside
        yield parent / inside  # the package's folder has another name
