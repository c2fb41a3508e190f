"""A grasp reflex for the shipped hand: each finger closes until its tip feels the ball, and holds on gently.

tactile_sim run hand &  python examples/reflex.py
"""

from __future__ import annotations

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from tactile_sim.msg import TactileFrame

from tactile_sim.ros import subscribe

FINGERS = ("thumb", "index", "middle", "ring", "little")
BENDS = {finger: {f"{finger}_1": 1.0, f"{finger}_2": 1.2, f"{finger}_tip": 0.6} for finger in FINGERS}
BENDS["thumb"] = {"thumb_oppose": 0.46, "thumb_1": 0.34, "thumb_2": 1.27, "thumb_tip": 0.27}
"""Joints of a finger, and how much of its bending falls on each."""
OPEN, CLOSED = 0.0, 1.3
"""[rad]"""
SPEED = 0.8
"""Of closing and opening [rad/s]."""
ENOUGH, TOO_MUCH = 0.1, 0.6
"""Force [N] at which a finger stops closing, and at which it opens again."""


class Reflex(Node):
    """From what fingertips feel to where fingers shall go, at every message."""

    def __init__(self) -> None:
        super().__init__("reflex")
        self._bend = dict.fromkeys(FINGERS, OPEN)
        self._last = 0.0
        self._commands = self.create_publisher(JointState, "joint_commands", 10)
        subscribe(self, TactileFrame, "tactile/frame", self._feel)

    def _feel(self, frame) -> None:
        now = frame.header.stamp.sec + 1e-9 * frame.header.stamp.nanosec
        step, self._last = SPEED * min(now - self._last, 0.05), now
        size = np.linalg.norm(frame.data.reshape(-1, frame.channels), axis=1)
        bodies = np.split(size, np.cumsum(frame.taxel_counts)[:-1])
        force = {name: taxels.sum() for name, taxels in zip(frame.bodies, bodies, strict=True)}
        for finger in FINGERS:
            felt = force[f"{finger}_tip"]
            way = (felt < ENOUGH) - int(felt > TOO_MUCH)
            self._bend[finger] = float(np.clip(self._bend[finger] + way * step, OPEN, CLOSED))
        self._command()

    def _command(self) -> None:
        target = {
            joint: part * bend for finger, bend in self._bend.items() for joint, part in BENDS[finger].items()
        }
        self._commands.publish(JointState(name=list(target), position=list(target.values())))


def main() -> None:
    """Runs until it is interrupted."""
    rclpy.init()
    try:
        rclpy.spin(Reflex())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main()
