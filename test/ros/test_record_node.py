"""The node recorded: every message is in the bag, as a live listener saw it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rostest import PATIENCE, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileArray, TactileFrame  # noqa: E402

from tactile_sim import bag  # noqa: E402

SECONDS = 10
RATES = {"tactile/frame": 100, "contacts": 100, "joint_states": 100, "markers": 30, "tactile/points": 30}


def test_ten_seconds_of_infant_hold_every_message_as_it_was_sent(ros):
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
        assert stamps[0] == 0, topic  # time does not run before the recorder listens to all
        assert abs(len(stamps) - rate * SECONDS) <= 1, topic
        assert (np.diff(stamps) > 0).all(), topic
        np.testing.assert_array_equal(stamps, recorded[topic].log_times)
    assert all(len(recorded[f"tactile/{body}/layout"]) == 1 for body in bodies)

    for live, name in ((frames, "tactile/frame"), (hands, "tactile/left_hand/array")):
        assert len(live) > 500
        topic = recorded[name]
        kept = {int(time): data for time, data in zip(topic.stamps, topic.data, strict=True)}
        common = [message for message in live if stamp(message) in kept]
        assert len(common) > 500
        for message in common:
            np.testing.assert_array_equal(message.data, kept[stamp(message)].ravel())


def test_a_recorder_that_stands_still_as_the_node_ends_misses_nothing(ros):
    frames = ros.listen(TactileFrame, "tactile/frame")
    node = ros.start("run", "touch_cube", "--record", "bag", "--ros-args", "-p", "start_paused:=true")
    wait_for(lambda: frames, "the node")
    [recorder] = map(int, Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split())
    os.kill(recorder, signal.SIGSTOP)
    ros.step(500, frames, at_once=50)
    node.send_signal(signal.SIGINT)
    time.sleep(2.0)
    os.kill(recorder, signal.SIGCONT)
    said, _ = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, said
    stamps = bag.read(ros.folder / "bag")["tactile/frame"].stamps
    assert set(stamps.tolist()) == set(range(0, 10**9 + 1, 10**7))
