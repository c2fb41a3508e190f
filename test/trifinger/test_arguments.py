"""Invalid arguments raise an error that names the argument."""

import gc
import math

import numpy as np
import pytest
from support.errors import raises

from tactile_sim.common.errors import TactileSimError
from tactile_sim.trifinger import SimFinger, sample
from tactile_sim.trifinger.camera import CalibratedCamera, Camera
from tactile_sim.trifinger.collision_objects import Cube, Cuboid, import_mesh
from tactile_sim.trifinger.visual_objects import CubeMarker, CuboidMarker, Marker, ObjectMarker

PLACE, UPRIGHT = (0, 0, 0.3), (0, 0, 0, 1)


@pytest.fixture
def finger():
    gc.collect()  # free the ids of other robots, so that this one has the default id
    return SimFinger("fingerpro")


def test_errors_are_value_errors_and_tactile_sim_errors():
    for arguments in (("fingerpr",), ("fingerpro", 0.0), ("fingerpro", math.nan)):
        with raises(ValueError) as caught:
            SimFinger(*arguments)
        assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ({"finger_type": ["fingerpro"]}, ("'fingerpro'",)),
        ({"time_step": 0.02}, ("time_step", "0.02")),
        ({"time_step": True}, ("time_step", "True")),
        ({"time_step": "0.001"}, ("time_step", "'0.001'")),
        ({"robot_position_offset": (0, 0, math.nan)}, ("robot_position_offset", "3")),
        ({"robot_position_offset": None}, ("robot_position_offset",)),
        ({"robot_position_offset": 5}, ("robot_position_offset",)),
        ({"spacings": {"finger_tip_link": 0}}, ("spacings: finger_tip_link", "0")),
        ({"spacings": 0.002}, ("spacings", "0.002")),
        ({"furnish": "table"}, ("furnish", "'table'")),
    ],
)
def test_invalid_argument_of_robot_is_named(arguments, facts):
    with raises(ValueError, *facts) as caught:
        SimFinger(**{"finger_type": "fingerpro", **arguments})
    assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda finger: finger.Action(torque=[[1], [2, 3]]), ("action.torque", "[2, 3]")),
        (lambda finger: finger.get_observation("now"), ("time index", "'now'")),
        (lambda finger: finger.get_timestamp_ms(np.zeros(2)), ("time index",)),
        (lambda finger: finger.reset_finger_positions_and_velocities("home"), ("joint_positions", "'home'")),
        (lambda finger: finger.reset_finger_positions_and_velocities([[0], [0, 1]]), ("joint_positions",)),
        (lambda finger: finger.edit_scene(None), ("edit", "None")),
        (lambda finger: finger.kinematics.jacobian("tip", np.zeros(3)), ("finger_idx", "'tip'")),
        (lambda finger: sample.random_joint_positions(None), ("number_of_fingers", "None")),
        (lambda finger: sample.random_position_in_arena("high"), ("height_limits", "'high'")),
        (lambda finger: sample.get_tip_positions_around_position(3, "here"), ("position", "'here'")),
        (
            lambda finger: sample.feasible_random_joint_positions_for_reaching(finger, None),
            ("action_bounds", "None"),
        ),
    ],
)
def test_invalid_argument_of_a_method_is_named(finger, call, facts):
    with raises(ValueError, *facts) as caught:
        call(finger)
    assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize("name", ["position_gains", "velocity_gains", "safety_kd", "max_motor_torque"])
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "1", [1.0, 2.0], [1.0, 2.0, math.nan]])
def test_invalid_gains_are_rejected(finger, name, value):
    before = np.array(getattr(finger, name))
    with raises(ValueError, name):
        setattr(finger, name, value)
    np.testing.assert_array_equal(getattr(finger, name), before)


@pytest.mark.parametrize("action", [None, {"torque": [0, 0, 0]}, np.zeros(3)])
def test_other_types_of_action_are_rejected(finger, action):
    with raises(ValueError, "action"):
        finger.append_desired_action(action)
    assert finger.append_desired_action(finger.Action()) == 0


@pytest.mark.parametrize("torque", [[1j, 0, 0], ["0", "0", "0"], [None] * 3, np.zeros(3) * 1j])
def test_torques_must_be_real_numbers(finger, torque):
    with raises(ValueError, "action.torque"):
        finger.append_desired_action(finger.Action(torque=torque))


