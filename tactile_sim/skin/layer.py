"""Data of the kernels of `elastic_foundation`: the elastic layer and scratch memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import solids
from tactile_sim.skin.quadrature import quadrature

if TYPE_CHECKING:
    from tactile_sim.skin.taxels import Taxels


class Layer(NamedTuple):
    """The elastic layer of n taxels, and scratch memory for a pair."""

    stiffness: float
    """[Pa]"""
    thickness: float
    """[m]"""
    gap: np.ndarray
    """(n,) infinite: the gap at each taxel in the order of the quadrature [m]."""
    near: np.ndarray
    """(7, n) x, y, z and gap [m] of taxels near a pair, cosine between normals, area and margin."""
    points: np.ndarray
    """(5, q) x, y, z, gap [m] and area [m2] of points that may be pressed, those of a taxel together."""
    sums: np.ndarray
    """(4, n) area times depth of each pressed taxel [m3] and its first moments along u, v and z [m4]."""
    taxel: np.ndarray
    """(n,) taxels near a pair, in the order of the quadrature."""
    several: np.ndarray
    """(n,) which of them need several points."""
    touched: np.ndarray
    """(n,) taxels of the skin that any pair presses."""
    owner: np.ndarray
    """(q,) taxel of the skin that each point belongs to."""
    pressed: np.ndarray
    """(n,) taxels of the skin that a pair presses."""
    geoms: np.ndarray
    """(2, g) geoms of the other body that touch, and a load of each."""
    poses: np.ndarray
    """(g, 12) their positions and rotations in the frame of a pair."""
    triangles: tuple
    """Result of `bin_triangles` without triangles."""


class LayerArrays(NamedTuple):
    """The memory of a `Layer` in few arrays, because each argument of a kernel costs time."""

    stiffness: float
    thickness: float
    numbers: np.ndarray
    """(17, q) gap, near, points and sums."""
    indices: np.ndarray
    """(5, q) taxel, several, touched, owner and pressed."""
    geoms: np.ndarray
    poses: np.ndarray


NEAR, POINTS, SUMS, ROWS = 1, 8, 13, 17
"""Rows of `LayerArrays.numbers`."""
INDICES, TOUCHED = LayerArrays._fields.index("indices"), 2
"""Where the taxels that any pair presses are: row TOUCHED of the field INDICES."""


@kernel(inline="always")
def unpack(arrays):
    """Return the `Layer` of the fields of `LayerArrays`."""
    stiffness, thickness, numbers, indices, geoms, poses = arrays
    none = numbers[:0], indices[0, :0], indices[0, :0], numbers[0, :0]
    return Layer(
        stiffness, thickness, numbers[0], numbers[NEAR:POINTS], numbers[POINTS:SUMS], numbers[SUMS:ROWS],
        indices[0], indices[1], indices[TOUCHED], indices[3], indices[4], geoms, poses, none,
    )  # fmt: skip


def own_memory(arrays: tuple) -> tuple:
    """Return the fields of `LayerArrays` with memory of their own, for another thread."""
    return tuple(part.copy() if isinstance(part, np.ndarray) else part for part in arrays)


def elastic_arrays(
    skin: Taxels, model: mujoco.MjModel, stiffness: float, thickness: float
) -> tuple[tuple, tuple, tuple]:
    """Return the arrays of `Quadrature`, `Solids` and `LayerArrays` for a skin in a scene.

    stiffness, thickness: of the layer [Pa], [m].
    """
    quad = quadrature(skin)
    points, geoms = len(quad.points), model.ngeom
    numbers = np.empty((ROWS, points))
    numbers[0] = np.inf
    layer = LayerArrays(
        float(stiffness),
        float(thickness),
        numbers,
        np.empty((5, points), np.int64),
        np.empty((2, geoms), np.int64),
        np.empty((geoms, 12)),
    )
    return tuple(quad), tuple(solids(model)), tuple(layer)
