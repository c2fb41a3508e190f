"""Test commands, and that the node reports invalid requests and faults and keeps running."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3  # noqa: E402
from rclpy.utilities import get_rmw_implementation_identifier  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray, String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from support.ros import PATIENCE, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileArray, TactileFrame  # noqa: E402
from tactile_sim.srv import Reset, SetBodyState, SetJointState, Step  # noqa: E402


def publish(ros, message_type, topic):
    publisher = ros.node.create_publisher(message_type, topic, 10)
    wait_for(lambda: publisher.get_subscription_count())
    return publisher.publish


def test_joints_reach_commanded_positions(ros, parameters):
    joints = ros.listen(JointState, "joint_states")
    process = ros.run(**parameters, control={"rail": {"kp": 200.0, "kd": 40.0}})
    send = publish(ros, JointState, "joint_commands")
    send(JointState(name=["hinge", "rail"], position=[0.4, -0.2]))
    wait_for(lambda: joints and np.allclose(joints[-1].position, [0.4, -0.2], atol=1e-3), "both joints")
    send(JointState(name=["rail"], position=[0.1]))
    wait_for(lambda: np.allclose(joints[-1].position, [0.4, 0.1], atol=1e-3), "the rail alone")
    for position in (2.5, 3.0):
        send(JointState(name=["hinge"], position=[position]))
    wait_for(lambda: np.allclose(joints[-1].position, [2.0, 0.1], atol=1e-3), "the joint limit")
    assert ros.output(process).count("position of joint 'hinge'") == 1


def test_ctrl_drives_actuators_until_command_timeout(ros, parameters):
    joints = ros.listen(JointState, "joint_states")
    ros.run(**parameters, command_timeout=1.0)
    send = publish(ros, Float64MultiArray, "ctrl")
    send(Float64MultiArray(data=[0.3]))
    wait_for(lambda: any(message.position[0] > 0.2 for message in list(joints)), "the command")
    wait_for(lambda: joints[-1].position[0] < 0.01, "rest")


BAD_COMMANDS = [
    (("'hinger'", "'hinge'"), JointState(name=["hinger"], position=[0.1])),
    (("position", "2", "1"), JointState(name=["hinge"], position=[0.1, 0.2])),
    (("velocity", "1", "2"), JointState(name=["hinge", "rail"], velocity=[0.1])),
    (("position", "'hinge'", "inf"), JointState(name=["hinge"], position=[float("inf")])),
    (("'rail'", "position"), JointState(name=["rail"], position=[0.1])),
    (("'hinge'", "twice"), JointState(name=["hinge", "hinge"], position=[0.1, 0.1])),
    (("ctrl", "3", "1"), Float64MultiArray(data=[0.0, 1.0, 2.0])),
    (("ctrl[0]", "-inf"), Float64MultiArray(data=[float("-inf")])),
]


def pose(**position):
    return Pose(position=Point(**position), orientation=Quaternion(w=1.0))


BAD_STATES = [
    (("'bal'", "'ball'"), {"body": "bal", "pose": pose()}),
    (("'arm'", "free"), {"body": "arm", "pose": pose()}),
    (("'world'", "free"), {"body": "world", "pose": pose()}),
    (("finite",), {"body": "ball", "pose": pose(x=float("nan"))}),
    (("orientation",), {"body": "ball", "pose": Pose(orientation=Quaternion(w=0.0))}),
    (
        ("twist", "finite"),
        {"body": "ball", "pose": pose(), "twist": Twist(linear=Vector3(x=float("inf")))},
    ),
]


def test_invalid_commands_have_no_effect_and_broken_physics_stops_until_reset(ros, parameters):
    joints = ros.listen(JointState, "joint_states")
    reports = ros.listen(DiagnosticArray, "/diagnostics")
    process = ros.run(**parameters, rates={"diagnostics": 50.0})
    send = {
        JointState: publish(ros, JointState, "joint_commands"),
        Float64MultiArray: publish(ros, Float64MultiArray, "ctrl"),
    }
    for facts, message in BAD_COMMANDS:
        send[type(message)](message)
        wait_for(
            lambda facts=facts: any(
                all(fact in report.status.message[0] for fact in facts) for report in list(reports)
            ),
            f"a report of {facts}",
        )
    # NaN leaves a joint unchanged.
    send[JointState](JointState(name=["hinge"], position=[float("nan")]))
    wait_for(lambda: joints)
    sent = stamp(joints[-1])
    wait_for(lambda: stamp(joints[-1]) > sent + 5 * 10**8)
    assert process.poll() is None
    np.testing.assert_array_equal(joints[-1].position, [0.0, 0.0])

    for facts, fields in BAD_STATES:
        answer = ros.call(SetBodyState, "/tactile_sim/set_body_state", **fields)
        assert not answer.success
        assert all(fact in answer.message for fact in facts), answer.message
    step = ros.call(Step, "/tactile_sim/step", steps=3)
    assert not step.success
    assert "pause" in step.message
    reset = ros.call(Reset, "/tactile_sim/reset", keyframe="home")
    assert not reset.success
    assert "'home'" in reset.message
    before = stamp(joints[-1])
    wait_for(lambda: stamp(joints[-1]) > before)

    send[JointState](JointState(name=["hinge"], effort=[9e9]))
    wait_for(lambda: bytes(reports[-1].status.level) == DiagnosticStatus.ERROR, "the report")
    assert "bad acceleration" in reports[-1].status.message[0]
    refused = ros.call(SetBool, "/tactile_sim/pause", data=False)
    assert not refused.success and "~/reset" in refused.message
    assert ros.call(Reset, "/tactile_sim/reset").success
    broke = stamp(joints[-1])
    wait_for(lambda: stamp(joints[-1]) > broke + 10**8, "time to advance")
    assert all(np.isfinite(message.position).all() for message in joints)
    assert "bad acceleration" in ros.output(process)


def test_thrown_ball_hits_skin_and_diagnostics_report_pause(ros, parameters):
    arrays = ros.listen(TactileArray, "tactile/arm/array")
    reports = ros.listen(DiagnosticArray, "/diagnostics")
    ros.run(**parameters, start_paused=True, rates={"diagnostics": 20.0})

    def states():
        return [
            dict(zip(values.key, values.value, strict=True))["state"]
            for values in (report.status.values[0] for report in list(reports))
        ]

    wait_for(lambda: arrays and len(reports) > 3, "reports while time stands")
    assert set(states()) == {"paused"} and {stamp(report) for report in reports} == {0}
    answer = ros.call(Trigger, "/tactile_sim/throw")
    assert answer.success and "'ball'" in answer.message
    while not any(np.abs(array.data).max() > 0.1 for array in arrays):
        assert ros.step(50, arrays) < 5 * 10**9  # step by step, because the impact is short
    assert ros.call(SetBool, "/tactile_sim/pause", data=False).success
    wait_for(lambda: states()[-1] == "running", "a report while time runs")


SUBSCRIBER = """
import rclpy
from rclpy.node import Node
from tactile_sim.msg import TactileFrame
rclpy.init()
node = Node("subscriber")
node.create_subscription(TactileFrame, "tactile/frame", lambda message: print("received", flush=True), 10)
rclpy.spin(node)
"""


def test_stopped_subscriber_does_not_delay_physics(ros):
    frames = ros.listen(TactileFrame, "tactile/frame")
    ros.run(scene="infant.xml", skin={"scales": {"*": 0.02}}, contacts="skin", start_paused=True)
    subscriber = subprocess.Popen(
        [sys.executable, "-c", SUBSCRIBER], env=ros.environment, stdout=subprocess.PIPE, cwd=os.getcwd()
    )
    ros.processes.append(subscriber)
    wait_for(lambda: frames)

    def two_seconds() -> float:
        """Simulate 2 s and return the wall time until all 200 frames have arrived [s]."""
        start = time.monotonic()
        ros.step(1000, frames, at_once=50)
        return time.monotonic() - start

    assert subscriber.stdout.readline() == b"received\n"
    while_running = two_seconds()
    subscriber.send_signal(signal.SIGSTOP)
    while_stopped = two_seconds()
    subscriber.send_signal(signal.SIGCONT)
    # If DDS waited 0.1 s per frame for the stopped reader, 200 frames would take 20 s.
    assert while_stopped < max(5 * while_running, 15.0)
    assert {stamp(frame) for frame in frames} == set(range(0, 4 * 10**9 + 1, 10**7))


def open_segments(pid: int) -> set[Path]:
    """Return the shared memory files that Fast DDS has open in a process, except its port files."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    return set(map(Path, re.findall(r"/dev/shm/fastrtps_[0-9a-f]{16}$", maps, re.M)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_node_cleanly(ros, parameters, number):
    before = set(Path("/dev/shm").iterdir())
    process = ros.run(**parameters)
    own = open_segments(process.pid) - before
    assert own or "fastrtps" not in get_rmw_implementation_identifier()
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Traceback" not in output
    assert output.count(number.name) == 1
    assert not [file for file in own if file.exists()]


