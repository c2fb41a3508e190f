"""Contact points and force arrows in the browser, in the colours of the RViz markers."""

from __future__ import annotations

import numpy as np
from viser import ViserServer

from tactile_sim.drawing.arrows import NET, NORMAL, TANGENT1, TANGENT2
from tactile_sim.view.content import ViewFrame
from tactile_sim.view.scene.colors import linear_rgb
from tactile_sim.view.scene.padding import padded

COLORS = {NORMAL: (26, 204, 51), TANGENT1: (230, 38, 26), TANGENT2: (38, 89, 255), NET: (255, 204, 26)}
"""Green, red, blue and yellow, as in ``markers``."""
POINT_COLOR = (255, 255, 255)
SHAFT_RADIUS = 0.005
"""Radius of an arrow's shaft relative to the radius of the viewpoint."""


class ForceMarkers:
    """Draws the force arrows and contact points of a frame."""

    def __init__(self, server: ViserServer, radius: float):
        """Add the arrows and points to the scene.

        Args:
            server: viser's server.
            radius: Radius of the viewpoint [m], to which the shafts are scaled.
        """
        shaft = SHAFT_RADIUS * radius
        self._palette = linear_rgb(np.array([COLORS[kind] for kind in sorted(COLORS)]) / 255.0)
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
            POINT_COLOR,
            point_size=1.6 * shaft,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
            visible=False,
        )
        self._enabled = [True, True]
        self._present = [False, False]

    def draw(self, frame: ViewFrame) -> None:
        """Draw the forces of a frame."""
        if len(frame.arrows):
            self._arrows.points = padded(frame.arrows)
            self._arrows.colors = self._palette[padded(frame.arrow_kinds.astype(int))]
        if len(frame.contact_points):
            self._points.points = frame.contact_points
        self._present = [len(frame.arrows) > 0, len(frame.contact_points) > 0]
        self._apply()

    def set_visible(self, arrows: bool, points: bool) -> None:
        """Show or hide the arrows and the contact points."""
        self._enabled = [arrows, points]
        self._apply()

    def _apply(self) -> None:
        self._arrows.visible, self._points.visible = (
            enabled and present for enabled, present in zip(self._enabled, self._present, strict=True)
        )
