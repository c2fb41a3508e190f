"""Subscriptions to the command topics ``joint_commands``, ``joint_trajectory`` and ``ctrl``."""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from importlib.util import find_spec
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from tactile_sim.common.errors import CommandError
from tactile_sim.control.commander import JointCommand
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.ros import subscribe
from tactile_sim.ros.internals import count_publishers
from tactile_sim.simulation.runner import Runner

TOPICS = ("joint_commands", "joint_trajectory", "ctrl")
REFRESH = 0.05
"""Minimum interval between two queries for command publishers [s of wall time]."""
FIELDS = ("positions", "velocities", "accelerations")
"""Arrays of a trajectory's points."""


class Commands:
    """Subscribes to the command topics and passes each command to the simulation loop."""

    def __init__(self, node: Node, runner: Runner):
        self._runner = runner
        self._simulation = runner.simulation
        # In lock-step each command triggers a step, so none may be lost.
        qos = QoSProfile(depth=1000 if runner.lockstep else 10)
        subscribe(node, JointState, "joint_commands", self._joint_command, qos)
        subscribe(node, Float64MultiArray, "ctrl", self._controls, qos)
        if find_spec("trajectory_msgs"):
            subscribe_trajectories(node, runner, qos)

    def _joint_command(self, message) -> None:
        names, followers = message.name, self._simulation.commander.followers
        fields = (message.position, message.velocity, message.effort)
        command = JointCommand(names, *(with_followers(names, values, followers) for values in fields))

        def act() -> None:
            targets = self._simulation.commander.check(command)
            self._runner.command(lambda: self._simulation.accept_targets(targets))

        self._runner.post(act)

    def _controls(self, message) -> None:
        values = message.data

        def act() -> None:
            controls = self._simulation.commander.check_controls(values)
            self._runner.command(lambda: self._simulation.command_controls(controls))

        self._runner.post(act)


def with_followers(names: Sequence[str], values: np.ndarray, followers: Set[str]) -> np.ndarray:
    """Insert NaN for mimic joints into a command array that omits their values.

    ros2_control's JointStateTopicSystem publishes such commands: they name the mimic joints but contain no
    values for them. Other arrays are returned unchanged.

    - ``names``: Joint names in the command (n,).
    - ``values``: Positions, velocities or efforts in the command (m,), in SI units.

    Returns:
        Values (n,) with NaN for followers, or ``values`` itself if it was not changed.
    """
    led = np.array([name not in followers for name in names], bool)
    if len(values) in (0, len(names)) or len(values) != led.sum():
        return values
    filled = np.full(len(names), np.nan)
    filled[led] = values
    return filled


class Senders:
    """Detects whether the command topics have publishers."""

    def __init__(self, node: Node):
        self._node = node
        self._topics = [node.resolve_topic_name(topic) for topic in TOPICS]
        self._refreshed = 0.0
        self._any = False

    def any(self) -> bool:
        """Return whether a command topic has a publisher. The result is cached for `REFRESH` seconds."""
        if time.monotonic() - self._refreshed > REFRESH:
            self._refreshed = time.monotonic()
            self._any = any(count_publishers(self._node, topic) for topic in self._topics)
        return self._any


def subscribe_trajectories(node: Node, runner: Runner, qos: QoSProfile) -> None:
    """Subscribe to ``joint_trajectory`` and follow the received trajectories."""
    from trajectory_msgs.msg import JointTrajectory as Message  # an optional package

    simulation = runner.simulation

    def receive(message: Any) -> None:
        def act() -> None:
            trajectory, stamp = from_message(message)
            delay = (stamp - simulation.stamp) * 1e-9 if stamp else 0.0
            simulation.commander.check_trajectory(trajectory)
            runner.command(lambda: simulation.accept_trajectory(trajectory, delay))

        runner.post(act)

    node.create_subscription(Message, "joint_trajectory", receive, qos)


def from_message(message: Any) -> tuple[JointTrajectory, int]:
    """Convert a message to a trajectory and its start time [ns], where 0 means immediately."""
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
