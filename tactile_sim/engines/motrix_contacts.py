"""Contacts as motrixsim's contact sensors tell them, put right."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.motrix_scene import SLOTS

_FORCE, _TORQUE, _DIST, _POS, _NORMAL, _TANGENT, STRIDE = 0, 3, 6, 7, 10, 13, 16
"""First columns of the fields in a slot, and how many numbers it has."""
WIDTH = 1 + SLOTS * STRIDE
"""Numbers of a sensor: how many contacts it found, then its slots."""


class RawContacts(NamedTuple):
    """n contacts of one environment.

    In contrast to what motrixsim tells, the position is midway between the surfaces, the frame right-handed
    and orthonormal in double precision, and the wrench has the signs that go with that frame.
    """

    position: np.ndarray
    """(n, 3) world [m]"""
    frame: np.ndarray
    """(n, 9) normal from geom 1 to geom 2, first tangent, second tangent; world, unit"""
    distance: np.ndarray
    """(n,) [m], negative inside"""
    wrench: np.ndarray
    """(n, 6) on geom 2 along the frame [N, N m]"""
    pair: np.ndarray
    """(n,) which pair of geoms"""


def read_raw(raw: np.ndarray, flipped: np.ndarray) -> RawContacts:
    """The contacts behind the sensors of p pairs of geoms.

    raw (p, WIDTH) float32; flipped (p,): whether a pair is named against motrixsim's own order.
    """
    n = int(np.minimum(raw[:, 0], SLOTS).sum())
    contacts = RawContacts(
        np.empty((n, 3)), np.empty((n, 9)), np.empty(n), np.empty((n, 6)), np.empty(n, np.int32)
    )
    if n:
        _put_right(raw, flipped, *contacts)
    return contacts


@kernel
def _put_right(raw, flipped, position, frame, distance, wrench, pair):
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

            # Torques come with the sign of what geom 2 does to geom 1. Where a pair is named against the
            # engine's own order, normal and tangent are turned, but what goes along their product is not.
            last = -1.0 if flipped[p] else 1.0
            for i in range(3):
                sign = last if i == 2 else 1.0
                wrench[c, i] = sign * slot[_FORCE + i]
                wrench[c, 3 + i] = -sign * slot[_TORQUE + i]
            distance[c] = slot[_DIST]
            # The position told is on the surface of geom 1.
            for i in range(3):
                position[c, i] = slot[_POS + i] + 0.5 * distance[c] * normal[i]
            pair[c] = p
            c += 1


_ANY = mujoco.MjContact()
_ANY.efc_address = -1
_NEAR_ENOUGH = 1e3
"""MuJoCo takes no contact for active that is further apart than this [m]: all of these are."""


def put_into(model: mujoco.MjModel, data: mujoco.MjData, contacts: RawContacts, geoms: np.ndarray) -> None:
    """Makes these the contacts of MuJoCo's data, with their forces.

    model: with an elliptic cone, where the forces of constraints are those along the frame; data: with poses,
    but without contacts; geoms (n, 2): ids.
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
        contact.solref[:] = (0.02, 1.0)
        contact.solimp[:] = (0.9, 0.95, 0.001, 0.5, 2.0)
    mujoco.mj_makeConstraint(model, data)
    data.efc_force[:] = 0.0
    if len(geoms):
        rows = data.contact.efc_address[:, None] + np.arange(6)
        data.efc_force[rows] = contacts.wrench
