"""Scenes from anywhere, MJCF or URDF, as compiled MuJoCo models."""

from __future__ import annotations

import math
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import mujoco

from tactile_sim import share
from tactile_sim.addresses import of_address
from tactile_sim.errors import SceneError, suggest
from tactile_sim.files import MOST_TEXT, read_file
from tactile_sim.scenes.contact_sensors import add_contact_sensors, complete_contact_sensors
from tactile_sim.scenes.faults import NOT_CONTENT, not_a_number, refusal, without_qhull_report
from tactile_sim.scenes.references import check_references

if TYPE_CHECKING:
    from tactile_sim.config import Settings

_XACRO = "http://www.ros.org/wiki/xacro"


def load_model(
    scene: str | Path,
    base: Path | None = None,
    source: str | None = None,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
) -> mujoco.MjModel:
    """The compiled model of a scene; arguments and errors as in :func:`load_scene`."""
    return load_scene(scene, base, source, contact_sensors)[1]


def load_scene(
    scene: str | Path,
    base: Path | None = None,
    source: str | None = None,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """A scene as it was written and as it is compiled.

    Args:
        scene: MJCF or URDF file: path (relative to ``base``), shipped name, ``package://`` or ``file://``.
        base: folder where a relative path starts; None: there is none, only shipped names are found.
        source: how errors call the configuration that names the scene.
        contact_sensors: checked keys by name, of sensors to add to those of the scene.

    Raises:
        SceneError: the file is missing or MuJoCo refuses it; one line with the reason.
        ConfigError: a sensor to add does not fit the scene.
    """
    path = find_scene(scene, base, source)
    return compiled(load_spec(path), path, source, contact_sensors)


def compiled(
    spec: mujoco.MjSpec,
    path: Path,
    source: str | None = None,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """A scene with its contact sensors, as it was written and as it is compiled.

    path: how errors call it; the other arguments, and errors, as in :func:`load_scene`.
    """
    try:
        where = f"{source}: contact_sensors" if source else "contact_sensors"
        add_contact_sensors(spec, contact_sensors or {}, where)
        complete_contact_sensors(spec, str(path))
        with without_qhull_report():
            model = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise refusal(path, error) from None
    if not 0.0 < model.opt.timestep < math.inf:
        raise SceneError(f"{path}: option timestep is {model.opt.timestep:g}; give it seconds above 0")
    if nan := not_a_number(model):
        raise SceneError(f"{path}: {nan} is nan; give it a number")
    return spec, model


def configured_scene(settings: Settings) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """The scene that a configuration asks for; errors as in :func:`load_scene`."""
    if settings.engine != "trifinger":
        return load_scene(settings.scene, settings.base, settings.source, settings.contact_sensors)
    from tactile_sim.trifinger.stage.workplace import workplace_spec  # which few need

    spec = workplace_spec(settings.trifinger, f"{settings.source}: trifinger")
    return compiled(spec, Path(settings.scene), settings.source, settings.contact_sensors)


def find_scene(scene: str | Path, base: Path | None = None, source: str | None = None) -> Path:
    """The file of a scene; arguments and errors as in :func:`load_model`."""
    where = f"{source}: scene: " if source else ""
    name = str(scene)
    path = of_address(name, where)
    if not path.is_absolute():
        path = _relative(name, path, base, where)
    if os.path.isdir(path):
        raise SceneError(f"{where}{path} is a folder; name the MJCF or URDF file in it")
    if not os.path.exists(path):
        raise SceneError(f"{where}no such file: {path}{share.similar_file(path)}")
    return path


def load_spec(path: Path) -> mujoco.MjSpec:
    """The scene as an editable spec, not compiled: the place where a configuration adds to a scene."""
    text = _text(path)
    check_references(path)
    root = re.search(r"<\s*([\w:.-]+)", NOT_CONTENT.sub("", text))
    if root is None:
        raise SceneError(f"{path}: not a scene: there is no XML in it; an MJCF or URDF file is needed")
    try:
        if root[1] == "robot":
            return mujoco.MjSpec.from_string(_mujoco_urdf(path, text))
        if root[1] != "mujoco":
            raise SceneError(
                f"{path}: not a scene: its root is <{root[1]}>, not <mujoco> (MJCF) or <robot> (URDF)"
            )
        if path.suffix == ".xml":
            return mujoco.MjSpec.from_file(str(path))
        # MuJoCo goes by the extension, and knows only .xml.
        spec = mujoco.MjSpec.from_string(text)
        spec.modelfiledir = str(path.parent)
        return spec
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise refusal(path, error) from None


def _relative(name: str, path: Path, base: Path | None, where: str) -> Path:
    if base is not None and os.path.isfile(base / path):
        return base / path
    shipped = share.lookup("scenes", name)
    if shipped is not None:
        return shipped
    if base is not None:
        if len(path.parts) > 1 or os.path.exists(base / path):
            return base / path
        there = [entry.name for entry in base.glob("*") if entry.suffix in (".xml", ".urdf")]
        raise SceneError(
            f"{where}no scene {name!r} in {base}, and none is shipped under that name"
            f"{suggest(name, [*there, *share.names('scenes')])}"
        )
    raise SceneError(
        f"{where}{name!r} is no shipped scene, and here a relative path has no folder to start from;"
        f" write an absolute path or package://PACKAGE/FILE{suggest(name, share.names('scenes'))}"
    )


def _text(path: Path) -> str:
    content = b""
    try:
        content = read_file(path, MOST_TEXT)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SceneError(f"{path}: line {line} is not UTF-8; save the scene in that encoding") from None
    except OSError as error:
        raise SceneError(f"{path}: cannot be read: {error.strerror or error}") from None


def _mujoco_urdf(path: Path, text: str) -> str:
    """The URDF as MuJoCo should read it: links stay bodies, meshes by absolute path, no visuals."""
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
    """A mesh's absolute path. MuJoCo's ``meshdir`` stands in where the file is not at the address itself."""
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
    """The package that the URDF lies in, where it is the one asked for: a checkout that was not installed."""
    folders = (folder for folder in urdf.resolve().parents if (folder / "package.xml").is_file())
    return next((folder for folder in folders if folder.name == package), None)
