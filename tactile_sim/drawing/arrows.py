"""Compute arrows for the normal and tangential contact forces and for the net force on each body."""

from __future__ import annotations

import numpy as np

from tactile_sim import _core

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
