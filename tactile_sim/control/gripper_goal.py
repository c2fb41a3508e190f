"""Gripper goals, checked in each step as in ros2_control's gripper controllers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tactile_sim.common.schema import numbers
from tactile_sim.config.settings import GripperSettings
from tactile_sim.control.commander import Commander
from tactile_sim.control.trajectory_goal import Outcome
from tactile_sim.engines.protocol import EngineArrays


class GripperCommand(NamedTuple):
    """Target position and limits for the joints of a gripper."""

    position: float
    """Target position of each joint [m or rad]."""
    max_effort: float = 0.0
    """Maximum effort on each joint [N or N m]; 0 or less uses the configured value."""
    max_velocity: float = 0.0
    """Maximum velocity of the set point [m/s or rad/s]; 0 or less for no limit."""

    def check(self) -> None:
        """Check that all values are finite numbers of reasonable size.

        Raises:
            CommandError: A value is not a finite number or is too large.
        """
        for name, value in self._asdict().items():
            numbers(name, value)


class GripperGoal:
    """A goal for a gripper, whose joints approach a position until they reach it or stall."""

    def __init__(
        self,
        gripper: GripperSettings,
        command: GripperCommand,
        done: Callable[[Outcome, str], None] = lambda outcome, text: None,
        watch: Callable[[], None] = lambda: None,
    ):
        """Prepare a goal.

        Args:
            gripper: Settings of the gripper.
            command: Command that passed `GripperCommand.check`.
            done: Called once at the end of the goal with its outcome and a description, in the loop's thread.
            watch: Called in each step while the goal is active.
        """
        self.joints = list(gripper.joints)
        self._gripper, self.command, self._done, self._watch = gripper, command, done, watch

    def __deepcopy__(self, memo: dict[int, Any]) -> GripperGoal:
        """Return the goal of a copied simulation. It does not call ``done`` and ``watch`` of the original."""
        new = copy.copy(self)
        new._done, new._watch = (lambda outcome, text: None), (lambda: None)
        new._commander = copy.deepcopy(self._commander, memo)
        return new

    def start(self, commander: Commander, engine: EngineArrays) -> None:
        """Start moving the gripper's joints to the commanded position."""
        effort, velocity = self.command.max_effort, self.command.max_velocity
        effort = effort if effort > 0.0 else self._gripper.max_effort
        self._commander, self._moved = commander, engine.time
        self._indices = commander.indices(self.joints)
        self._own = commander.grip(
            self._indices,
            engine,
            self.command.position,
            effort or np.inf,
            velocity if velocity > 0.0 else np.inf,
        )

    def update(self, engine: EngineArrays) -> bool:
        """Check before a step whether the joints reached the position, stalled or got another command.

        Calls ``watch`` and, when the goal ends, ``done``.

        Returns:
            True if the goal has ended.
        """
        commander, joints = self._commander, self._indices
        if (commander.grips.owner[joints] != self._own).any():
            self.replace("another command or a reset replaced this one")
            return True
        self._watch()
        error = np.abs(engine.qpos[commander.qpos[joints]] - self.command.position)
        if (error < self._gripper.goal_tolerance).all():
            self._done(Outcome.REACHED, "")
            return True
        speed = np.abs(engine.qvel[commander.dofs[joints]])
        if (speed > self._gripper.stall_velocity_threshold).any():
            self._moved = engine.time
        elif engine.time - self._moved > self._gripper.stall_timeout:
            self._done(Outcome.STALLED, f"stalled at a distance of {error.max():.6g} from the goal")
            return True
        return False

    def present(self, engine: EngineArrays) -> dict[str, float]:
        """Return the current positions of the gripper's joints [m or rad], keyed by joint name."""
        return dict(zip(self.joints, engine.qpos[self._commander.qpos[self._indices]].tolist(), strict=True))

    def replace(self, text: str) -> None:
        """End the goal because something else now controls the joints; ``done`` receives ``text``."""
        self._done(Outcome.REPLACED, text)
