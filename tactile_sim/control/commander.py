"""Convert commands for joints and actuators to controls and forces."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import mujoco
import numpy as np

from tactile_sim.common.names import Names
from tactile_sim.control.command_checks import CommandChecks
from tactile_sim.control.grips import Grips
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines.protocol import EngineArrays
from tactile_sim.scenes.drives import EFFORT, FIELDS, POSITION, VELOCITY

_LOG = logging.getLogger("tactile_sim.control")


class Commander(CommandChecks):
    """Converts joint commands to actuator controls, and stores the last command for each joint.

    Controls are computed from the gain and bias of the actuators, so that a servo exerts no force at its
    target. If the configuration's table ``control`` added a servo to a joint, a commanded effort is added to
    the servo's force. Other joints receive the effort from their motor or, without a motor, as an applied
    force. Until the first command, servos added by ``control`` hold the joint positions of the last reset.
    """

    def __init__(self, model: mujoco.MjModel, names: Names):
        """Read the actuators of a compiled model, including servos added by ``control``."""
        super().__init__(model, names)
        self.grips = Grips(self.drives, self.qpos, self.dofs, model.opt.timestep)
        """Set points of joints that move with limited effort."""
        self._reported: set[tuple[int, int]] = set()
        self.release()

    def start(self, engine: EngineArrays) -> None:
        """Forget all commands after a reset; servos added by ``control`` hold the current positions."""
        self.release()
        engine.ctrl[self.drives.control[self.drives.servo]] = 0.0
        self.hold(engine, np.arange(len(self._joints)))

    def hold(self, engine: EngineArrays, joints: np.ndarray) -> None:
        """Let servos added by ``control`` hold the current positions of joints that have no command.

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
        """Trajectory being followed, its start (engine time) [s], its joint indices (k,) and drive mask."""

    @property
    def every_step(self) -> bool:
        """True if `apply` must be called before each step."""
        return self._trajectory is not None or self.grips.active or len(self._tracking) > 0

    @property
    def following(self) -> object:
        """The trajectory that is being followed, or None. Use it only for comparisons with ``is``."""
        return self._trajectory

    def set_points(self, joints: np.ndarray) -> np.ndarray:
        """Return the last commanded positions and velocities (k, 2) of joints; NaN where there is no command.

        Args:
            joints: (k,) indices in `joint_names`.
        """
        return self._targets[joints, :EFFORT]

    def accept(self, targets: Mapping[str, np.ndarray], engine: EngineArrays) -> None:
        """Store and apply the targets in a checked command; this ends the current trajectory.

        Joints without a target keep their last command.

        Args:
            targets: Result of `CommandChecks.check`.
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
        """Forget the commands of joints whose controls are set directly; this ends the current trajectory.

        Args:
            controls: (nu,) Mask of the controls that are set directly.
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

    def follow(self, trajectory: JointTrajectory, engine: EngineArrays, delay: float = 0.0) -> None:
        """Start to follow a trajectory from the current set points.

        Args:
            trajectory: Trajectory that passed `check_trajectory`. It replaces the current one. If it has no
                points, the joints of the current trajectory stop.
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

    def grip(
        self, joints: np.ndarray, engine: EngineArrays, position: float, effort: float, velocity: float
    ) -> int:
        """Let joints approach a position with limited effort; this ends a trajectory that moves any of them.

        Args:
            joints: (k,) indices of joints that passed ``grips.check``.
            engine: State and inputs of the engine.
            position: Target position [m or rad].
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
        """Update the set points to the state of the trajectory at the end of the next step."""
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
        """Update the controls for the next step: follow the trajectory, move grips and track velocities."""
        if self._trajectory is not None:
            self._follow_on(engine)
        if self.grips.active:
            self.grips.apply(engine, self._targets)
        if len(self._tracking):
            joints = self.drives.joint[self._tracking]
            # A target at the current position cancels the stiffness; damping and effort remain.
            targets = np.column_stack([engine.qpos[self.qpos[joints]], self._targets[joints, VELOCITY:]])
            self._set_controls(engine, self._tracking, targets)

    def _set_controls(self, engine: EngineArrays, drives: np.ndarray, targets: np.ndarray) -> None:
        """Set the controls of n drives (mask or indices) from their targets (n, 3). NaN means no target."""
        engine.ctrl[self.drives.control[drives]] = self.drives.controls(drives, targets)

    def _choose_tracking(self) -> None:
        """Select the servos that track a velocity without a position target."""
        targets = self._targets[self.drives.joint]
        tracks = np.isnan(targets[:, POSITION]) & ~np.isnan(targets[:, VELOCITY])
        self._tracking = np.flatnonzero(tracks & self.drives.servo & (self.drives.field == POSITION))

    def _report(self, targets: np.ndarray) -> None:
        """Log a warning about targets (joints, 3) that are out of range, once for each joint and field."""
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
