"""Contact points and arrows of forces in the browser, in the colours of the RViz markers."""

from __future__ import annotations

import numpy as np
from viser import ViserServer

from tactile_sim.drawing.arrows import NET, NORMAL, TANGENT1, TANGENT2
from tactile_sim.view.light import as_light
from tactile_sim.view.padded import padded
from tactile_sim.view.world import Moment

COLORS = {NORMAL: (26, 204, 51), TANGENT1: (230, 38, 26), TANGENT2: (38, 89, 255), NET: (255, 204, 26)}
"""Green, red, blue and yellow, as in ``markers``."""
POINTS = (255, 255, 255)
SHAFT = 0.005
"""Radius of an arrow's shaft, in radii of what is seen."""


class ForceMarks:
    """Arrows and points of one moment after the other."""

    def __init__(self, server: ViserServer, radius: float):
        """radius [m]: of what is seen, so that the arrows have a fitting size."""
        shaft = SHAFT * radius
        self._palette = as_light(np.array([COLORS[kind] for kind in sorted(COLORS)]) / 255.0)
        self._arrows = server.scene.add_arrows(
            "/forces",
            np.zeros((1, 2, 3)),
            self._palette[:1],
            shaft_radius=shaft,
            head_radius=2.2 * shaft,
            head_length=4.5 * shaft,
            visible=False,
        )
        self._points = server.scene.add_point_cloud(
            "/contact_points",
            np.zeros((1, 3)),
            POINTS,
            point_size=1.6 * shaft,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
            visible=False,
        )
        self._wanted = [True, True]
        self._there = [False, False]

    def draw(self, moment: Moment) -> None:
        """Shows the forces of a moment; what there is none of, vanishes."""
        if len(moment.arrows):
            self._arrows.points = padded(moment.arrows)
            self._arrows.colors = self._palette[padded(moment.arrow_kinds.astype(int))]
        if len(moment.contacts):
            self._points.points = moment.contacts
        self._there = [len(moment.arrows) > 0, len(moment.contacts) > 0]
        self._apply()

    def show(self, arrows: bool, contacts: bool) -> None:
        """Which of them are wanted."""
        self._wanted = [arrows, contacts]
        self._apply()

    def _apply(self) -> None:
        self._arrows.visible, self._points.visible = (
            wanted and there for wanted, there in zip(self._wanted, self._there, strict=True)
        )
