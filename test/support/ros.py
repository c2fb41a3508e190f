"""Run a node in a second process on a separate ROS domain, and subscribe to it in this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import rclpy
import yaml
from rclpy.client import Client
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import SetBool
from tactile_sim.srv import Step

from support.domain import own_domain
from tactile_sim.config import find, parameter_file
from tactile_sim.ros import cdr, subscribe
from tactile_sim.ros.transport import clear_dead_ports

PATIENCE = 120.0
"""Maximum time to wait for any condition [s], which is more than enough even on a busy machine."""


class Ros:
    """A ROS node in this process with subscriptions and service clients, and the processes under test."""

    def __init__(self, folder: Path):
        self.folder = folder
        clear_dead_ports()
        self.domain = own_domain()
        self.environment = os.environ | {
            "ROS_DOMAIN_ID": str(self.domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }
        self.processes: list[subprocess.Popen] = []
        self._context = Context()
        rclpy.init(context=self._context, domain_id=self.domain)
        self.node = Node("listener", context=self._context)
        self._clients: dict[str, Client] = {}
        self.executor = SingleThreadedExecutor(context=self._context)
        self.executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        try:
            self.executor.spin()
        except ExternalShutdownException:
            pass

    def config(self, **parameters) -> Path:
        """Write a parameter file with these keys and return its path."""
        path = self.folder / f"config{len(list(self.folder.glob('config*.yaml')))}.yaml"
        path.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
        return path

    def start(self, *arguments: str | Path, program: Path | None = None) -> subprocess.Popen:
        """Start ``tactile_sim`` or another Python program with these arguments."""
        command = [str(program)] if program else ["-m", "tactile_sim"]
        process = subprocess.Popen(
            [sys.executable, *command, *map(str, arguments)],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.processes.append(process)
        return process

    def run(self, program: Path | None = None, **parameters) -> subprocess.Popen:
        """Start the node with these parameters and wait until its services are available."""
        pause = self._client(SetBool, "/tactile_sim/pause")
        wait_for(lambda: not pause.service_is_ready(), "the end of the previous node")
        process = self.start("run", self.config(**parameters), program=program)
        wait_for(lambda: pause.service_is_ready() or process.poll() is not None, "the node")
        assert process.poll() is None, self.output(process)
        return process

    def output(self, process: subprocess.Popen) -> str:
        """Interrupt a process and return its output."""
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=PATIENCE)[0]

    def listen(self, message_type: type, topic: str, lasting: bool = False) -> list:
        """Subscribe to a topic and return a list that collects its decoded messages."""
        received: list = []
        durability = DurabilityPolicy.TRANSIENT_LOCAL if lasting else DurabilityPolicy.VOLATILE
        subscribe(
            self.node, message_type, topic, received.append, QoSProfile(depth=1000, durability=durability)
        )
        return received

    def _client(self, service_type: type, name: str) -> Client:
        """Return the client for a service; it is kept, because a new one must first discover the service."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(service_type, name)
        return self._clients[name]

    def call(self, service_type: type, name: str, /, **fields):
        """Call a service with these request fields and return its response."""
        client = self._client(service_type, name)
        wait_for(client.service_is_ready, f"the service {name}")  # rclpy's own wait polls only every 0.25 s
        future = client.call_async(service_type.Request(**fields))
        wait_for(future.done, f"a response of {name}")
        return future.result()

    def step(self, count: int, *topics: list, at_once: int | None = None) -> int:
        """Step a paused node and return the stamp reached [ns].

        This waits until the last message in each of the lists ``topics`` has this stamp. A publisher keeps
        only 10 messages, so ``at_once`` must not exceed the number of steps in which 10 messages are
        published on a topic.
        """
        end = 0
        for done in range(0, count, at_once or count):
            steps = min(count - done, at_once or count)
            answer = self.call(Step, "/tactile_sim/step", steps=steps)
            assert answer.success, answer.message
            end = int(cdr.nanoseconds(answer.time.sec, answer.time.nanosec))
            wait_for(lambda: all(messages and stamp(messages[-1]) == end for messages in topics), f"{end} ns")  # noqa: B023
        return end

    def close(self) -> None:
        """End all processes and this node."""
        for process in self.processes:
            # Interrupt processes first, because a killed one leaves its shared memory behind, which may be
            # locked.
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)
        self._thread.join()


def wait_for(condition, what: str = "it") -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE:g} s for {what}"
        time.sleep(0.01)


def arrived(*publishers) -> None:
    """Wait until subscribers have acknowledged everything that was published."""
    for publisher in publishers:
        assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE)), publisher.topic_name


def kept(folder: Path) -> Counter[str]:
    """Return the number of messages by topic from a bag's metadata, even while the bag is being written."""
    if not (folder / "metadata.yaml").exists():
        return Counter()
    information = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    topics = information["topics_with_message_count"]
    return Counter({topic["topic_metadata"]["name"]: topic["message_count"] for topic in topics})


def stamp(message) -> int:
    """Return the stamp of a decoded message [ns], or of its first element if only elements have stamps."""
    if hasattr(message, "clock"):
        return int(cdr.nanoseconds(message.clock.sec, message.clock.nanosec))
    for parts in ("transforms", "markers"):
        if hasattr(message, parts):
            first = getattr(message, parts).header.stamp
            return int(cdr.nanoseconds(int(first.sec[0]), int(first.nanosec[0])))
    return int(cdr.nanoseconds(message.header.stamp.sec, message.header.stamp.nanosec))


def shipped(name: str) -> dict:
    """Return the parameters of a shipped configuration, without its built-in motion and hardware."""
    settings = parameter_file.read(find(name), name, "/tactile_sim")
    return {key: value for key, value in settings.items() if not key.startswith(("motion.", "hardware."))}
