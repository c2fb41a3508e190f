"""Taxels over the surface of one geom, and over that of a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Surface:
    """Taxels over the whole surface of one geom."""

    positions: np.ndarray
    """(n, 3) [m]."""
    normals: np.ndarray
    """(n, 3) outward, unit; at edges the mean of the faces that meet; 0 for a taxel at the geom's centre."""
    areas: np.ndarray
    """(n,) of the part of the surface that each taxel stands for [m2]."""
    triangles: np.ndarray
    """(t, 3) indices of taxels, wound outward; closed, or none where all lie in one plane."""

    def __len__(self) -> int:
        return len(self.positions)

    def moved(self, rotation: np.ndarray, translation: np.ndarray) -> Surface:
        """The same surface, rotated (3, 3) and then moved (3,) [m]."""
        positions = self.positions @ rotation.T + translation
        return replace(self, positions=positions, normals=self.normals @ rotation.T)


@dataclass(frozen=True)
class BodySurface:
    """The taxels of one body, geom after geom, in its frame."""

    geom_ids: np.ndarray
    """(k,) of its colliding geoms."""
    positions: np.ndarray
    """(n, 3) [m]."""
    normals: np.ndarray
    """(n, 3) outward, unit; 0 for a taxel at the centre of its geom."""
    areas: np.ndarray
    """(n,) [m2]."""
    geom_index: np.ndarray
    """(n,) uint16 into geom_ids."""
    triangles: np.ndarray
    """(t, 3) uint32 indices of taxels, wound outward."""
    edges: np.ndarray
    """(e, 2) pairs of taxels that are neighbours on the surface."""
    spacings: np.ndarray | None = None
    """(k,) between the taxels of each geom [m], where they differ from the body's."""

    @staticmethod
    def of_parts(
        geom_ids: np.ndarray, surfaces: Sequence[Surface], kept: np.ndarray | None = None
    ) -> BodySurface:
        """The surfaces of geoms beside each other, not joined; of their taxels (n,) only those kept."""
        lengths = [len(surface) for surface in surfaces]
        start = np.r_[0, np.cumsum(lengths)]
        kept = np.ones(start[-1], bool) if kept is None else kept
        triangles = np.concatenate([surface.triangles + start[i] for i, surface in enumerate(surfaces)])
        sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        # Each side is there once in either direction.
        sides = sides[(sides[:, 0] < sides[:, 1]) & kept[sides].all(axis=1)]
        new_index = np.cumsum(kept) - 1
        return BodySurface(
            geom_ids,
            np.concatenate([surface.positions for surface in surfaces])[kept],
            np.concatenate([surface.normals for surface in surfaces])[kept],
            np.concatenate([surface.areas for surface in surfaces])[kept],
            np.repeat(np.arange(len(surfaces)), lengths)[kept].astype(np.uint16),
            new_index[triangles[kept[triangles].all(axis=1)]].astype(np.uint32),
            new_index[sides],
        )
