"""Simulation time: stamps and states, pause, step, reset, lock-step, and repeatable runs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Pose, Quaternion, Twist  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState, PointCloud2  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.published import published  # noqa: E402
from support.ros import stamp, wait_for  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame  # noqa: E402
from tactile_sim.srv import Reset, SetBodyState, Step  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from tactile_sim.simulation import Simulation  # noqa: E402

ARM = """
<mujoco><option integrator="{integrator}" timestep="0.002"/><worldbody>
  <geom name="wall" type="box" pos="0 0 -.35" size="2 2 .05"/>
  <body name="upper" pos="0 0 .5"><joint name="shoulder" axis="0 1 0" damping=".5"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02"/>
    <body name="tip" pos=".4 0 0"><joint name="elbow" axis="0 1 0" damping=".1"/>
      <geom name="finger" type="sphere" pos=".4 0 0" size=".05"/></body></body>
</worldbody>
<actuator><motor joint="shoulder"/><position joint="elbow" kp="5"/></actuator>
<keyframe><key name="up" qpos="-1 0" ctrl="0 .3"/></keyframe></mujoco>"""


@pytest.fixture
def arm(ros):
    path = ros.folder / "arm.xml"
    path.write_text(ARM.format(integrator="Euler"))
    return str(path)


SKIN = {"scales": {"tip": 0.02}}


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "RK4"])
def test_messages_of_one_stamp_describe_one_state(tmp_path, integrator):
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(integrator=integrator))
    simulation = Simulation({"scene": str(path), "skin": SKIN})
    by_time, touched, poses = published(simulation, ("joint_states", "contacts", "/tf"), 500).values()
    assert by_time.keys() == touched.keys() == poses.keys() == set(range(0, 10**9 + 1, 2_000_000))
    fastest, hits = 0.0, 0
    for time, state in by_time.items():
        shoulder, elbow = state.position
        fastest = max(fastest, np.abs(state.velocity).max())
        transform = poses[time].transforms
        where = transform.child_frame_id.index("tip")
        assert transform.header.frame_id[where] == "upper"
        np.testing.assert_allclose(transform.transform.translation[where], [0.4, 0, 0], atol=1e-12)
        turn = transform.transform.rotation[where]
        np.testing.assert_allclose(turn, [0, np.sin(elbow / 2), 0, np.cos(elbow / 2)], atol=1e-12)
        found = touched[time].contacts
        finger = np.array([0.4 * np.cos(shoulder) + 0.4 * np.cos(shoulder + elbow), 0,
                           0.5 - 0.4 * np.sin(shoulder) - 0.4 * np.sin(shoulder + elbow)])  # fmt: skip
        for k, position in enumerate(found.position):
            # Halfway between the sphere's lowest point and the top of the wall.
            hits += 1
            expected = [finger[0], 0, (finger[2] - 0.05 - 0.3) / 2]
            np.testing.assert_allclose(position, expected, atol=1e-9)
            assert found.distance[k] == pytest.approx(finger[2] - 0.05 + 0.3, abs=1e-9)
    assert fastest > 3.0
    assert hits > 5


def test_paused_node_serves_late_subscribers_and_steps(ros, arm):
    ros.run(scene=arm, skin=SKIN, start_paused=True)
    types = {
        "tactile/tip/array": TactileArray, "tactile/frame": TactileFrame, "tactile/points": PointCloud2,
        "contacts": ContactWrenchArray, "joint_states": JointState, "/tf": TFMessage, "/clock": Clock,
        "markers": MarkerArray,
    }  # fmt: skip
    received = {topic: ros.listen(kind, topic) for topic, kind in types.items()}
    lasting = ros.listen(MarkerArray, "scene_markers", lasting=True)
    wait_for(lambda: all(received.values()) and lasting, f"one of each of {list(received)}")
    joints = received["joint_states"]
    assert stamp(joints[0]) == 0
    assert joints[0].name == ["shoulder", "elbow"]

    answer = ros.call(Step, "/tactile_sim/step", steps=7)
    assert answer.success
    assert (answer.time.sec, answer.time.nanosec) == (0, 14_000_000)
    wait_for(lambda: stamp(joints[-1]) == 14_000_000)
    assert not ros.call(Step, "/tactile_sim/step", steps=0).success
    ros.call(SetBool, "/tactile_sim/pause", data=False)
    rejected = ros.call(Step, "/tactile_sim/step", steps=1)
    assert not rejected.success
    assert "pause" in rejected.message


def test_reset_restores_state_and_time_continues(ros, arm):
    joints = ros.listen(JointState, "joint_states")
    clocks = ros.listen(Clock, "/clock")
    ros.run(scene=arm, skin=SKIN, real_time_factor=5.0)
    wait_for(lambda: joints and stamp(joints[-1]) > 10**9)
    assert ros.call(SetBool, "/tactile_sim/pause", data=True).success
    before = max(map(stamp, joints))
    assert ros.call(Reset, "/tactile_sim/reset", keyframe="up").success
    wait_for(lambda: stamp(joints[-1]) > before and joints[-1].position[0] == -1.0, "the keyframe")
    assert ros.call(Reset, "/tactile_sim/reset").success
    wait_for(lambda: joints[-1].position[0] == 0.0, "the first state")
    wrong = ros.call(Reset, "/tactile_sim/reset", keyframe="upp")
    assert not wrong.success
    assert "'up'" in wrong.message
    times = [stamp(message) for message in joints]
    assert times == sorted(times)
    ticks = [stamp(message) for message in clocks]
    assert ticks == sorted(ticks)


def test_state_set_while_paused_has_new_stamp(ros):
    transforms = ros.listen(TFMessage, "/tf")
    ros.run(scene="touch_cube.xml", skin={"scales": {"cube": 0.05}}, start_paused=True)
    wait_for(lambda: transforms)
    pose = Pose(orientation=Quaternion(x=1.0))
    pose.position.z = 3.0
    assert ros.call(
        SetBodyState, "/tactile_sim/set_body_state", body="cube", pose=pose, twist=Twist()
    ).success

    def height(message):
        return message.transforms.transform.translation[message.transforms.child_frame_id.index("cube")][2]

    wait_for(lambda: height(transforms[-1]) == 3.0)
    times = {}
    for message in transforms:
        times.setdefault(stamp(message), set()).add(height(message))
    assert all(len(heights) == 1 for heights in times.values())


def closed_loop(ros, scene: str, crowd: bool) -> list[bytes]:
    """Run 200 steps with a controller in this process and return the frames.

    ``crowd`` adds subscribers to other topics.
    """
    process = ros.run(scene=scene, skin=SKIN, lockstep=True)
    frames: list[bytes] = []
    joints: list[JointState] = []
    qos = QoSProfile(depth=1000)
    subscriptions = [
        ros.node.create_subscription(TactileFrame, "tactile/frame", frames.append, qos, raw=True),
        ros.node.create_subscription(JointState, "joint_states", joints.append, qos),
    ]
    if crowd:
        ros.listen(PointCloud2, "tactile/points")
        ros.listen(MarkerArray, "markers")
        ros.listen(ContactWrenchArray, "contacts")
    commands = ros.node.create_publisher(JointState, "joint_commands", QoSProfile(depth=10))
    wait_for(lambda: joints and frames and commands.get_subscription_count() == 1)

    for step in range(200):
        effort = 3.0 * (-0.3 - joints[-1].position[0]) - 0.4 * joints[-1].velocity[0]
        command = JointState(name=["shoulder", "elbow"], effort=[effort, np.nan])
        command.position = [np.nan, 0.4 * np.sin(0.05 * step)]
        commands.publish(command)
        # Wait for both topics, because a publisher keeps only 10 messages.
        wait_for(lambda count=step + 2: stamp(joints[-1]) == (count - 1) * 2_000_000 and len(frames) >= count)
    for subscription in subscriptions:
        ros.node.destroy_subscription(subscription)
    ros.node.destroy_publisher(commands)
    ros.output(process)
    return frames


def test_lockstep_steps_once_per_command_and_is_repeatable(ros, arm):
    alone, in_company = (closed_loop(ros, arm, crowd) for crowd in (False, True))
    assert len(alone) == 201
    assert alone == in_company


def test_lockstep_node_publishes_to_new_subscribers_and_rejects_commands_without_a_step(ros, arm):
    joints = ros.listen(JointState, "joint_states")
    reports = ros.listen(DiagnosticArray, "/diagnostics")
    ros.run(scene=arm, skin=SKIN, lockstep=True)
    wait_for(lambda: joints)
    late = ros.listen(JointState, "joint_states")
    wait_for(lambda: late and len(joints) > 1)
    np.testing.assert_array_equal(joints[-1].position, joints[0].position)

    commands = ros.node.create_publisher(JointState, "joint_commands", 10)
    wait_for(lambda: reports and commands.get_subscription_count() == 1)
    for count in (1, 2, 3):  # identical commands are reported again
        commands.publish(JointState(name=["sholder"], effort=[1.0]))
        wait_for(lambda count=count: rejections(reports) == count, f"report {count}")
        assert bytes(reports[-1].status.level) == DiagnosticStatus.WARN
        assert stamp(reports[-1]) == 0
    assert {stamp(message) for message in joints + late} == {0}
    commands.publish(JointState(name=["shoulder"], effort=[1.0]))
    wait_for(lambda: stamp(joints[-1]) == 2_000_000, "the step of the next command")


def rejections(reports) -> int:
    """Return the number of rejected commands in the latest report."""
    (values,) = reports[-1].status.values
    return int(dict(zip(values.key, values.value, strict=True))["refused_commands"])


def motion(ros, crowd: bool) -> list[bytes]:
    """Return the frames of 2 s of the infant's built-in motion; ``crowd`` adds other subscribers."""
    frames: list[bytes] = []
    qos = QoSProfile(depth=1000)
    subscription = ros.node.create_subscription(TactileFrame, "tactile/frame", frames.append, qos, raw=True)
    kinds = {"tactile/points": PointCloud2, "contacts": ContactWrenchArray} if crowd else {}
    others = [ros.listen(kind, topic) for topic, kind in kinds.items()]
    process = ros.start("run", "infant", "--ros-args", "-p", "start_paused:=true")
    wait_for(lambda: frames, "the first state")
    for count in range(11, 202, 10):
        ros.step(50)
        wait_for(lambda count=count: len(frames) >= count, f"{count} frames")
    assert all(others)
    ros.output(process)
    ros.node.destroy_subscription(subscription)
    return frames


def test_built_in_motion_does_not_depend_on_subscribers(ros):
    alone, in_company = (motion(ros, crowd) for crowd in (False, True))
    assert len(alone) == 201
    assert alone == in_company
