"""The tactile images of a world, drawn in the view's process from what lies in the shared memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.feelers.image import image
from tactile_sim.feelers.placed import Placed
from tactile_sim.feelers.skin_image import SkinImage, mappable
from tactile_sim.simulation import Simulation
from tactile_sim.view.world import Picture


class _Hairy(NamedTuple):
    """A body with feelers; these are [start, stop) of all."""

    start: int
    stop: int
    placed: Placed


class _Skinned(NamedTuple):
    """A body with skin that has a map; its taxels are [start, stop) of all."""

    body_id: int
    start: int
    stop: int
    map: SkinImage


class Pictures:
    """First those of bodies with feelers, white where these are covered, then those of skins, in the colours
    of their readings. Attributes: ``pictures``, where they belong.
    """

    def __init__(self, simulation: Simulation):
        model, skin = simulation.engine.model, simulation.skin
        self._hairy = [_Hairy(body.start, body.stop, body.placed) for body in simulation.feelers.bodies]
        self._skinned = [
            _Skinned(body.body_id, body.start, body.stop, SkinImage(model, skin, index))
            for index, body in enumerate(skin.bodies)
            if mappable(model, body.geom_ids)
        ]
        self.pictures = (
            *(
                Picture(body.placed.body_id, body.placed.width, body.placed.height, "feelers")
                for body in self._hairy
            ),
            *(Picture(body.body_id, body.map.width, body.map.height) for body in self._skinned),
        )

    def draw(self, readings: np.ndarray, scale: float, free: np.ndarray) -> tuple[np.ndarray, ...]:
        """Each (height, width) or (height, width, 3) uint8.

        readings: (n,) magnitudes of all taxels; scale: the one at the end of the colours; free: (f,) free
        lengths of all feelers [m].
        """
        return (
            *(image(body.placed, free[body.start : body.stop]) for body in self._hairy),
            *(body.map.image(readings[body.start : body.stop], scale) for body in self._skinned),
        )
