"""A node under test in a second process, on a domain of its own, and ears in this one."""

from __future__ import annotations

import itertools
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

from tactile_sim.commands.demo import free_domain
from tactile_sim.ros import cdr, subscribe
from tactile_sim.ros.transport import clear_dead_ports

PATIENCE = 120.0
"""Nothing that tests wait for takes this long [s], on no machine however busy; only a failure does."""
_count = itertools.count()


class Ros:
    """A node in this process that listens and calls, and the processes under test."""

    def __init__(self, folder: Path):
        self.folder = folder
        clear_dead_ports()
        self.domain = free_domain(os.getpid() * 7 + next(_count))
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
        """A parameter file of these keys."""
        path = self.folder / f"config{len(list(self.folder.glob('config*.yaml')))}.yaml"
        path.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
        return path

    def start(self, *arguments: str | Path, program: Path | None = None) -> subprocess.Popen:
        """Run ``tactile_sim``, or a Python program in its place, with these arguments."""
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
        """Start the node with these parameters and wait until it answers."""
        pause = self._client(SetBool, "/tactile_sim/pause")
        wait_for(lambda: not pause.service_is_ready(), "the end of the node before")
        process = self.start("run", self.config(**parameters), program=program)
        wait_for(lambda: pause.service_is_ready() or process.poll() is not None, "the node")
        assert process.poll() is None, self.output(process)
        return process

    def output(self, process: subprocess.Popen) -> str:
        """Ends a process and gives all that it said."""
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=PATIENCE)[0]

    def listen(self, message_type: type, topic: str, lasting: bool = False) -> list:
        """A list that grows by each decoded message of a topic."""
        heard: list = []
        durability = DurabilityPolicy.TRANSIENT_LOCAL if lasting else DurabilityPolicy.VOLATILE
        subscribe(self.node, message_type, topic, heard.append, QoSProfile(depth=1000, durability=durability))
        return heard

    def _client(self, service_type: type, name: str) -> Client:
        """One for each service: a new one would have to be discovered before it gets an answer."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(service_type, name)
        return self._clients[name]

    def call(self, service_type: type, name: str, **fields):
        """The answer of a service to a request of these fields."""
        client = self._client(service_type, name)
        wait_for(client.service_is_ready, f"the service {name}")  # rclpy's own wait looks but each 0.25 s
        future = client.call_async(service_type.Request(**fields))
        wait_for(future.done, f"an answer of {name}")
        return future.result()

    def step(self, count: int, *topics: list, at_once: int | None = None) -> int:
        """Lets standing time go on; gives the stamp reached [ns] when each of these topics has told of it.

        A publisher keeps 10 messages, and forgets the others for a listener whom a busy machine makes wait:
        ``at_once`` is how many steps give no more than that of any topic.
        """
        end = 0
        for done in range(0, count, at_once or count):
            steps = min(count - done, at_once or count)
            answer = self.call(Step, "/tactile_sim/step", steps=steps)
            assert answer.success, answer.message
            end = int(cdr.nanoseconds(answer.time.sec, answer.time.nanosec))
            wait_for(lambda: all(heard and stamp(heard[-1]) == end for heard in topics), f"{end} ns")  # noqa: B023
        return end

    def close(self) -> None:
        """Ends everything."""
        for process in self.processes:
            # Killed at once, it would leave its shared memory behind, perhaps locked.
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
    """Waits until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE:g} s for {what}"
        time.sleep(0.01)


def arrived(*publishers) -> None:
    """Waits until their listeners have all that was published."""
    for publisher in publishers:
        assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE)), publisher.topic_name


def kept(folder: Path) -> Counter[str]:
    """How many messages of each topic are in a bag, even one that is being written, as it says itself."""
    if not (folder / "metadata.yaml").exists():
        return Counter()
    information = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    topics = information["topics_with_message_count"]
    return Counter({topic["topic_metadata"]["name"]: topic["message_count"] for topic in topics})


def stamp(message) -> int:
    """The stamp of a decoded message, that of its first part where only its parts have stamps [ns]."""
    if hasattr(message, "clock"):
        return int(cdr.nanoseconds(message.clock.sec, message.clock.nanosec))
    for parts in ("transforms", "markers"):
        if hasattr(message, parts):
            first = getattr(message, parts).header.stamp
            return int(cdr.nanoseconds(int(first.sec[0]), int(first.nanosec[0])))
    return int(cdr.nanoseconds(message.header.stamp.sec, message.header.stamp.nanosec))
