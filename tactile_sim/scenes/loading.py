"""Find MJCF and URDF scenes and load them as compiled MuJoCo models."""

from __future__ import annotations

import logging
import math
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from html import unescape
from math import prod
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tactile_sim.common.errors import SceneError, readable, suggest
from tactile_sim.common.files import (
    MOST_ASSET,
    MOST_TEXT,
    check_file,
    of_address,
    read_file,
    shipped_file,
    shipped_names,
    similar_file,
)
from tactile_sim.common.text import shortened
from tactile_sim.scenes.contact_sensors import add_contact_sensors, complete_contact_sensors
from tactile_sim.scenes.faults import (
    ERRORS,
    NOT_CONTENT,
    file_of,
    logged_warnings,
    not_a_number,
    refusal,
    scene_files,
    without_qhull_report,
)
from tactile_sim.scenes.servos import Control, add_actuators, hold_keyframes
from tactile_sim.scenes.urdf import (
    Robot,
    UrdfOptions,
    limit_self_collision,
    read_robot,
    set_contact_options,
    urdf_for_mujoco,
)

MOST_COPIES = 20_000
"""Largest number of copies that nested ``<replicate>`` elements may create. MuJoCo takes 7 s for this number,
and the time grows quadratically."""
MOST_CELLS = 100_000_000
"""Largest number of points of a ``<flexcomp>`` or cells of an ``<hfield>``."""
MOST_KEYS = 100_000
"""Largest number of keyframes (``nkey``)."""
LARGEST_MESH = 1e6
"""Largest coordinate of a mesh [m]."""


def check_sizes(path: Path, text: str) -> None:
    """Check the numbers in an MJCF file that determine how many elements MuJoCo creates."""
    try:
        waiting = [(ElementTree.fromstring(text), 1)]
    except ElementTree.ParseError:
        return
    while waiting:
        element, copies = waiting.pop()
        if element.tag == "replicate":
            copies *= max(1, prod(_numbers(element, "count")))
            _limit(path, "replicate", "copies", copies, MOST_COPIES)
        elif element.tag == "flexcomp":
            _limit(path, "flexcomp", "points", prod(_numbers(element, "count")), MOST_CELLS)
        elif element.tag == "hfield":
            _limit(path, "hfield", "cells", prod(_numbers(element, "nrow", "ncol")), MOST_CELLS)
        elif element.tag == "size":
            _limit(path, "size", "keyframes", prod(_numbers(element, "nkey")), MOST_KEYS)
        waiting += [(inner, copies) for inner in element]


def _numbers(element: ElementTree.Element, *attributes: str) -> list[int]:
    """Return the integers in the specified attributes, or 1 for invalid values, which MuJoCo reports."""
    words = [word for name in attributes for word in element.get(name, "").split()]
    return [int(word) if word.isdecimal() and len(word) < 20 else 1 for word in words]


def _limit(path: Path, tag: str, what: str, number: int, most: int) -> None:
    if number > most:
        raise SceneError(f"{path}: <{tag}>: must create at most {most:,} {what}, got {number:,}")


def huge_mesh(model: mujoco.MjModel) -> str | None:
    """Describe the first mesh whose coordinates exceed `LARGEST_MESH`, or return None if there is none."""
    for mesh in np.flatnonzero(model.mesh_vertnum):
        first = model.mesh_vertadr[mesh]
        largest = np.abs(model.mesh_vert[first : first + model.mesh_vertnum[mesh]]).max()
        if not largest <= LARGEST_MESH:
            name = model.mesh(mesh).name
            return (
                f"coordinates of the mesh {name!r} must be at most {LARGEST_MESH:g} m, got {largest:.2g} m;"
                " check its unit, or scale it down"
            )
    return None


