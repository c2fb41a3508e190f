"""Pictures of a skin as dots, seen from one side: a painter in numpy, quick enough for videos."""

from __future__ import annotations

import numpy as np

from tactile_sim.analysis.layouts import Placed

FILL = 1.05
"""How wide a dot is, in spacings."""


def axes(elevation: float, azimuth: float) -> np.ndarray:
    """(3, 3) to the right, up and toward the camera of a view [degrees], as rows."""
    up, around = np.radians(elevation), np.radians(azimuth)
    toward = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    right = np.array([-np.sin(around), np.cos(around), 0.0])
    return np.stack([right, np.cross(toward, right), toward])


def draw(
    skin: Placed, colors: np.ndarray, view: np.ndarray, center: np.ndarray, zoom: float, image: np.ndarray
) -> None:
    """Paint the taxels that face the camera into ``image`` (height, width, 3) uint8.

    colors (n, 3) uint8; view as of :func:`axes`; center (3,) of the picture [m]; zoom in pixels a metre.
    """
    height, width = image.shape[:2]
    facing = (skin.normals @ view[2] > 0.0) | ~skin.normals.any(axis=1)  # 0 0 0 faces every way
    order = np.flatnonzero(facing)
    order = order[np.argsort(skin.positions[order] @ view[2])]  # the farthest first
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
