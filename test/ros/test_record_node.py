"""Recordings of the node contain every message that a live subscriber receives."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.ros import PATIENCE, kept, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileArray, TactileFrame  # noqa: E402

from tactile_sim import bag  # noqa: E402
from tactile_sim.commands import main  # noqa: E402
from tactile_sim.ros.live_table import State  # noqa: E402
from tactile_sim.ros.monitor import Monitor  # noqa: E402
from tactile_sim.ros.recorder_process import RecorderProcess  # noqa: E402

SECONDS = 4
RATES = {"tactile/frame": 100, "contacts": 100, "joint_states": 100, "markers": 30, "tactile/points": 30}


def test_recording_of_infant_has_every_message_unchanged(ros):
    frames = ros.listen(TactileFrame, "tactile/frame")
    hands = ros.listen(TactileArray, "tactile/left_hand/array")
    process = ros.start("run", "infant", "--duration", SECONDS, "--record", "bag")
    output, _ = process.communicate(timeout=SECONDS + 2 * PATIENCE)
    assert process.returncode == 0, output
    recorded = bag.read(ros.folder / "bag")

    bodies = recorded["tactile/frame"].bodies[0]
    assert len(bodies) > 22
    rates = RATES | {f"tactile/{body}/{kind}": 100 for body in bodies for kind in ("array", "wrench")}
    for topic, rate in rates.items():
        stamps = recorded[topic].stamps
        assert stamps[0] == 0, topic  # time starts when the recorder has subscribed to all topics
        assert abs(len(stamps) - rate * SECONDS) <= 1, topic
        assert (np.diff(stamps) > 0).all(), topic
        np.testing.assert_array_equal(stamps, recorded[topic].log_times)
    assert all(len(recorded[f"tactile/{body}/layout"]) == 1 for body in bodies)

    for live, name in ((frames, "tactile/frame"), (hands, "tactile/left_hand/array")):
        assert len(live) > 200
        topic = recorded[name]
        kept = {int(time): data for time, data in zip(topic.stamps, topic.data, strict=True)}
        common = [message for message in live if stamp(message) in kept]
        assert len(common) > 200
        for message in common:
            np.testing.assert_array_equal(message.data, kept[stamp(message)].ravel())


@pytest.mark.parametrize("end", ["full disk", "kill"])
def test_loss_of_recorder_is_reported_at_once(ros, end):
    frames = ros.listen(TactileFrame, "tactile/frame")
    statuses: list[DiagnosticArray] = []
    ros.node.create_subscription(DiagnosticArray, "/diagnostics", statuses.append, 10)
    parameters = ["-p", "rates.diagnostics:=0.001", "-p", "start_paused:=true"]
    node = ros.start("run", "touch_cube", "--record", "bag", "--ros-args", *parameters)
    wait_for(lambda: statuses, "the subscription to the diagnostics")  # later, only the report is published
    assert ros.call(SetBool, "/tactile_sim/pause", data=False).success
    file = ros.folder / "bag" / "bag_0.mcap"
    wait_for(lambda: kept(file.parent)["/tactile/frame"], "the first chunk with frames")
    recorder = child(node)
    # The metadata count complete chunks. The size of the file may include a part of a chunk, which is lost.
    on_disk = kept(file.parent)["/tactile/frame"]
    if end == "kill":
        os.kill(recorder, signal.SIGKILL)
    else:
        limit = file.stat().st_size + 500_000
        resource.prlimit(recorder, resource.RLIMIT_FSIZE, (limit, limit))
    wait_for(lambda: any(len(message.status) > 1 for message in statuses), "the report")
    [status] = [status for status in statuses[-1].status if status.name.endswith(": recorder")]
    assert status.level == DiagnosticStatus.ERROR
    reason = "SIGKILL" if end == "kill" else os.strerror(errno.EFBIG)
    assert reason in status.message and "bag repair" in status.message
    state = State()
    Monitor.update(state, statuses[-1])
    assert reason in state.problem  # shown in the live table
    count = len(frames)
    wait_for(lambda: len(frames) > count + 10, "the simulation to continue")
    output = ros.output(node)
    assert node.returncode == 2
    assert [line for line in output.splitlines() if "[ERROR]" in line and reason in line]
    assert main(["bag", "repair", str(ros.folder / "bag")]) == 0
    recorded = bag.read(ros.folder / "bag")["tactile/frame"]
    assert len(recorded) >= on_disk > 0  # nothing that had been written was lost
    stamps = np.unique(recorded.stamps)  # the first state is sent again
    np.testing.assert_array_equal(stamps, np.arange(len(stamps)) * 10**7)


FAST = {"tactile": 500.0, "tf": 500.0, "clock": 500.0, "diagnostics": 10.0}
CUBE = {"scene": "touch_cube.xml", "skin": {"scales": {"cube": 0.05}}, "rates": FAST}


def child(process) -> int:
    """Return the process id of a node's recorder."""
    [recorder] = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    return recorder


