"""Draw the skin in the browser, as dots or as a surface with colors interpolated between taxels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial import Delaunay, QhullError
from viser import FrameHandle, MeshHandle, PointCloudHandle, SceneApi

from tactile_sim.figures.colors import NO_CONTACT, level_colors, levels
from tactile_sim.view.content import ViewScene

LONGEST = 1.8
"""Longest edge of a triangle [spacings]. The diagonal of a square grid is 1.42."""
STEEPEST = 0.5
"""Smallest cosine of the angle between the normal of a taxel and the mean normal of its pad."""


def taxel_surface(positions: np.ndarray, normals: np.ndarray, spacing: float) -> np.ndarray:
    """Return the Delaunay triangles of taxels, projected along their mean normal.

    Args:
        positions: (n, 3) positions of the taxels of one pad [m].
        normals: (n, 3) outward unit normals.
        spacing: Distance between neighboring taxels [m].

    Returns:
        Indices (t, 3), counterclockwise seen from outside. There are no triangles if the pad is too curved
        for a projection, or if any taxel would not be part of a triangle.
    """
    none = np.zeros((0, 3), int)
    if len(positions) < 3:
        return none
    mean = normals.mean(axis=0)
    mean /= max(np.linalg.norm(mean), 1e-9)
    if (normals @ mean).min() < STEEPEST:
        return none
    across = np.cross(mean, np.eye(3)[np.abs(mean).argmin()])
    across /= np.linalg.norm(across)
    plane = positions @ np.stack([across, np.cross(mean, across)], axis=1)
    try:
        triangles = Delaunay(plane).simplices.astype(int)
    except QhullError:  # all taxels are in one line
        return none
    corners = positions[triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    triangles = triangles[(edges < LONGEST * spacing).all(axis=1)]
    (a, b), (c, d) = np.moveaxis(plane[triangles[:, 1:]] - plane[triangles[:, :1]], 0, -1)
    clockwise = a * d - b * c < 0.0
    triangles[clockwise] = triangles[clockwise, ::-1]
    return triangles if len(np.unique(triangles)) == len(positions) else none


DOTS_NODE = "dots"
"""Name of a point cloud, a child of its surface, whose name is ``skin`` and, on a second pad, a number.

static/scene.js finds both by their names.
"""
LIFT = 0.06
"""Height of the drawn surface above the body [spacings], so that triangles do not cut into curved bodies."""
DOT_RADIUS = 0.3
"""Radius of a dot [spacings]. Dots are raised by their radius because they always face the camera."""
DOT_WITHOUT_CONTACT = np.array([78, 86, 98], np.uint8)
INVALID = np.array([150, 150, 150], np.uint8)
"""Color of taxels with invalid readings. The color scale contains no gray."""


class SkinLayer:
    """Draws the readings on all bodies with skin. Colors are sent only for pads whose colors changed.

    The colors are stored in a point cloud, which is visible only if dots are drawn. Because viser has no
    meshes with variable colors, static/scene.js copies the colors to the surface.

    Attributes:
        as_dots: Whether the taxels are drawn as dots.
    """

    def __init__(self, api: SceneApi, scene: ViewScene, frames: Mapping[int, FrameHandle]):
        self._stops = np.cumsum(scene.taxel_counts).astype(int)
        self._starts = self._stops - np.asarray(scene.taxel_counts, int)
        self._colors = np.tile(np.array(NO_CONTACT, np.uint8), (len(scene.taxel_positions), 1))
        self._levels = np.zeros(len(scene.taxel_positions))
        self._valid = np.ones(len(scene.taxel_positions), bool)
        self._enabled, self.as_dots = True, bool(scene.live_view and scene.live_view.dots)
        self._shown = np.ones(len(self._stops), bool)
        self._surfaces: list[MeshHandle | None] = []
        self._dots: list[PointCloudHandle] = []
        for k, body in enumerate(np.asarray(scene.skin_bodies, int).tolist()):
            self._add(api, scene, k, frames[body].name)
        self._apply()

    def _add(self, api: SceneApi, scene: ViewScene, k: int, parent: str) -> None:
        part, spacing = slice(self._starts[k], self._stops[k]), float(scene.taxel_spacings[k])
        positions, normals = scene.taxel_positions[part], scene.taxel_normals[part]
        faces = np.asarray(scene.taxel_triangles, int).reshape(-1, 3)
        faces = faces[(faces[:, 0] >= part.start) & (faces[:, 0] < part.stop)] - part.start
        if not len(faces):
            faces = taxel_surface(positions, normals, spacing)
        number = int((scene.skin_bodies[:k] == scene.skin_bodies[k]).sum()) or ""
        node, surface = f"{parent}/skin{number}", None
        if len(faces):
            surface = api.add_mesh_simple(
                node,
                (positions + LIFT * spacing * normals).astype(np.float32),
                faces.astype(np.uint32),
                color=NO_CONTACT,
                cast_shadow=False,
                receive_shadow=False,
            )
        self._surfaces.append(surface)
        self._dots.append(
            api.add_point_cloud(
                f"{node}/{DOTS_NODE}",
                positions + DOT_RADIUS * spacing * normals,
                self._colors[part],
                point_size=DOT_RADIUS * spacing,
                point_shape="circle",
                point_shading="flat",
                precision="float32",
                visible=surface is None,
            )
        )

    def draw(self, readings: np.ndarray, valid: np.ndarray, end: float, logarithmic: bool) -> None:
        """Draw readings.

        Args:
            readings: Magnitudes of the readings (n,), in any unit. If the length does not match the number of
                taxels, all taxels are drawn without contact.
            valid: (n,) bool, whether each reading is valid. Invalid readings are drawn in gray. If the length
                does not match, all readings are treated as valid.
            end: Reading at the end of the color scale, in the unit of the readings.
            logarithmic: Whether the scale is logarithmic.
        """
        if len(readings) != len(self._levels):
            readings = np.zeros(len(self._levels))
        self._levels = levels(readings, end, logarithmic)
        self._valid = np.ones(len(readings), bool)
        if len(valid) == len(readings):
            self._valid[:] = valid
        self._send()

    def _send(self) -> None:
        colors = level_colors(self._levels)
        colors[~self._valid] = INVALID
        for k, (surface, dots) in enumerate(zip(self._surfaces, self._dots, strict=True)):
            part = slice(self._starts[k], self._stops[k])
            own = colors[part]
            if self.as_dots or surface is None:
                own[(self._levels[part] == 0.0) & self._valid[part]] = DOT_WITHOUT_CONTACT
            if not np.array_equal(own, self._colors[part]):
                dots.colors = own
        self._colors = colors

    def set_shown(self, shown: np.ndarray) -> None:
        """Show only some pads.

        Args:
            shown: (s,) bool, whether to show each of the s pads.
        """
        self._shown = shown
        self._apply()

    def set_visible(self, visible: bool) -> None:
        """Show or hide the skin."""
        self._enabled = visible
        self._apply()

    def set_dots(self, as_dots: bool) -> None:
        """Draw the taxels as dots if ``as_dots`` is True, or else as a surface where triangles are known."""
        self.as_dots = as_dots
        self._apply()
        self._send()

    def _apply(self) -> None:
        for surface, dots, shown in zip(self._surfaces, self._dots, self._shown.tolist(), strict=True):
            visible = self._enabled and shown
            if surface is not None:
                surface.visible = visible
            dots.visible = visible and (self.as_dots or surface is None)
