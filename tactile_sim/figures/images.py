"""Render tactile images, which show the skin or the feelers of a body on its UV map."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.common.names import topic_token
from tactile_sim.feelers import image
from tactile_sim.figures import colors
from tactile_sim.figures.colors import taxel_scale
from tactile_sim.geometry.maps import can_have_map, in_body, own_map
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.skin import Skin

BACKGROUND = 56
"""Gray level of pixels outside the UV map. It differs from black, the color of readings without contact."""
PIXELS_PER_TAXEL = 2.0
"""Number of pixels between neighboring taxels."""
LARGEST = 1024
"""Largest side length of a geom's UV map [pixels]."""
NEAREST = 8
"""Number of nearest taxels to consider for each pixel."""


def mappable(model: mujoco.MjModel, geom_ids: Iterable[int]) -> bool:
    """Return whether geoms can be shown as an image, without computing their UV maps."""
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
        """Assign a taxel to each pixel."""
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
            scale: Reading with the brightest color, in the same unit.
            logarithmic: Whether the color scale is logarithmic.

        Returns:
            (height, width, 3) uint8 RGB image.
        """
        out = np.full((self.height * self.width, 3), BACKGROUND, np.uint8)
        out[self.pixels] = colors.colors(values, scale, logarithmic)[self.taxels]
        return out.reshape(self.height, self.width, 3)


def _facing(tree: cKDTree, normals: np.ndarray, points: np.ndarray, outward: np.ndarray) -> np.ndarray:
    """Return the index (p,) of the nearest taxel that faces in the same direction as each surface point.

    Only the `NEAREST` taxels are considered. If all of them face away, the nearest one is chosen.
    """
    near = tree.query(points, min(NEAREST, len(normals)))[1].reshape(len(points), -1)
    turned_away = np.einsum("pki,pi->pk", normals[near], outward) < 0
    return np.asarray(near[np.arange(len(points)), np.argmin(turned_away, axis=1)])


class TactileImage(NamedTuple):
    """A tactile image of one body."""

    body: int
    """Id of the body that the image shows."""
    name: str
    """Unique name of the image, which is its topic below ``tactile/``.

    - ``<body>/force_image`` for the skin of a body that also has feelers;
    - ``<body>/<geom>/image`` for a single geom of a body that has feelers on several geoms;
    - ``<body>/image`` in all other cases.
    """
    encoding: str
    """``mono8`` or ``rgb8``, as in sensor_msgs/Image."""
    make: Callable[[Snapshot], np.ndarray]
    """Function that renders a snapshot as a (height, width) or (height, width, 3) uint8 image."""


def tactile_images(simulation: Simulation) -> list[TactileImage]:
    """Return the tactile images that a simulation offers.

    The UV map of a force image is computed when the image is first rendered.
    """
    images, names = [], simulation.names
    for index, body in enumerate(simulation.feelers.bodies):
        place = topic_token(body.name)
        images.append(TactileImage(body.body_id, f"{place}/image", "mono8", _FeelerImage(simulation, index)))
        if len(body.placed.parts) > 1:
            for k, part in enumerate(body.placed.parts):
                name = f"{place}/{topic_token(names.geoms[part.geom_id])}/image"
                images.append(TactileImage(body.body_id, name, "mono8", _FeelerImage(simulation, index, k)))
    with_feelers = {body.body_id for body in simulation.feelers.bodies}
    for index, skin_body in enumerate(simulation.skin.pads):
        if skin_body.is_whole and mappable(simulation.engine.model, skin_body.geom_ids):
            kind = "force_image" if skin_body.body_id in with_feelers else "image"
            name = f"{topic_token(names.bodies[skin_body.body_id])}/{kind}"
            images.append(TactileImage(skin_body.body_id, name, "rgb8", _ForceImage(simulation, index)))
    return images


class _FeelerImage:
    """Renders feelers from black (free) to white (covered to the root)."""

    def __init__(self, simulation: Simulation, index: int, part: int | None = None):
        self._body = simulation.feelers.bodies[index]
        self._part = None if part is None else self._body.placed.parts[part]

    def __call__(self, snapshot: Snapshot) -> np.ndarray:
        pixels = image(self._body.placed, snapshot.feelers[self._body.start : self._body.stop])
        if self._part is None:
            return pixels
        part = self._part
        return np.ascontiguousarray(pixels[part.top : part.top + part.height, : part.width])


class _ForceImage:
    """Renders the readings of a skin in the colors of `tactile_sim.figures.colors`."""

    def __init__(self, simulation: Simulation, index: int):
        self._simulation = simulation
        self._index = index

    @cached_property
    def _map(self) -> SkinImage:
        return SkinImage(self._simulation.engine.model, self._simulation.skin, self._index)

    @cached_property
    def _usual_scale(self) -> float:
        return taxel_scale(self._simulation.engine.model)

    def __call__(self, snapshot: Snapshot) -> np.ndarray:
        body = self._simulation.skin.pads[self._index]
        readings = snapshot.readings32[body.start : body.stop]
        scale = self._simulation.settings.markers.taxel_scale or self._usual_scale
        return self._map.image(np.linalg.norm(readings, axis=1), scale)
