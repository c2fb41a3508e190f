"""Taxels that feel something, in the browser: larger than the others, the more the stronger."""

from __future__ import annotations

import numpy as np
from viser import SceneApi

from tactile_sim.view.padded import padded
from tactile_sim.view.viewpoint import in_world
from tactile_sim.view.world import Moment, World

LIFT = 0.9
"""How far above the surface, in radii: of a disc, which faces who looks, next to nothing sinks in."""
LEAST, MOST = 0.3, 0.5
"""Radius in spacings: of what is hardly felt, and at the end of the scale, where discs just touch."""
SIZES = 6
"""So many sizes are told apart: all points of a cloud have one."""
MANY = 2000
"""So many at most, the strongest: each lies elsewhere at each moment."""


class LitTaxels:
    """Discs of one moment after the other, in the world: few change much more than many that stay."""

    def __init__(self, api: SceneApi, world: World):
        counts = np.asarray(world.taxel_counts, int)
        self._bodies = np.repeat(np.asarray(world.skin_bodies, int), counts)
        self._spacings = np.repeat(np.asarray(world.taxel_spacings, float), counts)
        self._positions, self._normals = world.taxel_positions, world.taxel_normals
        least = LEAST * self._spacings.min(initial=np.inf)
        most = MOST * self._spacings.max(initial=0.0)
        self._sizes = np.geomspace(least, most, SIZES) if len(self._bodies) else np.zeros(0)
        self._clouds = [
            api.add_point_cloud(
                f"/lit_{k}",
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
        self._there = [False] * len(self._clouds)
        self._wanted = True

    def draw(self, moment: Moment, levels: np.ndarray, colors: np.ndarray) -> None:
        """levels: (n,) of the scale, 0 for what is not felt; colors: (n, 3) uint8."""
        if not self._clouds:
            return
        lit = np.flatnonzero(levels)
        if len(lit) > MANY:
            lit = lit[np.argpartition(-levels[lit], MANY)[:MANY]]
        radii = (LEAST + (MOST - LEAST) * np.minimum(levels[lit], 1.0)) * self._spacings[lit]
        raised = self._positions[lit] + LIFT * radii[:, None] * self._normals[lit]
        points = in_world(self._bodies[lit], raised, moment)
        sound = np.isfinite(points).all(axis=1)
        lit, points, radii = lit[sound], points[sound], radii[sound]
        nearest = np.abs(np.log(radii)[:, None] - np.log(self._sizes)).argmin(axis=1)
        for k, cloud in enumerate(self._clouds):
            mine = nearest == k
            self._there[k] = bool(mine.any())
            if self._there[k]:
                cloud.points = padded(points[mine])
                cloud.colors = padded(colors[lit[mine]])
        self.show(self._wanted)

    def show(self, wanted: bool) -> None:
        """Whether they are seen."""
        self._wanted = wanted
        for cloud, there in zip(self._clouds, self._there, strict=True):
            cloud.visible = wanted and there
