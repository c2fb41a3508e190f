"""Measure the speed of the node on ``infant`` relative to physics alone, and the growth of its memory.

Run as ``python bench/node.py``. The node runs in lock-step with many steps per request and therefore at
maximum speed. For comparison, this process computes the physics alone, alternately with the node and for the
same number of steps. Both are measured in CPU time, of the node's loop and of this process, because wall time
depends on the load of the machine.
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

    def steps(self, count: int) -> float:
        """Advance the node by a number of steps and return the CPU time of its loop [s]."""
        began = self._cpu_time()
        future = self._client.call_async(Step.Request(steps=count))
        rclpy.spin_until_future_complete(self._ros, future)
        if not future.result().success:
            raise RuntimeError(future.result().message)
        return self._cpu_time() - began

    def _cpu_time(self) -> float:
        """Return the CPU time of the main thread, which runs the loop [s]."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/schedstat") as times:
            return int(times.read().split()[0]) * 1e-9

    def memory(self) -> float:
        """Return the resident memory of the node [MiB]."""
        with open(f"/proc/{self.process.pid}/status") as status:
            line = next(line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self._ros.destroy_node()


def physics_alone(simulation: Simulation, count: int) -> float:
    """Return the CPU time [s] of ``count`` steps with the built-in motion, but without node and skin."""
    began = time.thread_time()
    simulation.step(count)
    return time.thread_time() - began


def compare(node: Node, simulation: Simulation) -> np.ndarray:
    """Return the CPU times (rounds, 2) of the node and of physics alone per step [µs]."""
    node.steps(WARM_UP)
    simulation.reset()
    simulation.step(WARM_UP)
    times = [(node.steps(STEPS), physics_alone(simulation, STEPS)) for _ in range(ROUNDS)]
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

    table = Table(title=f"infant, as fast as possible: medians of {ROUNDS} rounds of {STEPS} steps")
    for column in ("", "µs of CPU time per step", "physics alone", "ratio", "range", "target"):
        table.add_column(column, justify="right" if column else "left")
    for name, times, target in (
        ("node, no subscriber", unsubscribed, 1.3),
        ("node, subscribers to frame, contacts, points, TF, markers", subscribed, 1.5),
    ):
        ratios = times[:, 0] / times[:, 1]
        ratio = np.median(ratios)
        verdict = f"≤ {target:g}" if ratio <= target else f"[red]≤ {target:g}: missed"
        node_time, alone = np.median(times, axis=0)
        span = f"{ratios.min():.2f} to {ratios.max():.2f}"
        table.add_row(name, f"{node_time:.0f}", f"{alone:.0f}", f"{ratio:.2f}", span, verdict)
    console = Console()
    console.print(table)
    for minutes, size in zip(MINUTES, memory, strict=True):
        console.print(f"resident memory after {minutes} min of simulation with subscribers: {size:.1f} MiB")


if __name__ == "__main__":
    main()
