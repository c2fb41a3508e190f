"""Limit the numbers of elements of a scene, which can cause hours of compilation, and the sizes of meshes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from math import prod
from pathlib import Path

import mujoco
import numpy as np

from tactile_sim.errors import SceneError

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
    """Check the numbers in an MJCF file that determine how many elements MuJoCo creates.

    Args:
        path: File name for error messages.
        text: Content of the file. Invalid XML is ignored here because MuJoCo reports it.

    Raises:
        SceneError: There are too many copies, points, cells or keyframes.
    """
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
