"""Draw taxels as dots with NumPy, which is fast enough for videos."""

from __future__ import annotations

import numpy as np

from tactile_sim.analysis.layouts import Placed

FILL = 1.05
"""Diameter of a dot relative to the taxel spacing."""


def axes(elevation: float, azimuth: float) -> np.ndarray:
    """Return the axes of a view as rows (3, 3): right, up and toward the camera.

    Args:
        elevation: Angle of the camera above the horizontal plane [degrees].
        azimuth: Angle of the camera about the vertical axis [degrees].
    """
    up, around = np.radians(elevation), np.radians(azimuth)
    toward = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    right = np.array([-np.sin(around), np.cos(around), 0.0])
    return np.stack([right, np.cross(toward, right), toward])


def draw(
    skin: Placed, colors: np.ndarray, view: np.ndarray, center: np.ndarray, zoom: float, image: np.ndarray
) -> None:
    """Draw the taxels that face the camera into an image.

    Args:
        skin: Positions, normals and spacings of the n taxels.
        colors: Colours of the taxels (n, 3) uint8.
        view: Axes of the view from :func:`axes`.
        center: Point (3,) at the centre of the image [m].
        zoom: Pixels per metre.
        image: Image (height, width, 3) uint8, modified in place.
    """
    height, width = image.shape[:2]
    facing = (skin.normals @ view[2] > 0.0) | ~skin.normals.any(axis=1)  # a zero normal: always visible
    order = np.flatnonzero(facing)
    order = order[np.argsort(skin.positions[order] @ view[2])]  # farthest first
    across = (skin.positions[order] - center) @ view[:2].T * zoom
    columns = np.rint(width / 2 + across[:, 0]).astype(int)
    rows = np.rint(height / 2 - across[:, 1]).astype(int)
    dot = np.maximum(FILL * skin.spacings[order] * zoom / 2, 1.0)
    reach = int(np.ceil(dot.max(initial=0.0)))
    down, aside = (grid.ravel() for grid in np.mgrid[-reach : reach + 1, -reach : reach + 1])
    inside = down**2 + aside**2 <= dot[:, None] ** 2
    rows, columns = rows[:, None] + down, columns[:, None] + aside
    inside &= (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    painted = np.broadcast_to(colors[order][:, None], (*inside.shape, 3))
    image[rows[inside], columns[inside]] = painted[inside]
