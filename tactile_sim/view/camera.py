"""The camera: its initial pose, the buttons that move it, and the pose that bags store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from viser import CameraHandle, ClientHandle, GuiEvent, GuiFolderHandle, ViserServer

from tactile_sim.bag.messages import LiveView
from tactile_sim.view.content import ViewFrame, ViewScene

DIRECTION = np.array([0.75, -0.85, 0.55])
"""Default direction from the center to the camera (in front, on the right, slightly above)."""
DISTANCE = 2.6
"""Default distance of the camera from the center [radii]."""
MARGIN = 1.5
"""Ratio of the viewpoint's radius to the radius of the content that it frames."""
MIN_RADIUS = 0.05
"""Smallest radius of a viewpoint [m]."""
MAX_OBJECT_SIZE = 6.0
"""Largest side length of an object [m]. Larger shapes, such as floors and rooms, are not framed."""

MIN_SHARE = 0.005
"""Smallest diameter of a viewpoint relative to the height of the window with which it is visible."""
MAX_ASPECT = 2.0
"""Largest width of a window relative to its height."""
FAR = 1000.0
"""Distance beyond which viser's camera draws nothing [m]."""


@dataclass(frozen=True)
class Viewpoint:
    """The sphere that the camera frames, and an optional camera position."""

    center: np.ndarray
    """Center of the sphere (3,), world frame [m]."""
    radius: float
    """Radius of the sphere [m]."""
    chosen_camera: np.ndarray | None = None
    """Camera position (3,), world frame [m], or None for the default position."""

    @classmethod
    def of(cls, scene: ViewScene, frames: Sequence[ViewFrame]) -> Viewpoint:
        """Return the viewpoint that the scene defines, or a viewpoint that frames its content.

        The framed content is the first of these that the scene contains: taxels, feelers, moving shapes, all
        shapes.
        """
        if scene.extent > 0.0:
            return cls(np.asarray(scene.center, float), max(scene.extent / 2.0, MIN_RADIUS), scene.camera)
        skin_bodies = np.repeat(scene.skin_bodies.astype(int), np.asarray(scene.taxel_counts, int))
        groups = (
            (skin_bodies, scene.taxel_positions),
            (scene.feeler_bodies.astype(int), scene.feeler_positions),
            _vertices(scene, moving=True),
            _vertices(scene, moving=False),
        )
        bodies, positions = next((group for group in groups if len(group[0])), groups[-1])
        points = np.concatenate([to_world(bodies, positions, frame) for frame in frames])
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            return cls(np.zeros(3), 1.0)
        low, high = points.min(axis=0), points.max(axis=0)
        center = (low + high) / 2.0
        radius = float(np.linalg.norm(points - center, axis=1).max())
        return cls(center, max(MARGIN * radius, MIN_RADIUS))

    @property
    def camera(self) -> np.ndarray:
        """Camera position (3,), world frame [m]."""
        if self.chosen_camera is not None:
            return np.asarray(self.chosen_camera, float)
        return self.center + DISTANCE * self.radius * DIRECTION / np.linalg.norm(DIRECTION)

    def is_visible_from(self, view: LiveView) -> bool:
        """Return whether the camera of a live view shows any part of the sphere."""
        offset = self.center - np.array(view.position)
        sight = np.subtract(view.look_at, view.position)
        distance, tangent = float(np.linalg.norm(offset)), np.tan(view.field_of_view / 2.0)
        if distance <= self.radius:
            return True
        if distance - self.radius > FAR or self.radius < MIN_SHARE * distance * tangent:
            return False
        angle = np.arccos(np.clip(offset @ sight / distance / np.linalg.norm(sight), -1.0, 1.0))
        corner = np.arctan(np.hypot(MAX_ASPECT, 1.0) * tangent)
        return bool(angle - np.arcsin(self.radius / distance) < corner)


