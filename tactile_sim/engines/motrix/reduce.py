"""Contact sensor values of many environments, computed from raw contacts in the same way as in MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.engines.contacts import Contacts
from tactile_sim.scenes.contact_sensors import REDUCTIONS, WIDTHS, MujocoLayout

FIELDS = 17
"""Number of values in a slot with all fields, in MuJoCo's order."""
SITE = int(mujoco.mjtObj.mjOBJ_SITE)
_UNKNOWN, _GEOM, _BODY, _SUBTREE = (
    int(mujoco.mjtObj.mjOBJ_UNKNOWN),
    int(mujoco.mjtObj.mjOBJ_GEOM),
    int(mujoco.mjtObj.mjOBJ_BODY),
    int(mujoco.mjtObj.mjOBJ_XBODY),
)


def matches(model: mujoco.MjModel, sensor: int, pairs: np.ndarray) -> np.ndarray:
    """Return which pairs of geoms match the two objects of a contact sensor.

    Args:
        model: The model.
        sensor: Id of the sensor.
        pairs: (p, 2) geom ids.

    Returns:
        (p,) 1 if a pair matches, -1 if it matches in the opposite order, and 0 if it does not match.
    """
    kinds = model.sensor_objtype[sensor], model.sensor_reftype[sensor]
    things = model.sensor_objid[sensor], model.sensor_refid[sensor]
    one, two = (_is_of(model, kind, thing, pairs) for kind, thing in zip(kinds, things, strict=True))
    regular, reverse = one[:, 0] & two[:, 1], one[:, 1] & two[:, 0]
    # If both orders match, or one side is unspecified, the order in ``pairs`` takes precedence.
    return np.where(regular, 1, np.where(reverse, -1, 0))


def _is_of(model: mujoco.MjModel, kind: int, thing: int, pairs: np.ndarray) -> np.ndarray:
    """Return a mask (p, 2) of the geoms in pairs (p, 2) that belong to the object on one side of a sensor.

    The object is specified by its type ``kind`` (mjtObj) and its id ``thing``.
    """
    if kind in (_UNKNOWN, SITE):
        return np.ones(pairs.shape, bool)
    if kind == _GEOM:
        return pairs == thing
    bodies = model.geom_bodyid[pairs]
    if kind == _BODY:
        return bodies == thing
    below = np.zeros(model.nbody, bool)
    below[thing] = True
    for body in range(thing + 1, model.nbody):
        below[body] = below[model.body_parentid[body]]
    return below[bodies]


def find(
    contacts: Contacts, envs: np.ndarray, signs: np.ndarray, reduce: str, num_envs: int, slots: int
) -> np.ndarray:
    """Select or sum the contacts that a sensor reports in each environment.

    Args:
        contacts: The c contacts of all environments.
        envs: (c,) environment index of each contact, in ascending order.
        signs: (c,) 1, -1 or 0: how the geoms of each contact match the sensor; see `matches`.
        reduce: Reduction of the sensor, such as ``netforce``.
        num_envs: Number of environments.
        slots: Number of slots.

    Returns:
        (num_envs, slots, FIELDS) values; empty slots are zero.
    """
    out = np.zeros((num_envs, slots, FIELDS))
    _core.reduce_contacts(contacts.values, envs, signs, REDUCTIONS.index(reduce), out)
    return out


def slot_columns(layout: MujocoLayout) -> list[int]:
    """Return the indices of the columns in a slot that contain the fields requested by a sensor."""
    starts = np.cumsum([0, *WIDTHS.values()])
    asked = [k for k in range(len(WIDTHS)) if layout.bits >> k & 1]
    return [column for k in asked for column in range(starts[k], starts[k + 1])]
