"""Test ``examples/ros2_control`` with ROS's controller manager, if that is installed."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")

from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.ros import PATIENCE, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileState  # noqa: E402

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/ros2_control"
PACKAGES = (
    *("controller_manager", "forward_command_controller", "joint_state_broadcaster", "launch_ros"),
    *("joint_state_topic_hardware_interface", "ros2controlcli", "ros2launch", "state_interfaces_broadcaster"),
)
CONTROLLERS = {"joint_state_broadcaster", "touch_broadcaster", "lift_controller", "grip_controller"}
SIDES = ("left", "right")
STEP = 2_000_000  # time step [ns]
WEIGHT = 0.2 * 9.81  # weight of the block [N]
MIMIC = """
<robot name="hand"><link name="palm"/>
  <joint name="left" type="prismatic"><parent link="palm"/><child link="a"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="1" effort="9" velocity="9"/></joint>
  <joint name="right" type="prismatic"><parent link="palm"/><child link="b"/><axis xyz="-1 0 0"/>
    <limit lower="0" upper="1" effort="9" velocity="9"/><mimic joint="left"/></joint>
  <link name="a"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def prefix_of(package):
    """Return the install prefix of a ROS package, or None."""
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(":")
    return next((prefix for prefix in prefixes if (Path(prefix) / "share" / package).is_dir()), None)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Return the install prefix of the example; build it unless the workspace contains it."""
    missing = [package for package in PACKAGES if prefix_of(package) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if found := prefix_of("tactile_ros2_control"):
        return found
    folder = tmp_path_factory.mktemp("example")
    bases = ["--base-paths", EXAMPLE, "--build-base", folder / "build", "--install-base", folder / "install"]
    colcon = [
        sys.executable,
        "-m",
        "colcon",
        "--log-base",
        folder / "log",
        "build",
        "--merge-install",
        *bases,
    ]
    subprocess.run([*colcon, "--executor", "sequential"], check=True, timeout=600)
    return folder / "install"


@pytest.fixture
def launch(ros, prefix):
    """Return a function that launches the example and returns when its controllers are active."""
    for name, place in (("AMENT_PREFIX_PATH", ""), ("LD_LIBRARY_PATH", "/lib")):
        ros.environment[name] = f"{prefix}{place}:{ros.environment.get(name, '')}"
    processes = []

    def launch(**arguments):
        command = ["ros2", "launch", "tactile_ros2_control", "grip.launch.py"]
        command += [f"{name}:={value}" for name, value in arguments.items()]
        processes.append(subprocess.Popen(command, env=ros.environment, cwd=ros.folder))

        def active():
            assert processes[-1].poll() is None
            listed = subprocess.run(
                ["ros2", "control", "list_controllers"],
                env=ros.environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            rows = [line.split() for line in re.sub(r"\x1b\[[0-9;]*m", "", listed.stdout).splitlines()]
            return {row[0] for row in rows if row[-1:] == ["active"]} == CONTROLLERS

        wait_for(active, "the controllers")

    yield launch
    for process in processes:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def set_grip_parameter(ros, name, value):
    """Set a parameter that the grip controller reads at the next call of ``~/close``."""
    parameter = Parameter(name=name, value=ParameterValue(type=3, double_value=value))
    ros.call(SetParameters, "/grip_controller/set_parameters", parameters=[parameter])


def test_fingers_stop_in_the_cycle_of_contact_and_lift_the_block(ros, launch):
    pads = {side: ros.listen(TactileState, f"tactile/{side}_pad/state") for side in SIDES}
    commands = ros.listen(JointState, "joint_commands")
    launch(lockstep="true")
    assert ros.call(SetBool, "/grip_controller/close", data=True).success

    def settled():
        return all(
            len(states) > 100 and all(state.contact for state in states[-100:]) for states in pads.values()
        )

    wait_for(settled, "contact of both pads")
    for side, states in pads.items():
        contact = next(stamp(state) for state in list(states) if state.contact)
        targets = {stamp(each): each.position[list(each.name).index(side)] for each in list(commands)}
        speeds = [(targets[contact - k * STEP] - targets[contact - (k + 1) * STEP]) * 500 for k in range(5)]
        assert speeds[0] == 0.0
        assert np.allclose(speeds[1:], 0.02, atol=1e-6)  # [m/s], up to the previous cycle
        assert all(targets[time] == targets[contact] for time in targets if time > contact)

    set_grip_parameter(ros, "force", 5.0)
    ros.call(SetBool, "/grip_controller/close", data=True)
    wait_for(lambda: all(abs(states[-1].force[1]) > 4.9 for states in pads.values()), "the force")
    lift = ros.node.create_publisher(Float64MultiArray, "/lift_controller/commands", 1)
    wait_for(lambda: lift.get_subscription_count() == 1)
    lifted = ros.listen(JointState, "joint_states")
    for height in np.linspace(0.0, 0.05, 51):  # a sudden step would pull the fingers off the block
        lift.publish(Float64MultiArray(data=[height]))
        count = len(lifted)
        wait_for(lambda count=count: len(lifted) > count + 10)
    wait_for(lambda: len(lifted) > 500 and abs(lifted[-1].position[0] - 0.05) < 2e-3, "the lift")
    count = len(lifted)
    wait_for(lambda: len(lifted) > count + 500, "one second")
    last = [states[-1] for states in pads.values()]
    assert all(state.contact for state in last)
    assert all(np.linalg.norm(state.slip_velocity) < 5e-4 for state in last)  # [m/s]
    assert sum(state.force[2] for state in last) == pytest.approx(-WEIGHT, rel=0.02)
    assert [abs(state.force[1]) for state in last] == pytest.approx([5.0, 5.0], rel=0.03)


def test_fingers_stop_on_contact_in_real_time(ros, launch):
    pads = [ros.listen(TactileState, f"tactile/{side}_pad/state") for side in SIDES]
    commands = ros.listen(JointState, "joint_commands")
    launch()
    # The commands advance with wall time even while a busy machine delays the physics or the states. At this
    # speed, delays of less than 3 s do not close the gripper completely.
    set_grip_parameter(ros, "velocity", 0.005)
    ros.call(SetBool, "/grip_controller/close", data=True)
    wait_for(lambda: all(states and states[-1].contact for states in pads), "contact of both pads")

    def targets():
        return {
            tuple(each.position[list(each.name).index(side)] for side in SIDES) for each in commands[-100:]
        }

    wait_for(lambda: len(targets()) == 1, "rest for 100 cycles")
    [rest] = targets()
    assert max(rest) < 0.044  # an empty gripper stops there
    assert all(states[-1].contact for states in pads)


def test_mimic_joints_need_no_values(ros):
    """JointStateTopicSystem names mimic joints in its commands, but sends values only for the others."""
    (ros.folder / "hand.urdf").write_text(MIMIC)
    ros.run(scene=str(ros.folder / "hand.urdf"), contacts="all", lockstep=True)
    joints = ros.listen(JointState, "joint_states")
    publisher = ros.node.create_publisher(JointState, "joint_commands", 10)
    wait_for(lambda: joints and publisher.get_subscription_count() == 1)
    publisher.publish(JointState(name=["right", "left"], position=[0.1]))
    wait_for(lambda: stamp(joints[-1]) == STEP, "the step of the command")
    end = ros.step(999)
    wait_for(lambda: stamp(joints[-1]) == end)
    reached = dict(zip(joints[-1].name, joints[-1].position, strict=True))
    assert reached == {"left": pytest.approx(0.1, abs=1e-3), "right": pytest.approx(0.1, abs=1e-3)}
