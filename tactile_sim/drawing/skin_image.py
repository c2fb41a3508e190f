"""Render the readings of a body's skin on the UV maps of its geoms."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.drawing import colors
from tactile_sim.geometry.maps import can_have_map, in_body, own_map
from tactile_sim.skin import Skin

BACKGROUND = 56
"""Grey level of pixels outside the UV map. It differs from black, the colour of readings without contact."""
PIXELS_PER_TAXEL = 2.0
"""Number of pixels between neighbouring taxels."""
LARGEST = 1024
"""Largest side length of a geom's UV map [pixels]."""
NEAREST = 8
"""Number of nearest taxels to consider for each pixel."""


def mappable(model: mujoco.MjModel, geom_ids: Iterable[int]) -> bool:
    """Return whether geoms can be shown as an image, without computing their UV maps.

    Args:
        model: MuJoCo model.
        geom_ids: Ids of the geoms.

    Returns:
        True if there is at least one geom and each can have a UV map.
    """
    geoms = [int(geom) for geom in geom_ids]
    return bool(geoms) and all(can_have_map(model, geom) for geom in geoms)


class SkinImage:
    """An image of a body's skin. Each pixel shows the nearest taxel that faces in the same direction.

    The UV maps of the body's geoms are stacked vertically, as in images of feelers. Parts of a geom's surface
    that are inside another geom have no taxels and show the nearest one.

    Attributes:
        width: Width of the image [pixels].
        height: Height of the image [pixels].
        pixels: (p,) uint32 indices (row * width + column) of the pixels on the UV maps.
        taxels: (p,) index of the taxel that each of these pixels shows, counted within the body.
    """

    def __init__(self, model: mujoco.MjModel, skin: Skin, index: int) -> None:
        """Assign a taxel to each pixel.

        Args:
            model: MuJoCo model.
            skin: Skin that contains the pad.
            index: Index of the body's pad in ``skin.pads``.

        Raises:
            SceneError: A geom cannot have a UV map.
        """
        body = skin.pads[index]
        positions = skin.positions[body.start : body.stop]
        normals = skin.normals[body.start : body.stop]
        tree = cKDTree(positions)
        rows, columns, taxels, self.width, self.height = [], [], [], 0, 0
        for geom in body.geom_ids.tolist():
            uv_map = own_map(model, geom)
            pixel = max(body.spacing / PIXELS_PER_TAXEL, uv_map.size.max() / LARGEST)
            width, height = np.maximum(np.ceil(uv_map.size / pixel - 1e-6), 1).astype(int)
            pixels, points = uv_map.surface(np.ones((height, width), bool))
            points = in_body(model, geom, points)
            rows.append(pixels // width + self.height)
            columns.append(pixels % width)
            taxels.append(_facing(tree, normals, points.positions, points.normals))
            self.width, self.height = max(self.width, int(width)), self.height + int(height)
        self.pixels = (np.concatenate(rows) * self.width + np.concatenate(columns)).astype(np.uint32)
        self.taxels = np.concatenate(taxels)

    def image(self, values: np.ndarray, scale: float, logarithmic: bool = True) -> np.ndarray:
        """Render readings as an image.

        Args:
            values: (n,) readings of the body's taxels, >= 0, in any unit.
            scale: Reading with the brightest colour, in the same unit.
            logarithmic: Whether the colour scale is logarithmic.

        Returns:
            (height, width, 3) uint8 RGB image.
        """
        out = np.full((self.height * self.width, 3), BACKGROUND, np.uint8)
        out[self.pixels] = colors.colors(values, scale, logarithmic)[self.taxels]
        return out.reshape(self.height, self.width, 3)


def _facing(tree: cKDTree, normals: np.ndarray, points: np.ndarray, outward: np.ndarray) -> np.ndarray:
    """Return the index (p,) of the nearest taxel that faces in the same direction as each surface point.

    Only the `NEAREST` taxels are considered. If all of them face away, the nearest one is chosen.

    Args:
        tree: Positions of the n taxels.
        normals: Outward unit normals of the taxels (n, 3).
        points: Points on the surface (p, 3) [m].
        outward: Outward normals of the surface at these points (p, 3).
    """
    near = tree.query(points, min(NEAREST, len(normals)))[1].reshape(len(points), -1)
    turned_away = np.einsum("pki,pi->pk", normals[near], outward) < 0
    return np.asarray(near[np.arange(len(points)), np.argmin(turned_away, axis=1)])
