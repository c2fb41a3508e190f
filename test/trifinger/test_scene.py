"""Robots and stages as MuJoCo models: names, tips, inertias, border and contacts."""

import importlib.util
import math

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim.common.errors import SceneError
from tactile_sim.trifinger import collision_objects, finger_types_data
from tactile_sim.trifinger.finger_types_data import joint_names, link_names, tip_link_names
from tactile_sim.trifinger.scene import load_spec
from tactile_sim.trifinger.sim_finger import SimFinger

TYPES = tuple(finger_types_data.get_valid_finger_types())


@pytest.mark.parametrize("finger_type", TYPES)
def test_links_joints_and_tips_have_urdf_names(finger_type):
    model = load_spec(finger_type).compile()
    assert [model.joint(name).id for name in joint_names(finger_type)] == list(range(model.njnt))
    parents = [model.body(name).parentid[0] for name in tip_link_names(finger_type)]
    assert parents == [model.body(name).id for name in link_names(finger_type)[2::3]]


@pytest.mark.parametrize("finger_type", TYPES)
def test_tips_and_lower_links_collide(finger_type):
    model = load_spec(finger_type).compile()
    for name in tip_link_names(finger_type) + link_names(finger_type)[2::3]:
        geoms = np.flatnonzero(model.geom_bodyid == model.body(name).id)
        assert geoms[model.geom_contype[geoms] != 0].tolist() == [model.geom(name).id]


@pytest.mark.parametrize("finger_type", TYPES)
def test_no_contacts_at_initial_positions(finger_type):
    model = load_spec(finger_type).compile()
    data = mujoco.MjData(model)
    data.qpos[:] = finger_types_data.get_initial_joint_positions(finger_type)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_base_position_moves_robot_only():
    model = load_spec("fingeredu", base_position=(0.1, 0.2, 0.3)).compile()
    np.testing.assert_allclose(model.body("base_link").pos, [0.1, 0.2, 0.3])
    assert model.geom("table").pos[2] + model.geom("table").size[2] == 0.0


def test_zero_inertia_is_replaced():
    spec = load_spec("fingeredu")
    assert min(spec.compile().body("finger_lower_link").inertia) == pytest.approx(1e-10)


@pytest.mark.parametrize("finger_type", ["trifingerpro", "trifingeredu", "trifingerone", "fingerpro"])
def test_border_has_the_shape_of_its_mesh(finger_type):
    model = load_spec(finger_type).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    drawn, colliding = np.array([1, 0, 0, 0, 0, 0], np.uint8), np.array([0, 0, 0, 1, 0, 0], np.uint8)
    for height in (0.01, 0.03, 0.05):
        for angle in np.radians(np.arange(0.5, 360, 7)):
            direction = np.array([math.cos(angle), math.sin(angle), 0.0])
            start = 0.19 * direction + [0, 0, height]
            away = [
                mujoco.mj_ray(model, data, start, direction, group, 1, -1, np.zeros(1, np.int32), None)
                for group in (drawn, colliding)
            ]
            assert away[0] > 0
            assert away[1] == pytest.approx(away[0], abs=1e-3)


@pytest.mark.parametrize("finger_type", ["trifingerpro", "trifingeredu", "trifingerone"])
def test_border_keeps_thrown_balls_inside(finger_type):
    spec, directions = load_spec(finger_type), np.radians([5, 65, 125, 185, 245, 305])
    for number, angle in enumerate(directions):
        place = 0.1 * np.array([math.cos(angle), math.sin(angle), 0.4])
        ball = spec.worldbody.add_body(name=f"ball_{number}", pos=place)
        ball.add_freejoint(name=f"ball_{number}")
        ball.add_geom(size=(0.02, 0, 0), mass=0.05)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:9] = finger_types_data.get_initial_joint_positions(finger_type)
    for number, angle in enumerate(directions):
        dof = model.joint(f"ball_{number}").dofadr[0]
        data.qvel[dof : dof + 2] = 1.5 * np.array([math.cos(angle), math.sin(angle)])
    mujoco.mj_step(model, data, 1000)
    balls = data.xpos[[model.body(f"ball_{number}").id for number in range(len(directions))]]
    # The border is at least 0.175 m high. A ball at 1.5 m/s rises by at most 0.115 m.
    assert (np.hypot(balls[:, 0], balls[:, 1]) < 0.2782).all()
    assert (balls[:, 2] > 0.0).all()


