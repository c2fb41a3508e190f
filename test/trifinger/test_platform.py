"""The platform: object, timing of the cameras, and log."""

import pickle
import sys
import tracemalloc

import mujoco
import numpy as np
import pytest
from support.errors import raises
from tactile_sim.trifinger.tasks.move_cube import Pose

from tactile_sim import TactileSimError
from tactile_sim.trifinger import trifingerpro_limits
from tactile_sim.trifinger.trifinger_platform import ObjectType, TriFingerPlatform

WEIGHT = 0.094 * 9.81


def hold(platform):
    """Return an action that keeps the fingers near their initial positions."""
    return platform.Action(position=platform.spaces.robot_position.default)


def run(platform, steps):
    """Run a number of steps and return the last time index."""
    action = hold(platform)
    for _ in range(steps):
        t = platform.append_desired_action(action)
    return t


def force_on(platform, name):
    """Return the net contact force (3,) on a body in the world frame [N]."""
    model, data = platform.simfinger.physics.model, platform.simfinger.physics.data
    body, force = model.body(name).id, np.zeros(3)
    for index in range(data.ncon):
        contact, wrench = data.contact[index], np.zeros(6)
        mujoco.mj_contactForce(model, data, index, wrench)
        on_second = contact.frame.reshape(3, 3).T @ wrench[:3]
        bodies = model.geom_bodyid[contact.geom]
        force += on_second * (int(bodies[1] == body) - int(bodies[0] == body))
    return force


def test_cube_rests_with_its_weight():
    platform = TriFingerPlatform()
    run(platform, 300)
    np.testing.assert_allclose(force_on(platform, "cube"), (0, 0, WEIGHT), atol=1e-4 * WEIGHT)
    position, orientation = platform.cube.get_state()
    np.testing.assert_allclose(position, (0, 0, 0.0325), atol=1e-6)
    np.testing.assert_allclose(orientation, (0, 0, 0, 1), atol=1e-6)


@pytest.mark.parametrize(
    ("height", "speeds"),
    [(0.1, (3.0, 4.0)), (0.0335, (4.0, 6.0, 8.0))],
    ids=["above", "along the table"],
)
def test_border_keeps_thrown_cube_inside(height, speeds):
    """In PyBullet, the cube stays inside at all of these speeds as well."""
    platform = TriFingerPlatform()
    run(platform, 1)
    physics = platform.simfinger.physics
    [dof] = physics.model.joint("cube").dofadr
    for speed in speeds:
        for angle in np.radians(np.arange(0, 360, 15)):
            platform.cube.set_state((0, 0, height), (0, 0, 0, 1))
            physics.data.qvel[dof : dof + 2] = speed * np.cos(angle), speed * np.sin(angle)
            physics.restart()
            for _ in range(300):
                physics.step()
            x, y, z = platform.cube.get_state()[0]
            assert z > 0.02 and np.hypot(x, y) < 0.24, (speed, np.degrees(angle))


