"""A grasp reflex for the shipped hand: each finger closes until its tip touches the ball and holds it gently.

tactile_sim run hand &  python examples/reflex.py
"""

from contextlib import suppress

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from tactile_sim.msg import TactileFrame

from tactile_sim.ros import subscribe

FINGERS = ("thumb", "index", "middle", "ring", "little")
# Joints of each finger and the ratio of their angles to the bend of the finger.
BENDS = {finger: {f"{finger}_1": 1.0, f"{finger}_2": 1.2, f"{finger}_tip": 0.6} for finger in FINGERS}
BENDS["thumb"] = {"thumb_oppose": 0.46, "thumb_1": 0.34, "thumb_2": 1.27, "thumb_tip": 0.27}
CLOSED = 1.3  # maximum bend [rad]
SPEED = 0.8  # speed of closing and opening [rad/s]
ENOUGH, TOO_MUCH = 0.1, 0.6  # force at which a finger stops closing, and above which it opens [N]


class Reflex(Node):
    """Commands the finger joints whenever a skin message arrives."""

    def __init__(self) -> None:
        super().__init__("reflex")
        self._bend = dict.fromkeys(FINGERS, 0.0)
        self._last = 0.0
        self._commands = self.create_publisher(JointState, "joint_commands", 10)
        subscribe(self, TactileFrame, "tactile/frame", self._on_frame)

    def _on_frame(self, frame) -> None:
        now = frame.header.stamp.sec + 1e-9 * frame.header.stamp.nanosec
        step, self._last = SPEED * min(now - self._last, 0.05), now
        size = np.linalg.norm(frame.data.reshape(-1, frame.channels), axis=1)
        bodies = np.split(size, np.cumsum(frame.taxel_counts)[:-1])
        force = {name: taxels.sum() for name, taxels in zip(frame.bodies, bodies, strict=True)}
        target = {}
        for finger in FINGERS:
            felt = force[f"{finger}_tip"]
            direction = (felt < ENOUGH) - int(felt > TOO_MUCH)
            self._bend[finger] = float(np.clip(self._bend[finger] + direction * step, 0.0, CLOSED))
            target |= {joint: share * self._bend[finger] for joint, share in BENDS[finger].items()}
        self._commands.publish(JointState(name=list(target), position=list(target.values())))


if __name__ == "__main__":
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Reflex())
