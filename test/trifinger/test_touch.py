"""Readings of fingertips and skin under a plate that presses with a known force."""

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim.trifinger import SimFinger, finger_types_data

TYPES = tuple(finger_types_data.get_valid_finger_types())
HEIGHT = 0.5
"""Height of the robot above its stage [m]."""


def pressed(finger_type, force):
    """Return a robot that holds its position while a plate presses on its first tip with a force [N]."""
    start = finger_types_data.get_initial_joint_positions(finger_type)
    probe = SimFinger(finger_type, robot_position_offset=(0, 0, HEIGHT))
    tip = probe.physics.data.xpos[probe.physics.tips[0]]

    def add_plate(spec):
        body = spec.worldbody.add_body(name="plate", pos=tip - [0, 0, 0.03], gravcomp=1.0)
        body.add_joint(name="plate", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=(0, 0, 1))
        body.add_geom(
            name="plate", type=mujoco.mjtGeom.mjGEOM_BOX, size=(0.03, 0.03, 0.005), mass=0.1, density=0
        )

    finger = SimFinger(finger_type, robot_position_offset=(0, 0, HEIGHT), furnish=add_plate)
    physics = finger.physics
    physics.data.qfrc_applied[physics.model.joint("plate").dofadr[0]] = force
    action = finger.Action(position=start)
    action.position_kd = np.tile([0.3, 0.3, 0.05], finger.number_of_fingers)
    for _ in range(3000):
        finger.append_desired_action(action)
    return finger


@pytest.mark.parametrize("force", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("finger_type", TYPES)
def test_tip_force_is_within_one_percent(finger_type, force):
    finger = pressed(finger_type, force)
    forces = finger.tip_forces()
    assert forces[0, 2] == pytest.approx(force, rel=0.01)
    assert not forces[1:].any()


@pytest.mark.parametrize(("finger_type", "feels"), [("fingerpro", True), ("trifingeredu", False)])
def test_push_sensors_follow_normal_force_as_in_pybullet(finger_type, feels):
    finger = pressed(finger_type, 1.0)
    reading = finger.get_observation(finger.get_current_timeindex() + 1).tip_force
    normal = finger.contacts().wrench[:, 0].sum()
    assert normal == pytest.approx(1.0, rel=0.03)
    assert reading[0] == pytest.approx(normal / 5 + 0.05 if feels else 0.05, abs=1e-12)
    assert (reading[1:] == 0.05).all()


@pytest.mark.parametrize("finger_type", ["fingerone", "fingeredu", "fingerpro"])
def test_skin_of_tip_sums_to_same_force(finger_type):
    finger = pressed(finger_type, 1.0)
    names = [body.name for body in finger.skin.pads]
    assert sorted(names) == ["finger_lower_link", "finger_tip_link"]
    start, stop = finger.skin.offsets[names.index("finger_tip_link") :][:2]
    for response in ("spread_linear", "elastic_foundation"):
        taxels = finger.readings("force_vector_global", response)
        assert taxels[start:stop].sum(axis=0) == pytest.approx(finger.tip_forces()[0], abs=1e-9)
        assert not np.delete(taxels, np.s_[start:stop], axis=0).any()


def test_any_link_can_have_a_skin():
    finger = SimFinger("fingeredu", spacings={"finger_middle_link": 0.01})
    assert [pad.name for pad in finger.skin.pads] == ["finger_middle_link"]
    with raises(ValueError, "spacings", "'finger_tip'", "'finger_tip_link'"):
        SimFinger("fingeredu", spacings={"finger_tip": 0.01})


def test_push_sensors_saturate():
    assert SimFinger("trifingerpro").physics.push_sensors(np.array([0.0, 2.5, 4.75, 10.0])) == pytest.approx(
        [0.05, 0.55, 1.0, 1.0]
    )
