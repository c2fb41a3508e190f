"""Compute arrows of forces and colored triangles of the skin for views and messages."""

from __future__ import annotations

import numpy as np

from tactile_sim import _core
from tactile_sim.figures.colors import level_colors, levels
from tactile_sim.skin import Skin

NORMAL, TANGENT1, TANGENT2, NET, FRICTION = range(5)
"""Kinds of arrows. FRICTION is the sum of both tangential forces."""


def force_arrows(
    contacts: np.ndarray,
    origins: np.ndarray,
    rotations: np.ndarray,
    bodies: np.ndarray,
    wrenches: np.ndarray,
    scale: float,
    tangents: bool = False,
    longest: float = np.inf,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the force arrows of contacts and bodies.

    Args:
        contacts: Quantities of c contacts, as in ``Contacts.values`` (c, Contacts.WIDTH). The forces are
            those on the second body of each contact.
        origins: Positions of all bodies (nbody, 3), world frame [m].
        rotations: Rotations of all bodies to the world frame (nbody, 3, 3).
        bodies: Ids of the bodies with net arrows (b,).
        wrenches: Net wrenches on these bodies (b, 6), body frames [N, N m].
        scale: Arrow length per unit of force [m/N].
        tangents: Whether to draw the friction along each tangent separately.
        longest: Length to which the longest arrow is shortened, and all others by the same factor [m].

    Returns:
        points: Start and end point of each arrow (n, 2, 3), world frame [m].
        kinds: Kind of each arrow (n,): `NORMAL`, `TANGENT1`, `TANGENT2`, `NET` or `FRICTION`.
        sources: What each arrow belongs to (n,): an index into ``bodies`` for a net force, and into
            ``contacts`` for all other kinds.

        Arrows that are not longer than 0.1 mm are left out.
    """
    return _core.force_arrows(contacts, origins, rotations, bodies, wrenches, scale, tangents, longest)


class LitTriangles:
    """Finds the triangles of a skin that have contact at one or more corners."""

    def __init__(self, skin: Skin, lift: float):
        spacings = np.repeat(skin.spacings, np.diff(skin.offsets))
        parts = [pad.triangles.astype(np.int64) + pad.start for pad in skin.pads]
        self._corners = skin.positions + lift * spacings[:, None] * skin.normals
        self._triangles = np.concatenate([np.empty((0, 3), np.int64), *parts])
        self._pad_index = skin.pad_index

    def __call__(
        self, forces: np.ndarray, scale: float
    ) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """Return the corners of all triangles in contact, and their colors."""
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
