"""Render tactile images and small images of cameras in the process of a view."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from tactile_sim.feelers import Placed, image
from tactile_sim.figures.images import SkinImage, mappable
from tactile_sim.scenes.camera import Camera
from tactile_sim.scenes.renderer import Renderer
from tactile_sim.simulation import Simulation
from tactile_sim.view.color_scale import ColorScale
from tactile_sim.view.content import ImageInfo


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
    """Renders feeler images (white where covered), followed by skin images (readings on the color scale).

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
            scale: Color scale of the skin images.
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


WIDTH = 240
"""Largest width of the images [pixels]."""
INTERVAL = 0.1
"""Shortest wall time between two images of a camera while the simulation runs [s]."""


def _small_cameras(simulation: Simulation) -> list[Camera]:
    return [camera.scaled(min(camera.width, WIDTH)) for camera in simulation.cameras.values()]


def camera_infos(simulation: Simulation) -> tuple[ImageInfo, ...]:
    """Return descriptions of the images of all cameras."""
    return tuple(
        ImageInfo(camera.body, camera.width, camera.height, "camera", camera.name)
        for camera in _small_cameras(simulation)
    )


class CameraViews:
    """Renders small images of the cameras of a replica."""

    def __init__(self, simulation: Simulation):
        """Render the first images.

        Raises:
            RenderingError: This machine does not support offscreen rendering with OpenGL.
        """
        self._engine = simulation.engine
        self._cameras = _small_cameras(simulation)
        self._renderer = Renderer(simulation.engine.model)
        self._due = 0.0
        self._images: tuple[np.ndarray, ...] = ()
        self.images(at_once=True)

    def images(self, at_once: bool) -> tuple[np.ndarray, ...]:
        """Return the images (height, width, 3) uint8, rendered again if `INTERVAL` has passed."""
        if at_once or time.monotonic() >= self._due:
            self._renderer.set_state(self._engine)
            self._images = tuple(camera.image(self._renderer)[0] for camera in self._cameras)
            self._due = time.monotonic() + INTERVAL
        return self._images
