"""Adapt the distance of the initial camera to windows that are taller than wide."""

from __future__ import annotations

import numpy as np
from viser import CameraHandle, ClientHandle, ViserServer

TOLERANCE = 1e-3
"""Largest difference between poses that count as equal, relative to the camera distance."""


class WindowFit:
    """Moves the initial camera in one browser back so that the entire scene is visible.

    While a page loads, it reports its camera several times, even before it has applied the initial pose and
    before the panel has reduced the area of the scene. Therefore, the fit is repeated after each report until
    the user moves the camera.
    """

    def __init__(self, server: ViserServer, client: ClientHandle):
        """Fit the camera now and after each report from the browser.

        Args:
            server: Server that defines the initial pose.
            client: The browser.
        """
        self._start = server.initial_camera
        self._fitted: np.ndarray | None = None

        async def on_update(camera: CameraHandle) -> None:  # async callbacks run in order
            self._fit(camera)

        client.camera.on_update(on_update)
        self._fit(client.camera)

    def _fit(self, camera: CameraHandle) -> None:
        start, focus = self._start.position, self._start.look_at
        if not camera.image_width or not self.is_untouched(camera):
            return
        factor = max(1.0, camera.image_height / camera.image_width)
        wanted = focus + factor * (start - focus)
        if not self._close(camera.position, wanted):
            camera.position = wanted
            camera.look_at = focus
        self._fitted = wanted

    def is_untouched(self, camera: CameraHandle) -> bool:
        """Return whether the camera still has the initial pose or the last fitted pose."""
        poses = [self._start.position] + ([] if self._fitted is None else [self._fitted])
        return self._close(camera.look_at, self._start.look_at) and any(
            self._close(camera.position, pose) for pose in poses
        )

    def _close(self, one: np.ndarray, other: np.ndarray) -> bool:
        distance = np.linalg.norm(self._start.position - self._start.look_at)
        return bool(np.linalg.norm(one - other) < TOLERANCE * distance)
