"""Check commands to joints and actuators, and convert them to controls and forces."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.control.actuator_commands import ActuatorCommands
from tactile_sim.control.drive_table import DriveTable
from tactile_sim.control.grips import Grips
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines.protocol import LARGEST, EngineArrays
from tactile_sim.errors import CommandError, suggest
from tactile_sim.names import Names
from tactile_sim.scenes.drives import EFFORT, FIELDS, POSITION, SCALAR, VELOCITY, leaders, undriven

_LOG = logging.getLogger("tactile_sim.control")


@dataclass(frozen=True)
class JointCommand:
    """Targets from a JointState message.

    Each array is empty or as long as ``name``. NaN means that a joint has no target."""

    name: Sequence[str]
    position: np.ndarray
    """Target positions [rad or m]."""
    velocity: np.ndarray
    """Target velocities [rad/s or m/s]."""
    effort: np.ndarray
    """Target efforts [N m or N]."""


class Commander:
    """Converts joint commands to actuator controls, and stores the last command of each joint.

    Controls are computed from the gain and bias of the actuators, so that a servo exerts no force at its
    target. An effort is added to the force of a servo that was added by ``control``. A joint without such a
    servo receives the effort from its motor or, without a motor, as an applied force. Until the first
    command, servos that were added by ``control`` hold the joint positions of the last reset.
    """

    def __init__(self, model: mujoco.MjModel, names: Names):
        """Read the actuators of a compiled model, including servos that were added by ``control``."""
        self._model = model
        self._joints = np.flatnonzero(np.isin(model.jnt_type, SCALAR))
        self.joint_names = [names.joints[j] for j in self._joints]
        """Hinge and slide joints, which are listed in joint states and accept commands."""
        self.qpos = model.jnt_qposadr[self._joints]
        self.dofs = model.jnt_dofadr[self._joints]
        self._index = {name: k for k, name in enumerate(self.joint_names)}
        self.without_position = {names.joints[joint]: why for joint, why in undriven(model, names).items()}
        """Reason why a joint does not accept position commands, by name of the joint."""
        self.followers = {names.joints[joint] for joint in leaders(model)} & set(self.without_position)
        """Names of joints that follow another one and have no servo of their own."""
        self.drives = DriveTable(model, self._joints)
        """Drives of these joints, and the targets they accept."""
        self._actuators = ActuatorCommands(model, names)
        self.grips = Grips(self.drives, self.qpos, self.dofs, model.opt.timestep)
        """Grips: set points of joints that move with limited effort."""
        self._reported: set[tuple[int, int]] = set()
        self.release()

    def start(self, engine: EngineArrays) -> None:
        """Forget all commands after a reset; servos added by ``control`` hold the current positions."""
        self.release()
        engine.ctrl[self.drives.control[self.drives.servo]] = 0.0
        self.hold(engine, np.arange(len(self._joints)))

    def hold(self, engine: EngineArrays, joints: np.ndarray) -> None:
        """Let servos that were added by ``control`` hold the current positions of joints without a command.

        Args:
            engine: State and inputs of the engine.
            joints: Indices in `joint_names`.
        """
        table = self.drives
        free = np.isnan(self._targets[table.joint]).all(axis=1) & np.isin(table.joint, joints)
        holding = table.servo & (table.field == POSITION) & free
        joints = table.joint[holding]
        held = np.clip(engine.qpos[self.qpos[joints]], *table.reach[joints, POSITION].T)
        engine.ctrl[table.control[holding]] = held

    def release(self) -> None:
        """Forget all commands without changing the controls."""
        self._targets = np.full((len(self._joints), len(FIELDS)), np.nan)
        self._tracking = np.empty(0, int)
        self.grips.release(np.arange(len(self._joints)))
        self._trajectory: tuple[JointTrajectory, float, np.ndarray, np.ndarray] | None = None
        """Trajectory, its start in engine time [s], indices of its joints, and mask of its drives."""

    @property
    def every_step(self) -> bool:
        """True if `apply` must be called before each step."""
        return len(self._tracking) > 0 or self._trajectory is not None or len(self.grips) > 0

    @property
    def following(self) -> object:
        """The trajectory that is being followed, or None. Only meant for comparisons with ``is``."""
        return self._trajectory

    def set_points(self, joints: np.ndarray) -> np.ndarray:
        """Return the last commanded positions and velocities (k, 2) of joints; NaN for none.

        Args:
            joints: (k,) indices in `joint_names`.
        """
        return self._targets[joints, :EFFORT]

    def check_controls(self, controls: Sequence[float]) -> np.ndarray:
        """Check raw controls and return them as an array (nu,).

        Args:
            controls: One value per control; NaN leaves a control unchanged.

        Raises:
            CommandError: The number of values is wrong, or a value is infinite or too large.
        """
        values = np.asarray(controls, float)
        if values.shape != (self._model.nu,):
            raise CommandError(f"ctrl has {values.size} values; the scene has {self._model.nu} actuators")
        huge = np.abs(values) >= LARGEST
        if huge.any():
            k = int(np.argmax(huge))
            raise CommandError(f"ctrl[{k}] is {values[k]:g}; it must be finite and below {LARGEST:g}")
        return values

    def check(self, command: JointCommand) -> dict[str, np.ndarray]:
        """Check a command and return its targets (joints,) by field, NaN for joints without a target.

        The key ``controls`` has the controls (nu,) for tendons and actuators that the command names.

        Raises:
            CommandError: The command is invalid.
        """
        known = {*self._index, *self._actuators.names}
        unknown = next((name for name in command.name if name not in known), None)
        if unknown is not None:
            raise CommandError(f"joint_commands: no joint {unknown!r}{suggest(unknown, known)}")
        if len(set(command.name)) < len(command.name):
            twice = next(name for name in command.name if list(command.name).count(name) > 1)
            raise CommandError(f"joint_commands names joint {twice!r} twice")
        is_joint = np.array([name in self._index for name in command.name], bool)
        where = [self._index[name] for name in command.name if name in self._index]
        targets, given = {}, np.full((len(command.name), len(FIELDS)), np.nan)
        for field in FIELDS:
            values = np.asarray(getattr(command, field), float)
            if len(values) not in (0, len(command.name)):
                raise CommandError(
                    f"joint_commands: {field} has {len(values)} values for {len(command.name)} names; "
                    "it must be empty or as long"
                )
            huge = np.abs(values) >= LARGEST
            if huge.any():
                k = int(np.argmax(huge))
                raise CommandError(
                    f"joint_commands: {field} of joint {command.name[k]!r} is {values[k]:g}; "
                    f"it must be finite and below {LARGEST:g}"
                )
            targets[field] = np.full(len(self._joints), np.nan)
            if len(values):
                targets[field][where] = values[is_joint]
                given[:, FIELDS.index(field)] = values
        targets["controls"] = np.full(self._model.nu, np.nan)
        for k in np.flatnonzero(~is_joint).tolist():
            self._actuators.set_controls(command.name[k], given[k], targets["controls"])
        for field, key in (("position", "kp"), ("velocity", "kd")):
            # A velocity given with a position is a feedforward term; without one, it needs a drive.
            helpless = ~np.isnan(targets[field]) & ~self.drives.takes[field]
            if field == "velocity":
                helpless &= np.isnan(targets["position"])
            if helpless.any():
                k = int(np.argmax(helpless))
                name = self.joint_names[k]
                why = f" ({self.without_position[name]})" if field == "position" else ""
                has_servo = (self.drives.servo & (self.drives.joint == k)).any()
                if self.drives.takes["position"][k] and not has_servo:
                    remedy = "command its position"
                else:
                    remedy = f"set control: {{{name}: {{{key}: ...}}}}"
                raise CommandError(
                    f"joint_commands: joint {name!r} takes no {field}{why}; {remedy}, or command its effort"
                )
        return targets

    def accept(self, targets: Mapping[str, np.ndarray], engine: EngineArrays) -> None:
        """Store and apply targets that `check` returned; joints without a target keep their last command.

        Args:
            targets: Result of `check`.
            engine: State and inputs of the engine.
        """
        self._end_trajectory(engine)
        controls = targets["controls"]
        given = ~np.isnan(controls)
        if given.any():
            self.yield_to(given, engine)
            engine.ctrl[given] = controls[given]
        new = np.stack([targets[field] for field in FIELDS], axis=1)
        named = ~np.isnan(new)
        kept = self._targets
        # Position and velocity form one set point, so a new target for either replaces both.
        kept[named[:, :EFFORT].any(axis=1), :EFFORT] = np.nan
        kept[named] = new[named]
        self._report(np.where(named, kept, np.nan))
        table = self.drives
        self.grips.release(named.any(axis=1))
        acting = named.any(axis=1)[table.joint]
        # A servo that only has an effort keeps its last control.
        no_set_point = np.isnan(kept[table.joint, POSITION]) & np.isnan(kept[table.joint, VELOCITY])
        idle = acting & table.servo & no_set_point
        kept[table.joint[idle], table.field[idle]] = engine.ctrl[table.control[idle]]
        acting &= ~np.isnan(kept[table.joint, table.field])
        self._set_controls(engine, acting, kept[table.joint[acting]])
        applied = named[:, EFFORT] & ~table.takes["effort"]
        engine.qfrc_applied[self.dofs[applied]] = np.clip(
            kept[applied, EFFORT], *table.reach[applied, EFFORT].T
        )
        self._choose_tracking()

    def yield_to(self, controls: np.ndarray, engine: EngineArrays) -> None:
        """Forget the commands of joints whose controls are set directly.

        Args:
            controls: (nu,) Mask of these controls.
            engine: State and inputs of the engine.
        """
        if not len(controls):
            return
        self._end_trajectory(engine)
        joints = self.drives.joint[controls[self.drives.control]]
        self.grips.release(joints)
        self._targets[joints] = np.nan
        engine.qfrc_applied[self.dofs[joints]] = 0.0
        self._choose_tracking()

    def check_trajectory(self, trajectory: JointTrajectory) -> None:
        """Check a trajectory.

        Raises:
            CommandError: The trajectory is invalid, or a joint does not accept positions.
        """
        trajectory.check(self.joint_names)
        for name in trajectory.joints:
            if not self.drives.takes["position"][self._index[name]]:
                why = self.without_position.get(name, "")
                raise CommandError(
                    f"joint_trajectory: joint {name!r} takes no position ({why}); "
                    f"set control: {{{name}: {{mode: position}}}}"
                )

    def follow(self, trajectory: JointTrajectory, engine: EngineArrays, delay: float = 0.0) -> None:
        """Follow a checked trajectory from the current set points.

        Args:
            trajectory: The trajectory, which replaces the current one. If it has no points, the joints of the
                current one stop.
            engine: State and inputs of the engine.
            delay: Time until the trajectory starts [s]; negative if its start is in the past.
        """
        joints = self.indices(trajectory.joints)
        position, velocity = engine.qpos[self.qpos[joints]].copy(), engine.qvel[self.dofs[joints]].copy()
        target = self._targets[joints, POSITION]
        position = np.where(np.isnan(target), position, target)
        if self._trajectory is not None:
            velocity = np.nan_to_num(self._targets[joints, VELOCITY])
        self._end_trajectory(engine)
        if not (len(joints) and len(trajectory.times)):
            return
        self.grips.release(joints)
        drives = np.isin(self.drives.joint, joints) & ((self.drives.field == POSITION) | self.drives.servo)
        started = trajectory.starting_from(position, velocity)
        self._trajectory = (started, engine.time + delay, joints, drives)
        engine.qfrc_applied[self.dofs[joints]] = 0.0
        self._targets[joints] = np.nan
        self._choose_tracking()

    def indices(self, names: Sequence[str]) -> np.ndarray:
        """Convert joint names to indices (k,) in `joint_names`."""
        return np.array([self._index[name] for name in names], int)

    def grip(
        self, joints: np.ndarray, engine: EngineArrays, position: float, effort: float, velocity: float
    ) -> int:
        """Let joints approach a position with limited effort; this ends a trajectory of the joints.

        Args:
            joints: (k,) Indices of joints that passed ``grips.check``.
            engine: State and inputs of the engine.
            position: Target [m or rad].
            effort: Maximum effort on each joint [N or N m]; may be infinite.
            velocity: Maximum velocity of the set points [m/s or rad/s]; may be infinite.

        Returns:
            Number of the grip, see `Grips.owner`.
        """
        if self._trajectory is not None and np.isin(joints, self._trajectory[2]).any():
            self._end_trajectory(engine)
        kept = self._targets[joints, POSITION]
        start = np.where(np.isnan(kept), engine.qpos[self.qpos[joints]], kept)
        engine.qfrc_applied[self.dofs[joints]] = 0.0
        self._targets[joints] = np.nan
        self._choose_tracking()
        return self.grips.start(engine, joints, start, position, effort, velocity)

    def _follow_on(self, engine: EngineArrays) -> None:
        """Update the set points to the trajectory's state at the end of the next step."""
        assert self._trajectory is not None
        trajectory, start, joints, drives = self._trajectory
        step = self._model.opt.timestep
        time = engine.time + step - start
        if time > trajectory.times[-1] - 0.5 * step:
            time = trajectory.times[-1]
        self._targets[joints, POSITION], self._targets[joints, VELOCITY] = trajectory.at(time)
        self._set_controls(engine, drives, self._targets[self.drives.joint[drives]])
        if time >= trajectory.times[-1]:
            self._trajectory = None

    def _end_trajectory(self, engine: EngineArrays) -> None:
        """Stop the joints of the current trajectory at their set points."""
        if self._trajectory is not None:
            _, _, joints, drives = self._trajectory
            self._targets[joints, VELOCITY] = 0.0
            self._set_controls(engine, drives, self._targets[self.drives.joint[drives]])
            self._trajectory = None

    def apply(self, engine: EngineArrays) -> None:
        """Update the controls of servos that track a trajectory or a velocity, for the next step."""
        if self._trajectory is not None:
            self._follow_on(engine)
        if len(self.grips):
            self.grips.apply(engine, self._targets)
        if len(self._tracking):
            joints = self.drives.joint[self._tracking]
            # A target at the current position cancels the stiffness; damping and effort remain.
            targets = np.column_stack([engine.qpos[self.qpos[joints]], self._targets[joints, VELOCITY:]])
            self._set_controls(engine, self._tracking, targets)

    def _set_controls(self, engine: EngineArrays, drives: np.ndarray, targets: np.ndarray) -> None:
        """Set the controls of some drives from targets (n, 3); NaN means no target."""
        engine.ctrl[self.drives.control[drives]] = self.drives.controls(drives, targets)

    def _choose_tracking(self) -> None:
        """Select the servos that track a velocity without a position target."""
        targets = self._targets[self.drives.joint]
        tracks = np.isnan(targets[:, POSITION]) & ~np.isnan(targets[:, VELOCITY])
        self._tracking = np.flatnonzero(tracks & self.drives.servo & (self.drives.field == POSITION))

    def _report(self, targets: np.ndarray) -> None:
        """Warn about targets (joints, 3) that are out of range, once for each joint and field."""
        low, high = self.drives.reach[..., 0], self.drives.reach[..., 1]
        slack = 1e-6 * np.fmax(1.0, np.abs(targets))
        for k, field in np.argwhere((targets < low - slack) | (targets > high + slack)).tolist():
            if (k, field) not in self._reported:
                self._reported.add((k, field))
                _LOG.warning(
                    "joint_commands: %s of joint %r must be between %.6g and %.6g, got %.6g;"
                    " the joint cannot follow (reported once)",
                    FIELDS[field], self.joint_names[k], low[k, field], high[k, field], targets[k, field],
                )  # fmt: skip
