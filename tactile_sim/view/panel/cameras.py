"""Buttons that move the camera in the browser in which they are pressed."""

from __future__ import annotations

import numpy as np
from viser import CameraHandle, ClientHandle, GuiEvent, ViserServer

from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.scene.viewpoint import DISTANCE, Viewpoint, to_world

DIRECTIONS = {
    "front": (1.0, 0.0, 0.2),
    "side": (0.0, -1.0, 0.2),
    "top": (-1e-3, 0.0, 1.0),
    "below": (-1e-3, 0.0, -1.0),
}
"""Directions from the centre of the scene to the camera. The x axis points forward.

If the scene has a camera with the same name, it replaces the direction.
"""
CONTACTS, FOLLOW = "contacts", "follow"
MIN_DISTANCE = 0.4
"""Smallest distance from the camera to the contacts [radii of the viewpoint]."""
MARGIN = 1.5
ORDER = -36.2
"""Position in the panel, below the colour scale."""


class Cameras:
    """Adds the camera buttons to the panel, and moves the browsers' cameras that follow the skin."""

    def __init__(self, server: ViserServer, scene: ViewScene, viewpoint: Viewpoint):
        self._server, self._viewpoint = server, viewpoint
        self._bodies = np.repeat(np.asarray(scene.skin_bodies, int), np.asarray(scene.taxel_counts, int))
        self._positions = scene.taxel_positions
        self._named = {name: (position, focus) for name, position, focus in scene.cameras}
        self._frame: ViewFrame | None = None
        self._following: dict[int, np.ndarray] = {}
        """Last centre of the skin, keyed by client id, for each camera that follows the skin."""
        with server.gui.add_folder("Camera", expand_by_default=False, order=ORDER):
            groups = {
                "from": tuple(name for name in DIRECTIONS if name not in self._named),
                "skin": (CONTACTS, FOLLOW) if len(self._bodies) else (),
                "scene": tuple(self._named),
            }
            for label, names in groups.items():
                if names:
                    server.gui.add_button_group(label, names).on_click(self._on_click)

    def draw(self, frame: ViewFrame) -> None:
        """Store a view frame for later clicks, and move the cameras that follow the skin with the skin."""
        self._frame = frame
        if not self._following:
            return
        center, clients = self._center(), self._server.get_clients()
        for number, last in list(self._following.items()):
            if number not in clients:
                del self._following[number]
            elif np.linalg.norm(center - last) > 1e-3 * self._viewpoint.radius:
                camera = clients[number].camera
                _place(camera, camera.position + center - last, camera.look_at + center - last)
                self._following[number] = center

    def _on_click(self, event: GuiEvent) -> None:
        client, name = event.client, event.target.value
        if client is not None:
            self.place(client, name)

    def place(self, client: ClientHandle, name: str) -> None:
        """Apply the action of a button to the camera of a browser.

        Args:
            client: The browser.
            name: Name of the button.
        """
        camera, viewpoint = client.camera, self._viewpoint
        if name == FOLLOW:
            if self._following.pop(client.client_id, None) is None and self._frame:
                self._following[client.client_id] = self._center()
        elif name == CONTACTS:
            if self._frame:
                self.look_at(client, self._frame.readings > 0.0)
        elif name in self._named:
            _place(camera, *self._named[name])
        else:
            direction = np.array(DIRECTIONS[name])
            distance = DISTANCE * viewpoint.radius * direction / np.linalg.norm(direction)
            _place(camera, viewpoint.center + distance, viewpoint.center)

    def look_at(self, client: ClientHandle, taxels: np.ndarray, nearest: float = MIN_DISTANCE) -> None:
        """Move a browser's camera so that it looks at some taxels from its current direction.

        Args:
            client: The browser.
            taxels: (n,) bool, whether to show each taxel. If all are False, the camera does not move.
            nearest: Smallest distance from the camera to the taxels [radii of the viewpoint].
        """
        points = self._points()[taxels] if self._frame else np.zeros((0, 3))
        if not len(points):
            return
        camera = client.camera
        center = (points.min(axis=0) + points.max(axis=0)) / 2.0
        radius = float(np.linalg.norm(points - center, axis=1).max())
        distance = max(DISTANCE * MARGIN * radius, nearest * self._viewpoint.radius)
        direction = camera.position - camera.look_at
        _place(camera, center + distance * direction / np.linalg.norm(direction), center)

    def _points(self) -> np.ndarray:
        """Return the positions of the taxels (n, 3), world frame [m]."""
        assert self._frame is not None
        return to_world(self._bodies, self._positions, self._frame)

    def _center(self) -> np.ndarray:
        return self._points().mean(axis=0)


def _place(camera: CameraHandle, position: np.ndarray, focus: np.ndarray) -> None:
    camera.position = position
    camera.look_at = focus
