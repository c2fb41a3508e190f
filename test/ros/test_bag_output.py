"""Test recordings that the view starts without a node: content and names of the bags, and faults."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from support.published_view import SCENE
from support.waiting import wait_until

from tactile_sim import bag, config
from tactile_sim.common.errors import CommandError
from tactile_sim.ros.bag_output import BagOutput
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.runner import Output, Runner


@pytest.fixture(scope="module")
def simulation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scene")
    (folder / "scene.xml").write_text(SCENE)
    mapping = {"scene": "scene.xml", "skin": {"scales": {"box": 0.05}}}
    return Simulation(config.from_mapping(mapping, folder, "test"))


@pytest.fixture
def output(simulation, tmp_path):
    """Yield an output whose list ``statuses`` collects the statuses that it reports."""
    output = BagOutput(Runner(simulation, Output()), tmp_path / "out")
    output.statuses = []
    output.on_status = output.statuses.append
    yield output
    output.close()


def publish(output, simulation, steps):
    for _ in range(steps):
        simulation.step(5)
        output.publish(simulation.observe(), output.subscribed())


def test_bags_have_every_published_snapshot_and_names_of_their_own(output, simulation, tmp_path):
    assert output.subscribed() == set()
    stamps = []
    for count in (3, 2):  # two recordings, usually within the same second
        output.record(True)
        assert output.new_subscribers() and "tactile" in output.subscribed()
        with pytest.raises(CommandError, match="record"):
            output.record(True)
        publish(output, simulation, count)
        stamps.append(simulation.stamp)
        output.record(False)
        output.close()
        assert output.subscribed() == set() and not output.statuses[-1].active
    first, second = sorted((tmp_path / "out").iterdir(), key=lambda path: path.stat().st_ctime_ns)
    assert first.name.startswith("scene_20") and str(second) == output.statuses[-1].bag
    for folder, count, stamp in zip((first, second), (3, 2), stamps, strict=True):
        read = bag.read(folder)
        frame = read["tactile/frame"]
        np.testing.assert_array_equal(frame.stamps, stamp - 10_000_000 * np.arange(count)[::-1])
        assert read.damage is None and len(read["scene_markers"].stamps) == 1
    with pytest.raises(CommandError, match="record"):
        output.record(False)


@pytest.mark.filterwarnings("ignore:.*writer was stopped")  # if there is no space for the index either
def test_full_disk_ends_the_recording_with_a_readable_bag(output, simulation):
    """A file size limit emulates a full disk."""
    output.record(True)
    publish(output, simulation, 3)
    wait_until(lambda: output.statuses[-1].size > 1000)  # the first chunk has been written
    size = output.statuses[-1].size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, before[1]))
    try:
        wait_until(lambda: publish(output, simulation, 5) or output.statuses[-1].fault)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    status = output.statuses[-1]
    assert not status.active and "too large" in status.fault.lower()
    assert output.subscribed() == set()
    assert len(bag.read(status.bag)["tactile/frame"].stamps) >= 3


def test_missing_folder_or_ros_is_a_fault(output, tmp_path, monkeypatch):
    (tmp_path / "out").write_text("a file")
    output.record(True)
    assert str(tmp_path / "out") in output.statuses[-1].fault and output.subscribed() == set()
    monkeypatch.setattr("tactile_sim.common.processes.find_spec", lambda name: None)
    output.record(True)
    assert "rclpy" in output.statuses[-1].fault and not output.statuses[-1].active
