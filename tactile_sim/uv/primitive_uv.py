"""Compute UV maps of primitives, which show their unfolded surfaces from outside.

A box is unfolded to a cross of its six faces: -x, -y, +x and +y from left to right, +z above -y, and -z below
it. A round shape is unfolded to a disc for its upper end, a band for its side, and a disc for its lower end,
from top to bottom; the middle of the band, where the discs touch it, faces -y. A half sphere is projected to
a disc of the same area (Lambert's azimuthal projection), so all pixels of a sphere, capsule or cylinder have
the same area. An ellipsoid is mapped like a stretched sphere that is cut along its two longer axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.skin.placement import even
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.uv.spread import over_cylinder
from tactile_sim.uv.uv_map import SurfacePoints, Triangles, UvMap, centres

SIDES = np.array(
    [
        [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
        [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        [[0, 0, -1], [1, 0, 0], [0, -1, 0]],
    ],
    float,
)
"""(6, 3, 3) directions at each face of a box: outward, right on the map and up on the map."""


@dataclass(frozen=True)
class BoxMap(Triangles):
    """UV map of a box, on which its six faces form a cross."""

    half: np.ndarray
    """(3,) half sizes of the box along x, y and z [m]."""
    lower_left: np.ndarray
    """(6, 2) lower left corner of each face on the map [m]."""

    @staticmethod
    def of(half: np.ndarray, name: str) -> BoxMap:
        """Return the map of a box.

        Args:
            half: Half sizes (3,) [m].
            name: Name of the geom for error messages.
        """
        a, b, c = 2 * half
        lower_left = np.array([[0, b], [b, b], [a + b, b], [a + 2 * b, b], [b, b + c], [b, 0]])
        size = np.array([2 * (a + b), c + 2 * b])
        # Two triangles for each face, counter-clockwise seen from outside.
        turns = np.array([[[-1, -1], [1, -1], [1, 1]], [[-1, -1], [1, 1], [-1, 1]]], float)
        corners, uv = [], []
        for side, corner in zip(SIDES, lower_left, strict=True):
            extent = np.abs(side) @ half
            corners.append((side[0] + turns @ side[1:]) * half)
            uv.append((corner + (turns + 1) * extent[1:]) / size)
        return BoxMap(np.concatenate(corners), np.concatenate(uv), size, name, half, lower_left)

    def spread(self, spacing: float) -> SurfacePoints:
        """Return a grid of points on each face, as `UvMap.spread` does.

        The outermost points of a grid are half a grid step away from the edges of the face.
        """
        number = np.maximum(1, np.round(2 * self.half / spacing))
        uv, positions, normals = [], [], []
        for side, corner in zip(SIDES, self.lower_left, strict=True):
            right, up = (np.abs(side[1:]) @ number).astype(int)
            i, j = np.meshgrid((np.arange(right) + 0.5) / right, (np.arange(up) + 0.5) / up)
            share = np.stack([i.ravel(), j.ravel()], axis=1)
            uv.append((corner + share * 2 * (np.abs(side[1:]) @ self.half)) / self.size)
            positions.append((side[0] + (2 * share - 1) @ side[1:]) * self.half)
            normals.append(np.tile(side[0], (len(share), 1)))
        return SurfacePoints(np.concatenate(uv), np.concatenate(positions), np.concatenate(normals))


@dataclass(frozen=True)
class RoundMap(UvMap):
    """UV map of a sphere, ellipsoid, capsule or cylinder, with two ends and a band between them."""

    kind: str
    """Kind of the geom: sphere, ellipsoid, capsule or cylinder."""
    half_sizes: np.ndarray
    """(3,) sizes of the geom, as in MuJoCo's geom_size [m]."""
    radii: np.ndarray
    """(3,) semi-axes of each end [m]. On the map, the first points to the right and the second points up. The
    third points out of the geom; it is 0 for the flat end of a cylinder."""
    half: float
    """Half the height of the band [m]."""
    axes: np.ndarray
    """(3, 3) rotation from the frame of the ends, whose z axis points out of the upper end, to the geom's
    frame."""
    size: np.ndarray

    @staticmethod
    def of(kind: str, size: np.ndarray) -> RoundMap:
        """Return the map of a round geom.

        Args:
            kind: Kind of the geom: sphere, ellipsoid, capsule or cylinder.
            size: Sizes of the geom, as in MuJoCo's geom_size (3,) [m].
        """
        order = np.arange(3)
        radii, half = np.full(3, size[0]), 0.0
        if kind == "ellipsoid":
            order = (np.argmin(size) + np.arange(1, 4)) % 3
            radii = size[order]
        elif kind in ("capsule", "cylinder"):
            half = float(size[1])
        if kind == "cylinder":
            radii[2] = 0.0
        stretch = _stretch(radii)
        around = 2 * np.pi * radii[0] if half else 0.0
        extent = np.array([max(2 * stretch * radii[0], around), 4 * stretch * radii[1] + 2 * half])
        return RoundMap(kind, size, radii, half, np.eye(3)[:, order], extent)

    def surface(self, wanted: np.ndarray) -> tuple[np.ndarray, SurfacePoints]:
        pixels = np.flatnonzero(wanted)
        uv = centres(pixels, wanted.shape[1], wanted.shape[0])
        # Coordinates from the middle of the map [m].
        across, up = ((uv - 0.5) * self.size).T
        band = (np.abs(up) <= self.half) & (np.abs(across) <= np.pi * self.radii[0]) & (self.half > 0)
        end = np.where(up > 0, 1.0, -1.0)
        stretch = _stretch(self.radii)
        x = across / (stretch * self.radii[0])
        y = end * ((np.abs(up) - self.half) / (stretch * self.radii[1]) - 1)
        square = x**2 + y**2
        on = band | (square <= 1.0)
        pixels, uv, across, up, band, end, x, y, square = (
            values[on] for values in (pixels, uv, across, up, band, end, x, y, square)
        )
        # Points on the unit sphere; the lower end is seen from below.
        grow = np.sqrt(np.maximum(2 - square, 1)) if self.radii[2] else 1.0
        unit = np.stack([x * grow, end * y * grow, end * (1 - square)], axis=1)
        turn = across / self.radii[0] - np.pi / 2
        around = np.stack([np.cos(turn), np.sin(turn), np.zeros(len(turn))], axis=1)
        positions = np.where(band[:, None], around, unit) * self.radii
        positions[:, 2] += np.where(band, up, end * self.half)
        if self.radii[2]:
            normals = np.where(band[:, None], around, unit / self.radii)
        else:
            normals = np.where(band[:, None], around, end[:, None] * [0.0, 0.0, 1.0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return pixels, SurfacePoints(uv, positions @ self.axes.T, normals @ self.axes.T)

    def spread(self, spacing: float) -> SurfacePoints:
        if self.kind == "cylinder":
            positions, normals = over_cylinder(self.radii[0], self.half, spacing)
        else:
            covered = even.cover(self._shape, spacing)
            positions, normals = covered.positions, covered.normals
        return SurfacePoints(self.flat(positions, normals), positions, normals)

    @property
    def area(self) -> float:
        return self._shape.area

    @property
    def _shape(self) -> Shape:
        return Shape(self.kind, self.half_sizes, np.zeros(3), np.eye(3))

    def flat(self, positions: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Return u and v on the map (n, 2) of points on the geom's surface.

        Args:
            positions: (n, 3) points in the geom's frame [m].
            normals: (n, 3) outward unit normals in the geom's frame.
        """
        p, n = positions @ self.axes, normals @ self.axes
        on_side = np.abs(n[:, 2]) < 0.5 if self.kind == "cylinder" else np.abs(p[:, 2]) < self.half
        end = np.where(p[:, 2] >= 0, 1.0, -1.0)
        unit = p[:, :2] / self.radii[:2]
        if self.radii[2]:
            unit /= np.sqrt(1 + np.clip((np.abs(p[:, 2]) - self.half) / self.radii[2], 0, 1))[:, None]
        stretch = _stretch(self.radii)
        up = end * self.half + stretch * self.radii[1] * (end + end * unit[:, 1])
        turn = (np.arctan2(p[:, 1], p[:, 0]) - np.pi / 2) % (2 * np.pi) - np.pi
        across = np.where(on_side, turn * self.radii[0], unit[:, 0] * stretch * self.radii[0])
        return np.stack([across, np.where(on_side, p[:, 2], up)], axis=1) / self.size + 0.5


def _stretch(radii: np.ndarray) -> float:
    """Return the radius of an end on the map, divided by its actual radius.

    The result is sqrt(2) for a half sphere, whose area is twice the area of its base, and 1 for a flat end.

    Args:
        radii: (3,) radii as in `RoundMap`.
    """
    return float(np.sqrt(2)) if radii[2] else 1.0
