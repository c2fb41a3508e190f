"""The readings of a body's skin as an image: on the map of its geoms, each pixel shows a taxel."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.drawing import colors
from tactile_sim.feelers.covered import in_body
from tactile_sim.feelers.maps import can_have_map, own_map
from tactile_sim.skin import Skin

BACKGROUND = 56
"""Grey beside the map; no reading has it, black is one."""
PIXELS_PER_TAXEL = 2.0
"""Along each side."""
LARGEST = 1024
"""Pixels along the longer side of a geom's map, at most."""
NEAREST = 8
"""Taxels among which the one that faces a pixel's way is sought."""


def mappable(model: mujoco.MjModel, geom_ids: Iterable[int]) -> bool:
    """Whether these geoms can be seen as an image; quickly said."""
    geoms = [int(geom) for geom in geom_ids]
    return bool(geoms) and all(can_have_map(model, geom) for geom in geoms)


class SkinImage:
    """Which taxel each pixel shows: the nearest one that faces the same way.

    The maps of the geoms stand one below another, as those of feelers do; a part of the surface that lies
    inside of another geom shows the taxel nearest to it.

    Attributes: ``width`` and ``height`` of the image; ``pixels`` (p,) uint32 row · width + column of those on
    the map, and ``taxels`` (p,) the taxel that each of them shows, counted from the body's first.
    """

    def __init__(self, model: mujoco.MjModel, skin: Skin, index: int) -> None:
        """index: of the body in ``skin.bodies``. Raises SceneError where a geom can have no map."""
        body = skin.bodies[index]
        positions = skin.positions[body.start : body.stop]
        normals = skin.normals[body.start : body.stop]
        tree = cKDTree(positions)
        rows, columns, taxels, self.width, self.height = [], [], [], 0, 0
        for geom in body.geom_ids.tolist():
            found = own_map(model, geom)
            pixel = max(body.spacing / PIXELS_PER_TAXEL, found.size.max() / LARGEST)
            width, height = np.maximum(np.ceil(found.size / pixel - 1e-6), 1).astype(int)
            pixels, spots = found.surface(np.ones((height, width), bool))
            spots = in_body(model, geom, spots)
            rows.append(pixels // width + self.height)
            columns.append(pixels % width)
            taxels.append(_facing(tree, normals, spots.positions, spots.normals))
            self.width, self.height = max(self.width, int(width)), self.height + int(height)
        self.pixels = (np.concatenate(rows) * self.width + np.concatenate(columns)).astype(np.uint32)
        self.taxels = np.concatenate(taxels)

    def image(self, values: np.ndarray, scale: float) -> np.ndarray:
        """(height, width, 3) uint8 colours of readings (n,) of the body's taxels, from 0 to ``scale``."""
        out = np.full((self.height * self.width, 3), BACKGROUND, np.uint8)
        out[self.pixels] = colors.colors(values, scale)[self.taxels]
        return out.reshape(self.height, self.width, 3)


def _facing(tree: cKDTree, normals: np.ndarray, points: np.ndarray, outward: np.ndarray) -> np.ndarray:
    """(p,) of the taxels nearest to points (p, 3), the first that faces the same way."""
    near = tree.query(points, min(NEAREST, len(normals)))[1].reshape(len(points), -1)
    turned_away = np.einsum("pki,pi->pk", normals[near], outward) < 0
    return np.asarray(near[np.arange(len(points)), np.argmin(turned_away, axis=1)])
