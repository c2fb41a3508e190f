"""All topics that the node sends."""

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
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from tactile_sim.loop.output import Status
from tactile_sim.loop.runner import Runner
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame, TactileLayout, TactileState
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
from tactile_sim.simulation import Simulation, Snapshot

FIRST = ("clock", "tf")
"""Sent before the others at every instant, so that nobody gets data of a time or frame not yet heard of."""
WARN_EVERY = 1.0
"""The same refusal is told this often [s of wall time]."""


class Publishers:
    """The output of the loop: snapshots become messages of those topics that somebody hears."""

    def __init__(self, node: Node, simulation: Simulation, depth: int = DEPTH):
        self._node = node
        self._simulation = simulation
        # Before the other messages: sensors bring frames of their own.
        sensors = list(SensorMessages(simulation).topics())
        self._messages = messages = Messages(simulation)
        self._outlets = outlets = Outlets(node, depth)
        self._senders = Senders(node)
        self._status: Callable[[], Status]
        self._warned: dict[str, float] = {}
        self._recorder_fault = ""
        self._quiet_since = 0.0
        """When something was last published [s of wall time]."""

        outlets.add("clock", Clock, "/clock", messages.clock)
        if simulation.settings.tf != "off":
            outlets.add("tf", TFMessage, "/tf", messages.transforms, self._send_scene)
        for k, body in enumerate(messages.tokens):
            outlets.add("tactile", TactileArray, f"tactile/{body}/array", partial(messages.array, k))
            outlets.add("tactile", WrenchStamped, f"tactile/{body}/wrench", partial(messages.wrench, k))
            if k in simulation.pad_states.pads:
                outlets.add("tactile", TactileState, f"tactile/{body}/state", partial(messages.state, k))
            if simulation.signal_chain.staged[k]:
                outlets.add("tactile", TactileArray, f"tactile/{body}/truth", partial(messages.truth, k))
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
        outlets.add("diagnostics", DiagnosticArray, "/diagnostics", self._diagnostics)
        self._send_lasting()
        # Compiles the kernels of these messages before time runs.
        snapshot = simulation.observe()
        for make in (messages.transforms, messages.points, markers):
            make(snapshot)
        for bridge in bridged:
            bridge.make(snapshot)

    def tell_of(self, runner: Runner) -> None:
        """Whose status the diagnostics tell; to be said before the loop starts."""
        self._status = runner.status

    def _send_lasting(self) -> None:
        """What is sent once and kept for those who come later."""
        messages, simulation = self._messages, self._simulation
        self._lasting: list[Publisher] = []
        for k, body in enumerate(messages.tokens):
            self._keep(TactileLayout, f"tactile/{body}/layout", messages.layout(k, simulation.stamp))
        for k, body in enumerate(self._feelers.tokens):
            layout = self._feelers.layout(k, simulation.stamp)
            self._keep(TactileLayout, f"tactile/{body}/feelers_layout", layout)
        self._scene = scene_markers(simulation.engine.model, simulation.names.geoms, messages.frames)
        self._scene_publisher = self._keep(MarkerArray, "scene_markers", self._scene, LATCHED_TWICE)
        if simulation.settings.tf == "all":
            self._keep(TFMessage, "/tf_static", messages.static_transforms(simulation.stamp))

    def _keep(self, message_type: type, topic: str, data: bytes, qos: QoSProfile = LATCHED) -> Publisher:
        publisher = self._outlets.publisher(message_type, topic, qos)
        publisher.publish(data)
        self._lasting.append(publisher)
        return publisher

    def _send_scene(self) -> None:
        """Once more, now that somebody new has the frames: RViz does not take back what it said of a marker
        that came before its frame, or between those of an earlier run, which it drops, and ours."""
        self._scene_publisher.publish(self._scene)

    # -- the loop's output -----------------------------------------------------------------------------------

    def heard(self) -> set[str]:
        """Streams that somebody listens to."""
        return self._outlets.heard()

    def newcomers(self) -> bool:
        """Whether a topic got a new listener since it was last sent."""
        return bool(self._outlets.newcomers())

    def commanded(self) -> bool:
        """Whether somebody may send commands."""
        return self._senders.any()

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Sends one instant: the time and the frames of the bodies, then what is asked for."""
        self._quiet_since = time.monotonic()
        streams_in_order = (*FIRST, *sorted(streams.difference(FIRST)))
        self._outlets.send(filter(self._on, streams_in_order), snapshot)

    def greet(self, snapshot: Snapshot) -> None:
        """Sends one instant to those topics that got a new listener since they were last sent."""
        for outlet in self._outlets.newcomers():
            if self._on(outlet.stream):
                outlet.send(outlet.make(snapshot))

    def stand(self, stamp: int) -> None:
        """Publish diagnostics at their rate in wall time: all else is silent, and they report why."""
        now = time.monotonic()
        rate = self._simulation.settings.rates.diagnostics
        if (now - self._quiet_since) * rate >= 1.0 and "diagnostics" in self._outlets.heard():
            self._quiet_since = now
            self._outlets.send(("diagnostics",), _Instant(stamp))

    def _on(self, stream: str) -> bool:
        return getattr(self._simulation.settings.rates, stream) > 0.0

    def await_listeners(
        self, patience: float, stopping: Callable[[], bool], start_clock: bool = False
    ) -> bool:
        """Wait until every topic has a subscriber.

        Args:
            patience: longest time to wait [s of wall time].
            stopping: returns whether to wait no longer.
            start_clock: whether to publish a ``/clock`` of 1 ns meanwhile and instead of 0, which ROS takes
                for a clock that has not started: ``ros2 bag record --use-sim-time`` subscribes only after it.

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
        """Waits until all that was sent has arrived, so many seconds at most: a listener may stand still."""
        self._outlets.flush(patience)

    def warn(self, message: str) -> None:
        """Tells the user of a refused command, of the same one once a second at most."""
        now = time.monotonic()
        self._warned = {text: when for text, when in self._warned.items() if now - when < WARN_EVERY}
        if message not in self._warned:
            self._warned[message] = now
            self._node.get_logger().warning(message)

    def report(self, stamp: int) -> None:
        """Publish the diagnostics now."""
        self._outlets.send(filter(self._on, ("diagnostics",)), _Instant(stamp))

    def fail(self, message: str, stamp: int) -> None:
        """Tells the user that the physics broke."""
        self._node.get_logger().error(message)
        self._outlets.send(filter(self._on, ("clock", "diagnostics")), _Instant(stamp))

    def lose_recorder(self, fault: str, stamp: int) -> None:
        """Log why the recorder ended before the node, and report it in the diagnostics from now on.

        Args:
            fault: the reason.
            stamp: the time [ns] of the diagnostics that are published at once.
        """
        self._recorder_fault = fault
        self._node.get_logger().error(f"{fault}; the simulation goes on")
        self._outlets.send(filter(self._on, ("diagnostics",)), _Instant(stamp))

    def _diagnostics(self, snapshot: Snapshot | _Instant) -> bytes:
        scene = self._simulation.settings.scene
        name = self._node.get_fully_qualified_name().lstrip("/")
        return diagnostics(name, scene, self._status(), snapshot.stamp, self._recorder_fault)


class _Instant:
    """A time without a sound state behind it."""

    def __init__(self, stamp: int):
        self.stamp = stamp