def test_pose_of_cube_can_be_set():
    pose = Pose((0.05, -0.04, 0.1), (0, 0, np.sqrt(0.5), np.sqrt(0.5)))
    platform = TriFingerPlatform(initial_object_pose=pose)
    observed = platform.get_camera_observation(0)
    for seen in (observed.object_pose, observed.filtered_object_pose):
        np.testing.assert_allclose(seen.position, pose.position)
        np.testing.assert_allclose(seen.orientation, pose.orientation)
        assert seen.confidence == 1.0
    run(platform, 50)
    platform.cube.set_state((0, 0.01, 0.2), (0, 0, 0, 1))
    run(platform, 10)
    # Compute the fall from rest step by step, with Bullet's drag of 0.04/s.
    height, velocity = 0.2, 0.0
    for _ in range(10):
        velocity -= 0.001 * (9.81 + 0.04 * velocity * (1 + abs(velocity)))
        height += 0.001 * velocity
    assert platform.cube.get_state()[0][2] == pytest.approx(height, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ({"camera_delay_steps": -1}, ("camera_delay_steps", "-1")),
        ({"camera_delay_steps": None}, ("camera_delay_steps",)),
        ({"action_log": -1}, ("action_log", "-1")),
        ({"action_log": 1.5}, ("action_log",)),
        ({"initial_object_pose": {"position": (0, 0, 0.1)}}, ("initial_object_pose",)),
        ({"initial_object_pose": Pose((0, 0, np.nan), (0, 0, 0, 1))}, ("initial_object_pose.position", "3")),
        ({"initial_object_pose": Pose((0, 0, 0.1), (0, 0, 0, 0))}, ("initial_object_pose.orientation",)),
    ],
)
def test_invalid_argument_of_platform_is_named(arguments, facts):
    with raises(ValueError, *facts) as caught:
        TriFingerPlatform(**arguments)
    assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("position", "orientation", "facts"),
    [
        ((0, 0, np.nan), (0, 0, 0, 1), ("position", "3")),
        ((0, 0, 0.1), (0, 0, 0, np.nan), ("orientation", "4")),
        ((0, 0, 0.1), (0, 0, 0, 0), ("orientation",)),
    ],
)
def test_invalid_pose_does_not_move_cube(position, orientation, facts):
    platform = TriFingerPlatform()
    before = platform.cube.get_state()
    with raises(ValueError, *facts):
        platform.cube.set_state(position, orientation)
    assert platform.cube.get_state() == before


def test_rejected_action_does_not_advance_cameras():
    platform = TriFingerPlatform()
    with raises(ValueError, "action"):
        platform.append_desired_action(None)
    t = run(platform, 150)
    assert t == 149
    assert platform.get_camera_observation(t).cameras[0].timestamp == pytest.approx(0.1 - 0.1)


def test_dice_are_not_tracked():
    platform = TriFingerPlatform(object_type=ObjectType.DICE)
    assert len(platform.dice) == 25
    t = run(platform, 300)
    assert all(die.get_state()[0][2] == pytest.approx(0.011, abs=2e-4) for die in platform.dice)
    assert not hasattr(platform.get_camera_observation(t), "object_pose")


def test_platform_without_object():
    platform = TriFingerPlatform(object_type=ObjectType.NONE)
    assert platform.simfinger.physics.model.nq == 9
    assert not hasattr(platform.get_camera_observation(0), "object_pose")


def stamps(platform, steps):
    """Return the time stamp of the camera observation after each step [s]."""
    action = hold(platform)
    seen = []
    for _ in range(steps):
        t = platform.append_desired_action(action)
        seen.append(platform.get_camera_observation(t).cameras[0].timestamp)
    return np.array(seen)


