"""Check what a scene references: files, before MuJoCo opens them, and materials.

Without the check of files, MuJoCo would wait forever for data from a FIFO, for example.
"""

from __future__ import annotations

import logging
import os
import re
from html import unescape
from pathlib import Path

import mujoco

from tactile_sim.errors import SceneError, readable
from tactile_sim.files import MOST_ASSET, MOST_TEXT, check_file, read_file
from tactile_sim.scenes.faults import NOT_CONTENT
from tactile_sim.scenes.sizes import check_sizes
from tactile_sim.text import shortened

_LOG = logging.getLogger("tactile_sim.scenes")
_FILE = re.compile(r"""\bfile\w*\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_FOLDER = re.compile(r"""\b(?:mesh|texture|asset)dir\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_SCENES = (".xml", ".urdf", ".mjcf")


def check_references(path: Path) -> None:
    """Check that the files referenced by a scene, directly or indirectly, can be opened and are small enough.

    Missing files are left for MuJoCo to report, because it knows which folders it searches.

    Raises:
        SceneError: A file is a device, a FIFO, a folder or too large, or a scene would create too many
            elements.
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
        for name in dict.fromkeys(_values(_FILE, text)):
            for found in _existing(name, folders) - known:
                known.add(found)
                _check(found, name, file)
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


def _check(path: Path, name: str, scene: Path) -> None:
    most = MOST_TEXT if path.suffix.lower() in _SCENES else MOST_ASSET
    try:
        check_file(path, most)
    except OSError as error:
        raise SceneError(f"{scene}: file {name!r}: {path} {error.strerror}") from None
