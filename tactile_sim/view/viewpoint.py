"""Where a browser looks from at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tactile_sim.view.world import Moment, World

DIRECTION = np.array([0.75, -0.85, 0.55])
"""From the middle of what is seen to the camera: from the front right, a little above."""
DISTANCE = 2.6
"""In radii of what is seen."""
SURROUNDINGS = 1.5
"""How much more than the skin is seen."""
SMALLEST = 0.05
"""Radius [m]: nothing is looked at more closely."""
ENDLESS = 6.0
"""Side [m]: shapes that are larger are grounds and rooms, not things."""


@dataclass(frozen=True)
class Viewpoint:
    """A sphere around what there is to see."""

    center: np.ndarray
    """(3,) in the world [m]."""
    radius: float
    """[m]"""
    chosen: np.ndarray | None = None
    """Where the camera is to stand, if somebody has said so."""

    @classmethod
    def of(cls, world: World, moments: Sequence[Moment]) -> Viewpoint:
        """As the world has it; else around the skin, the feelers, what moves, or all, at some moments."""
        if world.extent > 0.0:
            return cls(np.asarray(world.center, float), max(world.extent / 2.0, SMALLEST), world.camera)
        skin_bodies = np.repeat(world.skin_bodies.astype(int), np.asarray(world.taxel_counts, int))
        groups = (
            (skin_bodies, world.taxel_positions),
            (world.feeler_bodies.astype(int), world.feeler_positions),
            _corners(world, moving=True),
            _corners(world, moving=False),
        )
        bodies, positions = next((group for group in groups if len(group[0])), groups[-1])
        points = np.concatenate([in_world(bodies, positions, moment) for moment in moments])
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            return cls(np.zeros(3), 1.0)
        low, high = points.min(axis=0), points.max(axis=0)
        center = (low + high) / 2.0
        radius = float(np.linalg.norm(points - center, axis=1).max())
        return cls(center, max(SURROUNDINGS * radius, SMALLEST))

    @property
    def camera(self) -> np.ndarray:
        """(3,) where the camera stands [m]."""
        if self.chosen is not None:
            return np.asarray(self.chosen, float)
        return self.center + DISTANCE * self.radius * DIRECTION / np.linalg.norm(DIRECTION)


def _corners(world: World, moving: bool) -> tuple[np.ndarray, np.ndarray]:
    """Bodies and positions of the vertices of shapes that are no ground."""
    chosen = [
        shape
        for shape in world.shapes
        if np.ptp(shape.vertices, axis=0).max() < ENDLESS and (shape.body > 0 or not moving)
    ]
    if not chosen:
        return np.zeros(0, int), np.zeros((0, 3))
    bodies = np.repeat([shape.body for shape in chosen], [len(shape.vertices) for shape in chosen])
    return bodies, np.concatenate([shape.vertices for shape in chosen])


def in_world(bodies: np.ndarray, positions: np.ndarray, moment: Moment) -> np.ndarray:
    """(n, 3) points of bodies' frames in the world [m]."""
    w, axis = moment.body_quaternions[bodies, :1], moment.body_quaternions[bodies, 1:]
    turned = 2.0 * np.cross(axis, positions)
    return moment.body_positions[bodies] + positions + w * turned + np.cross(axis, turned)