def stall(process_id: int, seconds: float) -> None:
    os.kill(process_id, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(process_id, signal.SIGCONT)


@pytest.mark.parametrize("factor", [0.5, 0.0])
def test_stalls_of_recorder_and_late_subscriber_leave_no_gap(ros, factor):
    """Real-time factor 0 is as fast as possible, where the queues hold less than the stalls last."""
    node = ros.start("run", ros.config(**CUBE, real_time_factor=factor), "--record", "bag")
    bag_folder = ros.folder / "bag"
    wait_for(lambda: kept(bag_folder)["/tactile/frame"], "the first frames")
    recorder = child(node)
    stall(recorder, 0.5)
    late = ros.listen(TactileFrame, "tactile/frame")
    wait_for(lambda: late, "the late subscriber")
    stall(recorder, 0.5)
    count = len(late)
    wait_for(lambda: len(late) > count + 50, "the simulation to continue")
    output = ros.output(node)
    assert node.returncode == 0 and "lost" not in output, output
    recorded = bag.read(bag_folder)
    for topic in ("tactile/frame", "tactile/cube/array", "clock", "tf"):
        assert set(np.diff(recorded[topic].stamps).tolist()) == {2_000_000}, topic
        assert recorded[topic].stamps[0] == 0
    stamps = [stamp(message) for message in late]
    assert set(np.diff(stamps)) == {2_000_000}


def test_loss_of_stopped_recorder_is_counted_and_ends_with_an_error(ros):
    short = {"qos_overrides": {"/tactile/frame": {"publisher": {"depth": 20}}}}
    node = ros.start("run", ros.config(**CUBE, **short, real_time_factor=0.0), "--record", "bag")
    reports = ros.listen(DiagnosticArray, "/diagnostics")
    wait_for(lambda: reports and kept(ros.folder / "bag")["/tactile/frame"], "the first frames")
    recorder = child(node)
    os.kill(recorder, signal.SIGSTOP)
    wait_for(lambda: unacknowledged(reports) > 100, "lost messages in the diagnostics")
    assert any(bytes(report.status.level[:1]) == DiagnosticStatus.WARN for report in reports)
    os.kill(recorder, signal.SIGCONT)
    count = unacknowledged(reports)
    wait_for(lambda: stamp(reports[-1]) > stamp(reports[0]) + 10**9)
    output = ros.output(node)
    assert node.returncode == 2
    [error] = [line for line in output.splitlines() if line.startswith("tactile_sim: error: ")]
    lost = int(re.search(r"(\d+) messages lost", error).group(1))
    recorded = bag.read(ros.folder / "bag")
    missing = {
        topic: int((np.diff(recorded[topic].stamps) // 2_000_000 - 1).sum())
        for topic in ("tactile/frame", "tactile/cube/array", "clock", "tf")
    }
    assert 0 < sum(missing.values()) <= lost
    assert count <= unacknowledged(reports)
    assert lost <= unacknowledged(reports)
    assert "did not acknowledge" in output  # at the end


def unacknowledged(reports: list) -> int:
    """Return the number of messages without acknowledgment in the latest report."""
    values = reports[-1].status.values[0]
    return int(dict(zip(values.key, values.value, strict=True))["unacknowledged_messages"])


def test_recorder_killed_at_its_end_is_reported_with_the_signal():
    recorder = RecorderProcess("bag")
    recorder._child = SimpleNamespace(returncode=-9, last_lines=["recorded 3 messages of 1 topic"])
    assert "SIGKILL" in recorder.fault


def test_stopped_recorder_misses_nothing_when_node_ends(ros):
    frames = ros.listen(TactileFrame, "tactile/frame")
    node = ros.start("run", "touch_cube", "--record", "bag", "--ros-args", "-p", "start_paused:=true")
    wait_for(lambda: frames, "the node")
    recorder = child(node)
    os.kill(recorder, signal.SIGSTOP)
    ros.step(500, frames, at_once=50)
    node.send_signal(signal.SIGINT)
    time.sleep(2.0)
    os.kill(recorder, signal.SIGCONT)
    output, _ = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, output
    stamps = bag.read(ros.folder / "bag")["tactile/frame"].stamps
    assert set(stamps.tolist()) == set(range(0, 10**9 + 1, 10**7))
