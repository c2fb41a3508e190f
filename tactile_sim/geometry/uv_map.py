"""UV maps, which relate the points on a geom's surface to the pixels of an image.

u increases to the right and v upwards, from 0 to 1 over the image, which repeats in both directions. In a
compiled model, v increases downwards from the first row of the image; MuJoCo converts the coordinates of OBJ
files, in which v increases upwards. Therefore, ``1 - v`` of the compiled model is used for all mesh formats.
Each pixel is then at the place where MuJoCo would show it if the image were the geom's texture.

Maps of primitives show their unfolded surfaces from outside. A box is unfolded to a cross of its six faces:
-x, -y, +x and +y from left to right, +z above -y, and -z below it. A round shape is unfolded to a disc for
its upper end, a band for its side, and a disc for its lower end, from top to bottom; the middle of the band,
where the discs touch it, faces -y. A half sphere is projected to a disc of the same area (Lambert's azimuthal
projection), so all pixels of a sphere, capsule or cylinder have the same area. An ellipsoid is mapped like a
stretched sphere that is cut along its two longer axes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import SceneError

MOST_REPEATS = 2**20
"""Maximum number of additional copies of triangles whose UV coordinates extend beyond the image.

See `_repeated`: a triangle is copied once for each repetition of the image that it extends into.
"""
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


class SurfacePoints(NamedTuple):
    """Points on the surface of a geom, in the frame of the geom or of its body."""

    uv: np.ndarray
    """(n, 2) coordinates u and v of the points on the UV map."""
    positions: np.ndarray
    """(n, 3) positions of the points [m]."""
    normals: np.ndarray
    """(n, 3) outward unit normals of the surface at the points."""


class UvMap(ABC):
    """Base class of UV maps. Each instance is the map of one geom."""

    size: np.ndarray
    """(2,) approximate width and height of the map, measured on the surface [m]."""

    @abstractmethod
    def surface(self, wanted: np.ndarray) -> tuple[np.ndarray, SurfacePoints]:
        """Return the surface points that the pixels of an image show.

        Args:
            wanted: (height, width) bool, the pixels of interest.

        Returns:
            pixels: (n,) indices (row * width + column) of the wanted pixels whose centers are on the map, in
                ascending order.
            points: The n surface points that these pixels show, in the geom's frame.

        Raises:
            SceneError: Two parts of the map overlap at one of the pixels.
        """


def centers(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return u and v (n, 2) of the centers of pixels (n,) with indices row * width + column."""
    rows, columns = np.divmod(np.asarray(pixels, np.int64), width)
    return np.stack([(columns + 0.5) / width, 1.0 - (rows + 0.5) / height], axis=1)


