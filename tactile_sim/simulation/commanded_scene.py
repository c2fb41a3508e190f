"""Base class of `Simulation` that applies joint commands and built-in motion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.exclusive import Use, exclusive
from tactile_sim.common.names import Names
from tactile_sim.common.schema import by_name, known, numbers
from tactile_sim.config import Settings
from tactile_sim.control.commander import JointCommand, joint_tables
from tactile_sim.control.goals import GripperCommand, GripperGoal, TrajectoryGoal
from tactile_sim.control.makers import Motion, make_commander, make_grippers, make_motion
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.control.user_forces import Hands
from tactile_sim.engines import Engine


class CommandedScene:
    """Base class of `Simulation` that keeps time and applies joint commands and built-in motion.

    Built-in motion, if configured, runs until the first command. After ``command_timeout`` without a
    command, the controls of the last reset are restored.
    """

    def __init__(self, settings: Settings, names: Names, engine: Engine):
        """Create the commander, the built-in motion and the grippers.

        Args:
            settings: The configuration.
            names: Names of the scene's elements.
            engine: Engine that simulates one environment of the scene.

        Raises:
            ConfigError, SceneError: ``control``, ``grippers`` or ``motion`` does not fit the scene.
        """
        self.settings, self.names, self.engine = settings, names, engine
        self.use = Use("Simulation")
        """Context in which one thread uses the simulation."""
        self._changes = 0
        """Number of changes of the state."""
        self.commander = make_commander(settings, names, engine)
        self.motion = make_motion(settings, names, engine)
        interval = self.motion.interval if self.motion else 0.0
        self._motion_steps = max(1, round(interval / engine.timestep))
        self.grippers = make_grippers(settings, self.commander)
        self.hands = Hands()
        """Forces with which a user pulls and presses bodies."""
        self._goals: list[TrajectoryGoal | GripperGoal] = []
        """Active trajectory and gripper goals."""
        self.step_count = 0
        """Steps since the start. Never decreases, not even at a reset: ROS time is derived from it."""
        self._restart()

    def _restart(self) -> None:
        """Restart time and built-in motion and forget all commands, after a reset of the engine."""
        self.steps_since_reset = 0
        self._moved_at = -1
        """Value of `steps_since_reset` when built-in motion last acted; -1 if it has not."""
        self._changes += 1
        self._commanded = False
        """True if a command was accepted since the reset."""
        self._rest_at = 0
        """Value of `steps_since_reset` at which the actuators return to rest; 0 for never."""
        self.commander.start(self.engine)
        self._rest_controls = self.engine.ctrl.copy()
        self._moved_controls = self._rest_controls
        """Controls last set by a reset or by built-in motion."""
        if self.motion:
            self.motion.restart()

    def reset(self, keyframe: str | None = None) -> None:
        """Reset the engine's state, built-in motion and all commands.

        Args:
            keyframe: Name of a keyframe in the scene; None restores the initial state.

        Raises:
            EngineError: The keyframe does not exist; nothing is changed.
        """
        self.engine.reset(keyframe)
        self._restart()

    @property
    def time(self) -> float:
        """Simulation time since the start [s]."""
        return self.step_count * self.engine.timestep

    @property
    def stamp(self) -> int:
        """Simulation time since the start in whole nanoseconds."""
        return self.stamp_of(self.step_count)

    def stamp_of(self, step: int) -> int:
        """Return the simulation time of a step since the start in whole nanoseconds."""
        return round(step * self.engine.timestep * 1e9)

    @property
    def version(self) -> tuple[int, float]:
        """Value that changes with the state. A `Snapshot` of an earlier version is outdated."""
        return self._changes, self.engine.time

    @property
    def ctrl(self) -> np.ndarray:
        """(nu,) actuator controls. Assign or modify them; a change ends the built-in motion.

        Every value must be a finite number below 1e10; a value beyond the range of its actuator is clamped.
        Joint commands that act in each step, such as a velocity or a trajectory, overwrite the controls of
        their actuators; `command_controls` ends them.
        """
        return self.engine.ctrl

    @ctrl.setter
    def ctrl(self, values: np.ndarray) -> None:
        self.engine.ctrl = values

    def _count(self, steps: int) -> None:
        self._changes += 1
        self.step_count += steps
        self.steps_since_reset += steps

    def free_steps(self) -> int:
        """Return how many steps the engine can take before commands or forces must be applied again."""
        if self.commander.every_step or self._goals or self.hands.active:
            return 1
        if self.moving:
            return self._motion_steps - self.steps_since_reset % self._motion_steps
        return max(1, self._rest_at - self.steps_since_reset) if self._rest_at else 1 << 30

    @exclusive
    def apply_commands(self) -> None:
        """Apply commands, built-in motion and forces for the next step, and update goals.

        Repeated calls before the same step have no further effect.
        """
        self._apply_commands()

    def _apply_commands(self) -> None:
        if self.motion and not self._commanded and self.steps_since_reset % self._motion_steps == 0:
            if self._moved_at != self.steps_since_reset:
                self._move(self.motion)
            self._moved_at = self.steps_since_reset
        if self._rest_at and self.steps_since_reset >= self._rest_at:
            self._rest()
        if self._goals:
            self._goals = [goal for goal in self._goals if not goal.update(self.engine)]
        if self.commander.every_step:
            self.commander.apply(self.engine)
        if self.hands.active:
            self.hands.apply(self.engine, self.steps_since_reset)

    def _move(self, motion: Motion) -> None:
        """Let built-in motion set the controls, or end it if they were changed since it last did."""
        if self.engine.ctrl.tobytes() == self._moved_controls.tobytes():
            motion.act(self.engine)
            self._moved_controls = self.engine.ctrl.copy()
        else:
            self._register_command()

    @property
    def moving(self) -> bool:
        """True while built-in motion is active, that is, until the first command."""
        return self.motion is not None and not self._commanded

    @exclusive
    def command_joints(
        self,
        position: Mapping[str, float] | None = None,
        velocity: Mapping[str, float] | None = None,
        effort: Mapping[str, float] | None = None,
    ) -> None:
        """Command joints by name, as messages on the topic ``joint_commands`` do.

        A trajectory that is being followed ends. Joints that are not named keep their last target.

        Args:
            position: Target positions [rad or m], keyed by joint name.
            velocity: Target velocities [rad/s or m/s], keyed by joint name.
            effort: Efforts [N m or N], keyed by joint name.

        Raises:
            CommandError: A joint does not exist or does not accept that command; no command is then applied.
        """
        fields = {"position": position, "velocity": velocity, "effort": effort}
        names, tables = joint_tables(fields, 1)
        self.accept_targets(self.commander.check(JointCommand(names, *(table[0] for table in tables))))

    @exclusive
    def accept_targets(self, targets: dict[str, np.ndarray]) -> None:
        """Apply targets that ``commander.check`` returned, keyed by field, and end built-in motion."""
        self.commander.accept(targets, self.engine)
        self._register_command()

    @exclusive
    def command_trajectory(self, trajectory: JointTrajectory, delay: float = 0.0) -> None:
        """Make position servos follow a trajectory until its last point or the next command.

        Args:
            trajectory: Waypoints of named joints; without waypoints, the joints stop at their current
                positions.
            delay: Time until the trajectory starts [s].

        Raises:
            CommandError: The trajectory or the delay is invalid, or a joint does not accept positions.
        """
        if not isinstance(trajectory, JointTrajectory):
            raise CommandError(f"command_trajectory: must be a JointTrajectory, got {trajectory!r}")
        delay = float(numbers("command_trajectory: delay", delay, unit="s"))
        self.commander.check_trajectory(trajectory)
        self.accept_trajectory(trajectory, delay)

    @exclusive
    def accept_trajectory(self, trajectory: JointTrajectory, delay: float = 0.0) -> None:
        """Follow a trajectory that passed ``commander.check_trajectory``, and end built-in motion.

        Args:
            trajectory: The checked trajectory.
            delay: Time until the trajectory starts [s].
        """
        self.commander.follow(trajectory, self.engine, delay)
        self._register_command()
        if self._rest_at and len(trajectory.times):  # the timeout starts at the end of the trajectory
            self._rest_at += max(0, math.ceil((delay + trajectory.times[-1]) / self.engine.timestep))

    @exclusive
    def accept_goal(self, goal: TrajectoryGoal, delay: float = 0.0) -> None:
        """Start a trajectory goal; it replaces an earlier trajectory goal.

        Args:
            goal: Goal whose trajectory passed ``commander.check_trajectory``.
            delay: Time until the trajectory starts [s].
        """
        self.accept_trajectory(goal.trajectory, delay)
        self._replace([each for each in self._goals if isinstance(each, TrajectoryGoal)])
        self._goals.append(goal)
        goal.start(self.commander)

    @exclusive
    def cancel_goal(self, goal: TrajectoryGoal) -> None:
        """Cancel a trajectory goal and stop its joints at their set points, unless the goal has ended."""
        if goal in self._goals:
            self.accept_trajectory(JointTrajectory(goal.trajectory.joints, np.empty(0), np.empty((0, 0))))
            self._goals.remove(goal)
            goal.replace("canceled")

    @exclusive
    def command_gripper(
        self, name: str, position: float, max_effort: float = 0.0, max_velocity: float = 0.0
    ) -> None:
        """Close or open a configured gripper; trajectories of other joints continue.

        Args:
            name: Key in ``grippers``.
            position: Target position of the gripper's joints [m or rad].
            max_effort: Maximum effort on each joint [N or N m]; 0 uses the configured value.
            max_velocity: Maximum velocity of the set point [m/s or rad/s]; 0 for no limit.

        Raises:
            CommandError: There is no such gripper or a value is not finite.
        """
        known("command_gripper: no gripper", name, self.grippers)
        command = GripperCommand(position, max_effort, max_velocity)
        command.check()
        self.accept_grip(GripperGoal(self.grippers[name], command))

    @exclusive
    def accept_grip(self, goal: GripperGoal) -> None:
        """Start a gripper goal; it replaces earlier gripper goals for the same joints."""
        joints = set(goal.joints)
        earlier = [each for each in self._goals if isinstance(each, GripperGoal)]
        goal.start(self.commander, self.engine)
        self._register_command()
        self._replace([each for each in earlier if joints & set(each.joints)])
        self._goals.append(goal)

    @exclusive
    def cancel_grip(self, goal: GripperGoal) -> None:
        """Cancel a gripper goal and hold its joints at their current positions, unless the goal has ended."""
        if goal in self._goals:
            self.command_joints(goal.present(self.engine))
            self._goals.remove(goal)
            goal.replace("canceled")

    def _replace(self, goals: list[TrajectoryGoal] | list[GripperGoal]) -> None:
        for goal in goals:
            self._goals.remove(goal)
            goal.replace("another goal replaced this one")

    @exclusive
    def command_controls(self, controls: Sequence[float] | np.ndarray) -> None:
        """Set the controls of actuators directly.

        This ends the current trajectory and cancels commands to the joints that these actuators drive.

        Args:
            controls: (nu,) one value per control; see `ctrl`.

        Raises:
            CommandError: The number of values is wrong, or a value is not a finite number or too large. No
                control is changed in this case.
        """
        checked = self.commander.check_controls(controls)
        self.accept_controls(np.arange(len(checked)), checked)

    @exclusive
    def accept_controls(self, indices: np.ndarray, values: np.ndarray) -> None:
        """Set controls as `command_controls` does.

        Args:
            indices: (k,) Indices of the controls.
            values: (k,) Values that ``commander.check_controls`` returned.
        """
        given = np.zeros(len(self.engine.ctrl), bool)
        given[indices] = True
        self.commander.yield_to(given, self.engine)
        self.engine.ctrl[indices] = values
        self._register_command()

    @exclusive
    def set_joints(
        self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None
    ) -> None:
        """Set the state of hinge and slide joints by name; commands are not changed.

        Until the first command, servos added by ``control`` hold the new positions.

        Args:
            position: Positions [rad or m], keyed by joint name.
            velocity: Velocities [rad/s or m/s], keyed by joint name.

        Raises:
            CommandError: A joint does not exist or a value is not finite; the state is then unchanged.
        """
        engine, commander = self.engine, self.commander
        changes = []
        for key, given, array, addresses in (
            ("position", position, engine.qpos, commander.qpos),
            ("velocity", velocity, engine.qvel, commander.dofs),
        ):
            for name, value in by_name(f"set_joints: {key}", given).items():
                known("set_joints: no joint", name, commander.joint_names)
                value = numbers(f"set_joints: {key} of joint {name!r}", value)
                changes.append((array, addresses[commander.joint_names.index(name)], value))
        for array, address, value in changes:
            array[address] = value
        self._changes += 1
        if not self._commanded:
            moved = [commander.joint_names.index(name) for name in position or {}]
            unchanged = np.array_equal(engine.ctrl, self._moved_controls)
            commander.hold(engine, np.array(moved, int))
            if unchanged:
                self._moved_controls = engine.ctrl.copy()

    def _register_command(self) -> None:
        """End built-in motion and restart ``command_timeout``, because a command was accepted."""
        self._commanded = True
        timeout = self.settings.command_timeout
        self._rest_at = self.steps_since_reset + math.ceil(timeout / self.engine.timestep) if timeout else 0

    def _rest(self) -> None:
        """Restore the controls of the last reset and clear applied forces, after ``command_timeout``."""
        self._rest_at = 0
        self.commander.release()
        self.engine.ctrl[:] = self._rest_controls
        self.engine.qfrc_applied[:] = 0.0
