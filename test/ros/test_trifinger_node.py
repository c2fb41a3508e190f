"""The TriFinger in ROS: a lock-step controller at 1 kHz, and topics with torques, sensors and frames."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from support.published import published  # noqa: E402
from support.ros import Ros, stamp, wait_for  # noqa: E402
from support.transforms import pose_in  # noqa: E402
from tactile_sim.msg import TactileFrame  # noqa: E402
from tactile_sim.srv import SetBodyState  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from tactile_sim.simulation import Simulation  # noqa: E402

STEPS = 200
MS = 1_000_000
KP, KD = 8.0, 0.2
GOAL = np.array([0.1, 1.1, -1.5] * 3)


def loop(ros: Ros) -> tuple[list, list, list]:
    """Run a closed loop with a command per step; return joint states, applied torques and frames."""
    process = ros.run(
        engine="trifinger",
        lockstep=True,
        contacts="all",
        skin={"scales": {"finger_tip_link_*": 0.003}},
        rates={"joint_states": 1000.0, "tactile": 1000.0},
    )
    states = ros.listen(JointState, "joint_states")
    torques = ros.listen(JointState, "finger/applied_torque")
    tips = ros.listen(Float64MultiArray, "finger/tip_force")
    frames = ros.listen(TactileFrame, "tactile/frame")
    publisher = ros.node.create_publisher(JointState, "joint_commands", QoSProfile(depth=10))
    wait_for(lambda: publisher.get_subscription_count() and states and torques and tips and frames, "topics")
    for _ in range(STEPS):
        known = len(states)
        last = states[-1]
        effort = KP * (GOAL - last.position[:9]) - KD * last.velocity[:9]
        publisher.publish(JointState(name=list(last.name), effort=effort.tolist()))
        wait_for(lambda known=known: min(map(len, (states, torques, frames))) > known, "the next step")
    ros.output(process)
    return states, torques, frames


def test_lockstep_controller_at_1_khz_is_reproducible(ros: Ros):
    first, second = loop(ros), loop(ros)
    for one, other in zip(first, second, strict=True):
        others = {stamp(message): message for message in other}
        assert len(others) >= STEPS
        for message in one:
            again = others[stamp(message)]
            for field in ("position", "velocity", "effort", "data"):
                if hasattr(message, field):
                    assert np.array_equal(getattr(message, field), getattr(again, field))
    states, torques, _ = first
    assert [stamp(message) for message in states[-10:]] == [
        stamp(states[-1]) - 1_000_000 * k for k in range(9, -1, -1)
    ]
    # Motor torques for the last command in the resulting state: clamped, damped by 0.08, 0.08 and
    # 0.04 N m s/rad, and clamped again.
    by_stamp = {stamp(message): message for message in torques}
    checked = 0
    for before, state in zip(states, states[1:], strict=False):
        wanted = KP * (GOAL - before.position[:9]) - KD * before.velocity[:9]
        applied = by_stamp[stamp(state)].effort
        limited = np.clip(wanted, -0.396, 0.396) - np.tile([0.08, 0.08, 0.04], 3) * state.velocity[:9]
        if np.array_equal(applied, np.clip(limited, -0.396, 0.396)):
            checked += 1
    assert checked >= STEPS - 5
    assert states[-1].position[:9] == pytest.approx(GOAL, abs=0.2)  # it came close to the goal


def test_cube_is_in_tf_and_initial_tip_readings_are_zero_force():
    found = published(Simulation({"engine": "trifinger", "contacts": "all"}), ("/tf", "finger/tip_force"), 0)
    _, place = pose_in(found["/tf"][0], "cube")
    assert place == pytest.approx([0, 0, 0.0325], abs=1e-9)
    assert found["finger/tip_force"][0].data == pytest.approx([0.05] * 3)


def test_object_pose_is_that_of_the_last_image_of_the_platform(ros: Ros):
    poses, transforms = ros.listen(PoseStamped, "finger/object_pose"), ros.listen(TFMessage, "/tf")
    rates = {"sensors": 200.0, "tf": 1000.0}
    process = ros.run(engine="trifinger", start_paused=True, contacts="all", rates=rates)
    wait_for(lambda: poses and transforms, "the initial messages")
    air = Pose(position=Point(z=0.22), orientation=Quaternion(w=1.0))
    assert ros.call(SetBodyState, "/tactile_sim/set_body_state", body="cube", pose=air).success
    start = MS  # of the fall, since the new state has a stamp of its own
    ros.step(200, transforms, at_once=10)
    cubes = {stamp(message): pose_in(message, "cube")[1] for message in transforms}
    fallen = [pose for pose in poses if stamp(pose) >= start]
    assert len(fallen) >= 40
    for pose in fallen:
        # An image is taken every 100 ms and is available 90 ms later.
        number = max((stamp(pose) - start - 90 * MS) // (100 * MS), 0)
        assert pose.pose.position == pytest.approx(cubes[start + number * 100 * MS], abs=1e-12)
        assert pose.header.frame_id == "world"
    heights = sorted({float(pose.pose.position[2]) for pose in fallen})
    assert np.diff(heights) == pytest.approx([9.81 / 2 * 0.1**2], rel=0.02)
    ros.output(process)
