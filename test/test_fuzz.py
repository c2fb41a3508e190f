"""The fuzzer detects each kind of failure, and a short run finds no failures."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def outcome(monkeypatch, tmp_path):
    """Return a function that runs a command as a fuzzing case and returns the fault that it finds."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    from fuzzing import runner

    limits = runner.Limits(cpu=1, wall=3.0, memory=1 << 28)
    return lambda command: runner.run(command, [], tmp_path, limits).fault


def say(text, code):
    print(text, file=sys.stderr)
    return code


def spin(_):
    while True:
        pass


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (lambda _: 0, None),
        (lambda _: say("tactile_sim: error: scene: missing", 2), None),
        (lambda _: sys.exit(0), None),
        (lambda _: 1 / 0, "traceback"),
        (lambda _: bytearray(1 << 30), "traceback"),
        (lambda _: os.kill(os.getpid(), signal.SIGSEGV), "signal SIGSEGV"),
        (lambda _: 3, "exit code 3"),
        (lambda _: 2, "no message"),
        (lambda _: say("error: " + "a" * 5000, 2), "long message"),
        (lambda _: say("error: \x1b[31m", 2), "unprintable message"),
        (spin, "hang"),
        (lambda _: time.sleep(60), "hang"),
    ],
)
def test_each_kind_of_failure_is_detected(outcome, command, fault):
    assert outcome(command) == fault


@pytest.mark.parametrize(
    ("harm", "fact"),
    [
        (lambda each: each.engine.qpos.__setitem__(0, 0.1), "state"),
        (lambda each: each.throw(), "state"),
        (lambda each: each.command_joints({"turn": 0.5}), "state"),
        (lambda each: each.missing, "missing"),
    ],
)
def test_calls_that_change_something_without_a_record_are_detected(monkeypatch, harm, fact):
    monkeypatch.syspath_prepend(ROOT / "tools")
    from fuzzing import api

    from tactile_sim.simulation import Simulation

    subject = api.Subject(lambda: Simulation(api._spec(), api.SETTINGS[1]), api._state_of_simulation)
    subject.call(api.STEP)
    subject.check()
    with pytest.raises((api.Difference, AttributeError), match=fact):
        api.attempt(harm, subject.object)
        subject.check()


def test_a_short_run_finds_no_failure(tmp_path):
    counts = ["--yaml", "60", "--scenes", "40", "--bags", "40", "--api", "25", "--seed", "1"]
    done = subprocess.run(
        [sys.executable, ROOT / "tools/fuzz.py", *counts, "--keep", tmp_path / "failures"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "failures").exists()
