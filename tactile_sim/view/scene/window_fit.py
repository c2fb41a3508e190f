"""Distance of the initial camera in windows that are taller than wide."""

from __future__ import annotations

import numpy as np
from viser import CameraHandle, ClientHandle, ViserServer

TOLERANCE = 1e-3
"""Difference between poses that count as equal, relative to the distance of the camera."""


class WindowFit:
    """Moves the initial camera of one browser back, so that all of the scene is visible.

    A page reports its camera several times while it loads: before it has applied the initial pose, and before
    the panel has taken its part of the window. So the fit is repeated whenever a report arrives, until the
    user moves the camera.
    """

    def __init__(self, server: ViserServer, client: ClientHandle):
        """Fit the camera now and after each of its reports.

        Args:
            server: Has the initial pose.
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
        if not camera.image_width or not self._is_untouched(camera):
            return
        factor = max(1.0, camera.image_height / camera.image_width)
        wanted = focus + factor * (start - focus)
        if not self._close(camera.position, wanted):
            camera.position = wanted
            camera.look_at = focus
        self._fitted = wanted

    def _is_untouched(self, camera: CameraHandle) -> bool:
        """Return whether the camera has the initial pose or the last one that was set here."""
        poses = [self._start.position] + ([] if self._fitted is None else [self._fitted])
        return self._close(camera.look_at, self._start.look_at) and any(
            self._close(camera.position, pose) for pose in poses
        )

    def _close(self, one: np.ndarray, other: np.ndarray) -> bool:
        distance = np.linalg.norm(self._start.position - self._start.look_at)
        return bool(np.linalg.norm(one - other) < TOLERANCE * distance)
