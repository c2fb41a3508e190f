"""Readings of contacts: sums, positions, sides and frames."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.errors import raises
from support.loads import loads_at, one_geom

from tactile_sim import ConfigError, SceneError
from tactile_sim.engines import MujocoEngine
from tactile_sim.engines.contacts import Contacts
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.responses import PER_LOAD

SUMS = [name for name, touch in TOUCH_FUNCTIONS.items() if touch.unit == "N" and touch.frame != "taxel"]

WEIGHT = 9.81
PILE = """
<mujoco><worldbody>
  <geom type="plane" size="2 2 .1" friction="1 .02 .01"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .12 .05" condim="6"/></body>
  <body pos=".05 0 .25" euler="20 0 30"><freejoint/><geom type="sphere" size=".06" condim="6"/></body>
  <body pos="-.06 .03 .3" euler="70 0 30"><freejoint/><geom type="capsule" size=".03 .06"/>
    <geom type="sphere" size=".05" pos="0 0 .06"/></body>
  <body pos="0 0 .45" euler="20 40 30"><freejoint/><geom type="cylinder" size=".06 .04"/></body>
  <body pos=".02 0 .6" euler="20 40 30"><freejoint/><geom type="ellipsoid" size=".06 .04 .1"/></body>
</worldbody></mujoco>"""


def settled(xml, steps, scales):
    engine = MujocoEngine(mujoco.MjModel.from_xml_string(xml))
    engine.step(steps)
    engine.forward()
    return engine, Skin(engine.model, scales)


def loads_of(engine, skin):
    return skin.loads(engine.contacts(), engine.body_positions, engine.body_rotations)


def contacts_of(position, normal, distance, bodies, wrench):
    """Return a contact between two bodies; its wrench (6,) acts on the second one, in the world frame.

    Body 1 has geom 0. The other side has no geom.
    """
    tangent = np.cross(normal, [0.3, 0.5, -0.7])
    tangent /= np.linalg.norm(tangent)
    frame = np.stack([normal, tangent, np.cross(normal, tangent)])
    local = np.concatenate([frame @ wrench[:3], frame @ wrench[3:]])
    values = np.concatenate([position, frame.ravel(), [distance], wrench, local, np.zeros(7)])
    ids = np.array([[*bodies, *np.maximum(np.subtract(bodies, 1), -1), 0]], np.int32)
    return Contacts(values[None], ids)


def random_poses(rng, count):
    return rng.normal(size=(count, 3)), np.ascontiguousarray(Rotation.random(count, rng).as_matrix())


@pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
@pytest.mark.parametrize("touch", SUMS)
def test_the_taxels_of_a_body_sum_to_its_loads(touch, response):
    engine, skin = settled(PILE, 300, dict.fromkeys(range(1, 6), 0.01))
    contacts = engine.contacts()
    assert len(contacts) >= 6
    sensed = skin.readings_from_loads(loads_of(engine, skin), touch, response)
    assert sensed.shape == (len(skin.positions), TOUCH_FUNCTIONS[touch].channels)

    expected = np.zeros((len(skin.pads), sensed.shape[1]))
    for c in range(len(contacts)):
        for side, sign in ((0, -1), (1, 1)):
            body = contacts.bodies[c, side]
            if body == 0:
                continue
            to_body = engine.body_rotations[body].T
            force, into = sign * contacts.wrench_world[c, :3], sign * contacts.frame[c, 0]
            expected[body - 1] += {
                "force_vector": to_body @ force,
                "force_vector_global": force,
                "normal_force": to_body @ (force @ into * into),
                "normal": [abs(contacts.wrench[c, 0])],
                "friction": to_body @ (force - force @ into * into),
            }[touch]
    totals = np.add.reduceat(sensed, skin.offsets[:-1])
    np.testing.assert_allclose(totals, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("first", [True, False], ids=["sphere first", "sphere second"])
def test_the_point_of_a_load_is_on_the_surface_of_the_body_that_feels_it(first):
    """A sphere of radius 0.1 penetrates a plane at z = 0 by 0.004, so the contact is at z = -0.002."""
    skin = one_geom('size=".1"', 0.02)
    up = np.array([0.0, 0, 1])
    # The normal points from the first body to the second, and the force acts on the second.
    normal, force, bodies = (-up, -5 * up, (1, 0)) if first else (up, 5 * up, (0, 1))
    contacts = contacts_of([0, 0, -0.002], normal, -0.004, bodies, np.r_[force, 0, 0, 0])
    positions = np.array([[0, 0, 0], [0, 0, 0.096]])
    loads = skin.loads(contacts, positions, np.tile(np.eye(3), (2, 1, 1)))
    np.testing.assert_allclose(loads.point, [[0, 0, -0.1]], atol=1e-15)
    np.testing.assert_allclose(loads.force, [5 * up])
    np.testing.assert_allclose(loads.normal, [up])
    assert skin.readings_from_loads(loads, "normal", "nearest").max() == pytest.approx(5)


def test_points_of_mujoco_contacts_lie_on_spheres_whichever_geom_is_first():
    spheres = "".join(
        f'<body pos="{0.01 * k} 0 {0.1 + 0.18 * k}"><freejoint/><geom size=".1"/></body>' for k in range(3)
    )
    xml = f'<mujoco><worldbody><geom type="plane" size="1 1 .1"/>{spheres}</worldbody></mujoco>'
    engine, skin = settled(xml, 3, {1: 0.02, 2: 0.02, 3: 0.02})
    loads = loads_of(engine, skin)
    # Floor on the first, first and second, second and third.
    assert sorted(loads.body) == [0, 0, 1, 1, 2]
    np.testing.assert_allclose(np.linalg.norm(loads.point, axis=1), 0.1, atol=1e-12)
    np.testing.assert_allclose(loads.normal, -loads.point / 0.1, atol=1e-9)


def test_two_skins_in_contact_feel_the_opposite():
    engine, skin = settled(PILE, 300, dict.fromkeys(range(1, 6), 0.01))
    loads = loads_of(engine, skin)
    shared = [c for c in range(len(engine.contacts())) if (loads.contact == c).sum() == 2]
    assert shared
    for c in shared:
        np.testing.assert_array_equal(loads.force_world[loads.contact == c].sum(axis=0), 0)


def test_turning_the_whole_scene_changes_nothing_in_body_frames():
    engine, skin = settled(PILE, 300, dict.fromkeys(range(1, 6), 0.01))
    contacts, turn = engine.contacts(), Rotation.from_euler("xyz", [0.3, -0.8, 1.1]).as_matrix()
    turned = Contacts(contacts.values.copy(), contacts.ids)
    turned.position[:] = contacts.position @ turn.T
    turned.frame[:] = contacts.frame @ turn.T
    turned.wrench_world[:] = contacts.wrench_world @ np.kron(np.eye(2), turn).T
    turned.relative_velocity[:] = contacts.relative_velocity @ turn.T
    turned.relative_angular_velocity[:] = contacts.relative_angular_velocity @ turn.T
    poses = engine.body_positions @ turn.T, turn @ engine.body_rotations
    straight, other = loads_of(engine, skin), skin.loads(turned, *poses)
    for response in RESPONSE_FUNCTIONS:
        for touch in ("force_vector", "normal_force", "normal"):
            np.testing.assert_allclose(
                skin.readings_from_loads(other, touch, response),
                skin.readings_from_loads(straight, touch, response),
                atol=1e-9,
            )
        np.testing.assert_allclose(
            skin.readings_from_loads(other, "force_vector_global", response),
            skin.readings_from_loads(straight, "force_vector_global", response) @ turn.T,
            atol=1e-9,
        )


@pytest.mark.parametrize("response", PER_LOAD)
def test_a_resting_box_spreads_its_weight_equally_over_four_corners(response):
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
      </worldbody></mujoco>"""
    engine, skin = settled(xml, 2000, {1: 0.02})
    felt = skin.readings_from_loads(loads_of(engine, skin), "normal_force", response)
    assert felt[:, 2].sum() == pytest.approx(WEIGHT, rel=1e-6)
    for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        corner = np.linalg.norm(skin.positions - np.array([x, y, -1]) * 0.1, axis=1) < 0.05
        assert felt[corner, 2].sum() == pytest.approx(WEIGHT / 4, rel=1e-4)
    assert not felt[skin.positions[:, 2] > -0.05].any()


@pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
@pytest.mark.parametrize("thickness", [0.001, 0.004, 0.01])
def test_a_load_on_one_face_of_a_thin_plate_is_not_felt_on_the_other(thickness, response):
    half = thickness / 2
    skin = one_geom(f'type="box" size=".1 .1 {half}"', 0.01)
    rng = np.random.default_rng(2)
    points = np.c_[rng.uniform(-0.1, 0.1, (200, 2)), np.full(200, -half)]
    felt = skin.readings_from_loads(loads_at(points, np.tile([0, 0, 1], (200, 1))), "normal", response)
    assert felt[skin.positions[:, 2] > half / 2].sum() == 0
    assert felt[skin.positions[:, 2] == -half].sum() > 190


@pytest.mark.parametrize("size", [0.001, 0.004])
def test_a_body_smaller_than_the_spacing_feels_all(size):
    skin = one_geom(f'size="{size}"', 0.01)
    for response in RESPONSE_FUNCTIONS:
        felt = skin.readings_from_loads(
            loads_at([0, 0, -size], [0, 0, 1], [0.5, 0, 2]), "force_vector", response
        )
        np.testing.assert_allclose(felt.sum(axis=0), [0.5, 0, 2], rtol=1e-12)


def test_a_contact_on_a_geom_hidden_in_another_is_still_felt():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/><geom size='.02'/></body></worldbody></mujoco>"
    )
    skin = Skin(model, {1: 0.02})
    contacts = contacts_of([0, 0, -0.02], np.array([0, 0, 1.0]), 0.0, (0, 1), np.array([0, 0, 7.0, 0, 0, 0]))
    poses = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    for response in RESPONSE_FUNCTIONS:
        assert skin.readings_from_loads(
            skin.loads(contacts, *poses), "normal", response
        ).sum() == pytest.approx(7, rel=1e-12)


