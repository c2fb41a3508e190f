"""What cannot be is refused where it is given, by an error that names it."""

import gc
import math

import numpy as np
import pytest

from tactile_sim.errors import TactileSimError
from tactile_sim.trifinger import SimFinger
from tactile_sim.trifinger.camera import CalibratedCamera, Camera
from tactile_sim.trifinger.collision_objects import Cube, Cuboid, import_mesh
from tactile_sim.trifinger.visual_objects import CubeMarker, CuboidMarker, Marker, ObjectMarker

PLACE, UPRIGHT = (0, 0, 0.3), (0, 0, 0, 1)


@pytest.fixture
def finger():
    gc.collect()  # numbers of robots that have gone are free, so that things find this one
    return SimFinger("fingerpro")


def test_an_unknown_type_and_an_impossible_time_step_are_value_errors_and_ours():
    for arguments in (("fingerpr",), ("fingerpro", 0.0), ("fingerpro", math.nan)):
        with pytest.raises(ValueError, match="did you mean|give seconds above 0|a finite number") as caught:
            SimFinger(*arguments)
        assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"finger_type": ["fingerpro"]}, "no finger type .'fingerpro'."),
        ({"time_step": 0.02}, "time_step is 0.02; give seconds above 0, at most 1/60"),
        ({"time_step": True}, "time_step is True"),
        ({"time_step": "0.001"}, "time_step: a finite number is needed, not '0.001'"),
        ({"robot_position_offset": (0, 0, math.nan)}, "robot_position_offset: 3 finite numbers"),
        ({"robot_position_offset": None}, "robot_position_offset"),
        ({"robot_position_offset": 5}, "robot_position_offset"),
        ({"spacings": {"finger_tip_link": 0}}, "spacings: finger_tip_link is 0; give metres above 0"),
    ],
)
def test_what_a_robot_cannot_be_made_of_is_a_value_error_that_names_it(arguments, names):
    with pytest.raises(ValueError, match=names) as caught:
        SimFinger(**{"finger_type": "fingerpro", **arguments})
    assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize("name", ["position_gains", "velocity_gains", "safety_kd", "max_motor_torque"])
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "1", [1.0, 2.0], [1.0, 2.0, math.nan]])
def test_gains_that_cannot_be_are_value_errors_that_name_them(finger, name, value):
    before = np.array(getattr(finger, name))
    with pytest.raises(ValueError, match=f"{name}: "):
        setattr(finger, name, value)
    np.testing.assert_array_equal(getattr(finger, name), before)


@pytest.mark.parametrize("action", [None, {"torque": [0, 0, 0]}, np.zeros(3)])
def test_what_is_no_action_is_a_value_error(finger, action):
    with pytest.raises(ValueError, match="action: one made by Action"):
        finger.append_desired_action(action)
    assert finger.append_desired_action(finger.Action()) == 0


@pytest.mark.parametrize("torque", [[1j, 0, 0], ["0", "0", "0"], [None] * 3, np.zeros(3) * 1j])
def test_torques_that_are_no_real_numbers_are_value_errors(finger, torque):
    with pytest.raises(ValueError, match=r"action\.torque needs 3 numbers"):
        finger.append_desired_action(finger.Action(torque=torque))


def test_a_reset_to_what_cannot_be_is_refused(finger):
    for joints in ([0.0] * 9, [0.0, np.nan, 0.0]):
        with pytest.raises(ValueError, match="needs 3 finite numbers"):
            finger.reset_finger_positions_and_velocities(joints)


def test_an_unknown_way_to_feel_is_named_as_the_argument(finger):
    with pytest.raises(TactileSimError, match="^touch_function: there is no 'forc'"):
        finger.feel("forc")
    with pytest.raises(TactileSimError, match="^response_function: there is no 'nearst'"):
        finger.feel(response_function="nearst")


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1), 1), "half_extents: 3 finite numbers"),
        (lambda: Cuboid(PLACE, UPRIGHT, (-0.1, 0.1, 0.1), 1), "half_extents: above 0"),
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1, 0.1), math.nan), "mass: a finite number"),
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1, 0.1), -1), "mass: kg of 0 or more"),
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1, 0.1), 1, (1, 0)), "color_rgba: 4 finite numbers"),
        (lambda: Cube(half_width=None), "half_width: a finite number"),
        (lambda: import_mesh("block.obj", (0, math.nan, 0)), "position: 3 finite numbers"),
        (lambda: Marker(-1), "number_of_goals: a whole number"),
        (lambda: Marker(1, goal_size=0), "goal_size: above 0"),
        (lambda: Marker(1, initial_position=(math.nan, 0, 0)), "position: 3 finite numbers"),
        (lambda: CubeMarker("wide", PLACE, UPRIGHT), "width: a finite number"),
        (lambda: CuboidMarker([1, 1], PLACE, UPRIGHT), "size: 3 finite numbers"),
        (lambda: CubeMarker(0.1, (0, 0, math.nan), UPRIGHT), "position: 3 finite numbers"),
        (lambda: ObjectMarker(2, PLACE, UPRIGHT, radius=-1), "radius: above 0"),
        (lambda: Camera((math.nan, 0, 0), UPRIGHT), "camera_position: 3 finite numbers"),
        (lambda: Camera(PLACE, (0, 0, 0, 0)), "camera_orientation: a quaternion of zeros"),
        (lambda: Camera(PLACE, UPRIGHT, (0, 10)), "image_size: above 0"),
        (lambda: Camera(PLACE, UPRIGHT, field_of_view=180), "field_of_view is 180"),
        (lambda: Camera(PLACE, UPRIGHT, far_plane_distance=0.001), "far_plane_distance is 0.001"),
        (
            lambda: CalibratedCamera(np.eye(2), np.zeros(5), np.eye(4), (9, 9), 0.1, 1),
            "camera_matrix: 3 x 3 finite numbers",
        ),
        (
            lambda: CalibratedCamera(np.eye(3), np.zeros(4), np.eye(4), (9, 9), 0.1, 1),
            "distortion_coefficients: 5 finite numbers",
        ),
    ],
)
def test_objects_marks_and_cameras_that_cannot_be_are_value_errors_that_name_why(finger, make, names):
    bodies = finger.physics.model.nbody
    with pytest.raises(ValueError, match=names) as caught:
        make()
    assert isinstance(caught.value, TactileSimError)
    finger.append_desired_action(finger.Action())
    assert finger.physics.model.nbody == bodies
