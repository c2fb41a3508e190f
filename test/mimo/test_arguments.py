"""Invalid arguments to methods of touch objects raise errors that name them."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises
from support.touch import BALL, CLASSES, env_of, free, touching

from tactile_sim import TactileSimError
from tactile_sim.mimo.touch import DiscreteTouch, TrimeshTouch


@pytest.fixture(scope="module")
def env():
    return env_of(
        free("ball", BALL), free("other", BALL.replace('"ball"', '"two"'), pos="1 0 .1"), steps=1500
    )


@pytest.fixture(scope="module", params=CLASSES)
def touch(env, request):
    return touching(request.param, env, {"ball": 0.03})


@pytest.mark.parametrize("contact", [-1, 99, 0.0, "first", None, True, [], [0, 1]])
def test_unknown_contact_is_rejected(touch, contact):
    _, part, _ = touch.get_contacts()[0]
    for method in (touch.force_vector, touch.get_contact_normal, touch.get_raw_force):
        with raises(TactileSimError, "contact", repr(contact)):
            method(contact, part)


@pytest.mark.parametrize("part", [99, "ball", None, [], {}])
def test_unknown_part_is_rejected(touch, part):
    contact, *_ = touch.get_contacts()[0]
    for method in (touch.force_vector, touch.get_contact_normal):
        with raises(TactileSimError, repr(part)):
            method(contact, part)
    with raises(TactileSimError, repr(part)):
        touch.get_sensor_count(part)
    assert not touch.has_sensors(part)


@pytest.mark.parametrize("body", [-1, 99, 1.5, "ball", True])
def test_adding_unknown_body_is_rejected(touch, body):
    with raises(TactileSimError, "body", repr(body), "2"):
        touch.add_body(body, scale=0.1)


@pytest.mark.parametrize("spacing", [1e-7, 1e-300])
def test_adding_too_many_sensors_is_rejected_without_effect(touch, spacing):
    before = touch.get_total_sensor_count()
    with raises(TactileSimError, "add_body: scale", f"{spacing:g}"):
        touch.add_body(body_name="other", scale=spacing)
    if isinstance(touch, DiscreteTouch):
        with raises(TactileSimError, "add_geom: scale", f"{spacing:g}"):
            touch.add_geom(geom_name="two", scale=spacing)
    assert touch.get_total_sensor_count() == before


@pytest.mark.parametrize("size", [-1, 1.5, "three", None])
def test_invalid_output_size_is_rejected(touch, size):
    with raises(TactileSimError, "size:", repr(size)):
        touch.get_empty_sensor_dict(size)


def test_outputs_of_wrong_shape_are_rejected(touch):
    (part, outputs), *_ = touch.get_empty_sensor_dict(3).items()
    with raises(TactileSimError, "sensor_dict", "'ball'"):
        touch.flatten_sensor_dict({})
    with raises(TactileSimError, "sensor_dict"):
        touch.flatten_sensor_dict([outputs[:1, 0].tolist()])
    with raises(TactileSimError, "sensor_dict", f"({len(outputs)}, 3)", "(1, 3)"):
        touch.flatten_sensor_dict({part: outputs[:1]})


@pytest.mark.parametrize("k", [-1, 1.5, "all", None, True])
@pytest.mark.parametrize("limit", [-1.0, float("nan"), "near", None, [0.1, 0.2]])
def test_invalid_count_and_distance_are_rejected(touch, k, limit):
    contact, part, _ = touch.get_contacts()[0]
    place = contact if isinstance(touch, DiscreteTouch) else np.zeros(3)
    with raises(TactileSimError, "k:", repr(k)):
        touch.get_k_nearest_sensors(place, part, k)
    with raises(TactileSimError, "distance", repr(limit)):
        touch.get_sensors_within_distance(place, part, limit)


@pytest.mark.parametrize(
    "position", [np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2, 3)), [0, 0, float("nan")], "here", None]
)
def test_invalid_position_is_rejected(env, position):
    touch = touching(TrimeshTouch, env, {"ball": 0.03})
    for method in (
        touch.get_nearest_sensor,
        lambda *of: touch.get_k_nearest_sensors(*of, 3),
        lambda *of: touch.get_sensors_within_distance(*of, 0.1),
    ):
        with raises(TactileSimError, "contact_pos", "(3,)", "(m, 3)"):
            method(position, 1)


@pytest.mark.parametrize("points", [np.zeros((4, 2)), "here", None, np.full((2, 3), np.nan)])
def test_invalid_sensor_positions_are_rejected(env, points):
    touch = touching(DiscreteTouch, env, {"ball": 0.03})
    (geom,) = touch.sensing_geoms
    touch.sensor_positions[geom] = points
    with raises(TactileSimError, "sensor_positions", "'ball'", "(n, 3)"):
        touch.get_touch_obs()
    touch.sensor_positions = None
    with raises(TactileSimError, "sensor_positions", "None"):
        touch.get_touch_obs()