def test_the_side_of_a_flex_is_passed_over():
    skin = one_geom('size=".1"', 0.02)
    wrench = np.array([0, 0, 7.0, 0, 0, 0])
    poses = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    on_body = contacts_of([0, 0, -0.1], np.array([0, 0, 1.0]), 0.0, (-1, 1), wrench)
    assert list(skin.loads(on_body, *poses).body) == [0]
    on_world = contacts_of([0, 0, -0.1], np.array([0, 0, 1.0]), 0.0, (0, -1), wrench)
    assert len(skin.loads(on_world, *poses)) == 0
    assert not skin.readings_from_loads(skin.loads(on_world, *poses)).any()


def test_a_mesh_at_rest_feels_its_weight():
    corners = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.05, 0.05))
    xml = f"""<mujoco><asset><mesh name="brick" vertex="{corners}"/></asset><worldbody>
      <geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .06"><freejoint/><geom type="mesh" mesh="brick" mass="1"/></body></worldbody></mujoco>"""
    engine, skin = settled(xml, 2000, {1: 0.02})
    felt = skin.readings_from_loads(loads_of(engine, skin), "force_vector_global")
    np.testing.assert_allclose(felt.sum(axis=0), [0, 0, WEIGHT], atol=1e-3)
    world = skin.world(engine.body_positions, engine.body_rotations)
    assert world[felt[:, 2] > 0.1, 2].max() < 0.03


