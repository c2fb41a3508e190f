"""Messages that are encoded while the engine steps equal those encoded before it steps."""

from __future__ import annotations

from concurrent.futures import Executor, Future

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from tactile_sim import config  # noqa: E402
from tactile_sim.ros.topics import simulation_topics  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

SCENE = """<mujoco><option integrator="discrete"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/><site name="camera" pos="0 -1 1"/>
  <body name="top" pos="0 0 .16"><freejoint/><geom type="box" size=".03 .03 .03" mass=".1"/>
    <site name="imu"/></body>
  <body name="slider" pos=".5 0 .1"><joint name="slide" type="slide" axis="1 0 0"/><geom size=".05"/></body>
  <flexcomp name="tip" type="grid" dim="3" count="4 4 3" spacing=".03 .03 .03" mass=".2" radius=".002"
    pos="0 0 .06"><edge equality="true"/><contact selfcollide="none"/></flexcomp>
  </worldbody><sensor><gyro name="turn" site="imu"/><contact name="all" geom1="floor" num="4"
    data="found force pos" reduce="netforce"/></sensor></mujoco>"""
OWN = {
    "skin": {
        "pads": {"pad": {"flex": "tip", "spacing": 0.03}},
        "scales": {"top": 0.02},
        "sensor": {"top": {"noise": {"std": 0.01}, "delay": {"time": 0.012}}},
        "state": {"*": {"on": 0.05}},
    },
    "feelers": {"top": {"spacing": 0.02, "length": 0.1}},
    "tf": "all",
    "contacts": "all",
}
EVERY = 5
"""Steps from one message to the next."""


class Late(Executor):
    """Runs work as late as the protocol of executors permits: when its result is awaited."""

    def submit(self, work):
        self.submitted = getattr(self, "submitted", 0) + 1
        future = Future()
        future.result = lambda timeout=None: work()
        return future


def messages(settings, executor):
    """Return all messages of 20 snapshots by topic."""
    simulation = Simulation(settings)
    topics = list(simulation_topics(simulation))
    made = []

    def publish(snapshot):
        made.append({topic.name: topic.make(snapshot) for topic in topics})

    while simulation.step_count < 20 * EVERY:
        simulation.apply_commands()
        steps = min(EVERY - simulation.step_count % EVERY, simulation.free_steps())
        simulation.advance(steps, None if simulation.step_count % EVERY else publish, executor)
    return made


@pytest.mark.parametrize("name", ["own", "hand", "trifinger"])
def test_late_and_immediate_encoding_give_equal_messages(tmp_path, name):
    (tmp_path / "scene.xml").write_text(SCENE)
    settings = (
        config.from_mapping({"scene": str(tmp_path / "scene.xml"), **OWN})
        if name == "own"
        else config.load(name)
    )
    late = Late()
    immediate, delayed = messages(settings, None), messages(settings, late)
    assert [k for k, (a, b) in enumerate(zip(immediate, delayed, strict=True)) if a != b] == []
    assert immediate[0]["/tf"] != immediate[-1]["/tf"]
    # The readings of the TriFinger's own topics are not part of a copy of the data.
    assert hasattr(late, "submitted") == (name != "trifinger")
