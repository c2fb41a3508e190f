"""Compare the time per step of our SimFinger and of the original on PyBullet, and measure our memory growth.

Run as ``python bench/peer_trifinger.py PYTHON``, where PYTHON is an interpreter with trifinger_simulation
2.0.0. The environment variable TACTILE_SIM_TRIFINGER can replace PYTHON; the benchmark is skipped without
either. A step consists of append_desired_action and get_observation; our physics includes Bullet's drag. The
programs take turns after each block of steps. Compare the ratios, since absolute times depend on the machine.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from rich.console import Console
from rich.table import Table

from tactile_sim.trifinger.finger_types_data import get_valid_finger_types

BLOCKS, BLOCK = 15, 1000
"""Number of blocks, and steps per block."""
RANGES = {"free": 0.1, "touching": 0.8}
"""Maximum distance of random targets from the start [rad]; with the larger one, the fingers make contact."""
MANY = 1_000_000
"""Number of steps over which the growth of memory is measured."""
BOUND = 0.5
"""Maximum ratio of our time to PyBullet's."""
PROGRAM = """
import importlib, sys, time
import numpy as np

trifinger_simulation = importlib.import_module(sys.argv[1])
start = trifinger_simulation.finger_types_data.get_initial_joint_positions(sys.argv[2])
finger = trifinger_simulation.SimFinger(sys.argv[2])
random, away = np.random.default_rng(0), float(sys.argv[3])

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

print("ready", flush=True)
for line in sys.stdin:
    seconds = 0.0
    for _ in range(int(line) // 100):
        action = finger.Action(position=start + random.uniform(-away, away, len(start)))
        began = time.perf_counter()
        for _ in range(100):
            finger.get_observation(finger.append_desired_action(action))
        seconds += time.perf_counter() - began
    print(seconds, resident(), flush=True)
"""
OURS, PEER = "tactile_sim.trifinger", "trifinger_simulation"


class Robot:
    """A robot simulated in a separate process."""

    def __init__(self, python: str, module: str, finger_type: str, away: float):
        command = [python, "-c", PROGRAM, module, finger_type, str(away)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        while (line := self._read()) != "ready\n":
            if not line:
                raise ImportError(f"{python} cannot run {module}")

    def go(self, steps: int) -> tuple[float, int]:
        """Advance by a number of steps; return their duration [s] and the memory afterwards [bytes]."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        seconds, resident = self._read().split()
        return float(seconds), int(resident)

    def end(self) -> None:
        """Stop the process."""
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def main() -> int:
    """Measure time and memory and print the results."""
    python = sys.argv[1] if len(sys.argv) == 2 else os.environ.get("TACTILE_SIM_TRIFINGER")
    if python is None:
        print(
            "skipped: requires a Python with trifinger_simulation: python bench/peer_trifinger.py PYTHON,"
            " or TACTILE_SIM_TRIFINGER=PYTHON"
        )
        return 0
    try:
        worst = speed(python)
    except (ImportError, OSError) as error:
        print(f"bench/peer_trifinger.py: cannot start trifinger_simulation: {error}", file=sys.stderr)
        return 2
    grown = memory()
    print(f"at most {worst:.2f} of the peer's time; memory grew by {grown / 1024:.0f} KiB in {MANY:,} steps")
    return 0 if worst <= BOUND else 1


def speed(python: str) -> float:
    """Print the times of all robots and return the largest ratio of our time to PyBullet's."""
    table = Table(title="append_desired_action and get_observation")
    for column in ("robot", "motion", "PyBullet µs", "ours µs", "ratio of medians"):
        table.add_column(column, justify="left" if column in ("robot", "motion") else "right")
    ratios = []
    for finger_type in get_valid_finger_types():
        for motion, away in RANGES.items():
            robots = (Robot(python, PEER, finger_type, away), Robot(sys.executable, OURS, finger_type, away))
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(BLOCKS):
                for robot, taken in zip(robots, times, strict=True):
                    taken.append(robot.go(BLOCK)[0] / BLOCK * 1e6)
            for robot in robots:
                robot.end()
            # The first block is a warm-up.
            peer, ours = (statistics.median(taken[1:]) for taken in times)
            ratios.append(ours / peer)
            table.add_row(finger_type, motion, f"{peer:.0f}", f"{ours:.0f}", f"{ratios[-1]:.2f}")
    Console(width=110).print(table)
    return max(ratios)


def memory() -> int:
    """Return the growth of memory [bytes] over many steps after a warm-up."""
    robot = Robot(sys.executable, OURS, "trifingerpro", RANGES["touching"])
    before = robot.go(MANY // 10)[1]
    after = robot.go(MANY)[1]
    robot.end()
    return after - before


if __name__ == "__main__":
    sys.exit(main())