def pixels_of(uv: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return the indices (n,) of the pixels that contain u and v (n, 2), row * width + column."""
    # The tolerance assigns points on the line between two pixels to the right or lower one despite rounding.
    columns = np.clip(np.floor(uv[:, 0] * width + 1e-9), 0, width - 1).astype(np.int64)
    rows = np.clip(np.floor((1.0 - uv[:, 1]) * height + 1e-9), 0, height - 1).astype(np.int64)
    return np.asarray(rows * width + columns)


@dataclass(frozen=True)
class Triangles(UvMap):
    """A UV map that consists of flat triangles."""

    corners: np.ndarray
    """(t, 3, 3) corners of the triangles in the geom's frame [m], counterclockwise seen from outside."""
    uv: np.ndarray
    """(t, 3, 2) u and v of the corners of the triangles."""
    size: np.ndarray
    name: str
    """Name of the geom or mesh for error messages."""

    def surface(self, wanted: np.ndarray) -> tuple[np.ndarray, SurfacePoints]:
        height, width = wanted.shape
        faces, flat = self._repeated()
        # A center on a shared edge belongs to the triangle with the lowest index.
        owner, row, column, one, other = _core.rasterize(flat * [width, -height] + [0, height], wanted)
        if row >= 0:
            raise SceneError(
                f"triangles {faces[one]} and {faces[other]} of {self.name} overlap in its UV map at the pixel"
                f" in column {column} of row {row}; unwrap the mesh so that each pixel has one point, or"
                " paint such pixels black"
            )
        pixels = np.flatnonzero(owner >= 0)
        copy = owner.ravel()[pixels]
        uv = centers(pixels, width, height)
        return pixels, SurfacePoints(
            uv, _affine(self.corners[faces], flat, copy, uv), self.normals[faces[copy]]
        )

    def _repeated(self) -> tuple[np.ndarray, np.ndarray]:
        """Copy triangles that extend beyond the image, so that each of their parts is in the image once.

        A triangle inside the image has one copy. Triangles without an area on the surface have none, because
        they have no normal.

        Returns:
            faces: Index of the triangle that each of the c copies shows (c,).
            uv: u and v of the corners of each copy (c, 3, 2).
        """
        faces = np.flatnonzero(self.areas > 0)
        uv = self.uv[faces]
        first = np.floor(uv.min(axis=1))
        across, up = np.maximum(np.ceil(uv.max(axis=1)) - first, 1).T
        repeats = (across * up).sum()
        if repeats > len(faces) + MOST_REPEATS:
            beyond = np.maximum(-uv, uv - 1)
            face, corner, axis = np.unravel_index(beyond.argmax(), uv.shape)
            raise SceneError(
                f"triangle {faces[face]} of {self.name}: {'uv'[axis]} must be from 0 to 1, got"
                f" {uv[face, corner, axis]:g}; scale the UV coordinates of the mesh"
            )
        counts = (across * up).astype(np.int64)
        copied = np.repeat(np.arange(len(faces)), counts)
        rank = np.arange(len(copied)) - np.repeat(np.cumsum(counts) - counts, counts)
        tile = first[copied] + np.stack([rank % across[copied], rank // across[copied]], axis=1)
        return faces[copied], uv[copied] - tile[:, None]

    @property
    def normals(self) -> np.ndarray:
        """Outward unit normals of the triangles (t, 3), according to their winding; 0 if the area is 0."""
        across = self._across
        return across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)

    @property
    def areas(self) -> np.ndarray:
        """Areas of the triangles on the surface (t,) [m2]."""
        return np.asarray(np.linalg.norm(self._across, axis=1) / 2)

    @property
    def _across(self) -> np.ndarray:
        a, b, c = np.moveaxis(self.corners, 1, 0)
        return np.cross(b - a, c - a)


@dataclass(frozen=True)
class BoxMap(Triangles):
    """UV map of a box, on which its six faces form a cross."""

    half: np.ndarray
    """(3,) half sizes of the box along x, y and z [m]."""
    lower_left: np.ndarray
    """(6, 2) lower left corner of each face on the map [m]."""

    @staticmethod
    def of(half: np.ndarray, name: str) -> BoxMap:
        """Return the map of a box with half sizes (3,) [m]; the name is that of the geom."""
        a, b, c = 2 * half
        lower_left = np.array([[0, b], [b, b], [a + b, b], [a + 2 * b, b], [b, b + c], [b, 0]])
        size = np.array([2 * (a + b), c + 2 * b])
        # Two triangles for each face, counterclockwise seen from outside.
        turns = np.array([[[-1, -1], [1, -1], [1, 1]], [[-1, -1], [1, 1], [-1, 1]]], float)
        corners, uv = [], []
        for side, corner in zip(SIDES, lower_left, strict=True):
            extent = np.abs(side) @ half
            corners.append((side[0] + turns @ side[1:]) * half)
            uv.append((corner + (turns + 1) * extent[1:]) / size)
        return BoxMap(np.concatenate(corners), np.concatenate(uv), size, name, half, lower_left)


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
        """Return the map of a round geom with MuJoCo's sizes (3,) [m]."""
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
        uv = centers(pixels, wanted.shape[1], wanted.shape[0])
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

    def flat(self, positions: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Return u and v (n, 2) of points (n, 3) [m] with outward normals (n, 3) in the geom's frame."""
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
    """
    return float(np.sqrt(2)) if radii[2] else 1.0


def _affine(corners: np.ndarray, flat: np.ndarray, face: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """Map points (n, 2) from the triangles ``face`` (n,) on the map to the same triangles in space [m]."""
    a, b, c = np.moveaxis(corners[face], 1, 0)
    origin = flat[face, 0]
    (bu, bv), (cu, cv), (u, v) = (flat[face, 1] - origin).T, (flat[face, 2] - origin).T, (uv - origin).T
    area = bu * cv - bv * cu
    return a + ((u * cv - v * cu) / area)[:, None] * (b - a) + ((bu * v - bv * u) / area)[:, None] * (c - a)


def mesh_corners(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """Return the corners (t, 3, 3) of a mesh's triangles in the frame of its geoms [m]."""
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    return vertices[model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]].astype(float)


def mesh_uv(model: mujoco.MjModel, mesh: int) -> np.ndarray | None:
    """Return u and v (t, 3, 2) at the corners of a mesh's triangles, or None if it has no UV coordinates."""
    if model.mesh_texcoordadr[mesh] < 0:
        return None
    coordinates = model.mesh_texcoord[model.mesh_texcoordadr[mesh] :][: model.mesh_texcoordnum[mesh]]
    faces = model.mesh_facetexcoord[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
    uv = coordinates[faces].astype(float)
    uv[..., 1] = 1.0 - uv[..., 1]
    return uv
