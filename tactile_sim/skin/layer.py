"""Data used by the kernels of `elastic_foundation`: the elastic layer and scratch memory."""

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
    """The elastic layer of a skin with n taxels and q points, and scratch memory for a pair."""

    stiffness: float
    """Plane-strain modulus [Pa]."""
    thickness: float
    """Thickness of the layer [m]."""
    gap: np.ndarray
    """(n,) gap at each taxel in the order of the quadrature [m]; reset to infinity after use."""
    near: np.ndarray
    """(7, n) x, y, z and gap [m] of taxels near a pair, cosine to the pair's normal, area and margin."""
    points: np.ndarray
    """(5, q) x, y, z, gap [m] and area [m2] of the points that may be pressed, grouped by taxel."""
    sums: np.ndarray
    """(4, n) area times depth of each pressed taxel [m3], and its first moments along u, v and z [m4]."""
    taxel: np.ndarray
    """(n,) taxels near a pair, in the order of the quadrature."""
    several: np.ndarray
    """(n,) indices of the taxels in ``near`` that may need several points."""
    touched: np.ndarray
    """(n,) taxels of the skin that any pair presses."""
    owner: np.ndarray
    """(q,) taxel of the skin that each point belongs to."""
    pressed: np.ndarray
    """(n,) taxels of the skin that a pair presses."""
    geoms: np.ndarray
    """(2, g) ids of the touching geoms of the other body, and the index of a load on each."""
    poses: np.ndarray
    """(g, 12) positions and rotations of these geoms in the frame of a pair."""
    triangles: tuple
    """Result of `bin_triangles` without triangles."""


class LayerArrays(NamedTuple):
    """The memory of a `Layer`, combined into few arrays because each kernel argument costs time."""

    stiffness: float
    thickness: float
    numbers: np.ndarray
    """(17, q) gap, near, points and sums."""
    indices: np.ndarray
    """(5, q) taxel, several, touched, owner and pressed."""
    geoms: np.ndarray
    poses: np.ndarray


NEAR, POINTS, SUMS, ROWS = 1, 8, 13, 17
"""Start rows of ``near``, ``points`` and ``sums`` in `LayerArrays.numbers`, and the number of rows."""
INDICES, TOUCHED = LayerArrays._fields.index("indices"), 2
"""Location of `Layer.touched`: row TOUCHED of the field with index INDICES in `LayerArrays`."""


@kernel(inline="always")
def unpack(arrays):
    """Return the `Layer` with views into the fields of `LayerArrays`."""
    stiffness, thickness, numbers, indices, geoms, poses = arrays
    none = numbers[:0], indices[0, :0], indices[0, :0], numbers[0, :0]
    return Layer(
        stiffness, thickness, numbers[0], numbers[NEAR:POINTS], numbers[POINTS:SUMS], numbers[SUMS:ROWS],
        indices[0], indices[1], indices[TOUCHED], indices[3], indices[4], geoms, poses, none,
    )  # fmt: skip


def own_memory(arrays: tuple) -> tuple:
    """Copy the fields of `LayerArrays`, to use them in another thread."""
    return tuple(part.copy() if isinstance(part, np.ndarray) else part for part in arrays)


def elastic_arrays(
    skin: Taxels, model: mujoco.MjModel, stiffness: float, thickness: float
) -> tuple[tuple, tuple, tuple]:
    """Create the arrays that the kernels of `elastic_foundation` need for a skin in a scene.

    Args:
        skin: The skin.
        model: The model.
        stiffness: Plane-strain modulus of the elastic layer [Pa].
        thickness: Thickness of the elastic layer [m].

    Returns:
        The fields of a `Quadrature`, of a `Solids` and of a `LayerArrays`.
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
