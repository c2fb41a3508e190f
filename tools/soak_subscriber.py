"""ROS node for soak.py that steps a simulation, subscribes to all its topics and checks the messages."""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger
from tactile_sim.srv import Reset, SetBodyState, Step

from tactile_sim.common.processes import Child
from tactile_sim.ros.record import message_class
from tactile_sim.wire import counts_before_stamp, of_class, stamp_of

PATIENCE = 60.0  # maximum wall time [s] to wait for a response or a message, on a shared machine
START_PATIENCE = 60.0  # maximum wall time [s] of the start-up
MOST_FAULTS = 10  # the run ends after this many faults
# Mean simulated time [s] between two disturbances of the same kind.
EVERY = {"throw": 5.0, "set_body_state": 60.0, "set_parameters": 120.0, "tare": 300.0, "reset": 300.0}


class Fault(Exception):
    """The run cannot continue because responses or messages are missing, or because the node has ended."""


@dataclass
class Topic:
    """A subscription with statistics of the messages received."""

    subscription: Any
    message_type: Any
    latched: bool
    has_layout_id: bool
    count: int = 0
    lost: int = 0
    backwards: int = 0
    number: int = 0
    stamp: int = -1
    largest: int = 0
    """Size of the largest message [bytes]."""
    layout_ids: set[int] = field(default_factory=set)
    contents: set[bytes] = field(default_factory=set)
    """Distinct messages of a latched topic, without their stamps."""

    def __post_init__(self) -> None:
        self.kind = of_class(self.message_type)
        # While the simulation is paused, diagnostics are published in wall time with an unchanged stamp.
        self.in_wall_time = self.kind.name.startswith("diagnostic_msgs/")
        # Transforms are published whenever a state is published, and only then.
        always = counts_before_stamp(self.kind) == 0 or self.kind.name == "tf2_msgs/msg/TFMessage"
        self.stamped = always and not self.latched

    def take(self) -> None:
        """Read and check all messages that have arrived."""
        with self.subscription.handle:
            while (found := self.subscription.handle.take_message(self.message_type, True)) is not None:
                self.check(*found)

    def check(self, data: bytes, details: dict[str, Any]) -> None:
        """Count a message and record its faults."""
        self.count += 1
        self.largest = max(self.largest, len(data))
        number = details["publication_sequence_number"]
        self.lost += max(0, number - self.number - 1) if self.number else 0
        self.number = number
        if self.latched:
            self.contents.add(data[12:] if counts_before_stamp(self.kind) == 0 else data)
            return
        if (stamp := stamp_of(self.kind, data)) is not None:
            self.backwards += stamp < self.stamp or (stamp == self.stamp and not self.in_wall_time)
            self.stamp = stamp
        if self.has_layout_id:
            frame_id = 16 + struct.unpack_from("<I", data, 12)[0]  # end of the header's frame_id
            self.layout_ids.add(struct.unpack_from("<I", data, frame_id + -frame_id % 4)[0])