def test_images_are_observed_after_delay():
    seen = stamps(TriFingerPlatform(), 400)
    np.testing.assert_allclose(seen, np.maximum((np.arange(400) - 90) // 100, 0) * 0.1)


def test_next_image_waits_for_last_one():
    # Images are due at 0, 100, 200, ... and observed 150 steps later. Overdue images are taken at that time.
    seen = stamps(TriFingerPlatform(camera_delay_steps=150), 500)
    changes = np.flatnonzero(np.diff(seen)) + 1
    # The image from 0 is observed at 150. The next ones are taken at 151 (due at 100) and 302 (due at 200).
    np.testing.assert_array_equal(changes, [301, 452])
    np.testing.assert_allclose(seen[changes], [0.151, 0.302])


def test_camera_rate_is_independent_of_time_step():
    seen = stamps(TriFingerPlatform(time_step_s=0.004, camera_delay_steps=0), 60)
    np.testing.assert_allclose(seen, np.arange(60) // 25 * 0.1)


def test_observed_pose_belongs_to_image():
    platform = TriFingerPlatform(initial_object_pose=Pose((0, 0, 0.2), (0, 0, 0, 1)))
    action, heights = hold(platform), []
    for _ in range(195):
        heights.append(platform.cube.get_state()[0][2])
        t = platform.append_desired_action(action)
    assert platform.get_camera_observation(t).object_pose.position[2] == heights[100]


def test_other_time_indices_are_rejected():
    platform = TriFingerPlatform()
    platform.get_camera_observation(0)
    t = run(platform, 3)
    assert t == 2
    assert platform.get_camera_observation(2) is platform.get_camera_observation(3)
    for wrong in (-1, 1, 4):
        with raises(ValueError, "time index", str(wrong)):
            platform.get_camera_observation(wrong)


def test_platform_has_methods_of_robot():
    platform = TriFingerPlatform(initial_robot_position=[0.1, 0.8, -1.6] * 3)
    assert platform.get_time_step() == 0.001
    np.testing.assert_allclose(platform.get_robot_observation(0).position, [0.1, 0.8, -1.6] * 3)
    action = platform.Action(torque=[0.01] * 9)
    t = platform.append_desired_action(action)
    assert platform.get_current_timeindex() == t == 0
    assert platform.get_timestamp_ms(t) == 0.0
    np.testing.assert_allclose(platform.get_desired_action(t).torque, [0.01] * 9)
    np.testing.assert_allclose(platform.get_applied_action(t).torque, [0.01] * 9)
    assert len(platform.forward_kinematics([0.0] * 9)) == 3


def test_equal_platforms_are_bit_identical():
    def positions():
        platform = TriFingerPlatform()
        action = platform.Action(position=[0.3, 0.9, -2.0] * 3)
        for _ in range(400):
            t = platform.append_desired_action(action)
        return [*platform.get_robot_observation(t).position, *platform.cube.get_state()[0]]

    assert positions() == positions()


def test_log_contains_every_step(tmp_path):
    platform = TriFingerPlatform()
    rng = np.random.default_rng(1)
    for _ in range(30):
        platform.append_desired_action(platform.Action(torque=rng.uniform(-0.3, 0.3, 9)))
    platform.store_action_log(tmp_path / "log.p")
    log = pickle.loads((tmp_path / "log.p").read_bytes())
    again = TriFingerPlatform(False, log["initial_robot_position"], log["initial_object_pose"])
    assert [entry["t"] for entry in log["actions"]] == list(range(30))
    for entry in log["actions"]:
        t = again.append_desired_action(entry["action"])
        observed, logged = again.get_robot_observation(t), entry["robot_observation"]
        for name in ("position", "velocity", "torque", "tip_force"):
            np.testing.assert_array_equal(getattr(observed, name), getattr(logged, name))
        np.testing.assert_array_equal(
            again.get_camera_observation(t).object_pose.position, entry["object_pose"].position
        )
    assert log["final_object_pose"]["t"] == 29
    np.testing.assert_allclose(log["final_object_pose"]["pose"].position, (0, 0, 0.0325))


def test_log_is_limited(tmp_path):
    platform = TriFingerPlatform(action_log=5)
    run(platform, 8)
    with pytest.warns(UserWarning, match="5 of 8"):
        platform.store_action_log(tmp_path / "log.p")
    assert len(pickle.loads((tmp_path / "log.p").read_bytes())["actions"]) == 5


def test_disabled_log_cannot_be_stored(tmp_path):
    platform = TriFingerPlatform(action_log=0)
    run(platform, 1)
    with raises(TactileSimError, "action_log"):
        platform.store_action_log(tmp_path / "log.p")


def test_memory_does_not_grow():
    platform = TriFingerPlatform()
    run(platform, 200)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run(platform, 2000)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 2000 * 8  # less than one float per step


def test_limits_match_robot():
    spaces = TriFingerPlatform.spaces
    np.testing.assert_allclose(spaces.robot_position.low, [-0.33, 0, -2.7] * 3)
    np.testing.assert_allclose(spaces.robot_position.high, [1, 1.57, 0] * 3)
    np.testing.assert_allclose(spaces.robot_torque.high, 0.397)
    np.testing.assert_allclose(spaces.object_position.default, (0, 0, 0.0325))
    assert all(limits.low.dtype == np.float32 for limits in vars(spaces).values())
    assert trifingerpro_limits.robot_velocity is spaces.robot_velocity


def test_spaces_require_gymnasium(monkeypatch):
    for package in ("gym", "gymnasium"):
        monkeypatch.setitem(sys.modules, f"{package}.spaces", None)
    with raises(ImportError, "gymnasium") as caught:
        _ = TriFingerPlatform.spaces.robot_torque.gym
    assert isinstance(caught.value, TactileSimError)
