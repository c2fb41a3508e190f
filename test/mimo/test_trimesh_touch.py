"""TrimeshTouch: sensors on bodies."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.errors import raises
from support.touch import BALL, BOX, CLASSES, WEIGHT, env_of, free, pile, touching

from tactile_sim import SceneError
from tactile_sim.mimo import sensormeshes
from tactile_sim.mimo.touch import TrimeshTouch
from tactile_sim.skin import Skin

CAPPED = '<geom type="box" size=".1 .06 .03"/><geom type="sphere" size=".05" pos=".1 0 0"/>'


@pytest.fixture(scope="module")
def piled():
    return pile()


@pytest.fixture(scope="module")
def touch(piled):
    touch = touching(TrimeshTouch, piled, {"b3": 0.01, "b*": 0.015})
    touch.get_touch_obs()
    return touch


def test_dictionaries_follow_scales_and_output_follows_ids(touch):
    order = [4, 1, 2, 3, 5]
    assert touch.sensing_bodies() == list(touch.sensor_scales) == list(touch.meshes) == order
    assert list(touch.sensor_positions) == list(touch.sensor_outputs) == list(touch.get_empty_sensor_dict(2))
    assert touch.sensor_scales == {4: 0.01, 1: 0.015, 2: 0.015, 3: 0.015, 5: 0.015}
    obs = touch.get_touch_obs()
    assert obs.dtype == np.float32 and obs.shape == (touch.get_total_sensor_count(), 3)
    np.testing.assert_array_equal(obs, np.concatenate([touch.sensor_outputs[body] for body in range(1, 6)]))
    np.testing.assert_array_equal(obs, touch.flatten_sensor_dict(touch.sensor_outputs))
    for body in order:
        assert touch.sensor_outputs[body].shape == (touch.get_sensor_count(body), 3)
        assert touch.sensor_positions[body].shape == (touch.get_sensor_count(body), 3)
    assert touch.get_empty_sensor_dict(2)[4].shape == (touch.get_sensor_count(4), 2)


def test_output_is_a_copy(touch):
    obs = touch.get_touch_obs()
    readings = obs.copy()
    obs[:] = 7
    np.testing.assert_array_equal(touch.flatten_sensor_dict(touch.sensor_outputs), readings)
    kept = touch.sensor_outputs
    touch.get_touch_obs()[:] = 8
    np.testing.assert_array_equal(touch.flatten_sensor_dict(kept), readings)


def test_contact_tuples_equal_get_contacts(touch):
    touch.get_touch_obs()
    quick, plain = touch.contact_tuples, touch.get_contacts()
    assert [entry[:2] for entry in quick] == [entry[:2] for entry in plain]
    assert len(plain) > 8
    for (contact, body, force), (_, _, other) in zip(quick, plain, strict=True):
        np.testing.assert_allclose(force, other, rtol=0, atol=1e-9)
        geoms = touch.m_data.contact.geom[contact]
        assert body in touch.m_model.geom_bodyid[geoms]


def test_contact_methods_agree_with_mujoco(touch):
    model, data = touch.m_model, touch.m_data
    for contact, body, _ in touch.get_contacts():
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, contact, wrench)
        sign = 1 if model.geom_bodyid[data.contact.geom[contact, 1]] == body else -1
        frame, rotation = data.contact.frame[contact].reshape(3, 3), data.xmat[body].reshape(3, 3)
        force = sign * wrench[:3] @ frame
        normal = sign * frame[0]
        surface = data.contact.pos[contact] + 0.5 * data.contact.dist[contact] * normal
        expected = {
            "get_raw_force": sign * wrench[:3],
            "get_contact_normal": normal @ rotation,
            "get_contact_position_relative": (surface - data.xpos[body]) @ rotation,
            "force_vector_global": force,
            "force_vector": force @ rotation,
            "normal": wrench[0],
            "normal_force": wrench[0] * normal @ rotation,
            "friction": (force - wrench[0] * normal) @ rotation,
        }
        for name, value in expected.items():
            np.testing.assert_allclose(
                getattr(touch, name)(contact_id=contact, body_id=body), value, atol=1e-9
            )
        np.testing.assert_array_equal(touch.get_contact_position_world(contact), data.contact.pos[contact])
        assert isinstance(touch.normal(contact, body), float)


def test_slip_and_friction_of_a_sliding_box():
    slab = '<geom type="box" size="1 1 .1" friction=".5"/>'
    table = f'<body name="table" pos="0 0 -.1" euler="0 0 90">{slab}</body>'
    env = env_of(table, free("box", BOX.replace("/>", ' friction=".5"/>')), floor="", steps=1500)
    slip, friction, normal = (
        touching(TrimeshTouch, env, {"table": 0.05}, touch) for touch in ("slip", "friction", "normal")
    )
    env.data.qvel[0] = 2.0
    mujoco.mj_forward(env.model, env.data)
    # The table is rotated, so x in the world is -y in its frame.
    readings = slip.get_touch_obs()
    readings = readings[np.abs(readings).max(axis=1) > 0]
    assert len(readings) > 4
    np.testing.assert_allclose(readings, np.tile([0, -2.0, 0], (len(readings), 1)), atol=1e-3)
    pressed = normal.get_touch_obs().sum(dtype=float)
    tangential = friction.get_touch_obs().sum(axis=0, dtype=float)
    np.testing.assert_allclose(tangential, [0, -0.5 * pressed, 0], rtol=0, atol=1e-3 * pressed)


def test_queries_agree_with_brute_force(touch):
    random = np.random.default_rng(1)
    points = random.uniform(-0.1, 0.1, (20, 3))
    sensors = touch.sensor_positions[1]
    distances = np.linalg.norm(points[:, None] - sensors, axis=2)
    index, distance = touch.get_nearest_sensor(points, 1)
    np.testing.assert_array_equal(index, distances.argmin(axis=1))
    np.testing.assert_allclose(distance, distances.min(axis=1))
    indices, nearest = touch.get_k_nearest_sensors(points, 1, 5)
    np.testing.assert_allclose(nearest, np.sort(distances, axis=1)[:, :5])
    within = touch.get_sensors_within_distance(points, 1, 0.05)
    for m, point in enumerate(points):
        assert touch.get_nearest_sensor(point, 1) == (index[m], pytest.approx(distance[m]))
        np.testing.assert_array_equal(touch.get_k_nearest_sensors(point, 1, 5, k_margin=2)[0], indices[m])
        found, far = touch.get_sensors_within_distance(point, 1, 0.05, distance_margin=2)
        np.testing.assert_array_equal(found, within[m][0])
        np.testing.assert_allclose(far, distances[m, found])
        assert (far <= 0.05).all() and set(found) <= set(np.flatnonzero(distances[m] <= 0.05))
    assert len(touch.get_k_nearest_sensors(points[0], 1, 10**6)[0]) == len(sensors)


def test_sensors_within_a_distance_are_connected_to_the_nearest_one():
    leg = '<geom type="box" size=".05 .01 .01" pos=".05 {} 0"/>'
    legs = leg.format(-0.03) + leg.format(0.03)
    env = env_of(free("fork", legs, '<geom type="box" size=".01 .04 .01"/>'))
    touch = touching(TrimeshTouch, env, {"fork": 0.01})
    found, far = touch.get_sensors_within_distance([0.1, 0.02, 0], 1, 0.045)
    sensors = touch.sensor_positions[1][found]
    other_leg = np.linalg.norm(touch.sensor_positions[1] - [0.1, 0.02, 0], axis=1) <= 0.045
    assert (touch.sensor_positions[1][other_leg][:, 1] < -0.015).any()
    assert len(found) > 10 and (sensors[:, 1] > 0).all()


def test_meshes_have_all_vertices_and_a_sensor_mask():
    env = env_of(free("body", CAPPED, '<geom type="sphere" size=".004" pos="0 0 .1"/>'))
    touch = touching(TrimeshTouch, env, {"body": 0.02})
    box, ball, point = touch._submeshes[1]
    np.testing.assert_allclose(
        box.vertices, sensormeshes.mesh_box(0.02, [0.1, 0.06, 0.03]).vertices, atol=1e-12
    )
    moved = sensormeshes.mesh_sphere(0.02, 0.05).vertices + [0.1, 0, 0]
    np.testing.assert_allclose(ball.vertices, moved, atol=1e-12)
    np.testing.assert_allclose(point.vertices, [[0, 0, 0.1]])
    mesh, active = touch.meshes[1], touch.active_vertices[1]
    assert len(mesh.vertices) == len(box.vertices) + len(ball.vertices) + 1 == len(active)
    assert len(mesh.faces) == len(box.faces) + len(ball.faces)
    np.testing.assert_array_equal(mesh.vertices[active], touch.sensor_positions[1])
    assert 0 < active.sum() < len(active)
    np.testing.assert_array_equal(np.concatenate(touch._active_subvertices[1]), active)
    starts = np.cumsum([0, len(box.vertices), len(ball.vertices)])
    for start, part, to_sensor in zip(
        starts, touch._active_subvertices[1], touch._vertex_to_sensor_idx[1], strict=True
    ):
        sensors = touch.sensor_positions[1][to_sensor[part]]
        np.testing.assert_array_equal(sensors, mesh.vertices[start : start + len(part)][part])


def test_merged_surface_is_the_only_mesh_of_a_body():
    touch = touching(TrimeshTouch, env_of(free("body", CAPPED)), {"body": 0.02}, placement="even")
    (mesh,) = touch._submeshes[1]
    np.testing.assert_array_equal(mesh.vertices, touch.sensor_positions[1])
    assert touch.active_vertices[1].all() and touch.meshes[1].is_watertight


def test_neighbour_cache_reports_only_hits(touch):
    assert touch._neighbour_cache.hits() == 1.0
    assert touch._neighbour_cache._cache.currsize == touch.get_total_sensor_count()


def test_body_can_be_added_or_respaced():
    env = env_of(free("box", BOX), free("ball", BALL, pos="1 0 .1"), steps=1500)
    touch = touching(TrimeshTouch, env, {"box": 0.05})
    assert not touch.has_sensors(2)
    with raises(SceneError, "'ball'", "'box'"):
        touch.get_sensor_count(2)
    count = touch.add_body(body_name="ball", scale=0.02)
    assert touch.has_sensors(2) and count == len(Skin(env.model, {2: 0.02}, placement="mimo").positions)
    touch.get_touch_obs()
    for body in (1, 2):
        assert touch.sensor_outputs[body].sum(axis=0)[2] == pytest.approx(WEIGHT, rel=2e-3)
    assert touch.add_body(1, "ball", 0.02) > touch.meshes[1].vertices.shape[0] / 2
    assert touch.sensor_scales == {1: 0.02, 2: 0.02}
    assert touch.add_body(body_id=1) == 1
    touch.get_touch_obs()
    assert touch.sensor_outputs[1][0, 2] == pytest.approx(WEIGHT, rel=2e-3)


@pytest.mark.parametrize("cls", CLASSES)
def test_two_touch_objects_on_one_env_are_independent(cls, piled):
    one = touching(cls, piled, {"b1": 0.01}, "normal", "nearest")
    alone = one.get_touch_obs()
    other = touching(cls, piled, {"*": 0.02}, "force_vector_global")
    other.get_touch_obs()
    np.testing.assert_array_equal(one.get_touch_obs(), alone)
    assert one.VALID_TOUCH_TYPES["normal"] == one.touch_size == 1
