"""Publish snapshots of the simulation on all topics of the node."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node

from tactile_sim.common.text import counted
from tactile_sim.ros import cdr
from tactile_sim.ros.commands import Senders
from tactile_sim.ros.outlets import REFRESH, Outlets
from tactile_sim.ros.topic import Topic
from tactile_sim.ros.topics import simulation_topics
from tactile_sim.ros.topics.state import chains, clock_topic
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.camera_process import CameraProcess
from tactile_sim.simulation.runner import Output, Runner, Status

FIRST = ("clock", "tf")
"""Streams that are published first, so that subscribers receive time and frames before other messages."""
END_PATIENCE = 2.0
"""Wall time after which a recorder without a subscription is lost [s], unless it ends, which has a reason."""
WARN_EVERY = 1.0
"""Minimum interval between identical warnings [s of wall time]."""


_SILENCE = {
    "paused": "paused: other topics are silent until ~/pause or ~/step",
    "lockstep": "lock-step: other topics are silent until ~/step or a command",
}


class Publishers(Output):
    """Publishes the loop's snapshots on the topics that have subscribers."""

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
        self.outlets = Outlets(node, in_order, simulation.observe(), rates, recorded, cameras)
        """Publishers of the topics; close them before the node is destroyed."""
        self._unheard_since = math.inf
        """Wall time since which the recorder lacks a subscription [s]."""
        self._reported_loss = 0
        """Number of lost messages in the last diagnostics."""

    def set_runner(self, runner: Runner) -> None:
        """Set the loop that runs the simulation; must be called before the loop runs."""
        self._status = runner.status
        self.outlets.may_skip = lambda: runner.paced

    # -- the loop's output -----------------------------------------------------------------------------------

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers, and report if the recorder is no longer one of them."""
        streams = self.outlets.subscribed()
        topic = self.outlets.unheard() if self._is_recorded and not self.recorder_fault else ""
        now = time.monotonic()
        self._unheard_since = min(self._unheard_since, now) if topic else math.inf
        if now - self._unheard_since > END_PATIENCE:
            fault = f"the recorder no longer subscribes to {topic}, so the bag lacks later messages"
            self.lose_recorder(fault, self._simulation.stamp)
        return streams

    def new_subscribers(self) -> bool:
        """Return whether a topic has gained a subscriber since it was last published."""
        return bool(self.outlets.new_subscribers())

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
            self._bodies = self._carriers(self.outlets.frames(others))
            if not len(self._bodies):
                first.remove("tf")
        self.outlets.send(filter(self._on, [*first, *others]), snapshot)
        self._bodies = None

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Encode a snapshot for the topics that have gained a subscriber since their last message."""
        self.outlets.send_to_new(self._on, snapshot)

    def dispatch(self) -> None:
        """Start to publish the encoded messages in another thread."""
        self.outlets.dispatch()

    def publish_while_stopped(self, stamp: int) -> None:
        """Publish diagnostics at their rate in wall time while all other topics are silent."""
        now = time.monotonic()
        rate = self._simulation.settings.rates.diagnostics
        if (now - self._quiet_since) * rate >= 1.0 and "diagnostics" in self.outlets.subscribed():
            self._quiet_since = now
            self._send_now(("diagnostics",), stamp)

    def _on(self, stream: str) -> bool:
        return self._simulation.schedule.runs(stream)

    def await_recorder(
        self, recorder: str, patience: float, stopping: Callable[[], bool], start_clock: bool = False
    ) -> bool:
        """Wait until a recorder has subscribed to every topic.

        Returns:
            Whether the recorder has subscribed to every topic.
        """
        starting = start_clock and self._on("clock")
        self._first_clock = 1 if starting else 0
        end = time.monotonic() + patience
        while not (ready := self.outlets.all_heard_by(recorder)):
            if time.monotonic() > end or stopping():
                break
            if starting:
                self.outlets.publish("clock", _Instant(0))
                self.outlets.dispatch()
            time.sleep(REFRESH)
        self.outlets.new_subscribers()
        self._is_recorded = ready
        return ready

    def loss(self) -> str:
        """Return how many messages were lost because subscribers did not receive; empty if none was."""
        if not (lost := self.outlets.lost()):
            return ""
        worst = max(lost, key=lost.__getitem__)
        count = counted(sum(lost.values()), "message")
        return f"subscribers did not acknowledge {count}, most of them of {worst}"

    def finish(self) -> None:
        """Wait until all messages have been passed to the middleware."""
        self.outlets.finish()

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
        """Log why the recorder lost messages, and report it in the diagnostics from then on."""
        self.recorder_fault = fault
        self._node.get_logger().error(f"{fault}; the simulation continues")
        self._send_now(("diagnostics",), stamp)

    def _send_now(self, streams: Iterable[str], stamp: int) -> None:
        """Publish messages without a snapshot on the streams that are on, with a stamp [ns]."""
        self.outlets.send(filter(self._on, streams), _Instant(stamp))
        self.outlets.dispatch()

    def _diagnostics(self, snapshot: Snapshot) -> bytes:
        """Encode a DiagnosticArray with the simulation's status and, if the recorder failed, the recorder's.

        The level of the simulation is ERROR during a physics fault, and WARN while the simulation is too
        slow, rejects commands or loses messages. The value ``state`` is ``running``, ``paused``, ``lockstep``
        or ``broken``. In the last three states, time does not advance on its own and no other topics are
        published.
        """
        status, simulation = self._status(), self._simulation
        lost = sum(self.outlets.lost().values())
        loss = self.loss() if lost > self._reported_loss else ""
        self._reported_loss = lost
        state = "broken" if status.fault else "paused" if status.paused else "running"
        if state == "running" and status.lockstep:
            state = "lockstep"
        if status.fault:
            level, message = DiagnosticStatus.ERROR, f"physics fault: {status.fault}; call ~/reset"
        elif status.refused:
            level, message = DiagnosticStatus.WARN, f"rejected a command: {status.last_refusal}"
        elif loss:
            level, message = DiagnosticStatus.WARN, loss
        elif status.late:
            level, message = DiagnosticStatus.WARN, "too slow for the configured real-time factor"
        else:
            level, message = DiagnosticStatus.OK, _SILENCE.get(state, state)
        values = {
            "state": state,
            "real_time_factor": f"{status.real_time_factor:.3f}",
            "wanted_real_time_factor": f"{status.wanted_factor:g}",
            "missed_deadlines": str(status.missed),
            "refused_commands": str(status.refused_total),
            "last_refusal": status.last_refusal,
            "unacknowledged_messages": str(lost),
            "paused": str(status.paused).lower(),
        }
        if not isinstance(snapshot, _Instant):
            bodies, names = simulation.skin.body_ids, simulation.names.bodies
            counts = {body: int(snapshot.outside[0][bodies == body].sum()) for body in bodies.tolist()}
            values["loads_outside"] = ", ".join(f"{names[body]}: {n}" for body, n in counts.items() if n)
        if self._cameras:
            skipped = self._cameras.skipped.items()
            values["skipped_images"] = ", ".join(f"{camera}: {count}" for camera, count in skipped)
        statuses = [self._part("simulation", level, message, values)]
        if self.recorder_fault:
            statuses.append(self._part("recorder", DiagnosticStatus.ERROR, self.recorder_fault, {}))
        return cdr.encode(DiagnosticArray, {"header": {"stamp": snapshot.stamp}, "status": statuses})

    def _part(self, name: str, level: bytes, message: str, values: dict[str, str]) -> dict[str, object]:
        """Return the fields of a ``DiagnosticStatus``."""
        return {
            "level": level,
            "name": f"{self._node.get_fully_qualified_name().lstrip('/')}: {name}",
            "message": message,
            "hardware_id": self._simulation.settings.title,
            "values": [{"key": key, "value": value} for key, value in values.items()],
        }


class _Instant(Snapshot):
    """A snapshot without a valid state. Only its stamp may be read."""

    stamp = 0  # type: ignore[assignment]

    def __init__(self, stamp: int):
        self.stamp = stamp
