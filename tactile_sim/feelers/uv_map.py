"""The UV map of a geom: which place of its surface each pixel of an image shows.

u goes to the right and v upwards, from 0 to 1 over the image, which repeats in both directions. MuJoCo
counts a mesh's v downwards from the first row of an image and converts OBJ files, whose v counts upwards. So
``1 - v`` of the compiled model is right for every mesh format: each pixel is where MuJoCo shows it if the
image is the geom's texture.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit

from tactile_sim.errors import SceneError
from tactile_sim.feelers.raster import fill
from tactile_sim.feelers.spread import over_triangles

MOST_REPEATS = 2**20
"""Largest number of repeats of the image that all triangles of a mesh may span, beyond one for each."""


class Spots(NamedTuple):
    """Places on the surface of a geom, in its frame."""

    uv: np.ndarray
    """(n, 2)."""
    positions: np.ndarray
    """(n, 3) [m]."""
    normals: np.ndarray
    """(n, 3) outward, unit."""


class UvMap(ABC):
    """The map of one geom."""

    size: np.ndarray
    """(2,) how wide and high the map is on the surface, about [m]."""

    @property
    @abstractmethod
    def area(self) -> float:
        """Of the whole surface [m2]."""

    @abstractmethod
    def surface(self, wanted: np.ndarray) -> tuple[np.ndarray, Spots]:
        """What the pixels of an image show.

        Args:
            wanted: (height, width) bool, the pixels asked for.

        Returns:
            row · width + column of those (n,) whose centres lie on the map, in that order, and their places.

        Raises:
            SceneError: two parts of the map overlap at one of the pixels.
        """

    @abstractmethod
    def spread(self, spacing: float) -> Spots:
        """Places all over the surface, evenly ``spacing`` [m] apart."""


def centres(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """(n, 2) u and v of the centres of pixels row · width + column (n,)."""
    rows, columns = np.divmod(np.asarray(pixels, np.int64), width)
    return np.stack([(columns + 0.5) / width, 1.0 - (rows + 0.5) / height], axis=1)


def pixels_of(uv: np.ndarray, width: int, height: int) -> np.ndarray:
    """row · width + column (n,) of the pixels that (n, 2) u and v lie in."""
    # What lies on a line between two pixels but for rounding goes to the right and down.
    columns = np.clip(np.floor(uv[:, 0] * width + 1e-9), 0, width - 1).astype(np.int64)
    rows = np.clip(np.floor((1.0 - uv[:, 1]) * height + 1e-9), 0, height - 1).astype(np.int64)
    return np.asarray(rows * width + columns)


@dataclass(frozen=True)
class Triangles(UvMap):
    """A map of flat triangles."""

    corners: np.ndarray
    """(t, 3, 3) in the geom's frame [m], wound outward."""
    uv: np.ndarray
    """(t, 3, 2)."""
    size: np.ndarray
    name: str
    """For errors."""

    def surface(self, wanted: np.ndarray) -> tuple[np.ndarray, Spots]:
        height, width = wanted.shape
        faces, flat = self._repeated()
        filled = fill(flat * [width, -height] + [0, height], wanted)
        if filled.row >= 0:
            one, other = faces[filled.one], faces[filled.other]
            raise SceneError(
                f"triangles {one} and {other} of {self.name} overlap in its UV map at the pixel in column "
                f"{filled.column} of row {filled.row}; unwrap the mesh so that each pixel has one place, or "
                "paint such pixels black"
            )
        pixels = np.flatnonzero(filled.owner >= 0)
        copy = filled.owner.ravel()[pixels]
        uv = centres(pixels, width, height)
        return pixels, Spots(uv, _affine(self.corners[faces], flat, copy, uv), self.normals[faces[copy]])

    def _repeated(self) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of the triangles so that every part of them lies in the image once.

        Triangles without an area on the surface are left out: they have no normal.

        Returns:
            The triangle (c,) of each copy, and its u and v (c, 3, 2).

        Raises:
            SceneError: There are too many copies.
        """
        faces = np.flatnonzero(self.areas > 0)
        uv = self.uv[faces]
        first = np.floor(uv.min(axis=1))
        across, up = np.maximum(np.ceil(uv.max(axis=1)) - first, 1).T
        repeats = (across * up).sum()
        if repeats > len(faces) + MOST_REPEATS:
            raise SceneError(
                f"the UV coordinates of {self.name} span {repeats:.1e} repeats of the image; "
                "scale them to 0..1"
            )
        counts = (across * up).astype(np.int64)
        copied = np.repeat(np.arange(len(faces)), counts)
        rank = np.arange(len(copied)) - np.repeat(np.cumsum(counts) - counts, counts)
        tile = first[copied] + np.stack([rank % across[copied], rank // across[copied]], axis=1)
        return faces[copied], uv[copied] - tile[:, None]

    def spread(self, spacing: float) -> Spots:
        face, weights = over_triangles(self.corners, spacing)
        uv, positions = (np.einsum("nk,nki->ni", weights, at[face]) for at in (self.uv, self.corners))
        return Spots(uv, positions, self.normals[face])

    @property
    def area(self) -> float:
        return float(self.areas.sum())

    @property
    def normals(self) -> np.ndarray:
        """(t, 3) outward, unit, by the way each triangle is wound in space; 0 without an area."""
        across = self._across
        return across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)

    @property
    def areas(self) -> np.ndarray:
        """(t,) [m2]."""
        return np.asarray(np.linalg.norm(self._across, axis=1) / 2)

    @property
    def _across(self) -> np.ndarray:
        a, b, c = np.moveaxis(self.corners, 1, 0)
        return np.cross(b - a, c - a)


@njit(cache=True)
def _affine(corners, flat, face, uv):
    """Where the affine map of each triangle (n,) of `face` takes uv (n, 2): (n, 3) [m].

    It takes the corners `flat` (t, 3, 2) of a triangle on the map to those in space (t, 3, 3).
    """
    out = np.empty((len(face), 3))
    for i in range(len(face)):
        u, v = flat[face[i], 0]
        bu, bv = flat[face[i], 1, 0] - u, flat[face[i], 1, 1] - v
        cu, cv = flat[face[i], 2, 0] - u, flat[face[i], 2, 1] - v
        of_b = ((uv[i, 0] - u) * cv - (uv[i, 1] - v) * cu) / (bu * cv - bv * cu)
        of_c = (bu * (uv[i, 1] - v) - bv * (uv[i, 0] - u)) / (bu * cv - bv * cu)
        for k in range(3):
            a, b, c = corners[face[i], 0, k], corners[face[i], 1, k], corners[face[i], 2, k]
            out[i, k] = a + of_b * (b - a) + of_c * (c - a)
    return out


def mesh_corners(model: mujoco.MjModel, mesh: int) -> np.ndarray:
    """(t, 3, 3) corners of a mesh's triangles, in the frame of the geoms that have it [m]."""
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    return vertices[model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]].astype(float)


def mesh_uv(model: mujoco.MjModel, mesh: int) -> np.ndarray | None:
    """(t, 3, 2) u and v of a mesh's corners, v upwards; None where it has no UV coordinates."""
    if model.mesh_texcoordadr[mesh] < 0:
        return None
    coordinates = model.mesh_texcoord[model.mesh_texcoordadr[mesh] :][: model.mesh_texcoordnum[mesh]]
    faces = model.mesh_facetexcoord[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
    uv = coordinates[faces].astype(float)
    uv[..., 1] = 1.0 - uv[..., 1]
    return uv
