"""The initial camera of a view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tactile_sim.bag.messages import LiveView
from tactile_sim.view.content import ViewFrame, ViewScene

DIRECTION = np.array([0.75, -0.85, 0.55])
"""Default direction from the centre to the camera (in front, on the right, slightly above)."""
DISTANCE = 2.6
"""Default distance of the camera from the centre [radii]."""
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
    """Centre of the sphere (3,), world frame [m]."""
    radius: float
    """Radius of the sphere [m]."""
    chosen_camera: np.ndarray | None = None
    """Camera position (3,), world frame [m], or None for the default position."""

    @classmethod
    def of(cls, scene: ViewScene, frames: Sequence[ViewFrame]) -> Viewpoint:
        """Return the viewpoint that the scene defines, or a viewpoint that frames its content.

        The framed content is the first of these that the scene contains: taxels, feelers, moving shapes, all
        shapes.

        Args:
            scene: Constant content of the view.
            frames: View frames in which the content must be visible.
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

    Args:
        scene: Constant content of the view.
        moving: True to exclude shapes that are fixed to the world.

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
