"""DiscreteTouch: sensors on geoms."""

from __future__ import annotations

import numpy as np
import pytest
from touching import BALL, WEIGHT, env_of, free, pile, sum_in_world, touching

from tactile_sim import ConfigError, SceneError, sensorpoints
from tactile_sim.touch import DiscreteTouch, scale_linear

LEFT = '<geom name="left" size=".1" pos="-.08 0 0" euler="30 40 50"/>'
TWO = LEFT + '<geom name="right" size=".1" pos=".08 0 0"/>'
SETTLED = 1500


@pytest.fixture(scope="module")
def piled():
    return pile()


@pytest.fixture
def ball():
    return touching(DiscreteTouch, env_of(free("ball", BALL), steps=SETTLED), {"ball": 0.03})


def test_each_geom_has_its_points_in_its_own_frame():
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


def test_the_methods_of_one_contact_are_in_the_frame_of_the_geom(piled):
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


def test_queries_are_about_contacts_and_straight(ball):
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
def test_altered_positions_alter_the_output(ball, how):
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
        # The contact is at the bottom; scale_linear says how much the one 2 cm beside it has.
        (share,) = scale_linear(np.ones(1), np.array([0.02]), 0.06)[0]
        np.testing.assert_allclose(obs[2, 2], WEIGHT * share / (1 + share), rtol=2e-3)
    np.testing.assert_array_equal(ball.get_touch_obs(), obs)
    ball.sensor_positions[1][:] += [0, 0, 3]
    assert ball.get_touch_obs().sum() == pytest.approx(WEIGHT, rel=2e-3)


def test_positions_that_cannot_be_are_told(ball):
    ball.sensor_positions[1] = np.zeros((4, 2))
    with pytest.raises(ConfigError, match=r"geom 'ball' needs \(n, 3\) finite numbers.*\(4, 2\)"):
        ball.get_touch_obs()
    ball.sensor_positions[1] = np.full((4, 3), np.nan)
    with pytest.raises(ConfigError, match="finite"):
        ball.get_touch_obs()
    ball.sensor_positions = {1: np.zeros((1, 3)), 0: np.zeros((1, 3))}
    with pytest.raises(SceneError, match="geom 'floor' has no sensors yet"):
        ball.get_touch_obs()


def test_a_geom_can_be_added_by_itself_and_its_siblings_feel_nothing():
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
    felt = {geom: np.count_nonzero(output.any(axis=1)) for geom, output in touch.sensor_outputs.items()}
    # Each spreads over twice its own scale: both over as many sensors, about.
    assert list(felt) == [2, 1] and 0.5 < felt[1] / felt[2] < 2
    np.testing.assert_allclose(sum_in_world(touch, 1), [0, 0, WEIGHT / 2], atol=2e-3 * WEIGHT)
    assert touch.add_body(body_name="body", scale=0.03) == 2 * len(
        sensorpoints.spread_points_sphere(0.03, 0.1)
    )


def test_altered_positions_outlast_the_adding_of_another_geom():
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


def test_a_geom_that_cannot_feel_is_told_and_changes_nothing():
    ghost = '<geom name="ghost" size=".1" contype="0" conaffinity="0"/>'
    touch = touching(DiscreteTouch, env_of(free("ball", BALL, ghost), steps=1), {"ball": 0.03})
    before = touch.get_touch_obs()
    for add, error, tells in (
        (lambda: touch.add_geom(geom_name="ghost", scale=0.1), SceneError, "'ghost' does not collide"),
        (lambda: touch.add_geom(geom_name="floor", scale=0.1), SceneError, "is a plane"),
        (lambda: touch.add_geom(geom_name="bal", scale=0.1), SceneError, "did you mean 'ball'"),
        (lambda: touch.add_geom(77), SceneError, "no geom 77"),
        (lambda: touch.add_geom(), SceneError, "which geom"),
        (lambda: touch.add_geom(1, scale=0), ConfigError, "above 0"),
        (lambda: touch.get_nearest_sensor(99, 1), SceneError, "no contact 99"),
    ):
        with pytest.raises(error, match=tells):
            add()
    np.testing.assert_array_equal(touch.get_touch_obs(), before)


def test_scale_linear_falls_from_all_to_nothing():
    scaled = scale_linear(np.array([1.0, -2.0]), np.array([0, 0.5, 1, 3]), 2.0)
    np.testing.assert_allclose(scaled, [[1, -2], [0.75, -1.5], [0.5, -1], [0, 0]])
