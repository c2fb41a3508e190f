"""Signals end a process only at safe points."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tactile_sim.common import signals
from tactile_sim.common.signals import Stopped, StopRequest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def handlers_are_put_back():
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    yield
    assert {number: signal.getsignal(number) for number in signals.SIGNALS} == before


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", signals.SIGNALS)
def test_start_up_stops_at_a_check(number):
    with pytest.raises(Stopped) as stopped, StopRequest() as stop:
        signals.check()
        assert not stop.wait(0.001)
        send(number)
        assert stop.requested and stop.wait(60.0)
        signals.check()
    assert stopped.value.exit_code == 128 + number


def test_a_signal_calls_the_registered_action():
    ended = []
    with StopRequest() as stop:
        stop.call(lambda: ended.append(1))
        send(signal.SIGTERM)
        signals.check()
    assert ended == [1]


def test_reason_names_the_first_signal():
    with StopRequest() as stop:
        assert stop.reason == ""
        send(signal.SIGTERM)
        send(signal.SIGINT)
    assert "SIGTERM" in stop.reason and "SIGINT" not in stop.reason and "parent" not in stop.reason


def test_reason_says_that_the_parent_has_ended(tmp_path):
    child = (
        "import pathlib, sys, tactile_sim.common.signals as s\n"
        "with s.StopRequest() as stop:\n"
        "    print('ready', flush=True)\n"
        "    stop.wait(60.0)\n"
        "pathlib.Path(sys.argv[1]).write_text(stop.reason)"
    )
    parent = (  # without threads: the child would get a new parent only after the last of them has ended
        "import subprocess, sys; from tactile_sim.common.processes import ask_for_signal\n"
        "with subprocess.Popen([sys.executable, sys.argv[1] + '/child.py', sys.argv[1] + '/reason'],"
        " preexec_fn=ask_for_signal): pass"
    )
    (tmp_path / "child.py").write_text(child)
    command = [sys.executable, "-c", parent, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().strip() == b"ready"
        process.kill()
    reason = tmp_path / "reason"
    end = time.monotonic() + 60.0
    while not (reason.exists() and reason.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    assert "SIGINT" in reason.read_text() and "parent" in reason.read_text()


def test_nohup_is_respected():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with StopRequest() as stop:
        send(signal.SIGHUP)
        assert not stop.requested
    signal.signal(signal.SIGHUP, before)


def test_files_are_cleaned_up_after_a_signal():
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    cleaned = []
    with pytest.raises(Stopped), signals.raising():
        try:
            send(signal.SIGHUP)
            time.sleep(60.0)
        finally:
            cleaned.append(1)
    assert cleaned
    assert signal.signal(signal.SIGHUP, before) is signal.SIG_DFL


def test_interrupted_start_up_leaves_no_files():
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
    program = [sys.executable, "tools/interrupts.py", "6", "--seed", "19", "--limit", "60", "--ready", "4"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
