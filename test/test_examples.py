"""The programs in examples/ that do not need ROS print values that agree with physics."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
WITH_ROS = {"reflex", "lock_step", "read_bag", "balance_controller"}
"""Programs that test/ros/test_examples.py runs."""
FUNCTIONS = {"metric"}
"""Files that the test of docs/collect.md uses."""
WITH_MIMO = {"mimo_environments"}
"""Programs that a separate test below runs with a checkout of MIMo."""
WITH_RAY = {"rllib_balance"}
"""Programs that test/extras/test_rllib.py runs."""
PRINTED = {
    "first_skin": {r"weight (\S+) N": (9.81, 0.01)},
    "own_robot": {r"left: (\S+) N": (5.0, 0.05), r"right: (\S+) N": (5.0, 0.05)},
    "own_touch_function": {r"at most (\S+) W": (2.5, 2.4)},
    "sensor_stages": {r"delay (\S+) ms": (50.0, 0.0), r"true (\S+) N": (9.81, 0.01)},
    "contact_sensors": {r"net force (\S+) N": (9.81, 0.01)},
    "feelers": {r"after (\S+) s": (0.14, 0.01), r"(\d+) feelers": (50, 49)},
    "reflex_without_ros": {r"feel (\S+),": (0.35, 0.3)},
    "trifinger": {r"of a joint (\S+) rad": (0.0, 0.05)},
    "batch": {r"1.50     6 +(\S+)  held": (18.9, 1.0)},
    "own_task": {r"random: mean reward (\S+)": (-5.0, 2.0), r"grasp: mean reward (\S+)": (-1.25, 1.25)},
    "train_balance": {r"(\S+) s": (1.2, 0.8)},  # a ball rolls off a motionless tray
    "mimo": {r"feel (\S+) N": (4.905, 0.01)},
}
"""Patterns in the output of each program, with the expected number and its tolerance."""
ARGUMENTS = {"train_balance": ["contact", "0", "0"]}
"""Arguments of programs; there are none by default."""


def test_every_program_is_run_by_a_test():
    run = {*WITH_ROS, *PRINTED, *FUNCTIONS, *WITH_MIMO, *WITH_RAY}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == run


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_program_is_shorter_than_60_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_a_program_prints_the_expected_number(name, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *ARGUMENTS.get(name, [])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for pattern, (expected, tolerance) in PRINTED[name].items():
        found = re.search(pattern, done.stdout)
        assert found, done.stdout
        np.testing.assert_allclose(float(found[1]), expected, atol=tolerance)


def run_mimo_environments(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, EXAMPLES / "mimo_environments.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900)


def test_environments_of_mimo_feel_the_same_forces():
    checkout = os.environ.get("TACTILE_SIM_MIMO")
    if checkout is None:
        pytest.skip("TACTILE_SIM_MIMO names no checkout of MIMo to compare with")
    done = run_mimo_environments(checkout, "--steps", "10")
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(\w+): (\d+) values, (\d+) loads equal to (\S+) N", done.stdout, re.MULTILINE)
    assert [name for name, *_ in found] == ["Reach", "Standup", "SelfBody", "Catch"]
    assert sum(int(loads) for _, _, loads, _ in found) > 50
    assert max(float(difference) for *_, difference in found) <= 1e-6


def test_environments_of_mimo_need_a_checkout(tmp_path):
    done = run_mimo_environments(str(tmp_path))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert str(tmp_path) in done.stderr
