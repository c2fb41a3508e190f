"""Data classes for the taxels on the surface of a geom and of a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Surface:
    """Taxels on the whole surface of one geom. `moved` transforms them to another frame."""

    positions: np.ndarray
    """Positions (n, 3) of the taxels [m], initially in the geom's frame."""
    normals: np.ndarray
    """Outward unit normals (n, 3) at the taxels, averaged at edges; 0 for a taxel at the geom's center."""
    areas: np.ndarray
    """Area (n,) represented by each taxel [m2]."""
    triangles: np.ndarray
    """Taxel indices (t, 3) of a closed mesh, wound outward; empty if all taxels are coplanar."""

    def __len__(self) -> int:
        return len(self.positions)

    def moved(self, rotation: np.ndarray, translation: np.ndarray) -> Surface:
        """Return the surface rotated by ``rotation`` (3, 3), then moved by ``translation`` (3,) [m]."""
        positions = self.positions @ rotation.T + translation
        return replace(self, positions=positions, normals=self.normals @ rotation.T)


@dataclass(frozen=True)
class BodySurface:
    """The taxels of one body, geom by geom, in the body's frame."""

    geom_ids: np.ndarray
    """Ids (k,) of the colliding geoms."""
    positions: np.ndarray
    """Positions (n, 3) of the taxels [m], in the body frame."""
    normals: np.ndarray
    """Outward unit normals (n, 3); 0 for a taxel at the center of its geom."""
    areas: np.ndarray
    """Area (n,) represented by each taxel [m2]."""
    geom_index: np.ndarray
    """Geom (n,) on which each taxel is, as a uint16 index into ``geom_ids``."""
    triangles: np.ndarray
    """Taxel indices (t, 3) uint32 of the triangles between taxels, wound outward."""
    edges: np.ndarray
    """Pairs (e, 2) of taxels that are neighbors on the surface."""
    spacings: np.ndarray | None = None
    """Distance between the taxels on each geom (k,) [m]; None if all geoms have the body's spacing."""

    @staticmethod
    def of_parts(
        geom_ids: np.ndarray, surfaces: Sequence[Surface], kept: np.ndarray | None = None
    ) -> BodySurface:
        """Concatenate the surfaces of geoms without joining them.

        ``kept`` (n,) specifies which taxels to include; the default is all.
        """
        lengths = [len(surface) for surface in surfaces]
        start = np.r_[0, np.cumsum(lengths)]
        kept = np.ones(start[-1], bool) if kept is None else kept
        triangles = np.concatenate([surface.triangles + start[i] for i, surface in enumerate(surfaces)])
        sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        # Each side occurs once in each direction.
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

    def part(self, kept: np.ndarray) -> BodySurface:
        """Return the surface reduced to some of its taxels, with their geoms and the mesh between them.

        Args:
            kept: (n,) whether to keep each taxel.
        """
        new = np.cumsum(kept) - 1
        used, geom_index = np.unique(self.geom_index[kept], return_inverse=True)
        return BodySurface(
            self.geom_ids[used],
            self.positions[kept],
            self.normals[kept],
            self.areas[kept],
            geom_index.astype(np.uint16),
            new[self.triangles[kept[self.triangles].all(axis=1)]].astype(np.uint32),
            new[self.edges[kept[self.edges].all(axis=1)]],
        )
