"""Draw contact points and force arrows in the browser."""

from __future__ import annotations

import numpy as np
from viser import ArrowsHandle, ViserServer

from tactile_sim.figures import colors
from tactile_sim.figures.arrows import FRICTION, NET, NORMAL
from tactile_sim.view.content import ViewFrame
from tactile_sim.view.scene.colors import linear_rgb
from tactile_sim.view.scene.padding import padded
from tactile_sim.view.web.scene_script import ARROWS_NODE

COLORS = {NORMAL: colors.NORMAL_FORCE, FRICTION: colors.FRICTION, NET: colors.NET_FORCE}
POINT_RADIUS = 0.006
"""Displayed radius of a contact point relative to the radius of the viewpoint."""
LENGTHS = (0.03, 0.08, 0.2)
"""Upper bounds of the length classes of arrows [radii of the viewpoint].

All arrows in a class have the same heads. Longer arrows belong to the last class.
"""
SHAFT, HEAD, HEAD_LENGTH = 0.035, 0.09, 0.2
"""Shaft radius, head radius and head length relative to the bound of a length class.

viser draws all arrows in a node with the same heads. Without classes, they would hide the shafts of short
arrows.
"""


class ForceMarkers:
    """Draws the contact points and the force arrows of the current view frame in the scene."""

    def __init__(self, server: ViserServer, radius: float, skin_bodies: np.ndarray):
        """Add the arrows and points to the scene.

        Args:
            server: viser's server.
            radius: Radius of the viewpoint [m]. The size of the markers is proportional to it.
            skin_bodies: Body index of each pad (s,).
        """
        palette = np.zeros((max(COLORS) + 1, 3))
        palette[list(COLORS)] = np.array(list(COLORS.values())) / 255.0
        self._palette = linear_rgb(palette)
        self._bounds = np.array(LENGTHS[:-1]) * radius
        self._arrows = [self._add_arrows(server, k, length * radius) for k, length in enumerate(LENGTHS)]
        self._points = server.scene.add_point_cloud(
            "/contact_points",
            np.zeros((1, 3)),
            colors.CONTACT_POINT,
            point_size=POINT_RADIUS * radius,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
            visible=False,
        )
        self._enabled = (True, False, True)
        self._hidden: list[int] = []
        self._skin_bodies = np.asarray(skin_bodies, int)
        self._frame: ViewFrame | None = None

    def _add_arrows(self, server: ViserServer, k: int, length: float) -> ArrowsHandle:
        return server.scene.add_arrows(
            f"{ARROWS_NODE}{k}",
            np.zeros((1, 2, 3)),
            self._palette[:1],
            shaft_radius=SHAFT * length,
            head_radius=HEAD * length,
            head_length=HEAD_LENGTH * length,
            visible=False,
        )

    def draw(self, frame: ViewFrame) -> None:
        """Draw the forces and contact points that a view frame contains."""
        self._frame = frame
        contacts, net, points = self._enabled
        kinds = frame.arrow_kinds.astype(int)
        shown_contacts = self._shown_contacts(frame)
        shown = np.where(kinds == NET, net, contacts).astype(bool) & self._shown_arrows(frame, shown_contacts)
        ends, kinds = frame.arrows[shown], kinds[shown]
        size = np.searchsorted(self._bounds, np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))
        for k, arrows in enumerate(self._arrows):
            own = size == k
            arrows.visible = bool(own.any())
            if arrows.visible:
                arrows.points = padded(ends[own])
                arrows.colors = self._palette[padded(kinds[own])]
        drawn = frame.contact_points[shown_contacts]
        self._points.visible = points and len(drawn) > 0
        if self._points.visible:
            self._points.points = drawn

    def _shown_contacts(self, frame: ViewFrame) -> np.ndarray:
        """Return whether each contact is shown (c,); see `set_hidden`."""
        bodies = frame.contact_bodies.astype(int)
        if len(bodies) != len(frame.contact_points):
            return np.ones(len(frame.contact_points), bool)
        with_skin, hidden = np.isin(bodies, self._skin_bodies), np.isin(bodies, self._hidden)
        return np.asarray(~with_skin.any(axis=1) | (with_skin & ~hidden).any(axis=1))

    def _shown_arrows(self, frame: ViewFrame, contacts: np.ndarray) -> np.ndarray:
        """Return whether each arrow is shown (k,), given whether each contact is shown (c,)."""
        sources, net = frame.arrow_sources.astype(int), frame.arrow_kinds == NET
        shown = np.ones(len(frame.arrows), bool)
        if len(sources) == len(shown):
            shown[net] = ~np.isin(self._skin_bodies[sources[net]], self._hidden)
            shown[~net] = contacts[sources[~net]]
        return shown

    def set_hidden(self, bodies: list[int]) -> None:
        """Hide the arrows and points of some bodies, and show those of all others.

        Args:
            bodies: Indices of the hidden bodies. A contact is hidden if it has bodies with skin and all of
                these are hidden.
        """
        self._hidden = bodies
        if self._frame:
            self.draw(self._frame)

    def set_visible(self, contacts: bool, net: bool, points: bool) -> None:
        """Show or hide the three kinds of markers.

        Args:
            contacts: Whether to show the force arrows at contacts.
            net: Whether to show the net force arrows on bodies.
            points: Whether to show the contact points.
        """
        self._enabled = (contacts, net, points)
        if self._frame:
            self.draw(self._frame)
