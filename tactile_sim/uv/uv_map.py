"""Define UV maps, which assign a point on a geom's surface to each pixel of an image.

u increases to the right and v upwards, from 0 to 1 over the image, which repeats in both directions. In a
compiled model, v increases downwards from the first row of the image; MuJoCo converts the coordinates of OBJ
files, in which v increases upwards. Therefore, ``1 - v`` of the compiled model is used for all mesh formats.
Each pixel is then at the place where MuJoCo would show it if the image were the geom's texture.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.errors import SceneError
from tactile_sim.uv.raster import fill
from tactile_sim.uv.spread import over_triangles

MOST_REPEATS = 2**20
"""Maximum number of additional copies of triangles whose UV coordinates extend beyond the image.

See `_repeated`: a triangle is copied once for each repetition of the image that it extends into.
"""


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

    @property
    @abstractmethod
    def area(self) -> float:
        """Area of the geom's entire surface [m2]."""

    @abstractmethod
    def surface(self, wanted: np.ndarray) -> tuple[np.ndarray, SurfacePoints]:
        """Return the surface points that the pixels of an image show.

        Args:
            wanted: (height, width) bool, the pixels of interest.

        Returns:
            pixels: (n,) indices (row * width + column) of the wanted pixels whose centres are on the map, in
                ascending order.
            points: The n surface points that these pixels show, in the geom's frame.

        Raises:
            SceneError: Two parts of the map overlap at one of the pixels.
        """

    @abstractmethod
    def spread(self, spacing: float) -> SurfacePoints:
        """Return evenly distributed points on the entire surface.

        Args:
            spacing: Distance between neighbours [m].

        Returns:
            The points, in the geom's frame.
        """


def centres(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return u and v (n, 2) of the centres of pixels.

    Args:
        pixels: (n,) pixel indices, row * width + column.
        width: Width of the image [pixels].
        height: Height of the image [pixels].
    """
    rows, columns = np.divmod(np.asarray(pixels, np.int64), width)
    return np.stack([(columns + 0.5) / width, 1.0 - (rows + 0.5) / height], axis=1)


def pixels_of(uv: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return the indices (n,) of the pixels that contain points, row * width + column.

    Args:
        uv: (n, 2) u and v of the points.
        width: Width of the image [pixels].
        height: Height of the image [pixels].
    """
    # The tolerance assigns points on the line between two pixels to the right or lower one despite rounding.
    columns = np.clip(np.floor(uv[:, 0] * width + 1e-9), 0, width - 1).astype(np.int64)
    rows = np.clip(np.floor((1.0 - uv[:, 1]) * height + 1e-9), 0, height - 1).astype(np.int64)
    return np.asarray(rows * width + columns)


@dataclass(frozen=True)
class Triangles(UvMap):
    """A UV map that consists of flat triangles."""

    corners: np.ndarray
    """(t, 3, 3) corners of the triangles in the geom's frame [m], counter-clockwise seen from outside."""
    uv: np.ndarray
    """(t, 3, 2) u and v of the corners of the triangles."""
    size: np.ndarray
    name: str
    """Name of the geom or mesh for error messages."""

    def surface(self, wanted: np.ndarray) -> tuple[np.ndarray, SurfacePoints]:
        height, width = wanted.shape
        faces, flat = self._repeated()
        filled = fill(flat * [width, -height] + [0, height], wanted)
        if filled.row >= 0:
            one, other = faces[filled.one], faces[filled.other]
            raise SceneError(
                f"triangles {one} and {other} of {self.name} overlap in its UV map at the pixel in column "
                f"{filled.column} of row {filled.row}; unwrap the mesh so that each pixel has one "
                "point, or paint such pixels black"
            )
        pixels = np.flatnonzero(filled.owner >= 0)
        copy = filled.owner.ravel()[pixels]
        uv = centres(pixels, width, height)
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

        Raises:
            SceneError: There are too many copies.
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

    def spread(self, spacing: float) -> SurfacePoints:
        face, weights = over_triangles(self.corners, spacing)
        uv, positions = (np.einsum("nk,nki->ni", weights, at[face]) for at in (self.uv, self.corners))
        return SurfacePoints(uv, positions, self.normals[face])

    @property
    def area(self) -> float:
        return float(self.areas.sum())

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


def _affine(corners: np.ndarray, flat: np.ndarray, face: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """Map points from triangles on the map to the same triangles in space.

    Args:
        corners: (t, 3, 3) corners of the triangles in space [m].
        flat: (t, 3, 2) corners of the triangles on the map.
        face: (n,) index of the triangle that contains each point.
        uv: (n, 2) u and v of the points.

    Returns:
        (n, 3) positions of the points in space [m].
    """
    a, b, c = np.moveaxis(corners[face], 1, 0)
    origin = flat[face, 0]
    (bu, bv), (cu, cv), (u, v) = (flat[face, 1] - origin).T, (flat[face, 2] - origin).T, (uv - origin).T
    area = bu * cv - bv * cu
    return a + ((u * cv - v * cu) / area)[:, None] * (b - a) + ((bu * v - bv * u) / area)[:, None] * (c - a)


def mesh_corners(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """Return the corners (t, 3, 3) of a mesh's triangles in the frame of its geoms [m].

    Args:
        model: MuJoCo model.
        mesh: Id of the mesh.
    """
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    return vertices[model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]].astype(float)


def mesh_uv(model: mujoco.MjModel, mesh: int) -> np.ndarray | None:
    """Return u and v (t, 3, 2) at the corners of a mesh's triangles, with v increasing upwards.

    Args:
        model: MuJoCo model.
        mesh: Id of the mesh.

    Returns:
        The coordinates, or None if the mesh has no UV coordinates.
    """
    if model.mesh_texcoordadr[mesh] < 0:
        return None
    coordinates = model.mesh_texcoord[model.mesh_texcoordadr[mesh] :][: model.mesh_texcoordnum[mesh]]
    faces = model.mesh_facetexcoord[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
    uv = coordinates[faces].astype(float)
    uv[..., 1] = 1.0 - uv[..., 1]
    return uv
