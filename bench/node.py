"""Measure the speed of the node on ``infant`` relative to physics alone, and the growth of its memory.

Run as ``python bench/node.py``. The node runs in lock-step with many steps per request and therefore at
maximum speed. For comparison, this process computes the physics alone, for the same number of steps.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import rclpy
from rich.console import Console
from rich.table import Table
from tactile_sim.srv import Step

from tactile_sim import config
from tactile_sim.simulation import Simulation

STEPS = 20_000
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
        """Advance the node by a number of steps and return their wall time [s]."""
        began = time.perf_counter()
        future = self._client.call_async(Step.Request(steps=count))
        rclpy.spin_until_future_complete(self._ros, future)
        if not future.result().success:
            raise RuntimeError(future.result().message)
        return time.perf_counter() - began

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
    """Return the wall time [s] of ``count`` steps with the built-in motion, but without node and skin."""
    simulation.step()
    began = time.perf_counter()
    simulation.step(count)
    return time.perf_counter() - began


def main() -> None:
    """Measure with and without subscribers and print a table."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", "97")
    rclpy.init()
    simulation = Simulation(config.load("infant"))
    node = Node()
    node.steps(100)
    alone = physics_alone(simulation, STEPS)
    unsubscribed = node.steps(STEPS)
    node.end()

    node = Node()
    subscriber = subprocess.Popen([sys.executable, "-c", SUBSCRIBER], stdout=subprocess.PIPE)
    subscriber.stdout.readline()
    node.steps(100)
    subscribed = node.steps(STEPS)
    timestep = simulation.engine.timestep
    node.steps(round(60 * MINUTES[0] / timestep) - STEPS)
    memory = [node.memory()]
    node.steps(round(60 * (MINUTES[1] - MINUTES[0]) / timestep))
    memory.append(node.memory())
    subscriber.kill()
    subscriber.wait()
    node.end()
    rclpy.shutdown()

    table = Table(title=f"infant, {STEPS} steps as fast as possible")
    for column in ("", "µs per step", "of physics", "target", "real-time factor"):
        table.add_column(column, justify="right" if column else "left")
    for name, seconds, target in (
        ("physics alone", alone, None),
        ("node, no subscriber", unsubscribed, 1.3),
        ("node, subscribers to frame, contacts, points, TF, markers", subscribed, 1.5),
    ):
        ratio = seconds / alone
        verdict = f"≤ {target:g}" if target else ""
        if target and ratio > target:
            verdict = f"[red]{verdict}: missed"
        speed = f"{STEPS * timestep / seconds:.1f}"
        table.add_row(name, f"{seconds / STEPS * 1e6:.0f}", f"{ratio:.2f}", verdict, speed)
    console = Console()
    console.print(table)
    for minutes, size in zip(MINUTES, memory, strict=True):
        console.print(f"resident memory after {minutes} min of simulation with subscribers: {size:.1f} MiB")


if __name__ == "__main__":
    main()
