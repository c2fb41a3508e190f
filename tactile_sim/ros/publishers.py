"""All topics that the node publishes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from tactile_sim.loop.output import Status
from tactile_sim.loop.runner import Runner
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame, TactileLayout, TactileState
from tactile_sim.robot_description import robot_description
from tactile_sim.ros import cdr
from tactile_sim.ros.bridges import bridge_topics
from tactile_sim.ros.commands import Senders
from tactile_sim.ros.diagnostics import diagnostics
from tactile_sim.ros.engine_messages import engine_topics
from tactile_sim.ros.feeler_messages import FeelerMessages
from tactile_sim.ros.image_messages import image_topics
from tactile_sim.ros.markers import Markers
from tactile_sim.ros.messages import Messages
from tactile_sim.ros.outlets import DEPTH, LATCHED, LATCHED_TWICE, REFRESH, Outlets
from tactile_sim.ros.scene_markers import scene_markers
from tactile_sim.ros.sensor_messages import SensorMessages
from tactile_sim.ros.skin_markers import SkinMarkers
from tactile_sim.simulation import Simulation, Snapshot

FIRST = ("clock", "tf")
"""Streams that are published first, so that subscribers have time and frames before the other messages."""
WARN_EVERY = 1.0
"""Minimum interval between identical warnings [s of wall time]."""


class Publishers:
    """Output of the loop: publishes snapshots on the topics that have subscribers."""

    def __init__(self, node: Node, simulation: Simulation, depth: int = DEPTH):
        self._node = node
        self._simulation = simulation
        # Created before the other messages, because sensors add frames.
        sensors = list(SensorMessages(simulation).topics())
        self._messages = messages = Messages(simulation)
        self._outlets = outlets = Outlets(node, depth)
        self._senders = Senders(node)
        self._status: Callable[[], Status]
        self._warned: dict[str, float] = {}
        self._recorder_fault = ""
        self._quiet_since = 0.0
        """Time of the last published message [s of `time.monotonic`]."""

        outlets.add("clock", Clock, "/clock", messages.clock)
        if simulation.settings.tf != "off":
            outlets.add("tf", TFMessage, "/tf", messages.transforms, self._send_scene)
        for k, pad in enumerate(messages.tokens):
            stream = simulation.stream_of(messages.pad_names[k])
            outlets.add(stream, TactileArray, f"tactile/{pad}/array", partial(messages.array, k))
            outlets.add(stream, WrenchStamped, f"tactile/{pad}/wrench", partial(messages.wrench, k))
            if k in simulation.pad_states.pads:
                outlets.add(stream, TactileState, f"tactile/{pad}/state", partial(messages.state, k))
            if simulation.signal_chain.staged[k]:
                outlets.add(stream, TactileArray, f"tactile/{pad}/truth", partial(messages.truth, k))
        outlets.add("tactile", TactileFrame, "tactile/frame", messages.frame)
        outlets.add("points", PointCloud2, "tactile/points", messages.points)
        outlets.add("contacts", ContactWrenchArray, "contacts", messages.contacts)
        outlets.add("joint_states", JointState, "joint_states", messages.joint_states)
        self._feelers = feelers = FeelerMessages(simulation)
        for k, body in enumerate(feelers.tokens):
            outlets.add("feelers", TactileArray, f"tactile/{body}/feelers", partial(feelers.array, k))
        for topic in image_topics(simulation):
            outlets.add("images", topic.kind, topic.name, topic.make)
        for stream, topic in engine_topics(simulation):
            outlets.add(stream, topic.kind, topic.name, topic.make)
        bridged = list(bridge_topics(simulation))
        for bridge in bridged:
            outlets.add(*bridge)
        for topic in sensors:
            outlets.add("sensors", topic.kind, topic.name, topic.make)
        markers = Markers(simulation, messages.world)
        outlets.add("markers", MarkerArray, "markers", markers)
        skin_markers = SkinMarkers(simulation, messages.world)
        outlets.add("markers", MarkerArray, "skin_markers", skin_markers)
        outlets.add("diagnostics", DiagnosticArray, "/diagnostics", self._diagnostics)
        self._send_lasting()
        # Compile the kernels of these messages before the simulation starts.
        snapshot = simulation.observe()
        for make in (messages.transforms, messages.points, markers, skin_markers):
            make(snapshot)
        for bridge in bridged:
            bridge.make(snapshot)

    def tell_of(self, runner: Runner) -> None:
        """Set the loop whose status the diagnostics report; must be called before the loop runs."""
        self._status = runner.status

    def _send_lasting(self) -> None:
        """Publish the latched topics."""
        messages, simulation = self._messages, self._simulation
        self._lasting: list[Publisher] = []
        for k, pad in enumerate(messages.tokens):
            self._keep(TactileLayout, f"tactile/{pad}/layout", messages.layout(k, simulation.stamp))
        for k, body in enumerate(self._feelers.tokens):
            layout = self._feelers.layout(k, simulation.stamp)
            self._keep(TactileLayout, f"tactile/{body}/feelers_layout", layout)
        self._scene = scene_markers(simulation.engine.model, simulation.names.geoms, messages.frames)
        self._scene_publisher = self._keep(MarkerArray, "scene_markers", self._scene, LATCHED_TWICE)
        description = robot_description(simulation.settings, simulation.engine.model, simulation.names)
        self._keep(String, "robot_description", cdr.encode(String, {"data": description}))
        if simulation.settings.tf == "all":
            self._keep(TFMessage, "/tf_static", messages.static_transforms(simulation.stamp))

    def _keep(self, message_type: type, topic: str, data: bytes, qos: QoSProfile = LATCHED) -> Publisher:
        publisher = self._outlets.publisher(message_type, topic, qos)
        publisher.publish(data)
        self._lasting.append(publisher)
        return publisher

    def _send_scene(self) -> None:
        """Publish the scene again for new subscribers, which have the frames by now.

        RViz drops markers that arrive before their frames, or between the frames of an earlier run and ours.
        """
        self._scene_publisher.publish(self._scene)

    # -- the loop's output -----------------------------------------------------------------------------------

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers."""
        return self._outlets.subscribed()

    def new_subscribers(self) -> bool:
        """Return whether a topic has a new subscriber since it was last published."""
        return bool(self._outlets.new_subscribers())

    def expects_commands(self) -> bool:
        """Return whether a command topic has publishers."""
        return self._senders.any()

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Publish a snapshot: first time and frames, then the other streams.

        Args:
            snapshot: The snapshot.
            streams: Names of the streams to publish.
        """
        self._quiet_since = time.monotonic()
        streams_in_order = (*FIRST, *sorted(streams.difference(FIRST)))
        self._outlets.send(filter(self._on, streams_in_order), snapshot)

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Publish a snapshot on the topics that have a new subscriber since they were last published."""
        for outlet in self._outlets.new_subscribers():
            if self._on(outlet.stream):
                outlet.send(outlet.make(snapshot))

    def publish_while_stopped(self, stamp: int) -> None:
        """Publish diagnostics at their rate in wall time while all other topics are silent.

        Args:
            stamp: Simulation time [ns].
        """
        now = time.monotonic()
        rate = self._simulation.settings.rates.diagnostics
        if (now - self._quiet_since) * rate >= 1.0 and "diagnostics" in self._outlets.subscribed():
            self._quiet_since = now
            self._outlets.send(("diagnostics",), _Instant(stamp))

    def _on(self, stream: str) -> bool:
        return self._simulation.schedule.runs(stream)

    def await_listeners(
        self, patience: float, stopping: Callable[[], bool], start_clock: bool = False
    ) -> bool:
        """Wait until every topic has a subscriber.

        Args:
            patience: Maximum time to wait [s of wall time].
            stopping: Returns whether to stop waiting.
            start_clock: Whether to publish a ``/clock`` of 1 ns while waiting, and later in place of 0. ROS
                treats
                a clock of 0 as not started, and ``ros2 bag record --use-sim-time`` subscribes only after the
                start.

        Returns:
            Whether every topic has a subscriber.
        """
        starting = start_clock and self._on("clock")
        self._messages.first_clock = 1 if starting else 0
        end = time.monotonic() + patience
        while not (all_heard := self._outlets.all_heard()) and time.monotonic() < end and not stopping():
            if starting:
                self._outlets.publish("clock", _Instant(0))
            time.sleep(REFRESH)
        return all_heard

    def flush(self, patience: float) -> None:
        """Wait until subscribers have acknowledged all messages, but at most for a time [s of wall time]."""
        self._outlets.flush(patience)

    def warn(self, message: str) -> None:
        """Log a rejected command; the same message at most once per second."""
        now = time.monotonic()
        self._warned = {text: when for text, when in self._warned.items() if now - when < WARN_EVERY}
        if message not in self._warned:
            self._warned[message] = now
            self._node.get_logger().warning(message)

    def report(self, stamp: int) -> None:
        """Publish the diagnostics now, with a stamp [ns]."""
        self._outlets.send(filter(self._on, ("diagnostics",)), _Instant(stamp))

    def fail(self, message: str, stamp: int) -> None:
        """Log that the physics broke, and publish time and diagnostics.

        Args:
            message: The fault.
            stamp: Simulation time [ns].
        """
        self._node.get_logger().error(message)
        self._outlets.send(filter(self._on, ("clock", "diagnostics")), _Instant(stamp))

    def lose_recorder(self, fault: str, stamp: int) -> None:
        """Log why the recorder ended before the node, and report it in the diagnostics from now on.

        Args:
            fault: The reason.
            stamp: Time of the diagnostics that are published at once [ns].
        """
        self._recorder_fault = fault
        self._node.get_logger().error(f"{fault}; the simulation goes on")
        self._outlets.send(filter(self._on, ("diagnostics",)), _Instant(stamp))

    def _diagnostics(self, snapshot: Snapshot | _Instant) -> bytes:
        scene = self._simulation.settings.title
        name = self._node.get_fully_qualified_name().lstrip("/")
        outside = None
        if isinstance(snapshot, Snapshot):
            bodies = (self._simulation.names.bodies[body] for body in self._simulation.skin_bodies)
            counts = zip(bodies, snapshot.outside[0].tolist(), strict=True)
            outside = {body: count for body, count in counts if count}
        return diagnostics(name, scene, self._status(), snapshot.stamp, self._recorder_fault, outside)


class _Instant:
    """A time without a valid state, in place of a snapshot."""

    def __init__(self, stamp: int):
        self.stamp = stamp
