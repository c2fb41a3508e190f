"""Run the recorder of ``tactile_sim run --record``, and wait for it at the start and at the end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from types import TracebackType

import yaml
from rclpy.node import Node
from rclpy.qos import QoSProfile

from tactile_sim.bag.atomic_write import fresh
from tactile_sim.common.errors import BagError
from tactile_sim.common.processes import Child
from tactile_sim.common.signals import StopRequest
from tactile_sim.common.text import counted
from tactile_sim.ros.publishers import Publishers

START_PATIENCE = 60.0
"""Maximum wall time for the recorder to start [s]."""


def node_name(pid: int) -> str:
    """Return the name of the node of ``tactile_sim record``."""
    return f"tactile_sim_recorder_{pid}"


class RecorderProcess:
    """Context manager that runs ``tactile_sim record`` in a child process.

    Entering the block waits until the recording has started. Leaving the block ends the process once all
    published messages have been written.
    """

    def __init__(self, bag: str):
        self._bag = bag
        self._ending = False

    def __enter__(self) -> RecorderProcess:
        self._child = Child("record", self._bag)
        try:
            if not self._child.wait_for("recording", START_PATIENCE):
                raise BagError(f"the recorder did not start: {self._last_line() or 'no answer'}")
        except BaseException:
            self._child.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fault = self.fault
        self._ending = True
        self._child.end()
        fault = fault or self._exit_fault()
        if kind is not None:
            return  # the error of the with block takes precedence
        if fault:
            raise BagError(fault)
        print(self._last_line(), file=sys.stderr)

    @property
    def node_name(self) -> str:
        """Name of the recorder's node."""
        return node_name(self._child.pid)

    @property
    def fault(self) -> str:
        """Reason why the recorder ended; empty while it is running."""
        return "" if self._child.returncode is None else self._exit_fault() or "the recorder ended"

    def watch(self, lost: Callable[[str], None]) -> None:
        """Call a function from another thread if the recorder ends before the block is left."""

        def wait() -> None:
            self._child.wait()
            if not self._ending:
                lost(self.fault)

        Thread(target=wait, daemon=True).start()

    def _exit_fault(self) -> str:
        """Return why the process ended with an error; empty if it ended normally."""
        code = self._child.returncode
        if not code:
            return ""
        if code > 0 and any(line.startswith("recorded ") for line in self._child.last_lines):
            # complete, but with losses
            return self._last_line()
        reason = signal.Signals(-code).name if code < 0 else self._last_line() or f"exit code {code}"
        return (
            f"the recorder ended ({reason}); earlier messages are in {self._bag}:"
            f" tactile_sim bag repair {self._bag}"
        )

    def _last_line(self) -> str:
        return " ".join(self._child.last_lines[-1:]).removeprefix("tactile_sim: error: ")


ROSBAG2_NODE = "rosbag2_recorder"
"""Default name of the node of ``ros2 bag record``."""
MATCHING_PATIENCE = 30.0
"""Maximum time for the recorder to subscribe to all topics [s of wall time]."""
FLUSH, FLUSH_BAG, FLUSH_RECORDED = 1.0, 10.0, 60.0
"""Maximum wall time to wait at the end for published messages to arrive [s]: without a recorder, with
``ros2 bag record``, which `ros2 launch` kills after about this time, and with our own recorder."""


def write_qos_overrides(file: Path, profiles: Mapping[str, QoSProfile]) -> None:
    """Write the QoS with which ``ros2 bag record`` must subscribe to receive every message.

    By default, it keeps only the last 10 messages of each topic, so it loses the others after a stall.
    """
    overrides = {
        topic: {
            "history": "keep_all",
            "reliability": profile.reliability.short_key,
            "durability": profile.durability.short_key,
        }
        for topic, profile in profiles.items()
    }
    with fresh(file) as made:
        made.write_text(yaml.safe_dump(overrides))


def await_recorder(
    recorder: RecorderProcess | None, publishers: Publishers, node: Node, stop: StopRequest
) -> None:
    """Wait until every topic is being recorded or a signal arrives, but at most `MATCHING_PATIENCE`."""

    def ended() -> bool:
        if recorder and recorder.fault:
            raise BagError(recorder.fault)
        return stop.requested

    node.get_logger().info("waiting until the recorder has subscribed to every topic")
    name = recorder.node_name if recorder else ROSBAG2_NODE
    if not (publishers.await_recorder(name, MATCHING_PATIENCE, ended, recorder is None) or stop.requested):
        node.get_logger().warning(
            "some topics are not recorded from the start:"
            f" the recorder did not subscribe to all within {MATCHING_PATIENCE:g} s"
        )


def flush(recorder: RecorderProcess | None, publishers: Publishers, node: Node, recording: bool) -> None:
    """Wait until subscribers have received all messages, and warn if a bag may lack some of them."""

    def is_lost() -> bool:
        return recorder is not None and bool(recorder.fault)

    if not publishers.outlets.flush(FLUSH) or not recording or is_lost():
        return
    patience = FLUSH_RECORDED if recorder else FLUSH_BAG
    node.get_logger().info(f"waiting up to {patience:g} s until the recorder has received all messages")
    if (late := publishers.outlets.flush(patience, is_lost)) and not is_lost():
        node.get_logger().warning(
            f"the bag may lack the last messages of {counted(len(late), 'topic')}, such as {late[0]}:"
            f" the recorder has not acknowledged them within {patience:g} s"
        )
