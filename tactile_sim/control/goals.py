"""Goals of trajectories and grippers, checked in each step as ros2_control's controllers do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from tactile_sim.common.errors import CommandError, suggest
from tactile_sim.common.schema import numbers
from tactile_sim.config.settings import GripperSettings
from tactile_sim.control.commander import Commander
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines.protocol import EngineArrays


class Outcome(Enum):
    """How a goal ended."""

    REACHED = "reached"
    LEFT_PATH = "left the path"
    MISSED = "missed the goal"
    STALLED = "stalled"
    """The joints stopped away from the goal; only used for grippers."""
    REPLACED = "replaced"
    """Another command or a reset took over."""


def tolerances(joints: Sequence[str], given: Mapping[str, tuple[float, float]], where: str) -> np.ndarray:
    """Convert tolerances by joint name to an array (k, 2) of position and velocity tolerances.

    - ``joints``: (k,) Names of the joints of the trajectory.
    """
    values = np.full((len(joints), 2), np.inf)
    for name, own in given.items():
        if name not in joints:
            raise CommandError(f"{where}: no joint {name!r} in the trajectory{suggest(name, joints)}")
        if np.isnan(own).any():
            raise CommandError(f"{where}: tolerances of joint {name!r} must be numbers, got {own}")
        values[list(joints).index(name)] = [value if value > 0.0 else np.inf for value in own]
    return values


class TrajectoryGoal:
    """Goal to follow a trajectory within tolerances and to reach its end in time."""

    def __init__(
        self,
        trajectory: JointTrajectory,
        path: np.ndarray,
        goal: np.ndarray,
        patience: float,
        done: Callable[[Outcome, str], None],
        watch: Callable[[np.ndarray, np.ndarray], None],
    ):
        """Prepare a goal.

        - ``path``: (k, 2) tolerances of position and velocity along the path; see `tolerances`.
        - ``goal``: (k, 2) tolerances of position and velocity at the end.
        - ``watch``: Called in each step with the set points and the current values of position and
          velocity, each (k, 2).
        """
        self.trajectory = trajectory
        self._path, self._goal, self._patience = path, goal, patience
        self._done, self._watch = done, watch
        self._end: float | None = None
        """Engine time at which the trajectory ended [s], or None before its end."""
        self._checked = -1.0
        """Engine time of the last check [s]."""

    def __deepcopy__(self, memo: dict[int, Any]) -> TrajectoryGoal:
        """Return the goal of a copied simulation. It does not call ``done`` and ``watch`` of the original."""
        new = copy.copy(self)
        new._done, new._watch = (lambda outcome, text: None), (lambda set_points, present: None)
        new._commander, new._own = copy.deepcopy((self._commander, self._own), memo)
        return new

    def start(self, commander: Commander) -> None:
        """Start to monitor the trajectory that the commander is following."""
        self._commander, self._own = commander, commander.following
        self._joints = commander.indices(self.trajectory.joints)

    def update(self, engine: EngineArrays) -> bool:
        """Check the tolerances before a step.

        Calls ``watch`` and, when the goal ends, ``done``.

        Returns:
            True if the goal has ended.
        """
        if engine.time == self._checked:  # the set points are already those of the next step
            return False
        self._checked = engine.time
        commander, joints = self._commander, self._joints
        set_points = commander.set_points(joints)
        under_way = commander.following is self._own
        if under_way and np.isnan(set_points).any():
            return False  # the first step is still to come
        if not under_way and not np.array_equal(set_points[:, 0], self.trajectory.positions[-1]):
            self.replace("another command or a reset ended the trajectory")
            return True
        present = np.column_stack([engine.qpos[commander.qpos[joints]], engine.qvel[commander.dofs[joints]]])
        error = np.abs(set_points - present)
        self._watch(set_points, present)
        if under_way:
            if (error <= self._path).all():
                return False
            self._done(Outcome.LEFT_PATH, self._worst(error, self._path))
            return True
        self._end = engine.time if self._end is None else self._end
        if (error <= self._goal).all():
            self._done(Outcome.REACHED, "")
        elif 0.0 < self._patience < engine.time - self._end:
            self._done(Outcome.MISSED, self._worst(error, self._goal))
        else:
            return False
        return True

    def replace(self, text: str) -> None:
        """End the goal because something else now controls the joints; ``done`` receives ``text``."""
        self._done(Outcome.REPLACED, text)

    def _worst(self, error: np.ndarray, allowed: np.ndarray) -> str:
        joint, field = divmod(int(np.argmax(error / allowed)), 2)
        return (
            f"{('position', 'velocity')[field]} of joint {self.trajectory.joints[joint]!r} must be within "
            f"{allowed[joint, field]:g} of its set point, got {error[joint, field]:.6g}"
        )


class GripperCommand(NamedTuple):
    """Target position and limits for the joints of a gripper."""

    position: float
    """Target position of each joint [m or rad]."""
    max_effort: float = 0.0
    """Maximum effort on each joint [N or N m]; 0 or less uses the configured value."""
    max_velocity: float = 0.0
    """Maximum velocity of the set point [m/s or rad/s]; 0 or less for no limit."""

    def check(self) -> None:
        """Check that all values are finite numbers of reasonable size."""
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
