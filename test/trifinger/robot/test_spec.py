"""Robots as MuJoCo models: names, tips, inertias and border."""

import importlib.util
import math

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim.errors import SceneError
from tactile_sim.trifinger import finger_types_data
from tactile_sim.trifinger.robot.spec import joint_names, link_names, load_spec, tip_link_names

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
    spec = load_spec("fingeredu", stage=False)
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
            assert away[1] == pytest.approx(away[0], abs=1.5e-3)


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
