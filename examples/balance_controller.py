"""Keep the ball of ``tactile_sim run balance`` on its tray by touch alone, with a trained policy."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from tactile_sim.msg import TactileFrame
from tactile_sim.srv import Reset

from tactile_sim import LinearPolicy
from tactile_sim.ros import subscribe

PERIOD, REACH = 0.02, 0.2  # time between two actions [s]; joint angle for an action of 1 [rad]
LOST = 1.0  # time without contact after which the scene is reset [s]


class Balance(Node):
    """Commands the joints of the tray whenever a skin message arrives."""

    def __init__(self) -> None:
        super().__init__("balance")
        self._policy = LinearPolicy.load(Path(__file__).with_name("balance.npz"))
        self._target = np.zeros(2)
        self._acted = self._felt = -1.0
        self._commands = self.create_publisher(JointState, "joint_commands", 10)
        self._reset = self.create_client(Reset, "tactile_sim/reset")
        self._pause = self.create_client(SetBool, "tactile_sim/pause")
        self._pause.wait_for_service()  # a request before discovery would be lost
        subscribe(self, TactileFrame, "tactile/frame", self._on_frame)

    def _on_frame(self, frame) -> None:
        now = frame.header.stamp.sec + 1e-9 * frame.header.stamp.nanosec
        tiles = np.split(frame.data, np.cumsum(frame.taxel_counts)[:-1])
        contact = [tile.any() for tile in tiles]
        if self._felt < 0.0:  # the first message
            self._pause.call_async(SetBool.Request(data=False))
            self._felt = now
        if any(contact):
            self._felt = now
        if now - self._felt > LOST:
            self._reset.call_async(Reset.Request())
            self._policy.reset()
            self._target, self._felt = np.zeros(2), now
        elif now > self._acted + PERIOD - 1e-6:  # in lock-step, a message arrives after each time step
            self._target = REACH * self._policy(np.concatenate([self._target, contact]))
            self._acted = now
        # In lock-step, each command triggers a step, even if it is unchanged.
        self._commands.publish(JointState(name=["tilt_x", "tilt_y"], position=self._target.tolist()))


if __name__ == "__main__":
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Balance())
