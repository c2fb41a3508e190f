"""The table of topics in docs/messages.md lists all declared topics."""

from __future__ import annotations

import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from tactile_sim import config  # noqa: E402
from tactile_sim.ros.topics import simulation_topics  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

TABLE = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "messages.py"))["TOPICS"]
FROM_THE_NODE = {"/clock", "/diagnostics", "web_view"}
SCENE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="one"><freejoint/><geom type="box" size=".1 .1 .1"/><site name="imu"/></body>
  <body name="two" pos="1 0 0"><freejoint/><geom name="left" type="box" size=".1 .1 .1"/>
    <geom name="right" pos=".2 0 0" type="box" size=".1 .1 .1"/></body></worldbody>
  <sensor><gyro name="turn" site="imu"/>
  <contact name="floor" geom1="floor" data="force"/></sensor></mujoco>"""
SKIN = {"scales": {"*": 0.1}, "sensor": {"one": {"noise": {"std": 0.1}}}, "state": {"one": {"on_force": 0.5}}}


def test_table_lists_every_topic_with_type_and_rate(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)
    feelers = {"*": {"spacing": 0.1, "length": 0.1}}
    cameras = {"eye": {"body": "one", "depth": True}}
    own = config.from_mapping(
        {"scene": str(tmp_path / "scene.xml"), "skin": SKIN, "feelers": feelers, "cameras": cameras}
    )
    listed = set()
    for settings in (own, config.load("trifinger")):
        for topic in simulation_topics(Simulation(settings)):
            rows = [row for row in TABLE if re.fullmatch(re.sub(r"<\w+>", r"[^/]+", row[0]), topic.name)]
            assert len(rows) == 1, f"{topic.name}: must be in the table once, got {rows}"
            name, type_name, stream, _ = rows[0]
            package = topic.type.__module__.split(".")[0]
            assert type_name in ("", f"{package}/msg/{topic.type.__name__}")
            assert stream == topic.stream
            listed.add(name)
    installed = {name for name, kind, *_ in TABLE if not kind or find_spec(kind.partition("/")[0])}
    assert listed | FROM_THE_NODE == installed
