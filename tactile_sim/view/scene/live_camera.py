"""Remember the camera that a user moved last, in any browser."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from viser import CameraHandle, ClientHandle

from tactile_sim.view.scene.window_fit import WindowFit

LOADING = 10.0
"""Wall time after which a browser has certainly applied the initial camera [s]."""


class CameraPose(NamedTuple):
    """Position, look-at point and upward direction in the world frame [m], and field of view [rad]."""

    position: np.ndarray
    look_at: np.ndarray
    up: np.ndarray
    field_of_view: float


class LiveCamera:
    """The camera of the browser in which a user last moved it, or else the initial camera of a browser.

    Attributes:
        pose: Pose of this camera, or None before a browser has connected.
    """

    def __init__(self) -> None:
        self.pose: CameraPose | None = None
        self._any_moved = False

    def watch(self, client: ClientHandle, fit: WindowFit) -> None:
        """Follow the camera of a browser that has connected.

        While a page loads, it also reports other cameras than the initial one. Therefore, a camera has moved
        if it differs from the initial camera after having been equal to it.

        Args:
            client: The browser.
            fit: Adapts the initial camera of this browser.
        """
        connected = time.monotonic()
        loaded = moved = False
        last = np.zeros(6)

        async def on_update(camera: CameraHandle) -> None:  # async callbacks run in order
            nonlocal loaded, moved, last
            initial = fit.is_untouched(camera)
            loaded = loaded or initial or time.monotonic() - connected > LOADING
            moved = moved or (loaded and not initial)
            here = np.concatenate([camera.position, camera.look_at])
            changed, last = not np.array_equal(here, last), here
            if changed and (moved or (initial and not self._any_moved)):
                self._any_moved |= moved
                self.pose = CameraPose(camera.position, camera.look_at, camera.up_direction, camera.fov)

        client.camera.on_update(on_update)
