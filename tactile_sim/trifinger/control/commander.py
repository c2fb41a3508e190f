"""Convert joint commands to desired actions for the TriFinger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from tactile_sim.control.commander import Commander, JointCommand
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines.protocol import EngineArrays
from tactile_sim.errors import CommandError, ConfigError
from tactile_sim.names import Names
from tactile_sim.scenes.servos import match_control
from tactile_sim.trifinger.physics.rules import Rules


class FingerCommander(Commander):
    """Commander that converts joint commands to desired actions.

    A command affects only the joints for which it contains a position or an effort. If it contains only an
    effort, position control of the joint is disabled. If it contains only a position, the joint has no
    additional torque. The action rules (`tactile_sim.trifinger.physics.rules`) compute the motor torques.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        names: Names,
        gains: Mapping[str, Mapping[str, Any]],
        rules: Rules,
        where: str = "control",
    ):
        """Create a commander and set the configured gains in the action rules.

        Args:
            model: The compiled scene; its only hinge joints must be those of the robot.
            names: Names of the model's elements.
            gains: ``kp`` [N m/rad] and ``kd`` [N m s/rad] by joint name or shell pattern; they replace the
                default gains.
            rules: Action rules of the robot.
            where: Prefix for error messages (configuration key of the gains).

        Raises:
            ConfigError: An entry of ``gains`` matches no joint or has a key other than ``kp`` and ``kd``, or
                two patterns conflict.
        """
        self._rules = rules
        super().__init__(model, names)
        self.drives.takes["position"][:] = True
        self.without_position = {}
        for joint, (entry, keys) in match_control(gains, model, names, where).items():
            if other := sorted(keys.keys() - {"kp", "kd"}):
                raise ConfigError(f"{where}.{entry}.{other[0]}: the TriFinger has only kp and kd; remove it")
            for row, gain in enumerate((keys.get("kp", 0.0), keys.get("kd", 0.0))):
                if gain > 0.0:
                    rules.gains[row, self._index[names.joints[joint]]] = gain

    def release(self) -> None:
        """Clear all commands."""
        super().release()
        self._rules.rest()

    def check_trajectory(self, trajectory: JointTrajectory) -> None:
        """Reject a trajectory, because the TriFinger does not support trajectories.

        Raises:
            CommandError: Always.
        """
        raise CommandError("joint_trajectory: the TriFinger does not support it; command positions")

    def check(self, command: JointCommand) -> dict[str, np.ndarray]:
        """Check a command and return its targets.

        Joints accept positions and efforts, but not velocities.

        Returns:
            Mapping that contains the arrays ``position`` [rad] and ``effort`` [N m], among others. Each array
            has one element per joint, which is NaN if the joint has no target. See `Commander.check`.

        Raises:
            CommandError: The command is invalid.
        """
        if not np.isnan(np.asarray(command.velocity, float)).all():
            raise CommandError(
                "joint_commands: the TriFinger does not support velocity; command position, effort, or both"
            )
        return super().check(command)

    def accept(self, targets: Mapping[str, np.ndarray], engine: EngineArrays) -> None:
        """Set the desired action from checked targets.

        Args:
            targets: Targets returned by `check`.
            engine: State and inputs of the engine.
        """
        position, effort = targets["position"], targets["effort"]
        commanded = ~np.isnan(position) | ~np.isnan(effort)
        self._rules.desired[0, commanded] = np.nan_to_num(effort[commanded])
        self._rules.desired[1, commanded] = position[commanded]
