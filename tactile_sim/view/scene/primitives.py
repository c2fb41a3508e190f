"""Create triangle meshes for primitive shapes, centred at the origin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import trimesh

Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices (v, 3) [m] and triangles (t, 3), wound outward."""


def box(size: Sequence[float] | np.ndarray) -> Mesh:
    """Return a box with the specified side lengths (3,) [m]."""
    return _scaled(_unit("box"), size)


def ellipsoid(size: Sequence[float] | np.ndarray) -> Mesh:
    """Return an ellipsoid with the specified diameters (3,) [m]."""
    return _scaled(_unit("ball"), size)


def cylinder(size: Sequence[float] | np.ndarray) -> Mesh:
    """Return a cylinder along z. The size (3,) is its diameters in x and y and its height [m]."""
    return _scaled(_unit("cylinder"), size)


@cache
def _unit(kind: str) -> trimesh.Trimesh:
    """Return the specified shape with a bounding box of side length 1."""
    import trimesh  # takes 0.2 s and is needed only for a view

    match kind:
        case "box":
            return trimesh.creation.box()
        case "ball":
            return trimesh.creation.uv_sphere(radius=0.5, count=[24, 24])
        case _:
            return trimesh.creation.cylinder(radius=0.5, height=1.0, sections=48)


def _scaled(mesh: trimesh.Trimesh, size: Sequence[float] | np.ndarray) -> Mesh:
    return np.asarray(mesh.vertices) * np.asarray(size, float), np.asarray(mesh.faces)
