"""The soak tool runs a node to the end and detects faults."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from tactile_sim.msg import TactileFrame, TactileLayout  # noqa: E402

PATIENCE = 120.0  # s, timeout of all waits, far longer than they take
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


@pytest.mark.parametrize(("last", "grows"), [(1000.0, False), (2000.0, False), (5000.0, True)])
def test_growth_beyond_tolerance_is_a_fault(tools, last, grows):
    rows = [{"time": 60.0 * k, "anonymous [KiB]": 1000.0 + (last - 1000.0) * k / 99} for k in range(100)]
    ((name, first, end, slope),) = tools.soak.judge(rows)
    assert (end - first > tools.soak.TOLERANCE[name]) == grows
    assert slope == pytest.approx((last - 1000.0) / 99 * 60.0)


def frame(stamp: int, layout: int) -> bytes:
    """Return the beginning of a TactileFrame: encapsulation, stamp [ns], frame_id "w", layout_id."""
    return struct.pack("<IiII4sI", 0, stamp // 10**9, stamp % 10**9, 2, b"w", layout)


def test_losses_wrong_stamps_and_layouts_are_counted(tools):
    topic = tools.subscriber.Topic(None, TactileFrame, latched=False, has_layout_id=True)
    for number, stamp, layout in ((7, 10, 1), (8, 20, 1), (11, 20, 1), (12, 15, 2)):
        topic.check(frame(stamp, layout), {"publication_sequence_number": number})
    assert (topic.count, topic.lost, topic.backwards, topic.layout_ids) == (4, 2, 2, {1, 2})


def test_repeated_latched_message_may_differ_only_in_stamp(tools):
    topic = tools.subscriber.Topic(None, TactileLayout, latched=True, has_layout_id=False)
    for number, stamp, layout, kinds in ((1, 0, 1, 1), (2, 9, 1, 1), (3, 9, 2, 2)):
        topic.check(frame(stamp, layout), {"publication_sequence_number": number})
        assert len(topic.contents) == kinds
