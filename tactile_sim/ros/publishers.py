"""Publish snapshots of the simulation on all topics of the node."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile

from tactile_sim.cameras import CameraProcess
from tactile_sim.common.text import counted
from tactile_sim.loop.output import Status
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.commands import Senders
from tactile_sim.ros.diagnostics import diagnostics
from tactile_sim.ros.outlets import REFRESH, Outlets
from tactile_sim.ros.topic import Topic
from tactile_sim.ros.topics import simulation_topics
from tactile_sim.ros.topics.clock import clock_topic
from tactile_sim.ros.topics.transforms import chains
from tactile_sim.simulation import Simulation, Snapshot

FIRST = ("clock", "tf")
"""Streams that are published first, so that subscribers receive time and frames before other messages."""
END_PATIENCE = 2.0
"""Wall time after which a recorder without a subscription is lost [s], unless it ends, which has a reason."""
WARN_EVERY = 1.0
"""Minimum interval between identical warnings [s of wall time]."""


class Publishers:
    """Publishes the loop's snapshots on the topics that have subscribers; implements `Output`.

    Args:
        node: Node that publishes.
        simulation: The simulation.
        recorded: Whether a recorder runs, for which queues are longer.
        cameras: Renders the images of camera topics; None if there are none.
    """

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        recorded: bool = False,
        cameras: CameraProcess | None = None,
    ):
        self._node, self._cameras = node, cameras
        self._simulation = simulation
        self._senders = Senders(node)
        self._status: Callable[[], Status]
        self._warned: dict[str, float] = {}
        self._is_recorded = False
        """Whether a recorder has subscribed to every topic."""
        self.recorder_fault = ""
        """Why the recorder does not receive all messages, or an empty string."""
        self._quiet_since = 0.0
        """Time at which a snapshot or diagnostics were last published [s of `time.monotonic`]."""
        self._first_clock = 0
        """Lower bound of the time published on ``/clock`` [ns]."""
        self._bodies: np.ndarray | None = None
        """Ids of the bodies in the next message on ``/tf``; None for all moving bodies."""
        topics = (
            clock_topic(lambda: self._first_clock),
            *simulation_topics(simulation, lambda: self._bodies),
            Topic("diagnostics", DiagnosticArray, "/diagnostics", self._diagnostics),
        )
        frame_chains = chains(simulation)

        @cache
        def carriers(frames: frozenset[str]) -> np.ndarray:
            bodies = frozenset().union(*(frame_chains.get(frame, ()) for frame in frames))
            return np.array(sorted(bodies), np.int32)

        self._carriers: Callable[[frozenset[str]], np.ndarray] = carriers
        """Returns the ids of the moving bodies between any of the frames and the world."""
        # New subscribers are sent the streams in the order of the topics.
        in_order = sorted(topics, key=lambda topic: topic.stream not in FIRST)
        # Time and frames accompany the messages of all streams. Queues are measured in wall time.
        physics, pace = 1 / simulation.engine.timestep, max(1.0, simulation.settings.real_time_factor)
        rates = {
            topic.stream: pace
            * (physics if topic.stream in FIRST else simulation.schedule.rate(topic.stream))
            for topic in topics
        }
        self._outlets = Outlets(node, in_order, simulation.observe(), rates, recorded, cameras)
        self._unheard_since = math.inf
        """Wall time since which the recorder lacks a subscription [s]."""
        self._reported_loss = 0
        """Number of lost messages in the last diagnostics."""

    def set_runner(self, runner: Runner) -> None:
        """Set the loop that runs the simulation; must be called before the loop runs."""
        self._status = runner.status
        self._outlets.may_skip = lambda: runner.paced

    # -- the loop's output -----------------------------------------------------------------------------------

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers, and report if the recorder is no longer one of them."""
        streams = self._outlets.subscribed()
        topic = self._outlets.unheard() if self._is_recorded and not self.recorder_fault else ""
        now = time.monotonic()
        self._unheard_since = min(self._unheard_since, now) if topic else math.inf
        if now - self._unheard_since > END_PATIENCE:
            fault = f"the recorder no longer subscribes to {topic}, so the bag lacks later messages"
            self.lose_recorder(fault, self._simulation.stamp)
        return streams

    def new_subscribers(self) -> bool:
        """Return whether a topic has gained a subscriber since it was last published."""
        return bool(self._outlets.new_subscribers())

    def expects_commands(self) -> bool:
        """Return whether a command topic has a publisher."""
        return self._senders.any()

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Encode a snapshot on the specified streams, after its time and frames.

        If ``tf`` is not among the streams, ``/tf`` contains only the frames of the other messages.
        """
        self._quiet_since = time.monotonic()
        first, others = list(FIRST), sorted(streams.difference(FIRST))
        if "tf" not in streams:
            self._bodies = self._carriers(self._outlets.frames(others))
            if not len(self._bodies):
                first.remove("tf")
        self._outlets.send(filter(self._on, [*first, *others]), snapshot)
        self._bodies = None

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Encode a snapshot for the topics that have gained a subscriber since their last message."""
        self._outlets.send_to_new(self._on, snapshot)

    def dispatch(self) -> None:
        """Start to publish the encoded messages in another thread."""
        self._outlets.dispatch()

    def publish_while_stopped(self, stamp: int) -> None:
        """Publish diagnostics at their rate in wall time while all other topics are silent.

        Args:
            stamp: Simulation time [ns].
        """
        now = time.monotonic()
        rate = self._simulation.settings.rates.diagnostics
        if (now - self._quiet_since) * rate >= 1.0 and "diagnostics" in self._outlets.subscribed():
            self._quiet_since = now
            self._send_now(("diagnostics",), stamp)

    def _on(self, stream: str) -> bool:
        return self._simulation.schedule.runs(stream)

    def await_recorder(
        self, recorder: str, patience: float, stopping: Callable[[], bool], start_clock: bool = False
    ) -> bool:
        """Wait until a recorder has subscribed to every topic.

        Args:
            recorder: Name of the recorder's node.
            patience: Maximum time to wait [s of wall time].
            stopping: Returns whether to stop waiting.
            start_clock: Whether to publish 1 ns on ``/clock`` while waiting, and instead of 0 afterwards. ROS
                treats a clock of 0 as not started, and ``ros2 bag record --use-sim-time`` subscribes only
                after the clock has started.

        Returns:
            Whether the recorder has subscribed to every topic.
        """
        starting = start_clock and self._on("clock")
        self._first_clock = 1 if starting else 0
        end = time.monotonic() + patience
        while not (ready := self._outlets.all_heard_by(recorder)):
            if time.monotonic() > end or stopping():
                break
            if starting:
                self._outlets.publish("clock", _Instant(0))
                self._outlets.dispatch()
            time.sleep(REFRESH)
        self._outlets.new_subscribers()
        self._is_recorded = ready
        return ready

    def flush(self, patience: float, given_up: Callable[[], bool] = lambda: False) -> list[str]:
        """Wait until subscribers have acknowledged all messages.

        Args:
            patience: Maximum time to wait [s of wall time].
            given_up: Returns whether to stop waiting.

        Returns:
            Names of the topics with messages that were not acknowledged.
        """
        return self._outlets.flush(patience, given_up)

    def profiles(self) -> dict[str, QoSProfile]:
        """Return the QoS of each topic that is not latched, by its full name."""
        return self._outlets.profiles()

    def loss(self) -> str:
        """Return how many messages were lost because subscribers did not receive; empty if none was."""
        if not (lost := self._outlets.lost()):
            return ""
        worst = max(lost, key=lost.__getitem__)
        count = counted(sum(lost.values()), "message")
        return f"subscribers did not acknowledge {count}, most of them of {worst}"

    def finish(self) -> None:
        """Wait until all messages have been passed to the middleware."""
        self._outlets.finish()

    def close(self) -> None:
        """Stop publishing; must be called before the node is destroyed."""
        self._outlets.close()

    def warn(self, message: str) -> None:
        """Log a rejected command. The same message is logged at most once per second."""
        now = time.monotonic()
        self._warned = {text: when for text, when in self._warned.items() if now - when < WARN_EVERY}
        if message not in self._warned:
            self._warned[message] = now
            self._node.get_logger().warning(message)

    def report(self, stamp: int) -> None:
        """Publish the diagnostics immediately, with a stamp [ns]."""
        self._send_now(("diagnostics",), stamp)

    def fail(self, message: str, stamp: int) -> None:
        """Log a physics fault, and publish time and diagnostics with a stamp [ns]."""
        self._node.get_logger().error(message)
        self._send_now(("clock", "diagnostics"), stamp)

    def lose_recorder(self, fault: str, stamp: int) -> None:
        """Log that the recorder ended or stopped to receive, and report it in the diagnostics from then on.

        Args:
            fault: What happened to the recorder.
            stamp: Time of the diagnostics that are published immediately [ns].
        """
        self.recorder_fault = fault
        self._node.get_logger().error(f"{fault}; the simulation continues")
        self._send_now(("diagnostics",), stamp)

    def _send_now(self, streams: Iterable[str], stamp: int) -> None:
        """Publish messages without a snapshot on the streams that are on, with a stamp [ns]."""
        self._outlets.send(filter(self._on, streams), _Instant(stamp))
        self._outlets.dispatch()

    def _diagnostics(self, snapshot: Snapshot) -> bytes:
        scene = self._simulation.settings.title
        name = self._node.get_fully_qualified_name().lstrip("/")
        outside = None
        if not isinstance(snapshot, _Instant):
            bodies = self._simulation.skin.body_ids
            counts = {body: int(snapshot.outside[0][bodies == body].sum()) for body in bodies.tolist()}
            outside = {self._simulation.names.bodies[body]: count for body, count in counts.items() if count}
        skipped = self._cameras.skipped if self._cameras else None
        lost = sum(self._outlets.lost().values())
        loss = self.loss() if lost > self._reported_loss else ""
        self._reported_loss = lost
        return diagnostics(
            name, scene, self._status(), snapshot.stamp, lost, loss, self.recorder_fault, outside, skipped
        )


class _Instant(Snapshot):
    """A snapshot without a valid state. Only its stamp may be read."""

    stamp = 0  # type: ignore[assignment]

    def __init__(self, stamp: int):
        self.stamp = stamp
