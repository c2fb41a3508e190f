"""Compute the region that a video shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.analysis.poses import Poses
from tactile_sim.bag.messages import TRIANGLES

NEAR = 2.0
"""Distance from the centre of the skin's bounding box within which shapes are included, in box radii."""


class Spheres:
    """Bounding spheres of m scene markers."""

    def __init__(self, markers: Any) -> None:
        self.frames = list(markers.header.frame_id)
        self._own = np.asarray(markers.pose.position, np.float64)
        self.radii = np.array([_reach(markers, number) for number in range(len(self.frames))])
        """Radius of each sphere (m,) [m]."""

    def centers(self, poses: Poses) -> np.ndarray:
        """Return the centres (m, 3) of the spheres in the world [m], from the poses of their frames."""
        positions, rotations = poses.of(self.frames)
        return positions + np.einsum("mij,mj->mi", rotations, self._own)


def _reach(markers: Any, number: int) -> float:
    """Return the radius of a marker's bounding sphere around the marker's position [m]."""
    if int(markers.type[number]) != TRIANGLES:
        return float(np.linalg.norm(markers.scale[number])) / 2
    points = np.asarray(markers.points[number], np.float64) * markers.scale[number]
    return float(np.linalg.norm(points, axis=1).max(initial=0.0))


def around(
    low: np.ndarray, high: np.ndarray, centers: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Extend a box to include nearby spheres that are smaller than the box.

    Args:
        low: Lower corner of the box (3,) [m].
        high: Upper corner of the box (3,) [m].
        centers: Centres of m spheres at t times (t, m, 3) [m].
        radii: Radii of the spheres (m,) [m].

    Returns:
        The lower and the upper corner of the extended box, each (3,) [m].
    """
    radius = np.linalg.norm(high - low) / 2
    apart = np.linalg.norm(centers - (low + high) / 2, axis=2)
    near = (apart + radii < NEAR * radius) & (radii < radius)  # (t, m)
    places, own = centers[near], np.broadcast_to(radii, near.shape)[near][:, None]
    return np.min([low, *(places - own)], axis=0), np.max([high, *(places + own)], axis=0)
