"""Draw contact points, force arrows and feelers in the browser."""

from __future__ import annotations

import numpy as np
from viser import ArrowsHandle, FrameHandle, LineSegmentsHandle, SceneApi, ViserServer

from tactile_sim.figures import colors
from tactile_sim.figures.arrows import FRICTION, NET, NORMAL
from tactile_sim.view.content import ViewFrame, ViewScene


def linear_rgb(rgb: np.ndarray) -> np.ndarray:
    """Convert sRGB colors to linear colors, as browsers expect them for lines and arrows."""
    return (255.0 * rgb**2.2).round().astype(np.uint8)


def padded(values: np.ndarray) -> np.ndarray:
    """Pad an array by repeating its last row until the number of rows is a power of two."""
    size = 1 << (len(values) - 1).bit_length()
    return np.concatenate([values, np.repeat(values[-1:], size - len(values), axis=0)])


COVERED, ALL, NONE = "covered", "all", "none"
CHOICES = (COVERED, ALL, NONE)
"""Options for the feelers to draw. By default, free ones are not drawn, so that they do not hide the skin."""
FREE, DEEP = np.array([0.45, 0.5, 0.55]), np.array([1.0, 0.75, 0.1])
"""Colors of free feelers and of feelers covered to their roots, the same as in the topic ``markers``."""
MIN_COVER = 1e-6
"""Covered fraction of a feeler's length above which it counts as covered."""


class FeelerLines:
    """Draws the feelers of all bodies."""

    def __init__(self, api: SceneApi, scene: ViewScene, frames: dict[int, FrameHandle]):
        starts = scene.feeler_positions
        self._lengths = scene.feeler_lengths
        self._ends = np.stack([starts, starts + self._lengths[:, None] * scene.feeler_normals], axis=1)
        self._cover = np.zeros(len(starts))
        self._choice = COVERED
        self._bodies = bodies = np.asarray(scene.feeler_bodies, int)
        self._hidden: list[int] = []
        self._lines = [
            (np.flatnonzero(bodies == body), self._add(api, frames[body].name))
            for body in np.unique(bodies).tolist()
        ]
        self._drawn = [np.zeros(0, int)] * len(self._lines)

    @staticmethod
    def _add(api: SceneApi, parent: str) -> LineSegmentsHandle:
        return api.add_line_segments(
            f"{parent}/feelers",
            np.zeros((1, 2, 3)),
            np.zeros((1, 2, 3), np.uint8),
            thickness=1.0,
            thickness_units="screen",
            visible=False,
        )

    def draw(self, free_lengths: np.ndarray) -> None:
        """Draw the feelers.

        Args:
            free_lengths: Free lengths of the feelers (f,) [m]. An array with another length is ignored.
        """
        if len(free_lengths) == len(self._lengths) > 0:
            self._cover = np.clip(1.0 - free_lengths / self._lengths, 0.0, 1.0)
            self._apply()

    def select(self, choice: str) -> None:
        """Select the feelers to draw, one of `CHOICES`."""
        self._choice = choice
        self._apply()

    def set_hidden(self, bodies: list[int]) -> None:
        """Hide the feelers of the bodies with these indices, and show all others."""
        self._hidden = bodies
        self._apply()

    def _apply(self) -> None:
        colors = linear_rgb(FREE + self._cover[:, None] * (DEEP - FREE))
        selected = self._cover > MIN_COVER if self._choice == COVERED else np.ones(len(colors), bool)
        selected = selected & ~np.isin(self._bodies, self._hidden)
        for k, (own, lines) in enumerate(self._lines):
            drawn = own[selected[own]] if self._choice != NONE else own[:0]
            lines.visible = len(drawn) > 0
            if not len(drawn):
                continue
            if not np.array_equal(drawn, self._drawn[k]):
                self._drawn[k] = drawn
                lines.points = padded(self._ends[drawn]).astype(np.float32)
            lines.colors = padded(np.repeat(colors[drawn, None], 2, axis=1))


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
            f"/forces_{k}",
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
        """Hide the arrows and points of some bodies, and show those of all others."""
        self._hidden = bodies
        if self._frame:
            self.draw(self._frame)

    def set_visible(self, contacts: bool, net: bool, points: bool) -> None:
        """Show or hide the three kinds of markers."""
        self._enabled = (contacts, net, points)
        if self._frame:
            self.draw(self._frame)
