"""Contacts from motrixsim's contact sensors, with corrected frames and signs."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.motrix.scene import SLOTS

_FORCE, _TORQUE, _DIST, _POS, _NORMAL, _TANGENT, STRIDE = 0, 3, 6, 7, 10, 13, 16
"""Index of each field's first value in a slot, and the number of values in a slot."""
WIDTH = 1 + SLOTS * STRIDE
"""Number of values that a contact sensor returns: the number of contacts and the values of all slots."""


class RawContacts(NamedTuple):
    """n contacts of one environment, or of several environments in ascending order.

    In contrast to motrixsim's values, the position is midway between the surfaces, the frame is
    right-handed and orthonormal in double precision, and the signs of the wrench match that frame.
    """

    position: np.ndarray
    """(n, 3) position of each contact [m], in the world frame."""
    frame: np.ndarray
    """(n, 9) axes of each contact frame, expressed in the world frame: the unit normal from geom 1 to geom 2,
    then two unit tangents."""
    distance: np.ndarray
    """(n,) distance between the two geoms at each contact [m], negative if they penetrate."""
    wrench: np.ndarray
    """(n, 6) force [N] and torque [N m] on geom 2 at each contact, expressed in the contact frame."""
    pair: np.ndarray
    """(n,) index of the geom pair that each contact belongs to; see `MotrixBatch.read_contacts`."""


def read_raw(raw: np.ndarray, flipped: np.ndarray) -> RawContacts:
    """Return the contacts measured by the sensors on p pairs of geoms.

    For several environments, p is the number of pairs in all environments.

    Args:
        raw: (p, WIDTH) float32 values of the sensors.
        flipped: (p,) bool, True if motrixsim's order of the two geoms is opposite to their order in the pair.

    Returns:
        The contacts of all pairs.
    """
    n = int(np.minimum(raw[:, 0], SLOTS).sum())
    contacts = RawContacts(
        np.empty((n, 3)), np.empty((n, 9)), np.empty(n), np.empty((n, 6)), np.empty(n, np.int32)
    )
    if n:
        _correct(raw, flipped, *contacts)
    return contacts


@kernel
def _correct(raw, flipped, position, frame, distance, wrench, pair):
    """Write the contacts in ``raw``, with corrected frames and signs, into the arrays of `RawContacts`.

    ``raw`` and ``flipped`` are the arguments of `read_raw`. The other arguments are the arrays to write.
    """
    c = 0
    for p in range(len(raw)):
        for s in range(min(int(raw[p, 0]), SLOTS)):
            slot = raw[p, 1 + s * STRIDE : 1 + (s + 1) * STRIDE]
            normal, tangent, across = frame[c, :3], frame[c, 3:6], frame[c, 6:]
            along = 0.0
            length = 0.0
            for i in range(3):
                normal[i] = slot[_NORMAL + i]
                length += normal[i] ** 2
            length = np.sqrt(length)
            for i in range(3):
                normal[i] /= length
                along += normal[i] * slot[_TANGENT + i]
            length = 0.0
            for i in range(3):
                tangent[i] = slot[_TANGENT + i] - along * normal[i]
                length += tangent[i] ** 2
            length = np.sqrt(length)
            for i in range(3):
                tangent[i] /= length
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                across[i] = normal[j] * tangent[k] - normal[k] * tangent[j]

            # Torques have the sign of the torque of geom 2 on geom 1. If a pair is in the opposite order to
            # the engine's, normal and tangent are negated, but the force along their product is not.
            last = -1.0 if flipped[p] else 1.0
            for i in range(3):
                sign = last if i == 2 else 1.0
                wrench[c, i] = sign * slot[_FORCE + i]
                wrench[c, 3 + i] = -sign * slot[_TORQUE + i]
            distance[c] = slot[_DIST]
            # motrixsim's position is on the surface of geom 1.
            for i in range(3):
                position[c, i] = slot[_POS + i] + 0.5 * distance[c] * normal[i]
            pair[c] = p
            c += 1


def sliding_friction(model: mujoco.MjModel, geoms: np.ndarray) -> np.ndarray:
    """Return the coefficient of sliding friction between the geoms of each pair.

    The geom with the higher priority determines the coefficient. If the priorities are equal, the larger
    coefficient is used.

    Args:
        model: The model.
        geoms: (n, 2) geom ids of the pairs.

    Returns:
        (n,) coefficients.
    """
    coefficients, priority = model.geom_friction[geoms, 0], model.geom_priority[geoms]
    higher = coefficients[np.arange(len(geoms)), priority.argmax(axis=1)]
    return np.where(priority[:, 0] == priority[:, 1], coefficients.max(axis=1), higher)


_ANY = mujoco.MjContact()
_ANY.efc_address = -1
_NEAR_ENOUGH = 1e3
"""Distance below which MuJoCo treats a contact as active [m]; large enough to include all contacts."""


def write_contacts(
    model: mujoco.MjModel, data: mujoco.MjData, contacts: RawContacts, geoms: np.ndarray
) -> None:
    """Write contacts and their forces to MuJoCo's data.

    Args:
        model: A model with elliptic friction cones, so that constraint forces are in contact frames.
        data: Data with up-to-date poses and no contacts.
        contacts: The n contacts to write.
        geoms: (n, 2) geom ids of each contact.
    """
    for _ in range(len(geoms)):
        mujoco.mj_addContact(model, data, _ANY)
    if len(geoms):
        contact = data.contact
        contact.pos[:] = contacts.position
        contact.frame[:] = contacts.frame
        contact.dist[:] = contacts.distance
        contact.geom[:] = geoms
        contact.geom1[:], contact.geom2[:] = geoms.T
        contact.flex[:] = contact.elem[:] = contact.vert[:] = -1
        contact.dim[:] = 6
        contact.exclude[:] = 0
        contact.includemargin[:] = _NEAR_ENOUGH
        contact.friction[:] = 1.0
        contact.friction[:, :2] = sliding_friction(model, geoms)[:, None]
        contact.solref[:] = (0.02, 1.0)
        contact.solimp[:] = (0.9, 0.95, 0.001, 0.5, 2.0)
    mujoco.mj_makeConstraint(model, data)
    data.efc_force[:] = 0.0
    if len(geoms):
        rows = data.contact.efc_address[:, None] + np.arange(6)
        data.efc_force[rows] = contacts.wrench
