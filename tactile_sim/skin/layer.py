"""Data of the kernels of `elastic_foundation`: the elastic layer, and a pair of surfaces."""

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
    """(n,) taxels near a pair, in the order of the quadrature, then those of the skin that are pressed."""
    several: np.ndarray
    """(n,) those of them on which the gap may be uneven."""
    touched: np.ndarray
    """(n,) taxels of the skin that any pair presses."""
    owner: np.ndarray
    """(q,) taxel of the skin that each point belongs to."""
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
    """(4, q) taxel, several, touched and owner."""
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
    none = (np.empty((0, 9)), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Layer(
        stiffness, thickness, numbers[0], numbers[NEAR:POINTS], numbers[POINTS:SUMS], numbers[SUMS:ROWS],
        indices[0], indices[1], indices[TOUCHED], indices[3], geoms, poses, none,
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
        np.empty((4, points), np.int64),
        np.empty((2, geoms), np.int64),
        np.empty((geoms, 12)),
    )
    return tuple(quad), tuple(solids(model)), tuple(layer)


class Pair(NamedTuple):
    """Combined contacts of a patch with one other body.

    Vectors are tuples of three, in the frame of the body with the patch unless noted.
    """

    first: int
    """Index of its first load."""
    origin: tuple
    """Center of the contact points [m]."""
    axes: tuple
    """Two tangents and the mean normal, into the body. x, y, z are along them."""
    force: tuple
    """Net force along the axes [N]."""
    moment: tuple
    """Net moment about the origin, along the axes [N m]."""
    velocity: tuple
    """Velocity of the other surface at the origin [m/s]."""
    spin: float
    """Angular velocity of the other surface about the normal [rad/s]."""
