"""Contact sensor values of many environments, computed from raw contacts in the same way as in MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.motrix.contacts import RawContacts
from tactile_sim.scenes.sensor_layout import WIDTHS, MujocoLayout
from tactile_sim.scenes.sensor_schema import REDUCTIONS

FOUND, FORCE, TORQUE, DIST, POS, NORMAL, TANGENT, FIELDS = 0, 1, 4, 7, 8, 11, 14, 17
"""Index of each field's first value in a slot, in MuJoCo's order, and the number of values in a slot."""
_MINDIST, _MAXFORCE, _NETFORCE = (REDUCTIONS.index(word) for word in ("mindist", "maxforce", "netforce"))
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
    contacts: RawContacts, envs: np.ndarray, signs: np.ndarray, reduce: str, num_envs: int, slots: int
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
    _find(*contacts[:4], envs, signs, REDUCTIONS.index(reduce), out)
    return out


def slot_columns(layout: MujocoLayout) -> list[int]:
    """Return the indices of the columns in a slot that contain the fields requested by a sensor."""
    starts = np.cumsum([0, *WIDTHS.values()])
    asked = [k for k in range(len(WIDTHS)) if layout.bits >> k & 1]
    return [column for k in asked for column in range(starts[k], starts[k + 1])]


@kernel
def lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the lengths (n,) of vectors (n, 3)."""
    out = np.empty(len(vectors))
    for n in range(len(vectors)):
        out[n] = np.sqrt(_square(vectors[n]))
    return out


@kernel
def _find(position, frame, distance, wrench, envs, signs, mode, out):
    chosen = np.empty(len(envs), np.int64)
    key = np.empty(len(envs))
    stop = 0
    for n in range(len(out)):
        start, found = stop, 0
        while stop < len(envs) and envs[stop] == n:
            stop += 1
        for c in range(start, stop):
            if signs[c] != 0:
                chosen[found] = c
                key[found] = distance[c] if mode == _MINDIST else -_square(wrench[c])
                found += 1
        if found == 0:
            continue
        if mode == _NETFORCE:
            _sum(position, frame, wrench, signs, chosen[:found], out[n, 0])
            continue
        slots = min(found, out.shape[1])
        for s in range(slots):
            if mode == _MINDIST or mode == _MAXFORCE:
                best = s
                for k in range(s + 1, found):
                    if key[k] < key[best] or (key[k] == key[best] and chosen[k] < chosen[best]):
                        best = k
                chosen[s], chosen[best] = chosen[best], chosen[s]
                key[s], key[best] = key[best], key[s]
            c, slot = chosen[s], out[n, s]
            sign = float(signs[c])
            slot[FOUND] = found
            slot[FORCE : FORCE + 6] = wrench[c]
            # In the opposite order, the normal and the first tangent are negated.
            slot[FORCE + 2] *= sign
            slot[TORQUE + 2] *= sign
            slot[DIST] = distance[c]
            slot[POS : POS + 3] = position[c]
            for i in range(3):
                slot[NORMAL + i] = sign * frame[c, i]
                slot[TANGENT + i] = sign * frame[c, 3 + i]


@kernel
def _square(wrench):
    """Return the squared norm of a wrench's force."""
    return wrench[0] ** 2 + wrench[1] ** 2 + wrench[2] ** 2


@kernel
def _sum(position, frame, wrench, signs, chosen, slot):
    """Write the net force and torque of the chosen contacts to a slot, in the world frame.

    Their point of application is the force-weighted mean of the contact positions.
    """
    slot[FOUND] = len(chosen)
    slot[NORMAL] = 1.0
    slot[TANGENT + 1] = 1.0
    weights = 0.0
    for c in chosen:
        weight = np.sqrt(_square(wrench[c]))
        weights += weight
        for i in range(3):
            slot[POS + i] += weight * position[c, i]
    for i in range(3):
        slot[POS + i] /= max(weights, 1e-15)
    force, lever = np.empty(3), np.empty(3)
    for c in chosen:
        sign = float(signs[c])
        for i in range(3):
            force[i] = 0.0
            lever[i] = position[c, i] - slot[POS + i]
            for row in range(3):
                force[i] += sign * wrench[c, row] * frame[c, 3 * row + i]
                slot[TORQUE + i] += sign * wrench[c, 3 + row] * frame[c, 3 * row + i]
            slot[FORCE + i] += force[i]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            slot[TORQUE + i] += lever[j] * force[k] - lever[k] * force[j]
