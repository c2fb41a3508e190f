"""Fixtures of the tests of the view."""

from __future__ import annotations

import threading

import pytest
from support.published_view import SCENE, FakeProcess, Output
from support.view_clients import FRAME, Recorder
from support.view_clients import SCENE as BOX
from support.waiting import PATIENCE

from tactile_sim import config
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation import Simulation
from tactile_sim.view.process.publisher import ViewPublisher
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint


@pytest.fixture
def serve():
    """Return a function that opens a view of a box."""
    opened = []

    def serve(host="127.0.0.1", token="", recorder=None):
        opened.append(Viewer(BOX, Endpoint(host, 0, token), recorder or Recorder()))
        opened[-1].show(FRAME)
        return opened[-1]

    yield serve
    for viewer in opened:
        viewer.close()


@pytest.fixture
def running(tmp_path):
    """Return a function that runs a simulation with these parameters and returns its view."""
    started = []

    def start(**parameters):
        (tmp_path / "scene.xml").write_text(SCENE)
        mapping = {"scene": "scene.xml", "skin": {"scales": {"box": 0.05}}, **parameters}
        simulation = Simulation(config.from_mapping(mapping, tmp_path, "test"))
        view = FakeProcess(simulation)
        publisher = ViewPublisher(simulation, view)
        view.output = Output()
        view.runner = runner = Runner(simulation, view.output)
        publisher.serve(runner)
        thread = threading.Thread(target=runner.run, daemon=True)
        started.append((runner, thread))
        thread.start()
        return view

    yield start
    for runner, thread in started:
        runner.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
