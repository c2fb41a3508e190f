"""Find the skin triangles that are in contact and colour them as in the views."""

from __future__ import annotations

import numpy as np

from tactile_sim.drawing.colors import level_colors, levels
from tactile_sim.skin import Skin


class LitTriangles:
    """Finds the triangles of a skin that have contact at one or more corners.

    Args:
        skin: Skin whose triangles are coloured.
        lift: Height of the triangles above the surface as a fraction of the taxel spacing.
    """

    def __init__(self, skin: Skin, lift: float):
        spacings = np.repeat(skin.spacings, np.diff(skin.offsets))
        parts = [pad.triangles.astype(np.int64) + pad.start for pad in skin.pads]
        self._corners = skin.positions + lift * spacings[:, None] * skin.normals
        self._triangles = np.concatenate([np.empty((0, 3), np.int64), *parts])
        self._pad_index = skin.pad_index

    def __call__(
        self, forces: np.ndarray, scale: float
    ) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """Return the corners of all triangles in contact, and their colours.

        Args:
            forces: (taxels, 3) forces on the taxels, in any frame [N].
            scale: Force at the end of the logarithmic colour scale [N].

        Returns:
            pads: (m,) int32 indices of the pads in contact, in ascending order.
            corners: For each of these pads, positions (n, 3) in the frame of its body [m]. Three consecutive
                rows are the corners of a triangle.
            colors: For each of these pads, RGBA colours (n, 4) float32 from 0 to 1 of these corners.
        """
        squares = np.einsum("ij,ij->i", forces, forces)
        touched = np.flatnonzero(squares)
        level = np.zeros(len(squares))
        level[touched] = levels(np.sqrt(squares[touched]), scale)
        lit = self._triangles[(level[self._triangles] > 0.0).any(axis=1)].ravel()
        colors = np.ones((len(lit), 4), np.float32)
        colors[:, :3] = level_colors(level[lit]) / np.float32(255.0)
        pads, first = np.unique(self._pad_index[lit], return_index=True)
        corners = self._corners[lit]
        return pads.astype(np.int32), np.split(corners, first[1:]), np.split(colors, first[1:])
