"""Compute the readings of one skin in many environments, in native code that releases the GIL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.skin.checks import find_touch, number_of
from tactile_sim.skin.responses import LAWS, RESPONSE_FUNCTIONS, Response
from tactile_sim.skin.skin import Skin
from tactile_sim.skin.sparse import sparse_zeros
from tactile_sim.skin.taxels import choose
from tactile_sim.skin.touch_functions import TouchFunction


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
        skin: The skin, which several threads can use.
        contacts: Contacts and poses.
        first: First environment.
        last: One past the last environment.
        touch: Name or function; a user-defined function runs in Python for each environment.
        response: Name or function, likewise.
        out: Output; must contain zeros or the previous readings.
    """
    touch, quantity = find_touch(touch)
    response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
    law = number_of(response, LAWS)
    if quantity is not None and law is not None:
        function = skin._function(touch, quantity, law)
        skin.native.read_environments(function, *contacts, first, last, *out)
        return
    for env in range(first, last):
        count = contacts.counts[env]
        here = Contacts(contacts.values[env, :count], contacts.ids[env, :count])
        poses = contacts.positions[env], contacts.rotations[env]
        out.taxels[env] = skin.readings_from_contacts(here, *poses, touch, response)
        touched = np.flatnonzero((out.taxels[env] != 0.0).any(axis=1))
        out.touched[env, : len(touched)] = touched
        out.touched_counts[env] = len(touched)
        out.wrenches[env] = skin.native.wrenches(here.values, here.ids, *poses)
