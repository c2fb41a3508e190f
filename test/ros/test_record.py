"""The recorder in a separate process, and its bag after a signal, a kill or a full disk."""

import os
import re
import resource
import signal
import time
from collections import Counter

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")

from rcl_interfaces.msg import ParameterEvent  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rosbags.highlevel import AnyReader  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from support.ros import PATIENCE, arrived, kept, wait_for  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileFrame, TactileLayout  # noqa: E402

from tactile_sim import bag  # noqa: E402
from tactile_sim.commands import main  # noqa: E402
from tactile_sim.ros import cdr  # noqa: E402

MS = 1_000_000
LASTING = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Talker:
    """A publisher of frames and contacts that have equal stamps, 10 ms apart."""

    def __init__(self, ros):
        self.node = ros.node
        # The queue holds all messages, so that a slow subscriber loses none.
        self.frames = self.node.create_publisher(TactileFrame, "tactile/frame", 1000)
        self.contacts = self.node.create_publisher(ContactWrenchArray, "contacts", 1000)
        self.random = np.random.default_rng(0)
        self.sent: list[np.ndarray] = []
        self.times: list[float] = []

    def wait(self):
        """Wait until both topics have a subscriber."""
        wait_for(lambda: self.frames.get_subscription_count() and self.contacts.get_subscription_count())

    def talk(self, count, every=0.01):
        start = time.monotonic()
        for k in range(count):
            force = self.random.normal(size=(500, 3)).astype(np.float32)
            self.sent.append(force)
            header = {"stamp": len(self.sent) * 10 * MS, "frame_id": "world"}
            self.frames.publish(cdr.encode(TactileFrame, {"header": header, "channels": 3, "data": force}))
            hits = [{"body1": "cube", "wrench": np.full(6, k)}] * (k % 4)
            self.contacts.publish(cdr.encode(ContactWrenchArray, {"header": header, "contacts": hits}))
            self.times.append(time.monotonic())
            time.sleep(max(0.0, start + (k + 1) * every - time.monotonic()))


def recording(ros, *arguments):
    """Start a recorder and wait until it reports that it is recording."""
    process = ros.start("record", *arguments)
    assert process.stdout.readline().startswith("recording")
    return process


def metadata(folder):
    text = (folder / "metadata.yaml").read_text()
    return yaml.safe_load(text)["rosbag2_bagfile_information"]


def test_bag_has_every_message_unchanged(ros, tmp_path):
    layouts = ros.node.create_publisher(TactileLayout, "tactile/cube/layout", LASTING)
    layouts.publish(cdr.encode(TactileLayout, {"header": {"stamp": 5 * MS}, "positions": np.eye(3)}))
    words = ros.node.create_publisher(String, "words", 10)
    clocks = ros.node.create_publisher(Clock, "/clock", 10)
    process = recording(ros, tmp_path / "b")
    talker = Talker(ros)  # its topics appear after the recorder has started
    talker.wait()
    wait_for(lambda: words.get_subscription_count() and clocks.get_subscription_count())
    talker.talk(100)
    # Topics can arrive in any order, so publish on one after the other.
    wait_for(lambda: kept(tmp_path / "b") >= Counter({"/tactile/frame": 100, "/contacts": 100}))
    words.publish(String(data="Käse"))
    wait_for(lambda: kept(tmp_path / "b")["/words"])
    clocks.publish(cdr.encode(Clock, {"clock": 2000 * MS}))
    arrived(clocks)
    output = ros.output(process)
    assert process.returncode == 0
    assert re.search(r"recorded \d+ messages of \d+ topics", output) and "warning" not in output

    read = bag.read(tmp_path / "b")
    assert read.damage is None
    frame = read["tactile/frame"]
    np.testing.assert_array_equal(frame.data, talker.sent)
    np.testing.assert_array_equal(frame.log_times, np.arange(1, 101) * 10 * MS)
    assert [len(contacts) for contacts in read["contacts"].contacts] == [k % 4 for k in range(100)]
    assert read["contacts"].contacts[7].wrench.force.tolist() == [[7.0] * 3] * 3
    assert read["tactile/cube/layout"].positions.tolist() == [np.eye(3).tolist()]
    # A message without a stamp is logged at the latest stamp before it, and a clock message at its time.
    assert read["words"].data == ["Käse"] and read["words"].log_times.tolist() == [1000 * MS]
    assert read["clock"].log_times.tolist() == [2000 * MS]

    with AnyReader([tmp_path / "b"]) as reader:
        by_topic = {connection.topic: connection for connection in reader.connections}
        count = sum(1 for _ in reader.messages())
    assert count == metadata(tmp_path / "b")["message_count"]
    assert (
        "# taxel-major" in by_topic["/tactile/frame"].msgdef.data
        or "taxel" in by_topic["/tactile/frame"].msgdef.data
    )
    qos = {name: connection.ext.offered_qos_profiles[0] for name, connection in by_topic.items()}
    assert qos["/tactile/cube/layout"].durability.name == "TRANSIENT_LOCAL"
    assert qos["/tactile/frame"].durability.name == "VOLATILE"
    assert qos["/tactile/frame"].reliability.name == "RELIABLE"


