"""Compute the centre of touch of each body with skin."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines import Contacts


def centres_of_touch(
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
        centres: Mean position [m] and mean outward unit normal in the frame of each body, concatenated
            (n, 6).

        Both arrays are zero for bodies without contact.
    """
    return _centres(contacts.values, contacts.ids, positions, rotations, bodies)


POSITION, FRAME, WRENCH, BODIES = Contacts.POSITION, Contacts.FRAME, Contacts.WRENCH, Contacts.BODIES


@kernel
def _centres(values, ids, positions, rotations, bodies):
    weights, centres = np.zeros(len(bodies)), np.zeros((len(bodies), 6))
    sums = np.zeros(6)
    for n in range(len(bodies)):
        body = bodies[n]
        sums[:] = 0.0
        for c in range(len(ids)):
            first = ids[c, BODIES] == body
            if not (first or ids[c, BODIES + 1] == body):
                continue
            weight = abs(values[c, WRENCH])
            # The contact's normal points from the first body to the second.
            outward = weight if first else -weight
            weights[n] += weight
            for i in range(3):
                sums[i] += weight * (values[c, POSITION + i] - positions[body, i])
                sums[3 + i] += outward * values[c, FRAME + i]
        if weights[n] == 0.0:
            continue
        length = np.sqrt(sums[3] ** 2 + sums[4] ** 2 + sums[5] ** 2)
        for i in range(3):
            for j in range(3):
                centres[n, i] += rotations[body, j, i] * sums[j] / weights[n]
                if length > 0.0:
                    centres[n, 3 + i] += rotations[body, j, i] * sums[3 + j] / length
    return weights, centres
