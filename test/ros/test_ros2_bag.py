"""Test ``ros2 bag`` with our bags, and its recorder with our node, if it is installed."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ros2bag", reason="ros2 bag is not installed")
pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")

from rosbag2_interfaces.srv import Resume  # noqa: E402
from support.ros import PATIENCE, Ros, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileFrame, TactileLayout  # noqa: E402

from tactile_sim import bag  # noqa: E402
from tactile_sim.bag.mcap_file import repair  # noqa: E402
from tactile_sim.bag.reader import contents  # noqa: E402

MS = 1_000_000


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a bag with two seconds of the cube; tests must not modify it."""
    ros = Ros(tmp_path_factory.mktemp("bags"))
    process = ros.start("run", "touch_cube", "--duration", "2", "--record", "b")
    assert process.wait(PATIENCE) == 0
    ros.close()
    return ros.folder / "b"


@pytest.fixture
def copy(recorded, tmp_path):
    """Return a copy of the bag that can be modified."""
    return shutil.copytree(recorded, tmp_path / "b")


def ros2_bag(*arguments):
    """Run ``ros2 bag`` and return its output."""
    result = subprocess.run(["ros2", "bag", *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "ERROR" not in result.stdout + result.stderr, result.stderr
    return result.stdout


def counts(path):
    """Return the number of messages by topic according to ``ros2 bag info``."""
    found = re.findall(r"Topic: (\S+) \| .*Count: (\d+) ", ros2_bag("info", path))
    return {topic: int(count) for topic, count in found}


def ours(path):
    return {name: topic.count for name, topic in contents(path).topics.items()}


def played(ros, path):
    """Run ``ros2 bag play`` and return the frames and layouts that it publishes."""
    frames = ros.listen(TactileFrame, "/tactile/frame")
    layouts = ros.listen(TactileLayout, "/tactile/cube/layout", lasting=True)
    player = subprocess.Popen(
        ["ros2", "bag", "play", path, "--start-paused", "--disable-keyboard-controls", "--rate", "4"],
        env=ros.environment,
    )
    ros.processes.append(player)
    wait_for(lambda: ros.node.count_publishers("/tactile/frame") and ros.node.count_publishers("/tf"))
    time.sleep(1.0)  # until the player has discovered this node
    assert ros.call(Resume, "/rosbag2_player/resume")
    assert player.wait(PATIENCE) == 0
    return frames, layouts


def test_info_counts_messages_of_folder_and_file(recorded):
    assert counts(recorded) == counts(recorded / "b_0.mcap") == ours(recorded)


def test_play_publishes_recorded_messages(ros, recorded):
    frames, layouts = played(ros, recorded)
    expected = bag.read(recorded)["tactile/frame"]
    wait_for(lambda: len(frames) == len(expected) == 200 and layouts)
    assert [stamp(frame) for frame in frames] == expected.stamps.tolist()
    for frame, data in zip(frames, expected.data, strict=True):
        np.testing.assert_array_equal(frame.data, data.ravel())


def test_reindex_restores_metadata(copy):
    before = counts(copy)
    (copy / "metadata.yaml").unlink()
    ros2_bag("reindex", copy)
    assert counts(copy) == before == ours(copy)


def test_repaired_bag_plays(ros, copy):
    file = copy / "b_0.mcap"
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 3 // 4])
    assert repair(copy).damage
    frames, _ = played(ros, copy)
    expected = bag.read(copy)["tactile/frame"]
    wait_for(lambda: len(frames) == len(expected) > 20)
    assert counts(copy) == ours(copy)


def recorder_below(launcher):
    """Return the process id of the recorder that a launch process has started."""
    children = " ".join(file.read_text() for file in Path(f"/proc/{launcher}/task").glob("*/children"))
    [recorder] = [
        int(child) for child in children.split() if b"--all" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    return recorder


def test_launch_records_all_topics_on_simulation_time(ros, tmp_path):
    command = ["ros2", "launch", "tactile_sim", "sim.launch.py", "config:=touch_cube"]
    launched = subprocess.Popen(
        [*command, "record:=true", f"bag_path:={tmp_path / 'b'}"],
        env=ros.environment | {"ROS_LOG_DIR": str(tmp_path / "log")}, cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    ros.processes.append(launched)
    frames = ros.listen(TactileFrame, "/tactile/frame")
    wait_for(lambda: frames or launched.poll() is not None, "the first frame")
    recorder = recorder_below(launched.pid)
    for _ in range(2):
        os.kill(recorder, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(recorder, signal.SIGCONT)
        end = stamp(frames[-1]) + 1000 * MS
        wait_for(lambda end=end: stamp(frames[-1]) > end or launched.poll() is not None, "a second")
    launched.send_signal(signal.SIGINT)
    output = launched.communicate(timeout=PATIENCE)[0]
    assert launched.returncode == 0 and "Traceback" not in output, output
    recorded = bag.read(tmp_path / "b")
    first = {
        name: topic.stamps[0]
        for name, topic in recorded.items()
        if any(hasattr(topic, field) for field in ("header", "transforms", "markers"))
    }
    assert len(first) > 15 and set(first.values()) == {0}, first
    for topic in ("contacts", "joint_states", "tactile/cube/array"):
        assert set(np.diff(recorded[topic].stamps)) == {10 * MS}, topic
    frame = recorded["tactile/frame"]
    assert len(frame) > 90
    assert set(np.diff(frame.stamps)) == {10 * MS}
    assert (np.abs(frame.log_times - frame.stamps) < 1500 * MS).all()  # with the stalls
    assert counts(tmp_path / "b") == ours(tmp_path / "b")
    [file] = (tmp_path / "b").glob("*.mcap")
    assert file.stat().st_size < 0.5 * sum(topic.size for topic in contents(tmp_path / "b").topics.values())
