"""Compute the center of touch of each body with skin."""

from __future__ import annotations

import numpy as np

from tactile_sim import _core
from tactile_sim.engines import Contacts


def centers_of_touch(
    contacts: Contacts, positions: np.ndarray, rotations: np.ndarray, bodies: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean position and normal of the contacts on each body, weighted by normal force.

    Args:
        contacts: All contacts of the scene.
        positions: Positions (nbody, 3) of all bodies in the world [m].
        rotations: Rotations (nbody, 3, 3) of all bodies to the world.
        bodies: Ids (n,) of the bodies.

    Returns:
        forces: Sum of the magnitudes of the normal forces on each body (n,) [N].
        centers: Mean position [m] and mean outward unit normal in the frame of each body, concatenated
            (n, 6).

        Both arrays are zero for bodies without contact.
    """
    return _core.centers_of_touch(contacts.values, contacts.ids, positions, rotations, bodies)