class Subscriber:
    """A ROS node that subscribes to every topic of the simulation and calls its services."""

    def __init__(self, process: Child):
        self._process = process
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)  # a signal ends the run with its report
        self._node = Node("soak", start_parameter_services=False, enable_rosout=False)
        self._clients: dict[str, Client] = {}
        self.topics: dict[str, Topic] = {}
        self.calls: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.faults: list[str] = []
        self.longest_pause = 0.0
        """Longest time [s] during which the machine did not schedule this process.

        DDS drops a participant after 20 s of silence, together with all messages in transit to it.
        """

    def subscribe(self) -> None:
        """Wait until the node is ready and its topics have not changed for 2 s, then subscribe to them."""
        ready = self._client(Step, "step").service_is_ready
        if not self.wait(ready, "service ~/step", patience=START_PATIENCE):
            raise Fault("the node did not start")
        names: dict[str, str] = {}
        since = time.monotonic()
        while not names or time.monotonic() - since < 2.0:
            found = self._published()
            if found != names:
                names, since = found, time.monotonic()
            self._alive()
            time.sleep(0.1)
        for name, type_name in names.items():
            self.topics[name] = self._topic(name, type_name)

    def _published(self) -> dict[str, str]:
        try:
            found = self._node.get_publisher_names_and_types_by_node("tactile_sim", "/")
        except rclpy.node.NodeNameNonExistentError:
            return {}
        return {name: types[0] for name, types in found if self._node.get_publishers_info_by_topic(name)}

    def _topic(self, name: str, type_name: str) -> Topic:
        (publisher, *_) = self._node.get_publishers_info_by_topic(name)
        # /rosout is also transient local, but it is a stream.
        latched = publisher.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL and name != "/rosout"
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        kind = message_class(type_name)
        qos = QoSProfile(depth=1000, durability=durability)
        subscription = self._node.create_subscription(kind, name, lambda _: None, qos, raw=True)
        has_layout_id = type_name in ("tactile_sim/msg/TactileArray", "tactile_sim/msg/TactileFrame")
        return Topic(subscription, kind, latched, has_layout_id)

    def latched(self) -> dict[str, set[bytes]]:
        """Return the latched messages received since the start, by topic, without their stamps."""
        return {name: topic.contents for name, topic in self.topics.items() if topic.latched}

    def latched_again(self) -> dict[str, set[bytes]]:
        """Subscribe to the latched topics again and return the messages received."""
        topics = {
            name: self._topic(name, topic.kind.name) for name, topic in self.topics.items() if topic.latched
        }
        self.wait(lambda: all(topic.count for topic in topics.values()), "latched messages", topics.values())
        return {name: topic.contents for name, topic in topics.items()}

    def call(self, service_type: Any, name: str, **fields: Any) -> Any:
        """Call a service of the simulation and return its response, or None after a timeout."""
        client = self._client(service_type, name)
        self.wait(client.service_is_ready, f"the service ~/{name}")
        client = client.handle  # rclpy's executor would take most of the time
        number, answers = client.send_request(service_type.Request(**fields)), []

        def answered() -> bool:
            header, answer = client.take_response(service_type.Response)
            if header is not None and header.request_id.sequence_number == number:
                answers.append(answer)
            return bool(answers)

        self.calls[name] += 1
        if not self.wait(answered, f"answer of ~/{name}"):
            return None
        self.refused[name] += not getattr(answers[0], "success", True)
        return answers[0]

    def _client(self, service_type: Any, name: str) -> Client:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(service_type, f"/tactile_sim/{name}")
        return self._clients[name]

    def step(self, count: int) -> int:
        """Advance the simulation and wait for the messages of all these steps.

        Args:
            count: Number of steps.

        Returns:
            The stamp reached [ns].
        """
        while (answer := self.call(Step, "step", steps=count)) is None:
            pass
        if not answer.success:
            raise Fault(f"~/step: {answer.message}")
        end = answer.time.sec * 10**9 + answer.time.nanosec
        stamped = [topic for topic in self.topics.values() if topic.stamped]
        self.wait(lambda: all(topic.stamp >= end for topic in stamped), f"messages of {end} ns")
        return end

    def wait(
        self,
        done: Callable[[], bool],
        what: str,
        topics: Iterable[Topic] | None = None,
        patience: float = PATIENCE,
    ) -> bool:
        """Read messages until a condition holds; after a timeout, record a fault and return False."""
        began = now = time.monotonic()
        while now - began < patience:
            for topic in self.topics.values() if topics is None else topics:
                topic.take()
            if done():
                return True
            self._alive()
            time.sleep(0.0005)
            self.longest_pause = max(self.longest_pause, time.monotonic() - now)
            now = time.monotonic()
        self.faults.append(f"no {what} within {patience:g} s")
        if len(self.faults) == MOST_FAULTS:
            raise Fault("; ".join(self.faults))
        return False

    def _alive(self) -> None:
        if self._process.returncode is not None:
            raise Fault(f"the node ended with exit code {self._process.returncode}")

    def close(self) -> None:
        """Destroy the node and shut down ROS."""
        self._node.destroy_node()
        rclpy.shutdown()


class Disturbances:
    """Sends requests at random simulated times, which depend only on the seed.

    One request of each kind is sent at the start. The node then loads what the requests need
    before memory is measured.
    """

    def __init__(self, subscriber: Subscriber, seed: int, bodies: list[str]):
        self._subscriber, self._bodies = subscriber, bodies
        self._random = np.random.default_rng(seed)
        self._due = dict.fromkeys(EVERY, 0.0)

    def act(self, now: float) -> None:
        """Send the requests that are due.

        Args:
            now: Simulated time [s].
        """
        for name in [name for name, due in self._due.items() if due <= now]:
            self._due[name] = now + self._random.exponential(EVERY[name])
            getattr(self, f"_{name}")()
            # Each request publishes the state. The node keeps only a few messages until they are received.
            self._subscriber.step(1)

    def _throw(self) -> None:
        self._subscriber.call(Trigger, "throw")

    def _tare(self) -> None:
        self._subscriber.call(Trigger, "tare")

    def _reset(self) -> None:
        self._subscriber.call(Reset, "reset")

    def _set_body_state(self) -> None:
        if self._bodies:
            x, y, z = self._random.uniform(-0.1, 0.1, 3)
            pose = Pose(position=Point(x=x, y=y, z=0.3 + z), orientation=Quaternion(w=1.0))
            twist = Twist(linear=Vector3(x=y, y=z, z=x))
            body = str(self._random.choice(self._bodies))
            self._subscriber.call(SetBodyState, "set_body_state", body=body, pose=pose, twist=twist)

    def _set_parameters(self) -> None:
        function = str(self._random.choice(["force_vector", "normal_force"]))
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=function)
        parameter = Parameter(name="skin.touch_function", value=value)
        self._subscriber.call(SetParameters, "set_parameters", parameters=[parameter])
