"""Test that our results agree with statics in small scenes for which MIMo's results are wrong."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import pytest
from support.errors import raises
from support.touch import BALL, BOX, CLASSES, TABLE, WEIGHT, env_of, free, sum_in_world, touching

from tactile_sim import ConfigError, SceneError
from tactile_sim.mimo.touch import DiscreteTouch, TrimeshTouch

SETTLED = 1500
"""Number of steps after which a body that starts at most 1 mm above the floor is at rest.

The contact force then differs from the weight by less than 0.1 %.
"""
NEARLY = {"rtol": 0, "atol": 2e-3 * WEIGHT}


def up(force):
    return [0, 0, force]


@pytest.mark.parametrize("cls", CLASSES)
def test_first_geom_of_a_contact_reads_the_same_twice_without_side_effects(cls):
    env = env_of(free("ball", BALL), floor=TABLE, steps=SETTLED)
    assert env.model.geom(env.data.contact.geom[0, 0]).name == "ball"
    part = 1
    touch = touching(cls, env, {"ball": 0.03})
    before = copy.copy(env.data)
    first = touch.get_touch_obs()
    np.testing.assert_allclose(sum_in_world(touch, part), up(WEIGHT), **NEARLY)
    for contact, sensing, _ in touch.get_contacts():
        touch.get_contact_normal(contact, sensing)
        touch.get_contact_position_world(contact)[:] = 7
    np.testing.assert_array_equal(touch.get_touch_obs(), first)
    for field in ("pos", "frame", "dist"):
        np.testing.assert_array_equal(getattr(env.data.contact, field), getattr(before.contact, field))
    np.testing.assert_array_equal(env.data.efc_force, before.efc_force)


@pytest.mark.parametrize("cls", CLASSES)
def test_box_on_table_reads_its_weight(cls):
    env = env_of(free("box", BOX), steps=SETTLED)
    touch = touching(cls, env, {"box": 0.02})
    touch.get_touch_obs()
    np.testing.assert_allclose(sum_in_world(touch, 1), up(WEIGHT), **NEARLY)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("turn", ["0 0 0", "90 0 0", "0 -90 30"])
def test_normal_force_on_slope_equals_normal_component_of_weight(cls, turn):
    slope = np.radians(20)
    normal = np.array([0, -np.sin(slope), np.cos(slope)])
    box = f'<geom type="box" size=".1 .1 .1" euler="{turn}" friction="1"/>'
    position = " ".join(map(str, 0.1 * normal))
    env = env_of(
        free("box", box, pos=position, more='euler="20 0 0"'),
        floor='<geom type="plane" size="0 0 .1" euler="20 0 0"/>',
        steps=SETTLED,
    )
    touch = touching(cls, env, {"box": 0.02}, "normal_force")
    touch.get_touch_obs()
    np.testing.assert_allclose(sum_in_world(touch, 1), WEIGHT * np.cos(slope) * normal, **NEARLY)


@pytest.mark.parametrize("response", TrimeshTouch.VALID_RESPONSE_FUNCTIONS)
def test_nearest_sensor_takes_load_out_of_range(response):
    env = env_of(free("ball", BALL), steps=SETTLED)
    touch = touching(DiscreteTouch, env, {"ball": 0.02}, response=response)
    touch.sensor_positions[1] = np.array([[0, 0, 5.0], [0, 0, 4.0]])
    touch.get_touch_obs()
    np.testing.assert_allclose(sum_in_world(touch, 1), up(WEIGHT), **NEARLY)
    assert not touch.sensor_outputs[1][0].any()


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "geom",
    [
        '<geom type="mesh" mesh="wedge"/>',
        '<geom type="ellipsoid" size=".1 .1 .05"/>',
        '<geom type="cylinder" size=".1 .05"/>',
        '<geom type="capsule" size=".05 .1"/>',
    ],
)
def test_every_shape_reads_its_weight(cls, geom):
    wedge = '<asset><mesh name="wedge" vertex="-.1 -.1 -.1 .1 -.1 -.1 .1 .1 -.1 -.1 .1 -.1 0 0 .1"/></asset>'
    env = env_of(free("body", geom), steps=SETTLED, asset=wedge)
    touch = touching(cls, env, {"body": 0.02})
    touch.get_touch_obs()
    # Rolling bodies still have some energy from the first bounce.
    np.testing.assert_allclose(sum_in_world(touch, 1)[2], WEIGHT, rtol=0.02)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "scales, error, facts",
    [
        ({"world": 0.02}, SceneError, ["'floor'", "plane"]),
        ({"ghost": 0.02}, ConfigError, ["ghost", "geom"]),
        ({"bare": 0.02}, ConfigError, ["bare", "geom"]),
        ({"bal": 0.02}, ConfigError, ["'bal'", "'ball'"]),
    ],
)
def test_body_that_cannot_have_sensors_is_rejected(cls, scales, error, facts):
    ghost = free("ghost", '<geom size=".1" contype="0" conaffinity="0"/>')
    env = env_of(free("ball", BALL), ghost, '<body name="bare" pos="0 0 3"/>')
    with raises(error, *facts):
        touching(cls, env, scales)


def test_contact_with_a_flex_is_measured():
    cloth = (
        '<flexcomp name="cloth" type="grid" count="5 5 1" spacing=".05 .05 .05" pos="0 0 .22" radius=".01"'
        ' mass="1" dim="2"><contact selfcollide="none"/></flexcomp>'
    )
    env = env_of(
        '<body name="post" pos="0 0 .1"><geom type="box" size=".15 .15 .1"/></body>', cloth, steps=400
    )
    touch = touching(TrimeshTouch, env, {"post": 0.03})
    touch.get_touch_obs()
    assert (env.data.contact.geom < 0).any()
    np.testing.assert_allclose(sum_in_world(touch, 1), up(-WEIGHT), rtol=0, atol=0.05 * WEIGHT)
    contact, body, force = touch.contact_tuples[0]
    np.testing.assert_allclose(touch.force_vector(contact, body), force, atol=1e-12)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "inner",
    [
        '<geom type="sphere" size=".001"/>',
        '<geom type="sphere" size=".05"/>',
        '<geom type="box" size=".1 .1 .1"/>',
    ],
)
def test_overlapping_geoms_read_the_weight(cls, inner):
    env = env_of(free("box", BOX, inner), steps=SETTLED)
    touch = touching(cls, env, {"box": 0.04})
    total = touch.get_touch_obs().sum(axis=0)
    np.testing.assert_allclose(total, up(WEIGHT), **NEARLY)


@pytest.mark.parametrize("floor", [TABLE, '<geom type="plane" size="1 1 .1"/>'])
@pytest.mark.parametrize("response", DiscreteTouch.VALID_RESPONSE_FUNCTIONS)
def test_normal_force_is_positive_for_either_geom_order(floor, response):
    turned = BALL.replace("/>", ' euler="40 50 60" pos="0 .2 0"/>')
    env = env_of(free("ball", turned, BALL.replace('"ball"', '"other"')), floor=floor, steps=SETTLED)
    touch = touching(DiscreteTouch, env, {"ball": 0.02}, "normal", response)
    total = touch.get_touch_obs().sum(axis=0)
    np.testing.assert_allclose(total, [WEIGHT], **NEARLY)
    for contact, geom, force in touch.contact_tuples:
        assert force > 0
        point = touch.get_contact_position_relative(contact, geom)
        down = touch.m_data.geom_xmat[geom].reshape(3, 3).T @ [0, 0, -1]
        np.testing.assert_allclose(point, 0.1 * down, atol=1e-6)


@pytest.mark.parametrize("cls", CLASSES)
def test_two_sensing_bodies_have_opposite_forces_at_points_on_their_own_surface(cls):
    lower = '<body name="lower" pos="0 0 .1"><geom size=".1"/></body>'
    env = env_of(lower, free("upper", '<geom size=".08"/>', pos="0 0 .279"), steps=20)
    touch = touching(cls, env, {"lower": 0.02, "upper": 0.02}, "force_vector_global")
    touch.get_touch_obs()
    (contact, first, force), (_, second, opposite) = touch.contact_tuples
    np.testing.assert_allclose(force, -np.array(opposite), rtol=1e-12)
    for part, radius in ((first, 0.1), (second, 0.08)):
        assert np.linalg.norm(touch.get_contact_position_relative(contact, part)) == pytest.approx(radius)


@pytest.mark.parametrize("cls", CLASSES)
def test_sensor_positions_are_correct_before_mj_forward(cls):
    bodies = free("box", BOX, '<geom size=".05" pos=".1 .1 .1" euler="10 20 30"/>')
    early, late = env_of(bodies), env_of(bodies, steps=1)
    touch = touching(cls, early, {"box": 0.03})
    assert not touch.get_touch_obs().any()
    others = touching(cls, late, {"box": 0.03}).sensor_positions
    for part, positions in touch.sensor_positions.items():
        np.testing.assert_array_equal(positions, others[part])
    mujoco.mj_step(early.model, early.data, 3)
    assert len(touch.get_touch_obs()) == touch.get_total_sensor_count()


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("response", TrimeshTouch.VALID_RESPONSE_FUNCTIONS)
def test_load_under_thin_plate_is_not_measured_on_top(cls, response):
    plate = '<geom type="box" size=".1 .1 .001"/>'
    env = env_of(free("plate", plate, pos="0 0 .001"), steps=SETTLED)
    touch = touching(cls, env, {"plate": 0.01}, response=response)
    touch.get_touch_obs()
    np.testing.assert_allclose(sum_in_world(touch, 1), up(WEIGHT), **NEARLY)
    assert not touch.sensor_outputs[1][touch.sensor_positions[1][:, 2] > 0].any()
