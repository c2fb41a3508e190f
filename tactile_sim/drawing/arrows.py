"""Compute arrows for the normal and tangential contact forces and for the net force on each body."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.contacts import FRAME, POSITION, WRENCH

MIN_LENGTH = 1e-4
"""Length below which arrows are not drawn [m]."""
NORMAL, TANGENT1, TANGENT2, NET, FRICTION = range(5)
"""Kinds of arrows. FRICTION is the sum of both tangential forces."""


@kernel
def force_arrows(
    contacts: np.ndarray,
    origins: np.ndarray,
    rotations: np.ndarray,
    bodies: np.ndarray,
    wrenches: np.ndarray,
    scale: float,
    tangents: bool = False,
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

    Returns:
        points: Start and end point of each arrow (n, 2, 3), world frame [m].
        kinds: Kind of each arrow (n,): `NORMAL`, `TANGENT1`, `TANGENT2`, `NET` or `FRICTION`.
        sources: What each arrow belongs to (n,): an index into ``bodies`` for a net force, and into
            ``contacts`` for all other kinds.

        Arrows that are not longer than `MIN_LENGTH` are left out.
    """
    points = np.empty((3 * len(contacts) + len(bodies), 2, 3))
    kinds, sources = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    vector = np.empty(3)
    count = 0
    for k in range(len(contacts)):
        contact = contacts[k]
        vector[:] = 0.0
        for part in range(3):
            for i in range(3):
                vector[i] += contact[WRENCH + part] * contact[FRAME + 3 * part + i]
            if part == TANGENT1 and not tangents:
                continue  # the second tangential force is added
            kinds[count] = part if tangents or part == NORMAL else FRICTION
            sources[count] = k
            count += _arrow(points[count], contact[POSITION:], vector, scale)
            vector[:] = 0.0
    for b in range(len(bodies)):
        body = bodies[b]
        for i in range(3):
            vector[i] = 0.0
            for j in range(3):
                vector[i] += rotations[body, i, j] * wrenches[b, j]
        kinds[count], sources[count] = NET, b
        count += _arrow(points[count], origins[body], vector, scale)
    return points[:count], kinds[:count], sources[:count]


@kernel
def _arrow(points: np.ndarray, start: np.ndarray, vector: np.ndarray, scale: float) -> int:
    """Write the start and end of an arrow to ``points`` (2, 3); return 1, or 0 if it is too short to draw."""
    length = scale * np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)
    for i in range(3):
        points[0, i] = start[i]
        points[1, i] = start[i] + scale * vector[i]
    return 1 if length > MIN_LENGTH else 0
