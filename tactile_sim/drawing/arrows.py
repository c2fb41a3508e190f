"""Arrows that show forces: of each contact its three parts, and of each body the net touch."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.contacts import FRAME, POSITION, WRENCH

SHORTEST = 1e-4
"""Shorter arrows [m] are not drawn."""
NORMAL, TANGENT1, TANGENT2, NET = range(4)


@kernel
def force_arrows(
    contacts: np.ndarray,
    origins: np.ndarray,
    rotations: np.ndarray,
    bodies: np.ndarray,
    wrenches: np.ndarray,
    scale: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Start and end points (n, 2, 3) of the arrows in the world [m], and of what kind (n,) each is.

    contacts (c, WIDTH): ``Contacts.values``, whose forces act on the second body; origins (nbody, 3) and
    rotations (nbody, 3, 3) of all bodies; bodies (b,) ids of those with wrenches (b, 6) in their own frames;
    scale [m/N].
    """
    points = np.empty((3 * len(contacts) + len(bodies), 2, 3))
    kinds = np.empty(len(points), np.int64)
    vector = np.empty(3)
    count = 0
    for contact in contacts:
        for part in range(3):
            for i in range(3):
                vector[i] = contact[WRENCH + part] * contact[FRAME + 3 * part + i]
            kinds[count] = part
            count += _arrow(points[count], contact[POSITION:], vector, scale)
    for b in range(len(bodies)):
        body = bodies[b]
        for i in range(3):
            vector[i] = 0.0
            for j in range(3):
                vector[i] += rotations[body, i, j] * wrenches[b, j]
        kinds[count] = NET
        count += _arrow(points[count], origins[body], vector, scale)
    return points[:count], kinds[:count]


@kernel
def _arrow(points: np.ndarray, start: np.ndarray, vector: np.ndarray, scale: float) -> int:
    """Writes one arrow; returns 1, or 0 where it is too short to be drawn."""
    length = scale * np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)
    for i in range(3):
        points[0, i] = start[i]
        points[1, i] = start[i] + scale * vector[i]
    return 1 if length > SHORTEST else 0
