"""Wait for a recorder: at the start until it has subscribed, and at the end until it has all messages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from rclpy.node import Node
from rclpy.qos import QoSProfile

from tactile_sim.bag.atomic_write import fresh
from tactile_sim.common.errors import BagError
from tactile_sim.common.signals import StopRequest
from tactile_sim.common.text import counted
from tactile_sim.ros.publishers import Publishers
from tactile_sim.ros.recorder_process import RecorderProcess

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

    Args:
        file: YAML file for the option ``--qos-profile-overrides-path``.
        profiles: QoS of the publisher of each topic.

    Raises:
        BagError: The file cannot be written.
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
    """Wait until every topic is being recorded or a signal arrives, but at most `MATCHING_PATIENCE`.

    Args:
        recorder: A running recorder of this package, or None for ``ros2 bag record``.
        publishers: Publishers of all topics.
        node: Node that logs.
        stop: Stop request of this process.

    Raises:
        BagError: The recorder ended.
    """

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

    if not publishers.flush(FLUSH) or not recording or is_lost():
        return
    patience = FLUSH_RECORDED if recorder else FLUSH_BAG
    node.get_logger().info(f"waiting up to {patience:g} s until the recorder has received all messages")
    if (late := publishers.flush(patience, is_lost)) and not is_lost():
        node.get_logger().warning(
            f"the bag may lack the last messages of {counted(len(late), 'topic')}, such as {late[0]}:"
            f" the recorder has not acknowledged them within {patience:g} s"
        )