def test_unknown_type_suggests_nearest_name():
    with raises(ValueError, "trifingerpro"):
        load_spec("trifingerpo")


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with raises(SceneError, "robot-properties-fingers"):
        load_spec("trifingerpro")


UPRIGHT, AWAY = (0, 0, 0, 1), (0, 0, 0.5)
ASIDE = [(0.12, 0.1, 0.1), (0.03, -0.15, 0.1), (-0.15, 0.05, 0.1)]  # tips without contact
TOGETHER = [(0, 0, 0.05)] * 3  # overlapping tips
IN_THE_TABLE, IN_THE_BORDER = [(0.15, 0.06, 0.005), *ASIDE[1:]], [(0.18, 0.06, 0.025), *ASIDE[1:]]


def frictions(finger, kinds):
    """Return the friction coefficients of the current contacts, keyed by the sorted names of both sides."""
    model, found = finger.physics.model, {}
    for contact in finger.physics.data.contact:
        first, second = (model.geom(geom).name.split("_")[0] for geom in contact.geom)
        pair = tuple(sorted((kinds.get(first, first), kinds.get(second, second))))
        assert found.setdefault(pair, contact.friction[0]) == contact.friction[0] == contact.friction[1]
    return found


def bring(finger, tips):
    """Move the fingertips to positions [m]."""
    guess = [0, 0.9, -1.7] * finger.number_of_fingers
    joints = finger.kinematics.inverse_kinematics(tips, guess, 1e-4)[0]
    finger.reset_finger_positions_and_velocities(joints)


def test_friction_is_bullets_product(tmp_path):
    wall = tmp_path / "wall.obj"
    corners = [(x, y, z) for x in (-0.02, 0.02) for y in (-0.02, 0.02) for z in (0, 0.05)]
    wall.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners))
    finger = SimFinger("trifingerpro")
    number = finger._pybullet_client_id
    for place in ((0, -0.06, 0), (0.12, 0.1, 0.08)):
        collision_objects.import_mesh(wall, place, pybullet_client_id=number)
    cube = collision_objects.ColoredCubeV2((0, 0, 0.0325), pybullet_client_id=number)
    box = collision_objects.Cube((0, 0, 0.5), pybullet_client_id=number)
    found = {}
    for tips, place, above in (
        (ASIDE, (0, -0.04, 0.032), (0, -0.04, 0.096)),
        (ASIDE, (0.17, 0, 0.032), AWAY),
        (IN_THE_TABLE, (0, 0, 0.032), AWAY),
        (IN_THE_BORDER, (0, 0, 0.032), AWAY),
        (TOGETHER, (0, 0, 0.05), AWAY),
    ):
        cube.set_state(place, UPRIGHT)
        box.set_state(above, UPRIGHT)
        bring(finger, tips)
        found |= frictions(finger, {"finger": "link", "cube": "object", "box": "object"})
    assert found == {
        ("object", "table"): 1.0,
        ("object", "object"): 1.0,
        ("mesh", "object"): 0.5,
        ("border", "object"): 0.5,
        ("link", "object"): 0.5,
        ("link", "table"): 0.5,
        ("link", "link"): 0.25,
        ("border", "link"): 0.25,
        ("link", "mesh"): 0.25,
    }


def test_stage_of_one_finger_has_the_friction_of_a_mesh():
    finger = SimFinger("fingerpro")
    collision_objects.ColoredCubeV2((0.1, 0.1, 0.032), pybullet_client_id=finger._pybullet_client_id)
    bring(finger, [(0, 0, 0.008)])
    found = frictions(finger, {"finger": "link", "cube": "object"})
    assert found == {("object", "table"): 0.5, ("link", "table"): 0.25}


def test_middle_link_of_edu_touches_its_base_where_the_meshes_do():
    finger = SimFinger("fingeredu", robot_position_offset=(0, 0, 0.5))
    for angle in np.linspace(-1.57, 1.2, 60):
        # The meshes are at least 3.8 mm apart.
        finger.reset_finger_positions_and_velocities([0, angle, 0])
        assert finger.physics.data.ncon == 0
    # The meshes overlap.
    finger.reset_finger_positions_and_velocities([1.08, -0.69, 0])
    assert finger.physics.data.ncon > 0


def test_middle_joint_of_edu_reaches_its_target():
    finger = SimFinger("fingeredu")
    action = finger.Action(position=[0, -1.2, -1.7])
    for _ in range(1500):
        t = finger.append_desired_action(action)
    assert finger.get_observation(t).position[1] == pytest.approx(-1.2, abs=0.1)
