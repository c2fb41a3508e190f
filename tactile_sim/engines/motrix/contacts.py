"""Contacts from motrixsim's contact sensors, with corrected frames and signs."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.motrix.scene import SLOTS

WIDTH = 1 + SLOTS * 16
"""Number of values that a contact sensor returns: the number of contacts and the values of all slots."""


def read_raw(raw: np.ndarray, flipped: np.ndarray) -> Contacts:
    """Return the contacts measured by the sensors on p pairs of geoms.

    For several environments, p is the number of pairs in all environments, in ascending order.

    Args:
        raw: (p, WIDTH) float32 values of the sensors.
        flipped: (p,) bool, True if motrixsim's order of the two geoms is opposite to their order in the pair.

    Returns:
        The contacts of all pairs, of which only position, frame, distance, wrench and index are set. The
        index is that of the pair. In contrast to motrixsim's values, the position is midway between the
        surfaces, the frame is right-handed and orthonormal in double precision, and the signs of the wrench
        match it.
    """
    return Contacts(*_core.read_motrix(raw, flipped))


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


def write_contacts(model: mujoco.MjModel, data: mujoco.MjData, contacts: Contacts, geoms: np.ndarray) -> None:
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
        contact.frame[:] = contacts.frame.reshape(-1, 9)
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
