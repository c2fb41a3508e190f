"""Compute tactile images as observations for many environments."""

from __future__ import annotations

import math

import numpy as np

from tactile_sim.batch import Observation
from tactile_sim.errors import ConfigError
from tactile_sim.figures.colors import taxel_scale
from tactile_sim.figures.images import SkinImage, mappable
from tactile_sim.simulation import Simulation
from tactile_sim.skin.taxels import Pad


class TactileImages:
    """Grayscale images that show all pads of each environment in a grid of equal cells.

    A cell shows the rows and columns of a pad or, if the pad has none, the UV map of its body.
    """

    def __init__(self, simulation: Simulation):
        """Assign a taxel to each pixel.

        Raises:
            ConfigError: A pad has neither rows and columns nor a UV map.
        """
        parts = [_pixels(simulation, index) for index in range(len(simulation.skin.pads))]
        height, width = np.max([part.shape for part in parts], axis=0)
        side = math.ceil(math.sqrt(len(parts)))
        self.taxels = np.full((math.ceil(len(parts) / side) * height, side * width), -1)
        """(height, width) index of the taxel shown by each pixel, or -1 for no taxel."""
        for k, part in enumerate(parts):
            row, column = k // side * height, k % side * width
            self.taxels[row : row + part.shape[0], column : column + part.shape[1]] = part
        self._scale = simulation.settings.markers.taxel_scale or taxel_scale(simulation.engine.model)

    def __call__(self, seen: Observation) -> np.ndarray:
        """Return images (n, height, width, 1) uint8.

        The value of a pixel is proportional to the magnitude of its taxel's reading. It is 255 for
        magnitudes of ``markers.taxel_scale`` and above.
        """
        size = np.linalg.norm(seen.readings, axis=2)
        grey = np.append(np.minimum(size / self._scale, 1.0) * 255.0, np.zeros((len(size), 1)), axis=1)
        return grey.astype(np.uint8)[:, self.taxels, None]


def _pixels(simulation: Simulation, index: int) -> np.ndarray:
    """Return the index of the taxel shown by each pixel (height, width) of a pad's cell, or -1 for none."""
    pad: Pad = simulation.skin.pads[index]
    if len(pad.rows):
        pixels = np.full((int(pad.rows.max()) + 1, int(pad.columns.max()) + 1), -1)
        pixels[pad.rows, pad.columns] = np.arange(pad.start, pad.stop)
        return pixels
    if not (pad.is_whole and mappable(simulation.engine.model, pad.geom_ids)):
        raise ConfigError(
            f"touch: 'image' requires pads with rows and columns or a UV map; pad {pad.name!r} has none"
        )
    drawn = SkinImage(simulation.engine.model, simulation.skin, index)
    pixels = np.full((drawn.height, drawn.width), -1)
    pixels.reshape(-1)[drawn.pixels] = pad.start + drawn.taxels
    return pixels