def _vertices(scene: ViewScene, moving: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of all shapes except large ones, such as floors and rooms.

    Returns:
        A tuple of body indices (n,) and positions (n, 3) in the body frames [m].
    """
    chosen = [
        shape
        for shape in scene.shapes
        if np.ptp(shape.vertices, axis=0).max() < MAX_OBJECT_SIZE and (shape.body > 0 or not moving)
    ]
    if not chosen:
        return np.zeros(0, int), np.zeros((0, 3))
    bodies = np.repeat([shape.body for shape in chosen], [len(shape.vertices) for shape in chosen])
    return bodies, np.concatenate([shape.vertices for shape in chosen])


def to_world(
    bodies: np.ndarray, positions: np.ndarray, frame: ViewFrame, rotate_only: bool = False
) -> np.ndarray:
    """Transform points or directions from body frames to the world frame.

    Args:
        bodies: Body index of each point (n,).
        positions: Points or directions (n, 3) in body frames [m].
        frame: View frame with the poses of the bodies.
        rotate_only: Whether ``positions`` are directions, which are only rotated.

    Returns:
        Points or directions (n, 3) in the world frame [m].
    """
    w, axis = frame.body_quaternions[bodies, :1], frame.body_quaternions[bodies, 1:]
    twice = 2.0 * np.cross(axis, positions)
    rotated = positions + w * twice + np.cross(axis, twice)
    return rotated if rotate_only else frame.body_positions[bodies] + rotated


def to_body(body: int, point: np.ndarray, frame: ViewFrame) -> np.ndarray:
    """Transform a point from the world frame to a body frame.

    Args:
        body: Index of the body.
        point: (3,) point in the world frame [m].
        frame: View frame with the poses of the bodies.

    Returns:
        The point (3,) in the body frame [m].
    """
    inverse = frame.body_quaternions[body] * [1.0, -1.0, -1.0, -1.0]
    turned = ViewFrame(frame.time, np.zeros((1, 3)), inverse[None])
    return to_world(np.zeros(1, int), (point - frame.body_positions[body])[None], turned)[0]


TOLERANCE = 1e-3
"""Largest difference between poses that count as equal, relative to the camera distance."""


class WindowFit:
    """Moves the initial camera in one browser back so that the entire scene is visible.

    While a page loads, it reports its camera several times, even before it has applied the initial pose and
    before the panel has reduced the area of the scene. Therefore, the fit is repeated after each report until
    the user moves the camera.
    """

    def __init__(self, server: ViserServer, client: ClientHandle):
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


DIRECTIONS = {
    "front": (1.0, 0.0, 0.2),
    "side": (0.0, -1.0, 0.2),
    "top": (-1e-3, 0.0, 1.0),
    "below": (-1e-3, 0.0, -1.0),
}
"""Directions from the center of the scene to the camera. The x axis points forward.

If the scene has a camera with the same name, it replaces the direction.
"""
CONTACTS, FOLLOW = "contacts", "follow"
MIN_DISTANCE = 0.4
"""Smallest distance from the camera to the contacts [radii of the viewpoint]."""
CONTACT_MARGIN = 1.5


class Cameras:
    """Adds camera buttons to a folder of the panel, and moves the browsers' cameras that follow the skin."""

    def __init__(self, server: ViserServer, folder: GuiFolderHandle, scene: ViewScene, viewpoint: Viewpoint):
        self._server, self._viewpoint = server, viewpoint
        self._bodies = np.repeat(np.asarray(scene.skin_bodies, int), np.asarray(scene.taxel_counts, int))
        self._positions = scene.taxel_positions
        self._named = {name: (position, focus) for name, position, focus in scene.cameras}
        self._frame: ViewFrame | None = None
        self._following: dict[int, np.ndarray] = {}
        """Last center of the skin, keyed by client id, for each camera that follows the skin."""
        with folder:
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
        """Apply the action of a button to the camera of a browser."""
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
        distance = max(DISTANCE * CONTACT_MARGIN * radius, nearest * self._viewpoint.radius)
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