def test_the_net_wrench_is_that_of_the_forces_about_the_origin_with_the_contacts_own_torque():
    skin = one_geom('size=".1"', 0.02)
    rng = np.random.default_rng(11)
    positions, rotations = random_poses(rng, 2)
    wrench, point = rng.normal(size=6), rng.normal(size=3)
    for bodies, sign in (((0, 1), 1), ((1, 0), -1)):
        contacts = contacts_of(point, np.array([0, 0, 1.0]), -0.01, bodies, wrench)
        torque = np.cross(point - positions[1], wrench[:3]) + wrench[3:]
        expected = sign * np.r_[rotations[1].T @ wrench[:3], rotations[1].T @ torque]
        np.testing.assert_allclose(skin.body_wrenches(contacts, positions, rotations), [expected], atol=1e-14)


def test_the_net_wrenches_are_what_newton_and_euler_ask_for():
    engine, skin = settled(PILE, 300, dict.fromkeys(range(1, 6), 0.02))
    assert np.abs(engine.contacts().wrench[:, 3:]).max() > 1e-4
    model, data = engine.model, engine.data
    wrenches = skin.body_wrenches(engine.contacts(), engine.body_positions, engine.body_rotations)
    for b, wrench in enumerate(wrenches):
        # A free joint: acceleration of the origin in the world, then of the rotation in the body.
        to_body = engine.body_rotations[b + 1].T
        acceleration, rotation_rate = data.qacc[6 * b : 6 * b + 6], data.qvel[6 * b + 3 : 6 * b + 6]
        arm, mass = model.body_ipos[b + 1], model.body_mass[b + 1]
        spin = np.cross(acceleration[3:], arm) + np.cross(rotation_rate, np.cross(rotation_rate, arm))
        force = mass * (to_body @ (acceleration[:3] - model.opt.gravity) + spin)
        axes = Rotation.from_quat(model.body_iquat[b + 1], scalar_first=True).as_matrix()
        inertia = axes @ np.diag(model.body_inertia[b + 1]) @ axes.T
        torque = inertia @ acceleration[3:] + np.cross(rotation_rate, inertia @ rotation_rate)
        np.testing.assert_allclose(wrench[:3], force, atol=1e-4)
        np.testing.assert_allclose(wrench[3:], torque + np.cross(arm, force), atol=1e-5)


def test_taxels_move_with_their_bodies():
    engine, skin = settled(PILE, 1, {1: 0.03, 3: 0.03})
    positions, rotations = random_poses(np.random.default_rng(4), 6)
    world = skin.world(positions, rotations)
    for b, body in enumerate(skin.pads):
        taxels = skin.pad_index == b
        pose = Rotation.from_matrix(rotations[body.body_id])
        np.testing.assert_allclose(
            world[taxels], pose.apply(skin.positions[taxels]) + positions[body.body_id]
        )


@pytest.mark.parametrize("stiffness", [0, -1e5, np.nan, np.inf])
def test_invalid_stiffness_is_rejected(stiffness):
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    with pytest.raises(ConfigError, match=r"skin\.stiffness"):
        Skin(model, {0: 0.02}, stiffness=stiffness)


@pytest.mark.parametrize(
    ("scales", "facts"),
    [
        ({9: 0.01}, ["skin.scales", "from 0 to 1", "9"]),
        ({"ball": 0.01}, ["skin.scales", "'ball'"]),
        ({1: 0.0}, ["skin.scales.body1", "above 0", "got 0"]),
        ({1: float("nan")}, ["skin.scales.body1", "nan"]),
        ({1: "fine"}, ["skin.scales.body1", "'fine'"]),
        ({1: 1e4}, ["skin.scales.body1", "10000"]),
    ],
)
def test_invalid_scales_are_rejected(scales, facts):
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><geom size='.1'/></body></worldbody></mujoco>"
    )
    with raises(SceneError, *facts):
        Skin(model, scales)
