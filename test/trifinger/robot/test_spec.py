"""The finger robots as MuJoCo models: names, tips, what was mended, and the arena."""

import importlib.util
import math

import mujoco
import numpy as np
import pytest

from tactile_sim.errors import SceneError
from tactile_sim.trifinger import finger_types_data
from tactile_sim.trifinger.robot.spec import joint_names, link_names, load_spec, tip_link_names

TYPES = tuple(finger_types_data.get_valid_finger_types())


@pytest.mark.parametrize("finger_type", TYPES)
def test_links_joints_and_tips_have_the_names_of_the_urdf(finger_type):
    model = load_spec(finger_type).compile()
    assert [model.joint(name).id for name in joint_names(finger_type)] == list(range(model.njnt))
    parents = [model.body(name).parentid[0] for name in tip_link_names(finger_type)]
    assert parents == [model.body(name).id for name in link_names(finger_type)[2::3]]


@pytest.mark.parametrize("finger_type", TYPES)
def test_tips_and_lower_links_have_shapes_that_touch_on_every_type(finger_type):
    model = load_spec(finger_type).compile()
    for name in tip_link_names(finger_type) + link_names(finger_type)[2::3]:
        geoms = np.flatnonzero(model.geom_bodyid == model.body(name).id)
        assert geoms[model.geom_contype[geoms] != 0].tolist() == [model.geom(name).id]


@pytest.mark.parametrize("finger_type", TYPES)
def test_nothing_touches_at_the_start(finger_type):
    model = load_spec(finger_type).compile()
    data = mujoco.MjData(model)
    data.qpos[:] = finger_types_data.get_initial_joint_positions(finger_type)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_a_base_position_moves_the_robot_and_not_its_stage():
    model = load_spec("fingeredu", base_position=(0.1, 0.2, 0.3)).compile()
    np.testing.assert_allclose(model.body("base_link").pos, [0.1, 0.2, 0.3])
    assert model.geom("table").pos[2] + model.geom("table").size[2] == 0.0


def test_an_inertia_of_zero_is_mended():
    spec = load_spec("fingeredu", stage=False)
    assert min(spec.compile().body("finger_lower_link").inertia) == pytest.approx(1e-10)


@pytest.mark.parametrize(("finger_type", "radius", "height"), [
    ("trifingerpro", 0.1945, 0.01), ("trifingerpro", 0.23635, 0.1), ("trifingeredu", 0.2415, 0.2),
])  # fmt: skip
def test_the_border_stands_where_the_mesh_has_its_inner_side(finger_type, radius, height):
    model = load_spec(finger_type).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    hit = np.zeros(1, np.int32)
    collides = np.array([0, 0, 0, 1, 0, 0], np.uint8)  # the group of what is not drawn
    for angle in np.radians([0, 10, 90, 350]):
        direction = np.array([math.cos(angle), math.sin(angle), 0.0])
        start = 0.15 * direction + [0, 0, height]
        free = mujoco.mj_ray(model, data, start, direction, collides, 1, -1, hit, None)
        assert 0.15 + free == pytest.approx(radius, abs=1e-3)
        assert model.geom(hit[0]).name.startswith("border")


@pytest.mark.parametrize("finger_type", ["trifingerpro", "trifingeredu", "trifingerone"])
def test_what_is_thrown_at_the_border_stays_within(finger_type):
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
    # The border is 0.175 m high or more; at 1.5 m/s a ball rises by 0.115 m, at most.
    assert (np.hypot(balls[:, 0], balls[:, 1]) < 0.2782).all()
    assert (balls[:, 2] > 0.0).all()


def test_an_unknown_type_is_a_value_error():
    with pytest.raises(ValueError, match="trifingerpro"):
        load_spec("trifingerpo")


def test_missing_files_are_told_with_the_line_that_installs_them(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SceneError, match="pip install --no-deps robot-properties-fingers"):
        load_spec("trifingerpro")