def test_killed_recorder_loses_at_most_one_second(ros, tmp_path):
    process = recording(ros, tmp_path / "b")
    assert metadata(tmp_path / "b")["message_count"] == 0  # the bag exists from the start
    talker = Talker(ros)
    talker.wait()
    counts = []
    while len(counts) < 5 or counts[-1] < 100:
        talker.talk(50)
        counts.append(kept(tmp_path / "b")["/tactile/frame"])
    process.kill()
    killed = time.monotonic()
    process.wait(PATIENCE)
    assert counts == sorted(counts) and counts[-1] > counts[0]
    late = max(np.diff(talker.times))  # a delay of this process may also have affected the recorder
    due = sum(sent < killed - 1.0 - late for sent in talker.times)
    with pytest.warns(UserWarning, match="writer was stopped"):
        damaged = bag.read(tmp_path / "b")
    assert due > 100 and len(damaged["tactile/frame"]) >= due
    assert main(["bag", "repair", str(tmp_path / "b")]) == 0
    repaired = bag.read(tmp_path / "b")
    assert repaired.damage is None
    for topic in ("tactile/frame", "contacts"):
        np.testing.assert_array_equal(
            repaired[topic].stamps, np.arange(1, len(repaired[topic]) + 1) * 10 * MS
        )
        assert len(repaired[topic]) >= due
    np.testing.assert_array_equal(
        repaired["tactile/frame"].data, talker.sent[: len(repaired["tactile/frame"])]
    )
    with AnyReader([tmp_path / "b"]) as reader:
        assert reader.message_count == metadata(tmp_path / "b")["message_count"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_completes_bag_of_selected_topics(ros, tmp_path, number):
    talker = Talker(ros)
    process = ros.start("record", tmp_path / "b", "tactile/frame", "/never")
    wait_for(talker.frames.get_subscription_count)
    talker.talk(20)
    arrived(talker.frames)
    process.send_signal(number)
    output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0 and "never published: /never" in output
    read = bag.read(tmp_path / "b")
    assert list(read) == ["/tactile/frame"] and len(read["tactile/frame"]) == 20 and read.damage is None


def test_log_time_is_time_of_sending_without_stamps(ros, tmp_path):
    words = ros.node.create_publisher(String, "words", 10)
    process = recording(ros, tmp_path / "b", "words")
    wait_for(words.get_subscription_count)
    before = time.time_ns()
    words.publish(String(data="x"))
    arrived(words)
    ros.output(process)
    [sent] = bag.read(tmp_path / "b")["words"].log_times
    assert before - 10 * MS <= sent <= time.time_ns()


def test_messages_before_first_stamp_are_logged_at_it(ros, tmp_path):
    events = ros.node.create_publisher(ParameterEvent, "events", 10)
    process = recording(ros, tmp_path / "b", "events", "words", "clock")
    wait_for(events.get_subscription_count)
    events.publish(ParameterEvent(node="early"))
    time.sleep(1.2)  # longer than the recorder waits if no topic has stamps
    words = ros.node.create_publisher(String, "words", 10)
    clocks = ros.node.create_publisher(Clock, "clock", 10)
    wait_for(lambda: words.get_subscription_count() and clocks.get_subscription_count())
    words.publish(String(data="paused"))
    time.sleep(1.2)
    clocks.publish(cdr.encode(Clock, {"clock": 7 * MS}))
    arrived(clocks)
    ros.output(process)
    read = bag.read(tmp_path / "b")
    assert {name: topic.log_times.tolist() for name, topic in read.items()} == {
        "/events": [7 * MS],
        "/words": [7 * MS],
        "/clock": [7 * MS],
    }


def test_messages_waiting_for_stamp_survive_kill(ros, tmp_path):
    words = ros.node.create_publisher(String, "words", 10)
    ros.node.create_publisher(Clock, "clock", 10)  # a topic with stamps that never publishes
    process = recording(ros, tmp_path / "b", "words", "clock")
    wait_for(words.get_subscription_count)
    for text in ("first", "second"):
        words.publish(String(data=text))
    wait_for(lambda: metadata(tmp_path / "b")["message_count"] == 2)
    process.kill()
    process.wait(PATIENCE)
    with pytest.warns(UserWarning, match="writer was stopped"):
        assert bag.read(tmp_path / "b")["words"].data == ["first", "second"]


def test_full_disk_ends_with_exit_code_2_and_readable_bag(ros, tmp_path):
    """A file size limit of 120 kB (about 20 frames), set while recording, emulates a full disk."""
    folder = tmp_path / "b"
    process = recording(ros, folder)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (120_000, 120_000))
    talker = Talker(ros)
    talker.wait()
    while process.poll() is None:  # one chunk at a time; after two, there is still space for the index
        talker.talk(8, every=0.0)
        wait_for(lambda: kept(folder)["/tactile/frame"] == len(talker.sent) or process.poll() is not None)
    output = process.stdout.read()
    assert process.returncode == 2
    assert f"cannot write the bag {folder}" in output and "Traceback" not in output
    read = bag.read(folder)
    assert read.damage is None
    frames = read["tactile/frame"].data
    assert 0 < len(frames) < 20
    np.testing.assert_array_equal(frames, talker.sent[: len(frames)])


def test_existing_folder_is_rejected_and_unchanged(ros, tmp_path):
    (tmp_path / "b").mkdir()
    process = ros.start("record", tmp_path / "b")
    output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 2 and str(tmp_path / "b") in output and len(output.splitlines()) == 1
    assert not os.listdir(tmp_path / "b")


def test_invalid_topic_name_is_rejected_before_bag_is_created(tmp_path, capsys):
    assert main(["record", str(tmp_path / "b"), "tactile/frame", "left hand"]) == 2
    error = capsys.readouterr().err
    assert "left hand" in error and len(error.splitlines()) == 1 and not (tmp_path / "b").exists()


def test_missing_ros_is_reported_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tactile_sim.common.processes.find_spec", lambda name: None)
    assert main(["record", str(tmp_path / "b")]) == 2
    error = capsys.readouterr().err
    assert "rclpy" in error and len(error.splitlines()) == 1 and not (tmp_path / "b").exists()
