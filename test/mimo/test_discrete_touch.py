"""DiscreteTouch: sensors on geoms."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises
from support.touch import BALL, WEIGHT, env_of, free, pile, sum_in_world, touching

from tactile_sim import ConfigError, SceneError
from tactile_sim.mimo import sensorpoints
from tactile_sim.mimo.touch import DiscreteTouch, scale_linear

LEFT = '<geom name="left" size=".1" pos="-.08 0 0" euler="30 40 50"/>'
TWO = LEFT + '<geom name="right" size=".1" pos=".08 0 0"/>'
SETTLED = 1500


@pytest.fixture(scope="module")
def piled():
    return pile()


@pytest.fixture
def ball():
    return touching(DiscreteTouch, env_of(free("ball", BALL), steps=SETTLED), {"ball": 0.03})


def test_sensor_positions_are_in_geom_frames():
    env = env_of(free("body", TWO, '<geom type="box" size=".05 .04 .03" euler="0 90 0"/>'))
    touch = touching(DiscreteTouch, env, {1: 0.02})
    assert touch.sensing_geoms == list(touch.sensor_positions) == [1, 2, 3]
    for geom in (1, 2):
        expected = sensorpoints.spread_points_sphere(0.02, 0.1)
        np.testing.assert_allclose(touch.sensor_positions[geom], expected, rtol=0, atol=1e-12)
    expected = sensorpoints.spread_points_box(0.02, np.array([0.05, 0.04, 0.03]))
    np.testing.assert_allclose(touch.sensor_positions[3], expected, rtol=0, atol=1e-12)
    assert touch.plotting_limits == {1: pytest.approx(0.1), 2: pytest.approx(0.1), 3: pytest.approx(0.05)}
    assert touch.get_total_sensor_count() == sum(map(touch.get_sensor_count, (1, 2, 3)))


def test_contact_methods_use_the_geom_frame(piled):
    touch = touching(DiscreteTouch, piled, {"*": 0.02})
    for contact, geom, force in touch.get_contacts():
        rotation = piled.data.geom_xmat[geom].reshape(3, 3)
        world = touch.force_vector_global(contact_id=contact, geom_id=geom)
        np.testing.assert_allclose(force, world @ rotation, atol=1e-9)
        raw = touch.get_raw_force(contact, geom)
        np.testing.assert_allclose(raw @ piled.data.contact.frame[contact].reshape(3, 3), world, atol=1e-9)
        normal = touch.get_contact_normal(contact, geom)
        np.testing.assert_allclose(
            touch.normal_force(contact, geom), touch.normal(contact, geom) * normal, atol=1e-9
        )
        np.testing.assert_allclose(touch.friction(contact, geom) @ normal, 0, atol=1e-9)


def test_queries_use_euclidean_distance_from_the_contact(ball):
    ((contact, geom, _),) = ball.get_contacts()
    below = ball.get_contact_position_relative(contact, geom)
    distances = np.linalg.norm(ball.sensor_positions[geom] - below, axis=1)
    assert ball.get_nearest_sensor(contact, geom) == (distances.argmin(), pytest.approx(distances.min()))
    indices, far = ball.get_k_nearest_sensors(contact, geom, 4)
    np.testing.assert_allclose(far, np.sort(distances)[:4])
    np.testing.assert_allclose(distances[indices], far)
    indices, far = ball.get_sensors_within_distance(contact, geom, 0.1)
    np.testing.assert_array_equal(indices, np.flatnonzero(distances < 0.1))
    np.testing.assert_allclose(far, distances[indices])


@pytest.mark.parametrize("how", ["in place", "entry", "dictionary"])
def test_changed_sensor_positions_change_readings(ball, how):
    at_the_point = np.array([[0, 0, -0.1], [0, 0, 0.1], [0.02, 0, -0.1]])
    assert len(ball.get_touch_obs()) > 3
    if how == "in place":
        ball.sensor_positions[1][:] = [0, 0, 0.1]
        ball.sensor_positions[1][5] = [0, 0, -0.1]
        nearest = 5
    else:
        if how == "entry":
            ball.sensor_positions[1] = at_the_point
        else:
            ball.sensor_positions = {1: at_the_point}
        nearest = 0
    obs = ball.get_touch_obs()
    assert (
        len(obs) == len(ball.sensor_positions[1]) == ball.get_sensor_count(1) == len(ball.sensor_outputs[1])
    )
    np.testing.assert_allclose(obs.sum(axis=0), [0, 0, WEIGHT], atol=2e-3 * WEIGHT)
    assert obs[:, 2].argmax() == nearest
    if how != "in place":
        # The contact is at the bottom; scale_linear gives the weight of the sensor at 2 cm.
        (share,) = scale_linear(np.ones(1), np.array([0.02]), 0.06)[0]
        np.testing.assert_allclose(obs[2, 2], WEIGHT * share / (1 + share), rtol=2e-3)
    np.testing.assert_array_equal(ball.get_touch_obs(), obs)
    ball.sensor_positions[1][:] += [0, 0, 3]
    assert ball.get_touch_obs().sum() == pytest.approx(WEIGHT, rel=2e-3)


def test_invalid_sensor_positions_name_geom_and_shape(ball):
    ball.sensor_positions[1] = np.zeros((4, 2))
    with raises(ConfigError, "'ball'", "(n, 3)", "(4, 2)"):
        ball.get_touch_obs()
    ball.sensor_positions[1] = np.full((4, 3), np.nan)
    with raises(ConfigError, "'ball'"):
        ball.get_touch_obs()
    ball.sensor_positions = {1: np.zeros((1, 3)), 0: np.zeros((1, 3))}
    with raises(SceneError, "'floor'", "add_geom"):
        ball.get_touch_obs()


def test_single_geom_can_be_added():
    env = env_of(free("body", TWO), steps=SETTLED)
    touch = touching(DiscreteTouch, env, {})
    assert touch.get_touch_obs().shape == (0, 3)
    count = touch.add_geom(geom_name="right", scale=0.02)
    assert touch.sensing_geoms == [2] and count == len(sensorpoints.spread_points_sphere(0.02, 0.1))
    assert touch.get_touch_obs().shape == (count, 3)
    np.testing.assert_allclose(sum_in_world(touch, 2), [0, 0, WEIGHT / 2], atol=2e-3 * WEIGHT)
    finer = touch.add_geom(1, scale=0.01)
    assert finer == len(sensorpoints.spread_points_sphere(0.01, 0.1)) > 3 * count
    touch.get_touch_obs()
    active = {geom: np.count_nonzero(output.any(axis=1)) for geom, output in touch.sensor_outputs.items()}
    # Each load spreads over twice its scale, and therefore over about the same number of sensors.
    assert list(active) == [2, 1] and 0.5 < active[1] / active[2] < 2
    np.testing.assert_allclose(sum_in_world(touch, 1), [0, 0, WEIGHT / 2], atol=2e-3 * WEIGHT)
    assert touch.add_body(body_name="body", scale=0.03) == 2 * len(
        sensorpoints.spread_points_sphere(0.03, 0.1)
    )


def test_changed_sensor_positions_survive_adding_a_geom():
    touch = touching(DiscreteTouch, env_of(free("body", TWO), steps=SETTLED), {})
    touch.add_geom(1, scale=0.05)
    touch.sensor_positions[1] = np.array([[0, 0, 0.1]])
    held = touch.sensor_positions
    touch.add_geom(2, scale=0.05)
    np.testing.assert_array_equal(touch.sensor_positions[1], [[0, 0, 0.1]])
    held[2][:, 2] = 0.2
    touch.get_touch_obs()
    assert touch.skin.positions[1:, 2] == pytest.approx(0.2)
    assert len(touch.get_touch_obs()) == 1 + touch.get_sensor_count(2)
    touch.add_geom(1, scale=0.05)
    assert touch.get_sensor_count(1) == len(sensorpoints.spread_points_sphere(0.05, 0.1))


def test_invalid_geom_is_rejected_without_effect():
    ghost = '<geom name="ghost" size=".1" contype="0" conaffinity="0"/>'
    touch = touching(DiscreteTouch, env_of(free("ball", BALL, ghost), steps=1), {"ball": 0.03})
    before = touch.get_touch_obs()
    for add, error, facts in (
        (lambda: touch.add_geom(geom_name="ghost", scale=0.1), SceneError, ["'ghost'", "contype"]),
        (lambda: touch.add_geom(geom_name="floor", scale=0.1), SceneError, ["plane"]),
        (lambda: touch.add_geom(geom_name="bal", scale=0.1), SceneError, ["'bal'", "'ball'"]),
        (lambda: touch.add_geom(77), SceneError, ["geom", "77"]),
        (lambda: touch.add_geom(), SceneError, ["geom_id", "geom_name"]),
        (lambda: touch.add_geom(1, scale=0), ConfigError, ["scale", "0"]),
        (lambda: touch.get_nearest_sensor(99, 1), SceneError, ["contact", "99"]),
    ):
        with raises(error, *facts):
            add()
    np.testing.assert_array_equal(touch.get_touch_obs(), before)


def test_scale_linear_decreases_to_zero():
    scaled = scale_linear(np.array([1.0, -2.0]), np.array([0, 0.5, 1, 3]), 2.0)
    np.testing.assert_allclose(scaled, [[1, -2], [0.75, -1.5], [0.5, -1], [0, 0]])
