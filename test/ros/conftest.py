"""Fixtures for the tests of the node."""

from __future__ import annotations

import pytest

SCENE = """
<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
  <body name="arm"><joint name="hinge" axis="0 0 1" damping="1"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
  <body name="slider" pos="0 0 1"><joint name="rail" type="slide" axis="1 0 0"/>
    <geom type="box" size=".05 .05 .05"/></body>
  <body name="ball" pos="0 1 1"><freejoint/><geom size=".05" density="500"/></body>
</worldbody><actuator><position joint="hinge" kp="20" kv="1" ctrlrange="-2 2"/></actuator></mujoco>"""
SKIN = {"scales": {"arm": 0.03}}


@pytest.fixture
def ros(tmp_path):
    """Yield a `Ros` with a separate ROS domain and end its processes afterwards."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
    from support.ros import Ros

    made = Ros(tmp_path)
    yield made
    made.close()


@pytest.fixture
def parameters(ros):
    """Return the parameters of a scene with a slider, a ball and a driven arm with skin."""
    path = ros.folder / "scene.xml"
    path.write_text(SCENE)
    return {"scene": str(path), "skin": SKIN}
