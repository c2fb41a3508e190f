"""Data of the kernels of `elastic_foundation`: the elastic layer, and a pair of surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from tactile_sim.geometry.solids import solids
from tactile_sim.skin.quadrature import quadrature

if TYPE_CHECKING:
    from tactile_sim.skin.taxels import Taxels


class Layer(NamedTuple):
    """The elastic layer of n taxels, and scratch memory. Python hands it to kernels as a plain tuple."""

    stiffness: float
    """[Pa]"""
    thickness: float
    """[m]"""
    gap: np.ndarray
    """(n,) infinite: the gap at each taxel [m]."""
    sums: np.ndarray
    """(n, 4) zero: area times depth of each taxel [m3] and its first moments along u, v and z [m4]."""
    taxel: np.ndarray
    """(n,) taxels near a pair, then those that are pressed."""
    touched: np.ndarray
    """(n,) taxels that any pair presses."""
    centers: np.ndarray
    """(4, n) x, y, z of taxels near a pair, and the gap there [m]."""
    points: np.ndarray
    """(5, q) x, y, z, gap [m] and area [m2] of points that may be pressed."""
    owner: np.ndarray
    """(q,) their taxels."""
    geoms: np.ndarray
    """(g,) geoms of the other body that touch."""
    poses: np.ndarray
    """(g, 12) their positions and rotations in the frame of a pair."""
    triangles: tuple
    """Result of `bin_triangles` without triangles."""


TOUCHED = Layer._fields.index("touched")


def elastic_arrays(
    skin: Taxels, model: mujoco.MjModel, stiffness: float, thickness: float
) -> tuple[tuple, tuple, tuple]:
    """Return the arrays of `Quadrature`, `Solids` and `Layer` for a skin in a scene.

    stiffness, thickness: of the layer [Pa], [m].
    """
    none = np.empty((0, 3), np.int64)
    triangles = np.concatenate([none, *(pad.triangles.astype(np.int64) + pad.start for pad in skin.pads)])
    quad = quadrature(skin.surface_positions, skin.normals, skin.areas, triangles)
    taxels, points, geoms = len(skin.positions), len(quad.positions), model.ngeom
    layer = Layer(
        float(stiffness),
        float(thickness),
        np.full(taxels, np.inf),
        np.zeros((taxels, 4)),
        np.empty(taxels, np.int64),
        np.empty(taxels, np.int64),
        np.empty((4, taxels)),
        np.empty((5, points)),
        np.empty(points, np.int64),
        np.empty(geoms, np.int64),
        np.empty((geoms, 12)),
        (np.empty((0, 3, 3)), np.zeros(2, np.int64), np.empty(0, np.int64), np.zeros(5)),
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