_LOG = logging.getLogger("tactile_sim.scenes")
_FILES = re.compile(r"""\bfile\w*\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_FOLDER = re.compile(r"""\b(?:mesh|texture|asset)dir\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_SCENES = (".xml", ".urdf", ".mjcf")


def check_references(path: Path) -> None:
    """Check that the files referenced by a scene, directly or indirectly, can be opened and are small enough.

    Missing files are left for MuJoCo to report, because it knows which folders it searches.
    """
    waiting, known = [path], {path}
    while waiting:
        file = waiting.pop()
        try:
            text = NOT_CONTENT.sub("", read_file(file, MOST_TEXT).decode("utf-8", "replace"))
        except OSError:
            continue  # reported for the file that references it
        check_sizes(file, text)
        folders = {file.parent, path.parent}
        folders |= {folder / name for name in _values(_FOLDER, text) for folder in tuple(folders)}
        for name in dict.fromkeys(_values(_FILES, text)):
            for found in _existing(name, folders) - known:
                known.add(found)
                _check_reference(found, name, file)
                if found.suffix.lower() in _SCENES:
                    waiting.append(found)


def drop_unknown_materials(spec: mujoco.MjSpec, path: Path) -> None:
    """Remove references to materials that do not exist, which only change how the scene looks."""
    known = {material.name for material in spec.materials}
    unknown = set()
    for element in (*spec.geoms, *spec.sites, *spec.tendons, *spec.flexes, *spec.skins):
        if element.material and element.material not in known:
            unknown.add(element.material)
            element.material = ""
    if unknown:
        names = shortened(sorted(map(repr, unknown)))
        _LOG.warning("%s", readable(f"{path}: material: the scene has no {names}; ignored"))


def _values(attribute: re.Pattern[str], text: str) -> list[str]:
    found = (match[1] or match[2] or "" for match in attribute.finditer(text))
    return [unescape(value).replace("\\", "/") for value in found if value]


def _existing(name: str, folders: set[Path]) -> set[Path]:
    """Return the existing paths to which a file name may refer."""
    local = name.removeprefix("file://")
    paths = {Path(os.path.normpath(folder / local)) for folder in folders}
    return {path for path in paths if os.path.exists(path)}


def _check_reference(path: Path, name: str, scene: Path) -> None:
    most = MOST_TEXT if path.suffix.lower() in _SCENES else MOST_ASSET
    try:
        check_file(path, most)
    except OSError as error:
        raise SceneError(f"{scene}: file {name!r}: {path} {error.strerror}") from None


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
    """Load a scene and return it as an editable spec and a compiled model."""
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

    Returns:
        The modified spec and the compiled model.
    """
    where = f"{source}: " if source else ""
    try:
        with without_qhull_report(), logged_warnings(path):
            add_contact_sensors(spec, contact_sensors or {}, f"{where}contact_sensors")
            complete_contact_sensors(spec, str(path))
            if control or modes:
                add_actuators(spec, control or {}, f"{where}control", modes)
            model = spec.compile()
    except ERRORS as error:
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
    """Return the path of a scene's file."""
    where = f"{source}: {key}: " if source else ""
    name = str(scene)
    path = of_address(name, where, package_paths)
    if not path.is_absolute():
        path = _relative(name, path, base, where)
    if os.path.isdir(path):
        raise SceneError(f"{where}{path} is a folder; name the MJCF or URDF file in it")
    if not os.path.exists(path):
        raise SceneError(f"{where}no such file: {path}{similar_file(path)}")
    return path


def load_spec(path: Path, options: UrdfOptions | None = None) -> mujoco.MjSpec:
    """Load a scene as an editable spec.

    URDF files, including those that an MJCF attaches, are rewritten for MuJoCo, see `urdf_for_mujoco`.
    """
    return load_robot(path, options or UrdfOptions()).spec


def load_robot(path: Path, options: UrdfOptions, part: bool = False) -> Robot:
    """Load a scene or a robot as an editable spec, with the control modes of a robot's joints.

    Joints in an MJCF file have no control modes, because the file itself defines the actuators.
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
    except ERRORS as error:
        raise refusal(path, error) from None


def _rewrite_attached(
    path: Path, vfs: mujoco.MjVfs, chain: tuple[Path, ...], seen: set[Path], options: UrdfOptions
) -> None:
    """Rewrite the URDF files that an MJCF attaches, and store them in a virtual file system."""
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
    shipped = shipped_file("scenes", name)
    if shipped is not None:
        return shipped
    if base is not None:
        if len(path.parts) > 1 or os.path.exists(base / path):
            return base / path
        there = [entry.name for entry in base.glob("*") if entry.suffix in (".xml", ".urdf")]
        raise SceneError(
            f"{where}no scene {name!r} in {base}, and none is shipped under that name"
            f"{suggest(name, [*there, *shipped_names('scenes')])}"
        )
    raise SceneError(
        f"{where}{name!r} is not a shipped scene, and a relative path needs a base folder;"
        f" write an absolute path or package://PACKAGE/FILE{suggest(name, shipped_names('scenes'))}"
    )


def is_urdf(path: Path) -> bool:
    """Return whether a file is a URDF or xacro file."""
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
