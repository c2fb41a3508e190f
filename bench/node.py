"""Measure the speed of the node on ``infant`` relative to physics alone, and the growth of its memory.

Run as ``python bench/node.py``. The node runs in lock-step with many steps per request and therefore at
maximum speed. For comparison, this process computes the physics alone, alternately with the node and for the
same number of steps. The targets are for the CPU time of the node's loop relative to that of physics alone.
The table also has the relative CPU time of all threads of the node, which includes publishing, and the
relative wall time, which depends on the number of processors and on the load of the machine.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import rclpy
from rich.console import Console
from rich.table import Table
from tactile_sim.srv import Step

from tactile_sim import config
from tactile_sim.simulation import Simulation

WARM_UP, STEPS, ROUNDS = 1_000, 4_000, 7
"""Number of steps before the first round and in each round, and number of rounds."""
MINUTES = (1, 10)
SUBSCRIBER = """
import sys, rclpy
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray
from tactile_sim.msg import ContactWrenchArray, TactileFrame
rclpy.init()
node = Node("bench_subscriber")
topics = {"tactile/frame": TactileFrame, "contacts": ContactWrenchArray, "tactile/points": PointCloud2,
          "/tf": TFMessage, "markers": MarkerArray}
missing = set(topics)
for topic, kind in topics.items():
    node.create_subscription(kind, topic, lambda data, topic=topic: missing.discard(topic), 10, raw=True)
while missing:
    rclpy.spin_once(node)
print("receiving all topics", flush=True)
rclpy.spin(node)
"""


class Node:
    """The node in a separate process, in lock-step."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tactile_sim", "run", "infant", "--ros-args", "-p", "lockstep:=true"],
            stderr=subprocess.DEVNULL,
        )
        self._ros = rclpy.create_node("bench")
        self._client = self._ros.create_client(Step, "/tactile_sim/step")
        self._client.wait_for_service()

    def steps(self, count: int) -> np.ndarray:
        """Advance the node by a number of steps and return the times that it took, as from `_times` [s]."""
        began = self._times()
        future = self._client.call_async(Step.Request(steps=count))
        rclpy.spin_until_future_complete(self._ros, future)
        if not future.result().success:
            raise RuntimeError(future.result().message)
        return self._times() - began

    def _times(self) -> np.ndarray:
        """Return the CPU times of the main thread, which runs the loop, and of all threads; and wall time."""
        pid = self.process.pid
        cpu = {}
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as times:
                cpu[thread] = int(times.read().split()[0]) * 1e-9
        return np.array([cpu[str(pid)], sum(cpu.values()), time.perf_counter()])

    def memory(self) -> float:
        """Return the resident memory of the node [MiB]."""
        with open(f"/proc/{self.process.pid}/status") as status:
            line = next(line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self._ros.destroy_node()


def physics_alone(simulation: Simulation, count: int) -> np.ndarray:
    """Return CPU time and wall time [s] of ``count`` steps with built-in motion, without node and skin."""
    began = np.array([time.thread_time(), time.perf_counter()])
    simulation.step(count)
    return np.array([time.thread_time(), time.perf_counter()]) - began


def compare(node: Node, simulation: Simulation) -> np.ndarray:
    """Return the times (rounds, 5) per step, those of the node followed by those of physics alone [µs]."""
    node.steps(WARM_UP)
    simulation.reset()
    simulation.step(WARM_UP)
    times = [[*node.steps(STEPS), *physics_alone(simulation, STEPS)] for _ in range(ROUNDS)]
    return np.array(times) / STEPS * 1e6


def main() -> None:
    """Measure with and without subscribers and print a table."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", "97")
    rclpy.init()
    simulation = Simulation(config.load("infant"))
    node = Node()
    unsubscribed = compare(node, simulation)
    node.end()

    node = Node()
    subscriber = subprocess.Popen([sys.executable, "-c", SUBSCRIBER], stdout=subprocess.PIPE)
    subscriber.stdout.readline()
    subscribed = compare(node, simulation)
    timestep = simulation.engine.timestep
    node.steps(round(60 * MINUTES[0] / timestep) - WARM_UP - STEPS * ROUNDS)
    memory = [node.memory()]
    node.steps(round(60 * (MINUTES[1] - MINUTES[0]) / timestep))
    memory.append(node.memory())
    subscriber.kill()
    subscriber.wait()
    node.end()
    rclpy.shutdown()

    title = f"infant, as fast as possible: CPU time per step, medians of {ROUNDS} rounds of {STEPS} steps"
    table = Table(title=title)
    columns = "", "physics alone", "loop", "relative", "range", "target", "all threads", "wall time"
    for column in columns:
        table.add_column(column, justify="right" if column else "left")
    for name, times, target in (
        ("node, no subscriber", unsubscribed, 1.3),
        ("node, subscribers to frame, contacts, points, TF, markers", subscribed, 1.5),
    ):
        loop, total, wall = (times[:, k] / times[:, 3 + (k == 2)] for k in range(3))
        verdict = f"≤ {target:g}" if np.median(loop) <= target else f"[red]≤ {target:g}: missed"
        alone, own = np.median(times[:, [3, 0]], axis=0)
        table.add_row(
            name, f"{alone:.0f} µs", f"{own:.0f} µs", f"{np.median(loop):.2f}",
            f"{loop.min():.2f} to {loop.max():.2f}", verdict, f"{np.median(total):.2f}",
            f"{np.median(wall):.2f}",
        )  # fmt: skip
    console = Console()
    console.print(table)
    for minutes, size in zip(MINUTES, memory, strict=True):
        console.print(f"resident memory after {minutes} min of simulation with subscribers: {size:.1f} MiB")


if __name__ == "__main__":
    main()
