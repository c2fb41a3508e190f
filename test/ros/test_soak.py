"""The soak tool runs a node to the end and detects faults."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from tactile_sim.msg import TactileFrame, TactileLayout  # noqa: E402

PATIENCE = 120.0  # timeout of all waits, far longer than they take [s]
TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import soak
    import soak_subscriber

    return SimpleNamespace(soak=soak, subscriber=soak_subscriber)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_soak_reports_no_faults(tmp_path, number):
    command = [sys.executable, TOOLS / "soak.py", "touch_cube"]
    soak = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    )
    assert soak.stdout is not None
    first = soak.stdout.readline()  # first progress line, after some steps
    soak.send_signal(number)
    rest, _ = soak.communicate(timeout=PATIENCE)
    assert soak.returncode == 0, first + rest
    assert "/tactile/frame" in rest


def memory_of_publishers(sizes: np.ndarray, slots: int) -> np.ndarray:
    """Return the total size of the publishers' buffers after each round of messages [KiB].

    Each buffer grows to the largest message that it has held. Buffer k is first used in round 2^k.

    Args:
        sizes: Sizes of the messages (topics, rounds, slots) [bytes].
        slots: Number of buffers per topic.
    """
    largest = np.maximum.accumulate(sizes, axis=1)
    used = np.arange(1, sizes.shape[1] + 1)[:, None] >= 2.0 ** np.arange(slots)
    return (largest * used).sum((0, 2)) / 1024.0


@pytest.mark.parametrize(
    ("leak", "is_fault"), [("none", False), ("100 bytes a message", True), ("1 kB a second", True)]
)
def test_leak_is_a_fault_but_filling_buffers_is_not(tools, leak, is_fault):
    topics, rounds, slots, hours = 150, 1250, tools.soak.DEPTH + 1, 24.0
    sizes = np.random.default_rng(0).normal(4500.0, 300.0, (topics, rounds, slots)).astype(int)
    leaked = {"none": 0.0, "100 bytes a message": 100.0 * sizes.size, "1 kB a second": 3.6e6 * hours}[leak]
    memory = 200_000.0 + memory_of_publishers(sizes, slots) + leaked / 1024.0 * np.linspace(0.0, 1.0, rounds)
    times = np.linspace(0.0, 3600.0 * hours, rounds)
    rows = [{"time": time, "anonymous [KiB]": used} for time, used in zip(times, memory, strict=True)]
    buffers = tools.soak.message_buffers(
        SimpleNamespace(largest=size, latched=False) for size in sizes.max((1, 2)).tolist()
    )
    ((name, first, last, _, bound),) = tools.soak.judge(rows, buffers)
    assert last - first > tools.soak.TOLERANCE[name]
    assert (last - first > bound) == is_fault


@pytest.mark.parametrize(("last", "grows"), [(1000.0, False), (2000.0, False), (5000.0, True)])
def test_growth_beyond_tolerance_is_a_fault(tools, last, grows):
    rows = [{"time": 60.0 * k, "anonymous [KiB]": 1000.0 + (last - 1000.0) * k / 99} for k in range(100)]
    ((_, first, end, slope, bound),) = tools.soak.judge(rows)
    assert (end - first > bound) == grows
    assert slope == pytest.approx((last - 1000.0) / 99 * 60.0)


def test_each_disturbance_occurs_at_the_start(tools):
    calls = []
    subscriber = SimpleNamespace(call=lambda _, name, **fields: calls.append(name), step=calls.append)
    tools.subscriber.Disturbances(subscriber, 0, ["ball"]).act(0.1)
    assert sorted(calls[::2]) == sorted(tools.subscriber.EVERY)
    assert calls[1::2] == [1] * len(tools.subscriber.EVERY)


@pytest.mark.parametrize(
    ("rates", "steps"),
    [([500.0, 100.0], 8), ([100.0], 40), ([100.0, 30.0, 15.0, 1.0], 20), ([0.0], 999)],
)
def test_clock_of_all_streams_fits_into_the_queue(tools, rates, steps):
    assert tools.soak.steps_at_once(rates, 0.002) == steps


def frame(stamp: int, layout: int) -> bytes:
    """Return the first fields of a TactileFrame: encapsulation, stamp [ns], frame_id "w", layout_id."""
    return struct.pack("<IiII4sI", 0, stamp // 10**9, stamp % 10**9, 2, b"w", layout)


def test_losses_wrong_stamps_and_layouts_are_counted(tools):
    topic = tools.subscriber.Topic(None, TactileFrame, latched=False, has_layout_id=True)
    for number, stamp, layout in ((7, 10, 1), (8, 20, 1), (11, 20, 1), (12, 15, 2)):
        topic.check(frame(stamp, layout), {"publication_sequence_number": number})
    assert (topic.count, topic.lost, topic.backwards, topic.layout_ids) == (4, 2, 2, {1, 2})
    assert topic.largest == len(frame(0, 1))


def test_repeated_latched_message_may_differ_only_in_stamp(tools):
    topic = tools.subscriber.Topic(None, TactileLayout, latched=True, has_layout_id=False)
    for number, stamp, layout, kinds in ((1, 0, 1, 1), (2, 9, 1, 1), (3, 9, 2, 2)):
        topic.check(frame(stamp, layout), {"publication_sequence_number": number})
        assert len(topic.contents) == kinds
