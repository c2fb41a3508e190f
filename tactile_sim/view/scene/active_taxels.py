"""Taxels with readings above zero, drawn as discs whose size grows with the reading."""

from __future__ import annotations

import numpy as np
from viser import SceneApi

from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.scene.padding import padded
from tactile_sim.view.scene.viewpoint import to_world

LIFT = 0.9
"""Height of a disc above the surface [radii]. Discs face the camera and hardly intersect the body there."""
MIN_RADIUS, MAX_RADIUS = 0.3, 0.5
"""Radius at the smallest reading and at the end of the scale [spacings]; 0.5: neighbours touch."""
SIZES = 6
"""Number of different radii. All points of a cloud have the same one, so there is a cloud for each."""
MAX_COUNT = 2000
"""Number of discs, those with the largest readings. All are sent with each frame."""


class ActiveTaxels:
    """Draws the active taxels in the world frame; this sends less than changing the size of all taxels."""

    def __init__(self, api: SceneApi, scene: ViewScene):
        counts = np.asarray(scene.taxel_counts, int)
        self._bodies = np.repeat(np.asarray(scene.skin_bodies, int), counts)
        self._spacings = np.repeat(np.asarray(scene.taxel_spacings, float), counts)
        self._positions, self._normals = scene.taxel_positions, scene.taxel_normals
        smallest = MIN_RADIUS * self._spacings.min(initial=np.inf)
        largest = MAX_RADIUS * self._spacings.max(initial=0.0)
        self._sizes = np.geomspace(smallest, largest, SIZES) if len(self._bodies) else np.zeros(0)
        self._clouds = [
            api.add_point_cloud(
                f"/active_taxels_{k}",
                np.zeros((1, 3)),
                np.zeros((1, 3), np.uint8),
                point_size=float(size),
                point_shape="circle",
                point_shading="flat",
                precision="float32",
                visible=False,
            )
            for k, size in enumerate(self._sizes)
        ]
        self._present = [False] * len(self._clouds)
        self._enabled = True

    def draw(self, frame: ViewFrame, levels: np.ndarray, colors: np.ndarray) -> None:
        """Draw the active taxels of a frame.

        Args:
            frame: Poses of the bodies.
            levels: Readings divided by the end of the scale (n,); 0: inactive.
            colors: (n, 3) uint8.
        """
        if not self._clouds:
            return
        active = np.flatnonzero(levels)
        if len(active) > MAX_COUNT:
            active = active[np.argpartition(-levels[active], MAX_COUNT)[:MAX_COUNT]]
        relative = MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * np.minimum(levels[active], 1.0)
        radii = relative * self._spacings[active]
        raised = self._positions[active] + LIFT * radii[:, None] * self._normals[active]
        points = to_world(self._bodies[active], raised, frame)
        finite = np.isfinite(points).all(axis=1)
        active, points, radii = active[finite], points[finite], radii[finite]
        nearest = np.abs(np.log(radii)[:, None] - np.log(self._sizes)).argmin(axis=1)
        for k, cloud in enumerate(self._clouds):
            own = nearest == k
            self._present[k] = bool(own.any())
            if self._present[k]:
                cloud.points = padded(points[own])
                cloud.colors = padded(colors[active[own]])
        self.set_visible(self._enabled)

    def set_visible(self, enabled: bool) -> None:
        """Show or hide the discs."""
        self._enabled = enabled
        for cloud, present in zip(self._clouds, self._present, strict=True):
            cloud.visible = enabled and present
