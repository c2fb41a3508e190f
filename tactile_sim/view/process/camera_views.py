"""Render small images of a simulation's cameras in the view's process."""

from __future__ import annotations

import time

import numpy as np

from tactile_sim.scenes.camera import Camera
from tactile_sim.scenes.renderer import Renderer
from tactile_sim.simulation import Simulation
from tactile_sim.view.content import ImageInfo

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
        """Return the images (height, width, 3) uint8, rendered again if `INTERVAL` has passed.

        Args:
            at_once: Whether to render the current state in any case.
        """
        if at_once or time.monotonic() >= self._due:
            self._renderer.set_state(self._engine)
            self._images = tuple(camera.image(self._renderer)[0] for camera in self._cameras)
            self._due = time.monotonic() + INTERVAL
        return self._images
