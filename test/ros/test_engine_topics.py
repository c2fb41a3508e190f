"""Topics of an engine that another package defines."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rclpy.parameter_client import AsyncParameterClient  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from support.ros import Ros, stamp, wait_for  # noqa: E402


def test_third_party_engine_adds_topic_and_parameters(ros: Ros, third_party):
    ros.environment["PYTHONPATH"] = third_party["PYTHONPATH"]
    ros.run(engine="press", press={"mass": 0.5}, lockstep=True)
    heights, states = ros.listen(JointState, "press/height"), ros.listen(JointState, "joint_states")
    wait_for(lambda: heights and states, "the topics")
    ros.step(50, heights, states)
    assert list(heights[-1].name) == ["ball"]
    assert stamp(heights[-1]) == stamp(states[-1])
    assert heights[-1].position[0] == pytest.approx(states[-1].position[0], abs=1e-6)
    client = AsyncParameterClient(ros.node, "/tactile_sim")
    future = client.get_parameters(["press.mass"])
    wait_for(future.done, "the parameter")
    assert future.result().values[0].double_value == 0.5
