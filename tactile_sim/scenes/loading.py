"""Find MJCF and URDF scenes and load them as compiled MuJoCo models."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco

from tactile_sim import share
from tactile_sim.addresses import of_address
from tactile_sim.errors import SceneError, suggest
from tactile_sim.files import MOST_TEXT, read_file
from tactile_sim.mujoco_log import logged_warnings
from tactile_sim.scenes.contact_sensors import add_contact_sensors, complete_contact_sensors
from tactile_sim.scenes.faults import (
    NOT_CONTENT,
    file_of,
    not_a_number,
    refusal,
    scene_files,
    without_qhull_report,
)
from tactile_sim.scenes.references import check_references, drop_unknown_materials
from tactile_sim.scenes.robots import Robot, read_robot, set_contact_options
from tactile_sim.scenes.self_collision import limit_self_collision
from tactile_sim.scenes.servos import Control, add_actuators, hold_keyframes
from tactile_sim.scenes.sizes import huge_mesh
from tactile_sim.scenes.urdf import UrdfOptions, urdf_for_mujoco

_MODEL = re.compile(r"<model\b[^<>]*>")


def load_model(
    scene: str | Path,
    base: Path | None = None,
    source: str | None = None,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
) -> mujoco.MjModel:
    """Load a scene and return only the compiled model.

    Arguments and errors are the same as for :func:`load_scene`, which also returns the editable spec.
    """
    return load_scene(scene, base, source, contact_sensors)[1]


def load_scene(
    scene: str | Path,
    base: Path | None = None,
    source: str | None = None,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
    options: UrdfOptions | None = None,
) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """Load a scene and return it as an editable spec and a compiled model.

    Args:
        scene: MJCF or URDF file, specified as a path (relative to ``base``), a shipped name, or an address
            with ``package://`` or ``file://``.
        base: Folder for relative paths. If None, only shipped names are found.
        source: Name of the configuration for error messages.
        contact_sensors: Checked keys of the sensors to add to the scene, by name.
        options: Options for URDF files.

    Raises:
        SceneError: The file is missing or MuJoCo rejects it. The message states the reason in one line.
        ConfigError: A sensor to add does not match the scene.
    """
    path = find_scene(scene, base, source, options.package_paths if options else ())
    return compiled(load_spec(path, options), path, source, contact_sensors)


def compiled(
    spec: mujoco.MjSpec,
    path: Path,
    source: str | None = None,
    contact_sensors: Mapping[str, Mapping[str, Any]] | None = None,
    control: Control | None = None,
    modes: Mapping[str, str] | None = None,
) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """Add contact sensors and actuators to a scene and compile it.

    Args:
        spec: The scene, which is modified.
        path: Name of the scene for error messages.
        source: Name of the configuration for error messages.
        contact_sensors: Checked keys of the sensors to add to the scene, by name.
        control: ``mode``, ``kp``, ``kd`` and ``limit`` by joint name or shell pattern.
        modes: Control mode of robot joints without actuators, keyed by joint name.

    Returns:
        The modified spec and the compiled model.

    Raises:
        SceneError: The scene is invalid.
        ConfigError: A sensor or an actuator to add does not match the scene.
    """
    where = f"{source}: " if source else ""
    try:
        with without_qhull_report(), logged_warnings(path):
            add_contact_sensors(spec, contact_sensors or {}, f"{where}contact_sensors")
            complete_contact_sensors(spec, str(path))
            if control or modes:
                add_actuators(spec, control or {}, f"{where}control", modes)
            model = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise refusal(path, error) from None
    if not 0.0 < model.opt.timestep < math.inf:
        raise SceneError(f"{path}: option timestep must be > 0 s, got {model.opt.timestep:g}")
    if nan := not_a_number(model):
        raise SceneError(f"{path}: {nan} is NaN; set it to a number")
    if huge := huge_mesh(model):
        raise SceneError(f"{path}: {huge}")
    if control or modes:
        hold_keyframes(model)
    return spec, model


def find_scene(
    scene: str | Path,
    base: Path | None = None,
    source: str | None = None,
    package_paths: Sequence[str] = (),
    key: str = "scene",
) -> Path:
    """Return the path of a scene's file.

    Args:
        scene: MJCF or URDF file, specified as a path (relative to ``base``), a shipped name, or an address
            with ``package://`` or ``file://``.
        base: Folder for relative paths. A file there takes precedence over a shipped scene of the same name.
            If None, a relative path must be a shipped name.
        source: Name of the configuration for error messages.
        package_paths: Folders that are searched first for packages.
        key: Configuration key that names the file, for error messages.

    Raises:
        SceneError: The file is missing or is a folder.
    """
    where = f"{source}: {key}: " if source else ""
    name = str(scene)
    path = of_address(name, where, package_paths)
    if not path.is_absolute():
        path = _relative(name, path, base, where)
    if os.path.isdir(path):
        raise SceneError(f"{where}{path} is a folder; name the MJCF or URDF file in it")
    if not os.path.exists(path):
        raise SceneError(f"{where}no such file: {path}{share.similar_file(path)}")
    return path


def load_spec(path: Path, options: UrdfOptions | None = None) -> mujoco.MjSpec:
    """Load a scene as an editable spec.

    URDF files, including those that an MJCF attaches, are rewritten for MuJoCo, see `urdf_for_mujoco`.

    Args:
        path: The file.
        options: Options for URDF files. In files attached to an MJCF, ``floating_base`` adds no joint, and
            ``self_collision`` is that of the MJCF.

    Raises:
        SceneError: The file is not a scene, attaches itself, or is rejected by MuJoCo.
    """
    return load_robot(path, options or UrdfOptions()).spec


def load_robot(path: Path, options: UrdfOptions, part: bool = False) -> Robot:
    """Load a scene or a robot as an editable spec, with the control modes of a robot's joints.

    Joints in an MJCF file have no control modes, because the file itself defines the actuators.

    Args:
        path: URDF or MJCF file.
        options: Options for URDF files. In files attached to an MJCF, ``floating_base`` adds no joint, and
            ``self_collision`` is that of the MJCF.
        part: Whether the file becomes part of another scene, whose physics options apply. Otherwise, a URDF
            gets options that suit contacts; see `robots.set_contact_options`.

    Raises:
        SceneError: The file is not a scene, attaches itself, or is rejected by MuJoCo.
    """
    text = _text(path)
    check_references(path)
    root = _root(text)
    if root is None:
        raise SceneError(f"{path}: not a scene: it contains no XML; give an MJCF or URDF file")
    if root not in ("robot", "mujoco"):
        raise SceneError(f"{path}: not a scene: its root is <{root}>, not <mujoco> (MJCF) or <robot> (URDF)")
    try:
        if root == "robot":
            robot = read_robot(path, text, options)
            if not part:
                set_contact_options(robot.spec, robot.given_options)
            return robot
        file, vfs = os.path.abspath(path), mujoco.MjVfs()
        _rewrite_attached(path, vfs, (path,), set(), options)
        if path.suffix != ".xml":  # the only extension that MuJoCo recognizes as MJCF
            file += ".xml"
            vfs[file] = text.encode()
        with logged_warnings(path):
            spec = mujoco.MjSpec.from_file(file, vfs=vfs)
        drop_unknown_materials(spec, path)
        if options.self_collision in ("apart", "off"):
            with without_qhull_report():
                model = spec.compile()
            limit_self_collision(spec, model, options.self_collision, path)
        return Robot(spec, {}, frozenset())
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise refusal(path, error) from None


def _rewrite_attached(
    path: Path, vfs: mujoco.MjVfs, chain: tuple[Path, ...], seen: set[Path], options: UrdfOptions
) -> None:
    """Rewrite the URDF files that an MJCF attaches, and store them in a virtual file system.

    Args:
        path: The MJCF file.
        vfs: Virtual file system, which MuJoCo searches before the disk.
        chain: Files that attach one another, from the main file to this one.
        seen: Attached files that are already processed.
        options: Options for URDF files.

    Raises:
        SceneError: A file in the chain is attached again, which would crash MuJoCo, or a URDF is invalid.
    """
    for source in scene_files(path):
        text = NOT_CONTENT.sub(lambda found: "\n" * found[0].count("\n"), _text(source))
        for model in _MODEL.finditer(text):
            file = file_of(model[0], path.parent, source.parent)
            if file is None or file.suffix not in (".xml", ".urdf"):
                continue  # MuJoCo reports a missing file and an unknown extension
            if any(file.samefile(outer) for outer in chain):
                line = text.count("\n", 0, model.start()) + 1
                names = " -> ".join(outer.name for outer in (*chain, file))
                raise SceneError(
                    f"{source}: line {line}: 'model': a scene must not attach itself, got {names};"
                    " remove one of these models"
                )
            if file in seen:
                continue
            seen.add(file)
            attached = _text(file)
            if _root(attached) == "robot":
                vfs[os.path.abspath(file)] = urdf_for_mujoco(file, attached, options).encode()
            else:
                _rewrite_attached(file, vfs, (*chain, file), seen, options)


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
        f"{where}{name!r} is not a shipped scene, and a relative path needs a base folder;"
        f" write an absolute path or package://PACKAGE/FILE{suggest(name, share.names('scenes'))}"
    )


def is_urdf(path: Path) -> bool:
    """Return whether a file is a URDF or xacro file.

    Raises:
        SceneError: The file cannot be read.
    """
    return _root(_text(path)) == "robot"


def _root(text: str) -> str | None:
    """Return the tag of the root element, or None if the text is not XML."""
    root = re.search(r"<\s*([\w:.-]+)", NOT_CONTENT.sub("", text))
    return root and root[1]


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
