"""Test that threads can share a skin."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.pressing import block, on_plate

from tactile_sim.skin import RESPONSE_FUNCTIONS
from tactile_sim.skin.many import ManyContacts, ManyReadings, read_environments

ENVIRONMENTS, THREADS = 64, 4


@pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
def test_threads_that_share_a_skin_read_the_same(response):
    simulation = on_plate(block())
    simulation.engine.forward()
    contacts, skin = simulation.engine.contacts(), simulation.skin
    poses = simulation.engine.body_positions, simulation.engine.body_rotations
    many = ManyContacts(
        np.arange(ENVIRONMENTS, dtype=np.int32) % (len(contacts) + 1),  # each environment has other contacts
        *(np.stack([part] * ENVIRONMENTS) for part in (contacts.values, contacts.ids, *poses)),
    )
    out = ManyReadings.zeros(ENVIRONMENTS, skin, 3)

    def read(first: int) -> None:
        for _ in range(5):
            read_environments(
                skin, many, first, first + ENVIRONMENTS // THREADS, "force_vector", response, out
            )

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(read, range(0, ENVIRONMENTS, ENVIRONMENTS // THREADS)))
    for env in range(ENVIRONMENTS):
        alone = type(contacts)(contacts.values[: many.counts[env]], contacts.ids[: many.counts[env]])
        expected = skin.readings_from_contacts(alone, *poses, "force_vector", response)
        np.testing.assert_array_equal(out.taxels[env], expected)
        assert set(out.touched[env, : out.touched_counts[env]]) >= set(np.flatnonzero(expected.any(axis=1)))
        np.testing.assert_array_equal(out.wrenches[env], skin.body_wrenches(alone, *poses))