def test_a_trajectory_is_followed_and_a_wrong_one_refused(ros, parameters):
    trajectory_msgs = pytest.importorskip("trajectory_msgs.msg")
    joints = ros.listen(JointState, "joint_states")
    reports = ros.listen(DiagnosticArray, "/diagnostics")
    descriptions = ros.listen(String, "robot_description", lasting=True)
    control = {"rail": {"mode": "position"}}
    ros.run(**parameters, control=control, rates={"joint_states": 500.0, "diagnostics": 50.0})
    send = publish(ros, trajectory_msgs.JointTrajectory, "joint_trajectory")

    def point(seconds, *positions):
        time_from_start = Duration(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))
        return trajectory_msgs.JointTrajectoryPoint(positions=positions, time_from_start=time_from_start)

    wait_for(lambda: joints)
    for name, success in (("rial", False), ("rail", True)):
        answer = ros.call(SetJointState, "/tactile_sim/set_joint_state", joint_names=[name], positions=[-0.5])
        assert answer.success == success
    wait_for(lambda: joints[-1].position[1] == pytest.approx(-0.5, abs=1e-3), "the new position")
    answer = ros.call(
        SetJointState, "/tactile_sim/set_joint_state", joint_names=["rail"], positions=[0.0, 0.0]
    )
    assert not answer.success
    ros.call(SetJointState, "/tactile_sim/set_joint_state", joint_names=["rail"], positions=[0.0])
    wait_for(lambda: joints[-1].position[1] == pytest.approx(0.0, abs=1e-3))
    joints.clear()
    wait_for(lambda: joints)
    send(trajectory_msgs.JointTrajectory(joint_names=["rail"], points=[point(1.5, 0.3), point(2.0, 0.1)]))
    wait_for(lambda: joints[-1].position[1] > 0.01, "the start")
    wait_for(
        lambda: abs(joints[-1].position[1] - 0.1) < 1e-4 and abs(joints[-1].velocity[1]) < 1e-3, "the end"
    )
    rail = np.array([message.position[1] for message in list(joints)])
    moving = np.flatnonzero(rail > 1e-4)[0]
    # It moves straight to the first point, reaches it after 1.5 s and turns there.
    assert rail.max() == pytest.approx(0.3, abs=0.01)
    assert (np.argmax(rail) - moving) / 500 == pytest.approx(1.5, abs=0.1)
    assert rail[moving + 375] == pytest.approx(0.15, abs=0.02)
    wait_for(lambda: descriptions)
    robot = ElementTree.fromstring(descriptions[0].data)
    assert {joint.get("name") for joint in robot.iterfind("joint")} >= {"hinge", "rail"}
    send(trajectory_msgs.JointTrajectory(joint_names=["rial"], points=[point(1.0, 0.3)]))
    wait_for(lambda: any("'rial'" in report.status.message[0] for report in list(reports)), "the refusal")
