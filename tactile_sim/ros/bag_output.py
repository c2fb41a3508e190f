"""Record a running simulation to a bag on request, for the view in the browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import wait
from datetime import datetime
from pathlib import Path

from tactile_sim.bag.atomic_write import unused
from tactile_sim.bag.messages import VIEW_TOPIC, VIEW_TYPE
from tactile_sim.bag.writer import BackgroundWriter, BagStatus, Data
from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.common.processes import require_ros
from tactile_sim.ros.topic import ONCE, Topic
from tactile_sim.simulation import Snapshot
from tactile_sim.simulation.camera_process import PATIENCE, CameraProcess
from tactile_sim.simulation.runner import Output, Runner
from tactile_sim.wire import of_class

_FORWARDED = (
    "expects_commands", "dispatch", "publish_while_stopped", "finish", "warn", "report", "fail",
)  # fmt: skip
"""Methods of the previous output that are called instead of those of `BagOutput`."""


class BagOutput(Output):
    """Loop output that can also record to a bag. All calls are forwarded to the loop's previous output.

    Messages are encoded in the loop's thread and do not pass through DDS, so none is lost. The first
    recording imports ROS's messages and prepares the topics, which briefly stops the simulation.

    Attributes:
        on_status: Called with the status of the recording when it starts, while it runs and when it ends; may
            be called from another thread.
    """

    def __init__(
        self,
        runner: Runner,
        folder: Path,
        resolve: Callable[[str], str] = lambda name: f"/{name.removeprefix('/')}",
        cameras: CameraProcess | None = None,
    ):
        self._runner, self._cameras = runner, cameras
        self._output, self._simulation = runner.output, runner.simulation
        runner.output = runner.recorder = self
        for name in _FORWARDED:
            setattr(self, name, getattr(self._output, name))
        runner.on_view.append(self._set_view)
        self._view = ""
        """Camera and color scale of the browser view as JSON; empty if unknown."""
        self._view_channel = 0
        """Channel id of the view in the bag."""
        self._folder, self._resolve = folder, resolve
        self.on_status: Callable[[BagStatus], None] = lambda status: None
        self._writer: BackgroundWriter | None = None
        """Writer of the latest recording, or None."""
        self._active = False
        self._topics: list[Topic] = []
        self._names: set[str] = set()
        """Names of the streams to which the topics belong."""
        self._channels: list[int] = []
        """Channel id of each topic in the bag."""
        self._is_new = False
        """True until the bag has its first messages."""

    # -- requests --------------------------------------------------------------------------------------------

    def record(self, on: bool) -> None:
        """Start or stop recording. After a stop, another thread completes the bag.

        If the recording cannot start, the reason is logged and passed to `on_status`.
        """
        if on == self._recording():
            raise CommandError(f"record: {'already' if on else 'not'} recording")
        if on:
            try:
                self._start()
            except (TactileSimError, ImportError) as error:  # ImportError: ROS is only partly installed
                self._output.warn(f"record: {error}")
                self.on_status(BagStatus("", False, 0.0, 0, str(error)))
        elif self._writer:
            if self._is_new and not self._runner.fault:  # stopped before the loop has published its state
                self._write(self._simulation.snapshot(), self._streams())
            self._active = False
            self._writer.finish()

    def close(self) -> None:
        """Complete the bag, if any, and wait until it has been written to disk."""
        self._active = False
        if self._writer:
            self._writer.close()

    def _recording(self) -> bool:
        if self._writer and self._writer.failed:
            self._active = False
        return self._active

    def _start(self) -> None:
        require_ros("Record")
        from rclpy.qos import QoSProfile  # ROS is needed only to record

        from tactile_sim.ros.outlets import DEPTH, LATCHED
        from tactile_sim.ros.record import definition, qos_fields
        from tactile_sim.ros.topics import simulation_topics
        from tactile_sim.ros.topics.state import clock_topic

        self.close()  # the last bag may still be incomplete
        self.on_status(BagStatus("", True, 0.0, 0))
        if not self._topics:
            self._topics = [clock_topic(), *simulation_topics(self._simulation)]
            self._names = {topic.stream for topic in self._topics}
        scene = re.sub(r"\W+", "_", Path(self._simulation.settings.title).stem)
        folder = self._folder / f"{scene}_{datetime.now():%Y-%m-%d_%H-%M-%S}"
        writer = BackgroundWriter(unused(folder), lambda status: self.on_status(status))
        self._channels = []
        for topic in self._topics:
            kind, name = of_class(topic.type).name, self._resolve(topic.name)
            qos = LATCHED if topic.stream == ONCE else QoSProfile(depth=DEPTH)
            self._channels.append(writer.add_topic(name, kind, definition(kind), [qos_fields(qos)]))
        self._view_channel = writer.add_topic(
            self._resolve(VIEW_TOPIC), VIEW_TYPE, definition(VIEW_TYPE), [qos_fields(LATCHED)]
        )
        self._writer, self._active, self._is_new = writer, True, True
        writer.start()

    def _write(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Write a snapshot's messages on the specified streams to the bag.

        If the bag is new, latched messages are written, too.
        """
        if self._is_new:
            self._is_new = False
            streams = streams | {ONCE}
            self._write_view(snapshot.stamp)
        assert self._writer
        self._writer.write(
            [
                (channel, snapshot.stamp, self._encoded(topic, snapshot))
                for channel, topic in zip(self._channels, self._topics, strict=True)
                if topic.stream in streams
            ]
        )

    def _encoded(self, topic: Topic, snapshot: Snapshot) -> Data:
        """Return a message, or a function with which the writer waits for the image that it contains."""
        if not topic.camera:
            return topic.make(snapshot)
        assert self._cameras
        engine, may_skip = snapshot.simulation.engine, self._runner.paced
        image = self._cameras.request(topic.camera, engine, snapshot.stamp, may_skip)

        def message() -> bytes | None:
            if image is None or not wait([image], PATIENCE).done or image.cancelled():
                return None
            return topic.make(image.result())

        return message

    def _set_view(self, view: str) -> None:
        """Store the camera and the color scale of the browser view, also in the current recording."""
        self._view = view
        if self._recording() and not self._is_new:
            self._write_view(self._simulation.stamp)

    def _write_view(self, stamp: int) -> None:
        from std_msgs.msg import String  # ROS is needed only to record

        from tactile_sim.ros import cdr

        if self._view and self._writer:
            self._writer.write([(self._view_channel, stamp, cdr.encode(String, {"data": self._view}))])

    # -- the loop's output -----------------------------------------------------------------------------------

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers and, while recording, all streams with a rate above 0."""
        streams = self._output.subscribed()
        return streams | self._streams() if self._recording() else streams

    def new_subscribers(self) -> bool:
        """Return whether a topic has gained a subscriber or a new bag still needs its first messages."""
        return self._output.new_subscribers() or (self._recording() and self._is_new)

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Encode a snapshot on the specified streams, and record it while a recording is active."""
        self._output.publish(snapshot, streams)
        if self._recording():
            self._write(snapshot, streams)

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Encode a snapshot for topics with new subscribers, and record it if the bag is new."""
        self._output.publish_to_new(snapshot)
        if self._recording() and self._is_new:
            self._write(snapshot, self._streams())

    def _streams(self) -> set[str]:
        """Return the streams whose rate is above 0."""
        return set(filter(self._simulation.schedule.runs, self._names))
