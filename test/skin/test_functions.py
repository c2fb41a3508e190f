"""Shipped and custom touch and response functions: how loads are distributed to taxels."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises
from support.loads import loads_at, one_geom

from tactile_sim import ConfigError
from tactile_sim.skin import RESPONSE_FUNCTIONS, Shares, TouchFunction


@pytest.mark.parametrize(
    "geom",
    [
        'type="sphere" size=".1"',
        'type="box" size=".1 .08 .002"',
        'type="capsule" size=".02 .1"',
        'type="ellipsoid" size=".1 .06 .01"',
        'type="cylinder" size=".004 .1"',
    ],
)
def test_nearest_is_what_brute_force_finds(geom):
    skin = one_geom(geom, 0.012)
    rng = np.random.default_rng(3)
    taxel = rng.integers(len(skin.positions), size=400)
    # Points on the skin, near it and far away; loads along the normal and in random directions.
    points = skin.positions[taxel] + rng.normal(size=(400, 3)) * rng.choice([0.003, 0.02, 0.3], (400, 1))
    normals = -skin.normals[taxel] + rng.normal(size=(400, 3)) * rng.choice([0.1, 3], (400, 1))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    distance = np.linalg.norm(skin.positions - points[:, None], axis=2)
    facing = np.where(normals @ skin.normals.T < 0.3, distance, np.inf)
    expected = np.where(facing.min(axis=1) <= 0.024, facing.argmin(axis=1), distance.argmin(axis=1))
    np.testing.assert_array_equal(skin.nearest(loads_at(points, normals)), expected)


def test_spread_linear_falls_linearly_to_nothing_at_two_spacings():
    spacing = 0.01
    skin = one_geom('size=".2"', spacing)
    rng = np.random.default_rng(5)
    for direction in rng.normal(size=(20, 3)):
        direction /= np.linalg.norm(direction)
        felt = skin.readings_from_loads(loads_at(0.2 * direction, -direction), "normal")[:, 0]
        distance = np.linalg.norm(skin.positions - 0.2 * direction, axis=1)
        law = np.maximum(1 - distance / (2 * spacing), 0)
        np.testing.assert_allclose(felt, law / law.sum(), atol=1e-12)


def test_a_load_far_from_all_taxels_goes_to_the_nearest():
    skin = one_geom('size=".02"', 0.005)
    for response in RESPONSE_FUNCTIONS:
        felt = skin.readings_from_loads(
            loads_at([1.0, 0, 0], [-1, 0, 0], [3, 4, 0]), "force_vector", response
        )
        taxel = np.argmin(np.linalg.norm(skin.positions - [1, 0, 0], axis=1))
        np.testing.assert_array_equal(felt[taxel], [3, 4, 0])
        assert np.count_nonzero(felt.any(axis=1)) == 1


def test_a_load_from_a_state_that_blew_up_still_ends_on_its_body():
    skin = one_geom('size=".02"', 0.005)
    for point in ([np.nan, 0, 0], [np.inf, 0, 0], [1e300, 0, 0]):
        for response in RESPONSE_FUNCTIONS:
            felt = skin.readings_from_loads(loads_at(point, [-1, 0, 0]), "normal", response)
            assert felt.sum() == 1


def test_a_touch_and_a_response_of_ones_own_are_taken():
    skin = one_geom('size=".1"', 0.02)
    loads = loads_at([0, 0, 0.1], [0, 0, -1], [3, 4, -2])

    def to_first(skin, loads):
        return Shares(np.array([0, 1]), np.array([0]), np.ones(1))

    friction = TouchFunction(1, "N", lambda loads: np.linalg.norm(loads.force[:, :2], axis=1)[:, None])
    felt = skin.readings_from_loads(loads, friction, to_first)
    assert felt.shape == (len(skin.positions), 1)
    assert felt[0, 0] == felt.sum() == 5


@pytest.mark.parametrize(
    ("shares", "facts"),
    [
        (Shares(np.array([0, 1]), np.array([10**6]), np.ones(1)), ["taxels", "1000000"]),
        (Shares(np.array([0, 1]), np.array([-1]), np.ones(1)), ["taxels", "-1"]),
        (Shares(np.array([0, 3]), np.array([0]), np.ones(1)), ["taxel", "weight", "3"]),
        (Shares(np.array([0]), np.array([0]), np.ones(1)), ["begin", "2", "1 loads"]),
        (None, ["to_nowhere", "Shares", "None"]),
    ],
)
def test_invalid_shares_of_a_users_response_are_rejected(shares, facts):
    skin, loads = one_geom('size=".1"', 0.02), loads_at([0, 0, 0.1], [0, 0, -1])

    def to_nowhere(skin, loads):
        return shares

    with raises(ConfigError, *facts):
        skin.readings_from_loads(loads, response=to_nowhere)
    with raises(ConfigError, "begin", "0 loads", "(2,)"):
        skin.readings_from_loads(loads[:0], response=skin.shares(loads, "nearest"))


def test_weights_of_ones_own_that_are_negative_take_nothing_from_the_sum():
    skin, loads = one_geom('size=".1"', 0.01), loads_at([0, 0, 0.1], [0, 0, -1])

    def narrow(skin, loads):
        near = skin.taxels_near_loads(loads, 0.03)
        return near.shares(0.015 - near.distance)

    near = skin.taxels_near_loads(loads, 0.03)
    felt = skin.readings_from_loads(loads, "normal", narrow)[:, 0]
    assert felt.sum() == pytest.approx(1, rel=1e-12)
    assert set(np.flatnonzero(felt)) == set(near.taxel[near.distance < 0.015])


def test_errors_name_the_nearest_function():
    skin = one_geom('size=".1"', 0.02)
    loads = loads_at([0, 0, 0.1], [0, 0, -1])
    with pytest.raises(ConfigError, match="did you mean 'force_vector'"):
        skin.readings_from_loads(loads, "force_vectr")
    with pytest.raises(ConfigError, match="did you mean 'nearest'"):
        skin.readings_from_loads(loads, response="nearst")
