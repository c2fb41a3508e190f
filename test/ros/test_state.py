"""The state of a pad on its topic and in a bag."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from sensor_msgs.msg import JointState  # noqa: E402
from support.published import published  # noqa: E402
from support.ros import Ros, shipped, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileState  # noqa: E402

from tactile_sim.simulation import Simulation  # noqa: E402

CLOSED, GAIN = 0.025, 1500.0
"""Position of a finger at contact with the block [m], and gain of its actuator [N/m], see gripper.xml."""
INCREMENT = 0.00025
"""Distance by which each finger closes in one step [m]."""
AT_ONCE, HOLDS = 360, 28 * 360
"""Number of 1 ms steps per request, and in total while the block is held (10 s).

A request publishes 9 messages at 25 Hz, fewer than the queue of 10 that a publisher keeps.
"""


def test_state_has_contact_weight_and_center_of_pressure():
    skin = {"scales": {"cube": 0.01}, "response_function": "elastic_foundation"}
    skin["state"] = {"c*": {"on_force": 0.5, "off_force": 0.1}}
    simulation = Simulation({"scene": "touch_cube.xml", "skin": skin})
    states = list(published(simulation, ("tactile/cube/state",), 500, every=5)["tactile/cube/state"].values())
    assert not states[0].contact and math.isnan(states[0].center_of_pressure[0])
    last = states[-1]
    assert last.contact and last.contact_raw and (last.pad, last.body) == ("cube", "cube")
    assert last.header.frame_id == "cube"
    assert last.contact_time == pytest.approx(0.83, abs=0.02) and last.air_time == 0.0
    assert last.force[2] == pytest.approx(9.81, abs=1e-3)
    assert (last.center_of_pressure[2], last.normal[2]) == pytest.approx((-0.1, -1.0), abs=1e-6)
    assert abs(last.center_of_pressure[0]) < 1e-3
    assert last.area == pytest.approx(0.04, rel=0.15)  # a side of 0.2 m
    assert [state.contact for state in states].count(True) in range(80, 90)  # 100 Hz


def test_gripper_closes_by_joint_commands_until_contact_and_holds(ros: Ros):
    """Close the fingers in steps of 0.25 mm until both pads touch the block, and then by one more step.

    The fingers must hold the block from then on.
    """
    rates = {"rates.tactile": 25.0, "rates.joint_states": 1000.0}
    ros.run(**shipped("gripper") | {"lockstep": True, **rates})
    joints = ros.listen(JointState, "joint_states")
    states = [ros.listen(TactileState, f"tactile/{side}_pad/state") for side in ("left", "right")]
    commands = ros.node.create_publisher(JointState, "joint_commands", 10)
    wait_for(lambda: all((*states, joints)) and commands.get_subscription_count())

    def close_to(position):
        """Move the fingers to a position [m] and return whether both pads touch the block after 0.36 s.

        By then, the fingers no longer vibrate.
        """
        before = stamp(joints[-1])
        commands.publish(JointState(name=["left", "right"], position=[position, position]))
        wait_for(lambda: stamp(joints[-1]) > before, "the step of the command")
        ros.step(AT_ONCE - 1, *states, joints)
        return all(state[-1].contact for state in states)

    # The fingers overshoot by a third of the way, and must not hit the block.
    assert not close_to(0.016) and not close_to(0.022)
    assert not any(message.contact_raw for state in states for message in state)
    position = 0.022 + INCREMENT
    while not close_to(position):
        assert position < CLOSED + 1e-3
        position += INCREMENT
    assert position > CLOSED and close_to(position + INCREMENT)
    for state in states:
        force = GAIN * (position + INCREMENT - CLOSED)
        assert np.linalg.norm(state[-1].force) == pytest.approx(force, rel=0.1)  # the contact is soft
        state.clear()
    ros.step(HOLDS, *states, at_once=AT_ONCE)
    for state in states:
        assert len(state) >= HOLDS / 40 and all(message.contact for message in state)
