"""Fixture with a configuration whose episodes are short."""

from __future__ import annotations

import pytest

SCENE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="box" pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="arm" pos="0 0 1"><joint name="turn" damping="1"/><geom size=".05" mass=".1"/></body></worldbody>
<actuator><position name="turn" joint="turn" kp="5" ctrlrange="-1 1"/></actuator></mujoco>"""
CONFIG = """/**:
  ros__parameters:
    scene: scene.xml
    skin:
      scales: {box: 0.1}
      touch_function: normal
      sensor:
        box: {gain: {value: [0.5, 1.5]}}
"""


@pytest.fixture
def config(tmp_path):
    """Return a configuration with a box at rest, a gain stage with a range, and a position actuator."""
    (tmp_path / "scene.xml").write_text(SCENE)
    (tmp_path / "box.yaml").write_text(CONFIG)
    return tmp_path / "box.yaml"
