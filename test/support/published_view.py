"""A running simulation that publishes frames for a view; the test takes the place of the view's process."""

from __future__ import annotations

import time

from support.waiting import PATIENCE, wait_until
from tactile_sim.simulation.runner import Output
from tactile_sim.view.model_scene import scene_of_simulation
from tactile_sim.view.process import FrameBuilder, Replica
from tactile_sim.view.shared_frame import SharedFrame

SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="ball" pos="1 0 .1"><freejoint/><geom size=".05"/></body>
  <body name="arm" pos="0 1 .2"><joint name="hinge" axis="0 1 0"/><geom size=".05" pos=".1 0 0"/></body>
</worldbody><actuator><position joint="hinge" ctrlrange="-1 1" kp="1"/></actuator>
<keyframe><key name="high" qpos="0 0 1 1 0 0 0  1 0 .1 1 0 0 0  0"/></keyframe></mujoco>"""


class FakeProcess:
    """A stand-in for the view's process."""

    url = "http://fake"

    def __init__(self, simulation):
        self.scene = scene_of_simulation(simulation)
        self.shared = SharedFrame(self.scene, state_size=simulation.engine.state_size)
        self.write_times: list[float] = []
        self.notices: list[str] = []

    def write(self, **fields):
        self.shared.write(**fields)
        self.write_times.append(time.monotonic())

    def notify(self, text):
        self.notices.append(text)

    def listen(self, on_request, on_lost):
        self.request = lambda name, *arguments: on_request(name, list(arguments))
        self.lose = on_lost

    def reader(self):
        return FrameReader(self)

    def latest(self):
        """Wait for a frame and return the frame that the view would draw."""
        wait_until(lambda: self.write_times)
        return self.reader().next()


class FrameReader:
    """A reader that returns the published frames in order."""

    def __init__(self, view):
        replica = Replica(view.runner.simulation.settings)
        self._shared = SharedFrame(view.scene, view.shared.file, replica.simulation.engine.state_size)
        self._builder = FrameBuilder(view.scene, None, replica)

    def next(self):
        records = []
        wait_until(lambda: (record := self._shared.read()) is not None and records.append(record) is None)
        return self._builder.build(records[0])


class Output(Output):
    """An output of the loop that records warnings and errors."""

    def __init__(self):
        self.lines: list[str] = []

    def warn(self, message):
        self.lines.append(message)

    def fail(self, message, stamp):
        self.lines.append(message)


def call(view, work):
    """Run a function in the loop and return its result."""
    return view.runner.call(work).result(PATIENCE)
