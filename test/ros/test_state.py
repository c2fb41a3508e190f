"""The state of a pad on its topic and in a bag."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from sensor_msgs.msg import JointState  # noqa: E402
from support.ros import Ros, shipped, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileState  # noqa: E402

from tactile_sim import bag  # noqa: E402

CONFIG = """
/**:
  ros__parameters:
    scene: touch_cube.xml
    lockstep: true
    skin:
      scales: {cube: 0.01}
      response_function: elastic_foundation
      state: {"c*": {on: 0.5, off: 0.1}}
"""


def test_state_has_contact_weight_and_center_of_pressure(ros: Ros):
    (ros.folder / "state.yaml").write_text(CONFIG)
    states = ros.listen(TactileState, "tactile/cube/state")
    node = ros.start("run", ros.folder / "state.yaml", "--record", "bag")
    wait_for(lambda: states, "the state")
    assert not states[0].contact and math.isnan(states[0].center_of_pressure[0])
    ros.step(500, states, at_once=100)
    last = states[-1]
    assert last.contact and last.contact_raw and (last.pad, last.body) == ("cube", "cube")
    assert last.header.frame_id == "cube"
    assert last.contact_time == pytest.approx(0.83, abs=0.02) and last.air_time == 0.0
    assert last.force[2] == pytest.approx(9.81, abs=1e-3)
    assert (last.center_of_pressure[2], last.normal[2]) == pytest.approx((-0.1, -1.0), abs=1e-6)
    assert abs(last.center_of_pressure[0]) < 1e-3
    assert last.area == pytest.approx(0.04, rel=0.15)  # a side of 0.2 m
    ros.output(node)
    recorded = bag.read(ros.folder / "bag")["tactile/cube/state"]
    assert recorded.force[-1][2] == pytest.approx(9.81, abs=1e-3)
    assert list(recorded.contact).count(True) in range(80, 90)  # 100 Hz


def test_gripper_closes_by_joint_commands_until_contact_and_holds(ros: Ros):
    """The fingers close in steps of 0.25 mm until both pads touch, and then hold the block."""
    ros.run(**shipped("gripper"), real_time_factor=2.0)
    states = [ros.listen(TactileState, f"tactile/{side}_pad/state") for side in ("left", "right")]
    commands = ros.node.create_publisher(JointState, "joint_commands", 10)
    wait_for(lambda: all(states) and commands.get_subscription_count())
    position = 0.02
    while not all(state[-1].contact for state in states):
        assert position < 0.03
        position += 0.00025
        counts = [len(state) for state in states]
        commands.publish(JointState(name=["left", "right"], position=[position, position]))
        wait_for(lambda: all(len(state) > count + 5 for state, count in zip(states, counts, strict=True)))  # noqa: B023
    end = stamp(states[0][-1]) + 10 * 10**9
    for state in states:
        state.clear()
    wait_for(lambda: all(state and stamp(state[-1]) > end for state in states), "10 s of simulation time")
    assert all(message.contact for state in states for message in state)
