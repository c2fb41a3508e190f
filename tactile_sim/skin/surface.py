"""Taxels over the surface of one geom."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Surface:
    """Taxels over the whole surface of one geom."""

    positions: np.ndarray
    """(n, 3) [m]."""
    normals: np.ndarray
    """(n, 3) outward, unit; at edges the mean of the faces that meet."""
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