def test_invalid_reset_is_rejected(finger):
    for joints in ([0.0] * 9, [0.0, np.nan, 0.0]):
        with raises(ValueError, "joint_positions", "3"):
            finger.reset_finger_positions_and_velocities(joints)


def test_unknown_touch_function_is_named(finger):
    with raises(TactileSimError, "touch_function", "'forc'"):
        finger.readings("forc")
    with raises(TactileSimError, "response_function", "'nearst'"):
        finger.readings(response_function="nearst")


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1), 1), ("half_extents", "3")),
        (lambda: Cuboid(PLACE, UPRIGHT, (-0.1, 0.1, 0.1), 1), ("half_extents",)),
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1, 0.1), math.nan), ("mass",)),
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1, 0.1), -1), ("mass",)),
        (lambda: Cuboid(PLACE, UPRIGHT, (0.1, 0.1, 0.1), 1, (1, 0)), ("color_rgba", "4")),
        (lambda: Cube(half_width=None), ("half_width",)),
        (lambda: import_mesh("block.obj", (0, math.nan, 0)), ("position", "3")),
        (lambda: Marker(-1), ("number_of_goals",)),
        (lambda: Marker(1, goal_size=0), ("goal_size",)),
        (lambda: Marker(1, initial_position=(math.nan, 0, 0)), ("position", "3")),
        (lambda: CubeMarker("wide", PLACE, UPRIGHT), ("width",)),
        (lambda: CuboidMarker([1, 1], PLACE, UPRIGHT), ("size", "3")),
        (lambda: CubeMarker(0.1, (0, 0, math.nan), UPRIGHT), ("position", "3")),
        (lambda: CubeMarker(0.1, PLACE, UPRIGHT, color=(2, 0, 0, 1)), ("color", "0 to 1")),
        (lambda: ObjectMarker(2, PLACE, UPRIGHT, radius=-1), ("radius",)),
        (lambda: Camera((math.nan, 0, 0), UPRIGHT), ("camera_position", "3")),
        (lambda: Camera(PLACE, (0, 0, 0, 0)), ("camera_orientation",)),
        (lambda: Camera(PLACE, UPRIGHT, (0, 10)), ("image_size",)),
        (lambda: Camera(PLACE, UPRIGHT, field_of_view=180), ("field_of_view", "180")),
        (lambda: Camera(PLACE, UPRIGHT, far_plane_distance=0.001), ("far_plane_distance", "0.001")),
        (
            lambda: CalibratedCamera(np.eye(2), np.zeros(5), np.eye(4), (9, 9), 0.1, 1),
            ("camera_matrix", "(3, 3)"),
        ),
        (
            lambda: CalibratedCamera(np.eye(3), np.zeros(4), np.eye(4), (9, 9), 0.1, 1),
            ("distortion_coefficients", "5"),
        ),
    ],
)
def test_invalid_argument_of_object_marker_or_camera_is_named(finger, make, facts):
    bodies = finger.physics.model.nbody
    with raises(ValueError, *facts) as caught:
        make()
    assert isinstance(caught.value, TactileSimError)
    finger.append_desired_action(finger.Action())
    assert finger.physics.model.nbody == bodies


@pytest.mark.parametrize(
    ("positions", "received"),
    [
        ([PLACE], "(1, 3)"),
        ([PLACE] * 3, "(3, 3)"),
        (PLACE, "(3,)"),
        ([PLACE, (0, 0, math.nan)], "[1, 2]"),
    ],
)
def test_balls_need_one_position_each(finger, positions, received):
    goals = Marker(2)
    balls = [finger.physics.model.body(name).mocapid[0] for name in goals.names]
    with raises(ValueError, "positions", "(2, 3)", received) as caught:
        goals.set_state(positions)
    assert isinstance(caught.value, TactileSimError)
    assert finger.physics.data.mocap_pos[balls].tolist() == [[0.18, 0.18, 0.08]] * 2
    goals.set_state([PLACE, (0.1, 0, 0)])
    assert finger.physics.data.mocap_pos[balls].tolist() == [list(PLACE), [0.1, 0, 0]]
    Marker(0).set_state([])
