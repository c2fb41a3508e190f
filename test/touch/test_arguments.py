"""What the methods of touch systems are asked with: what cannot be is told, never guessed."""

from __future__ import annotations

import numpy as np
import pytest
from touching import BALL, CLASSES, env_of, free, touching

from tactile_sim import TactileSimError
from tactile_sim.touch import DiscreteTouch, TrimeshTouch


@pytest.fixture(scope="module")
def env():
    return env_of(
        free("ball", BALL), free("other", BALL.replace('"ball"', '"two"'), pos="1 0 .1"), steps=1500
    )


@pytest.fixture(scope="module", params=CLASSES)
def touch(env, request):
    return touching(request.param, env, {"ball": 0.03})


@pytest.mark.parametrize("contact", [-1, 99, 0.0, "first", None, True])
def test_a_contact_that_does_not_exist_is_told(touch, contact):
    _, part, _ = touch.get_contacts()[0]
    for ask in (touch.force_vector, touch.get_contact_normal, touch.get_raw_force):
        with pytest.raises(TactileSimError, match=f"there is no contact {contact!r}: there are"):
            ask(contact, part)


@pytest.mark.parametrize("body", [-1, 99, 1.5, "ball", True])
def test_a_body_to_add_that_does_not_exist_is_told(touch, body):
    with pytest.raises(TactileSimError, match=f"there is no body {body!r}: ids are 0 to 2"):
        touch.add_body(body, scale=0.1)


@pytest.mark.parametrize("spacing", [1e-7, 1e-300])
def test_too_many_sensors_to_add_are_told_and_change_nothing(touch, spacing):
    before = touch.get_total_sensor_count()
    with pytest.raises(TactileSimError, match="add_body: scale: a spacing of .* makes too many taxels"):
        touch.add_body(body_name="other", scale=spacing)
    if isinstance(touch, DiscreteTouch):
        with pytest.raises(TactileSimError, match="add_geom: scale: a spacing of .* makes too many taxels"):
            touch.add_geom(geom_name="two", scale=spacing)
    assert touch.get_total_sensor_count() == before


@pytest.mark.parametrize("size", [-1, 1.5, "three", None])
def test_a_size_of_outputs_that_cannot_be_is_told(touch, size):
    with pytest.raises(TactileSimError, match=f"size: needs a whole number of at least 0, but is {size!r}"):
        touch.get_empty_sensor_dict(size)


def test_outputs_that_do_not_fit_the_sensors_are_told(touch):
    (part, outputs), *_ = touch.get_empty_sensor_dict(3).items()
    with pytest.raises(TactileSimError, match="sensor_dict: .* is missing"):
        touch.flatten_sensor_dict({})
    with pytest.raises(TactileSimError, match="sensor_dict: needs a mapping"):
        touch.flatten_sensor_dict([outputs])
    with pytest.raises(TactileSimError, match=rf"needs an array \({len(outputs)}, 3\), but has one \(1, 3\)"):
        touch.flatten_sensor_dict({part: outputs[:1]})


@pytest.mark.parametrize("k", [-1, 1.5, "all", None, True])
@pytest.mark.parametrize("limit", [-1.0, float("nan"), "near", None, [0.1, 0.2]])
def test_a_number_and_a_limit_of_sensors_that_cannot_be_are_told(touch, k, limit):
    contact, part, _ = touch.get_contacts()[0]
    place = contact if isinstance(touch, DiscreteTouch) else np.zeros(3)
    with pytest.raises(TactileSimError, match="k: needs a whole number of at least 0"):
        touch.get_k_nearest_sensors(place, part, k)
    with pytest.raises(TactileSimError, match=r"distance.*: needs a distance of 0 or more \[m\]"):
        touch.get_sensors_within_distance(place, part, limit)


@pytest.mark.parametrize(
    "position", [np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2, 3)), [0, 0, float("nan")], "here", None]
)
def test_a_position_that_is_none_is_told(env, position):
    touch = touching(TrimeshTouch, env, {"ball": 0.03})
    for ask in (
        touch.get_nearest_sensor,
        lambda *of: touch.get_k_nearest_sensors(*of, 3),
        lambda *of: touch.get_sensors_within_distance(*of, 0.1),
    ):
        with pytest.raises(TactileSimError, match=r"contact_pos: needs a position \(3,\) or \(m, 3\)"):
            ask(position, 1)


@pytest.mark.parametrize("points", [np.zeros((4, 2)), "here", None, np.full((2, 3), np.nan)])
def test_sensors_moved_to_no_positions_are_told(env, points):
    touch = touching(DiscreteTouch, env, {"ball": 0.03})
    (geom,) = touch.sensing_geoms
    touch.sensor_positions[geom] = points
    with pytest.raises(TactileSimError, match=r"sensor_positions: geom 'ball' needs \(n, 3\) finite numbers"):
        touch.get_touch_obs()
    touch.sensor_positions = None
    with pytest.raises(TactileSimError, match="sensor_positions: needs a dict"):
        touch.get_touch_obs()
