"""Measure the node on ``gripper``: latency from command to frame in lock-step, and jitter in real time.

Run as ``python bench/latency.py``. The node runs in a separate process. This process publishes ``ctrl`` and
subscribes to ``tactile/frame`` with `tactile_sim.ros.subscribe`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rich.console import Console
from rich.table import Table
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray
from tactile_sim.msg import TactileFrame

from tactile_sim import load
from tactile_sim.ros import subscribe

COMMANDS, WARM_UP = 2000, 100
SECONDS = 20.0
RATE = 500.0
"""Rate of the frames in lock-step and of the clock in real time [Hz]."""
PATIENCE = 10.0
TARGET = 1e-3
"""Maximum median latency from command to frame [s]."""


def node(**parameters: object) -> subprocess.Popen:
    """Start the node in a separate process with the specified parameters."""
    options = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "tactile_sim", "run", "gripper", "--ros-args", *options],
        stderr=subprocess.DEVNULL,
    )


def end(process: subprocess.Popen) -> None:
    """Interrupt the node and wait until it exits."""
    process.send_signal(signal.SIGINT)
    process.wait()


def command_to_frame(executor: SingleThreadedExecutor) -> np.ndarray:
    """Return, for each command, the time [s] from publishing it to receiving the frame of its step."""
    [ros] = executor.get_nodes()
    process = node(lockstep="true", **{"rates.tactile": RATE})
    frames: list[float] = []
    heard = subscribe(ros, TactileFrame, "tactile/frame", lambda _: frames.append(time.perf_counter()))
    commands = ros.create_publisher(Float64MultiArray, "ctrl", 10)
    while not (frames and commands.get_subscription_count()):
        executor.spin_once(timeout_sec=0.1)
    message = Float64MultiArray(data=[0.0] * load("gripper").engine.model.nu)
    times = []
    for _ in range(COMMANDS):
        executor.spin_once(timeout_sec=0.0)
        count, sent = len(frames), time.perf_counter()
        commands.publish(message)
        while len(frames) == count:
            executor.spin_once(timeout_sec=1.0)
            if time.perf_counter() > sent + PATIENCE:
                raise RuntimeError("the node did not respond to a command")
        times.append(frames[count] - sent)
    ros.destroy_subscription(heard)
    end(process)
    return np.array(times[WARM_UP:])


def arrivals(executor: SingleThreadedExecutor) -> np.ndarray:
    """Return the absolute deviation of each ``/clock`` message from its expected arrival in real time [s]."""
    [ros] = executor.get_nodes()
    process = node(**{"rates.clock": RATE})
    times: list[tuple[float, float]] = []

    def receive(clock: Clock) -> None:
        times.append((clock.clock.sec + clock.clock.nanosec * 1e-9, time.perf_counter()))

    heard = ros.create_subscription(Clock, "/clock", receive, 100)
    while not times or times[-1][0] < times[0][0] + 2.0 + SECONDS:
        executor.spin_once(timeout_sec=0.1)
    ros.destroy_subscription(heard)
    end(process)
    stamps, received = np.array(times).T
    settled = stamps > stamps[0] + 2.0
    late = (received - stamps)[settled]
    return np.abs(late - np.median(late))


def main() -> None:
    """Measure latency and jitter and print a table."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", "96")
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(rclpy.create_node("bench_latency"))
    table = Table(title=f"gripper, topics at {RATE:g} Hz; load of the machine: {os.getloadavg()[0]:.1f}")
    for column in ("", "p50 [ms]", "p99 [ms]", "p99.9 [ms]", "target"):
        table.add_column(column, justify="right" if column else "left")
    for name, measure, target in (
        ("lock-step: command to frame", command_to_frame, TARGET),
        ("real time: jitter of /clock", arrivals, None),
    ):
        figures = np.percentile(measure(executor), [50.0, 99.0, 99.9])
        verdict = f"p50 ≤ {target * 1e3:g}" if target else ""
        if target and figures[0] > target:
            verdict = f"[red]{verdict}: missed"
        table.add_row(name, *(f"{1e3 * figure:.2f}" for figure in figures), verdict)
    rclpy.shutdown()
    Console().print(table)


if __name__ == "__main__":
    main()
