"""The state of a pad on its topic, and in a bag."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.ros import Ros, wait_for  # noqa: E402
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
