"""Commands to the joints of the TriFinger: actions, as its rules take them."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from tactile_sim.control.commander import Commander, JointCommand
from tactile_sim.errors import CommandError
from tactile_sim.names import Names
from tactile_sim.scenes.servos import match_gains
from tactile_sim.trifinger.physics.rules import Rules


class FingerCommander(Commander):
    """A command is an action of the joints that it names: without a position there is no position control,
    and without an effort no torque besides. Joints that it leaves alone go on with their last action.

    The rules (`tactile_sim.trifinger.physics.rules`) then say what the motors give; gains of the
    configuration take the place of the robot's usual ones.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        names: Names,
        gains: Mapping[str, Mapping[str, float]],
        rules: Rules,
        where: str = "gains",
    ):
        """Let gains of the configuration replace those of the rules.

        Args:
            model: the compiled scene, whose only hinges are the robot's joints.
            names: of that model.
            gains: ``kp`` and ``kd`` by joint name or shell pattern.
            rules: of the robot.
            where: what errors call the table of gains.

        Raises:
            ConfigError: ``gains`` do not fit the joints.
        """
        self._rules = rules
        super().__init__(model, names)
        self._takes["position"][:] = True
        self.without_position = {}
        for joint, (_, *own) in match_gains(gains, model, names, where).items():
            for row, gain in enumerate(own):
                if gain > 0.0:
                    rules.gains[row, self._index[names.joints[joint]]] = gain

    def release(self) -> None:
        """Forgets all commands."""
        super().release()
        self._rules.rest()

    def check(self, command: JointCommand) -> dict[str, np.ndarray]:
        """As `Commander`, but that each joint takes a position, and none a velocity. Raises CommandError."""
        if not np.isnan(np.asarray(command.velocity, float)).all():
            raise CommandError(
                "joint_commands: the TriFinger takes no velocity; command position, effort, or both"
            )
        return super().check(command)

    def accept(self, targets: Mapping[str, np.ndarray], data: mujoco.MjData) -> None:
        """Takes over what ``check`` gave."""
        position, effort = targets["position"], targets["effort"]
        spoken = ~np.isnan(position) | ~np.isnan(effort)
        self._rules.desired[0, spoken] = np.nan_to_num(effort[spoken])
        self._rules.desired[1, spoken] = position[spoken]
