"""Render the tactile images of a view in the view's process."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.feelers import Placed, image
from tactile_sim.figures.images import SkinImage, mappable
from tactile_sim.simulation import Simulation
from tactile_sim.view.content import ImageInfo
from tactile_sim.view.scene.color_scale import ColorScale


class _FeelerBody(NamedTuple):
    """A body with feelers. Its feelers are entries [start, stop) in the arrays of all feelers."""

    start: int
    stop: int
    placed: Placed


class _SkinBody(NamedTuple):
    """A body whose skin has a UV map. Its taxels are entries [start, stop) in the arrays of all taxels."""

    body_id: int
    start: int
    stop: int
    map: SkinImage


class ImageRenderer:
    """Renders feeler images (white where covered), followed by skin images (readings on the colour scale).

    Attributes:
        infos: Description of each image.
    """

    def __init__(self, simulation: Simulation):
        model, skin = simulation.engine.model, simulation.skin
        self._feeler_bodies = [
            _FeelerBody(body.start, body.stop, body.placed) for body in simulation.feelers.bodies
        ]
        self._skin_bodies = [
            _SkinBody(body.body_id, body.start, body.stop, SkinImage(model, skin, index))
            for index, body in enumerate(skin.pads)
            if body.is_whole and mappable(model, body.geom_ids)
        ]
        self.infos = (
            *(
                ImageInfo(body.placed.body_id, body.placed.width, body.placed.height, "feelers")
                for body in self._feeler_bodies
            ),
            *(ImageInfo(body.body_id, body.map.width, body.map.height) for body in self._skin_bodies),
        )

    def render(
        self, readings: np.ndarray, scale: ColorScale, free_lengths: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Render all images.

        Args:
            readings: Magnitudes of all taxels (n,).
            scale: Colour scale of the skin images.
            free_lengths: Free lengths of all feelers (f,) [m].

        Returns:
            Images (height, width) or (height, width, 3) uint8.
        """
        return (
            *(image(body.placed, free_lengths[body.start : body.stop]) for body in self._feeler_bodies),
            *(
                body.map.image(readings[body.start : body.stop], scale.end, scale.logarithmic)
                for body in self._skin_bodies
            ),
        )
