"""Contacts of links, objects, table and border: friction as in Bullet, and shapes close to the meshes."""

import numpy as np
import pytest

from tactile_sim.trifinger import collision_objects
from tactile_sim.trifinger.sim_finger import SimFinger

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
