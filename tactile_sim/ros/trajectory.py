"""Subscription to ``joint_trajectory``. Import this module only if trajectory_msgs is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from trajectory_msgs.msg import JointTrajectory as Message

from tactile_sim.common.errors import CommandError
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.loop.runner import Runner

FIELDS = ("positions", "velocities", "accelerations")


def subscribe_trajectories(node: Node, runner: Runner, qos: QoSProfile) -> None:
    """Subscribe to ``joint_trajectory`` and follow the received trajectories.

    Args:
        node: Node that subscribes.
        runner: Loop in which trajectories are checked and followed.
        qos: QoS of the subscription.
    """
    simulation = runner.simulation

    def receive(message: Message) -> None:
        def act() -> None:
            trajectory, stamp = from_message(message)
            delay = (stamp - simulation.stamp) * 1e-9 if stamp else 0.0
            simulation.commander.check_trajectory(trajectory)
            runner.command(lambda: simulation.accept_trajectory(trajectory, delay))

        runner.post(act)

    node.create_subscription(Message, "joint_trajectory", receive, qos)


def from_message(message: Any) -> tuple[JointTrajectory, int]:
    """Convert a message to a trajectory and its start time [ns], where 0 means immediately.

    Raises:
        CommandError: Points have different numbers of values.
    """
    points = message.points
    times = np.array([point.time_from_start.sec + point.time_from_start.nanosec * 1e-9 for point in points])
    arrays = []
    for field in FIELDS:
        rows = [getattr(point, field) for point in points]
        if len({len(row) for row in rows}) > 1:
            raise CommandError(
                f"joint_trajectory: {field} must have as many values in each point, got "
                f"{sorted({len(row) for row in rows})}"
            )
        arrays.append(
            np.array(rows, float).reshape(len(points), -1) if rows and len(rows[0]) else np.empty((0, 0))
        )
    stamp = message.header.stamp
    return JointTrajectory(list(message.joint_names), times, *arrays), stamp.sec * 10**9 + stamp.nanosec
