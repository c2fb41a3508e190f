"""Compute the readings of one skin in many environments, in compiled loops that release the GIL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.contacts import Contacts
from tactile_sim.skin.checks import find_touch, number_of
from tactile_sim.skin.contact_loads import resolve_loads
from tactile_sim.skin.kernels import mark_inside, net_wrenches, press_loads, share_values, to_taxel_axes
from tactile_sim.skin.loads import LOAD
from tactile_sim.skin.responses import (
    ELASTIC,
    LAWS,
    RESPONSE_FUNCTIONS,
    Response,
    spread,
)
from tactile_sim.skin.shares import gather
from tactile_sim.skin.skin import Skin
from tactile_sim.skin.sparse import sparse_zeros
from tactile_sim.skin.taxels import choose
from tactile_sim.skin.touch_functions import TouchFunction

NO_FACTOR = np.empty((0, 1))


class ManyContacts(NamedTuple):
    """Contacts and poses in n environments with up to k contacts each."""

    counts: np.ndarray
    """(n,) int32 number of contacts in each environment."""
    values: np.ndarray
    """(n, k, Contacts.WIDTH) float64 values of the contacts, see `Contacts`."""
    ids: np.ndarray
    """(n, k, Contacts.IDS) int32 ids of the contacts, see `Contacts`."""
    positions: np.ndarray
    """(n, nbody, 3) origins of the bodies in the world [m]."""
    rotations: np.ndarray
    """(n, nbody, 3, 3) rotations from body frames to the world."""


class ManyReadings(NamedTuple):
    """Readings of the skin in n environments. The arrays start as zeros and are written in place."""

    taxels: np.ndarray
    """(n, taxels, channels) readings."""
    touched: np.ndarray
    """(n, taxels) int32 indices of the touched taxels. Readings of all other taxels are 0. In row k, only the
    first ``touched_counts[k]`` entries are valid."""
    touched_counts: np.ndarray
    """(n,) int32 number of touched taxels in each environment."""
    wrenches: np.ndarray
    """(n, bodies, 6) net force [N] and torque [N m] on each body with skin, about the origin and in the frame
    of the body."""

    @staticmethod
    def zeros(environments: int, skin: Skin, channels: int) -> ManyReadings:
        """Return readings for a skin, with all values 0."""
        taxels = len(skin.positions)
        return ManyReadings(
            sparse_zeros((environments, taxels, channels), float),
            sparse_zeros((environments, taxels), np.int32),
            np.zeros(environments, np.int32),
            np.zeros((environments, len(skin.body_ids), 6)),
        )


def read_environments(
    skin: Skin,
    contacts: ManyContacts,
    first: int,
    last: int,
    touch: str | TouchFunction,
    response: str | Response,
    out: ManyReadings,
) -> None:
    """Write the readings and wrenches of environments [first, last).

    They are bit-identical to the results of `Skin.readings_from_contacts` and `Skin.body_wrenches`.

    Args:
        skin: The skin; each thread needs a separate one, see `Skin.twin`.
        contacts: Contacts and poses.
        first: First environment.
        last: One past the last environment.
        touch: As in `Skin.readings_from_loads`; a user-defined function runs in Python for each environment.
        response: As ``touch``.
        out: Output; must contain zeros or the previous readings.
    """
    touch, quantity = find_touch(touch)
    response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
    law = number_of(response, LAWS)
    if quantity is None or law is None:
        _wrenches(first, last, *contacts, skin._slot, out.wrenches)
        for env in range(first, last):
            count = contacts.counts[env]
            here = Contacts(contacts.values[env, :count], contacts.ids[env, :count])
            out.taxels[env] = skin.readings_from_contacts(
                here, contacts.positions[env], contacts.rotations[env], touch, response
            )
            touched = np.flatnonzero((out.taxels[env] != 0.0).any(axis=1))
            out.touched[env, : len(touched)] = touched
            out.touched_counts[env] = len(touched)
    else:
        mark = np.zeros(len(skin.positions), bool)
        factor = NO_FACTOR if touch.factor is None else skin._factors_of(touch.factor)
        env = first
        while True:
            env = _feel(
                env, last, *contacts, skin._geoms, skin.patch_bodies, skin._slot, quantity, touch.mean, law,
                skin._extents, skin._index, skin.elastic_table, skin._room,
                skin._sums_of(touch.channels), skin._has_limits, touch.frame == "taxel", skin.axes, factor,
                mark, *out,
            )  # fmt: skip
            if env == last:
                break
            skin._make_room()


@kernel(nogil=True)
def _feel(
    first, last, counts, values, ids, positions, rotations, geoms, patch_bodies, slot, quantity, mean, law,
    extents, index, arrays, room, sums, limited, in_taxel_axes, axes, factor, mark,
    out, touched, touched_counts, wrenches,
):  # fmt: skip
    """Write the readings of environments [first, last), see `read_environments`.

    Returns:
        ``last``, or the first environment that was not written because a search found more taxels than fit
        into the memory.
    """
    none = np.empty(0)
    for env in range(first, last):
        count = counts[env]
        contact_values, contact_ids = values[env, :count], ids[env, :count]
        table = np.empty(2 * count, LOAD)
        number = resolve_loads(
            contact_values, contact_ids, geoms, patch_bodies, positions[env], rotations[env], table
        )
        loads = table[:number]
        for k in range(touched_counts[env]):
            out[env, touched[env, k]] = 0.0
        touched_counts[env] = 0
        if law == ELASTIC:
            enough, taxels = press_loads(loads, quantity, mean, extents, arrays, room, sums, out[env])
            if not enough:
                return env
        else:
            if limited:
                alone, inside = np.full(number, -1), np.empty(number, np.bool_)
                mark_inside(loads, alone, 0, extents, index, inside)
                loads = loads[inside]
                number = len(loads)
            begin = np.empty(number + 1, np.int64)
            taxel, weight = np.empty(room * number, np.int64), np.empty(room * number)
            found = spread(loads, law, none, extents, index, begin, taxel, weight)
            if found < 0:
                return env
            values_of_shares = share_values(loads, quantity, begin, taxel, index)
            gather(loads, begin, taxel, weight, values_of_shares, mean, sums, out[env])
            taxels = taxel[:found]
        reached = 0
        for t in taxels:
            if not mark[t]:
                mark[t] = True
                touched[env, reached] = t
                reached += 1
        for k in range(reached):
            t = touched[env, k]
            mark[t] = False
            if in_taxel_axes:
                to_taxel_axes(out[env, t : t + 1], axes[t : t + 1])
            if len(factor) and out[env, t, 0] != 0.0:
                for c in range(out.shape[2]):
                    out[env, t, c] *= factor[t, 0]
        touched_counts[env] = reached
        wrenches[env] = 0.0
        net_wrenches(contact_values, contact_ids, slot, positions[env], rotations[env], wrenches[env])
    return last


@kernel(nogil=True)
def _wrenches(first, last, counts, values, ids, positions, rotations, slot, out):
    for env in range(first, last):
        count = counts[env]
        out[env] = 0.0
        net_wrenches(values[env, :count], ids[env, :count], slot, positions[env], rotations[env], out[env])
