"""Check commands for joints and actuators, and convert them to controls and forces."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.names import Names
from tactile_sim.common.schema import LARGEST_STATE, as_array, by_name, described, known, numbers
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines.protocol import EngineArrays
from tactile_sim.scenes.drives import (
    EFFORT,
    FIELDS,
    POSITION,
    SCALAR,
    VELOCITY,
    Input,
    leaders,
    read_drives,
    read_inputs,
    undriven,
)
from tactile_sim.scenes.servos import added_servos, effort_range

_LOG = logging.getLogger("tactile_sim.control")
_TENDON = mujoco.mjtTrn.mjTRN_TENDON


class ActuatorCommands:
    """Converts targets of tendons and actuators to controls.

    The position of a tendon is its length. The position of an actuator is the length of its transmission
    before the gear ratio is applied. An effort is the force along the tendon or transmission. As with joints,
    a servo accepts positions or velocities, and a motor accepts efforts.
    """

    def __init__(self, model: mujoco.MjModel, names: Names):
        """Read the actuators of a compiled model."""
        self._inputs: dict[str, list[Input]] = {}
        for actuator, name in enumerate(names.actuators):
            inputs = read_inputs(model, actuator)
            self._inputs.setdefault(name, []).extend(inputs)
            if model.actuator_trntype[actuator] == _TENDON:
                tendon = model.tendon(model.actuator_trnid[actuator, 0]).name
                if tendon and tendon != name:
                    self._inputs.setdefault(tendon, []).extend(inputs)
        self.names = list(self._inputs)
        """Names of the actuators, and of the tendons that have an actuator."""
        self._limited = model.actuator_ctrllimited.astype(bool)
        self._ranges = model.actuator_ctrlrange

    def set_controls(self, name: str, targets: Sequence[float], controls: np.ndarray) -> None:
        """Set the controls of a tendon or actuator.

        - ``controls``: (nu,) controls, modified in place.
        """
        values = np.asarray(targets, float)
        inputs = self._inputs[name]
        taken = {entry.field for entry in inputs}
        for field in np.flatnonzero(~np.isnan(values)).tolist():
            # A velocity or an effort given with a position is a feedforward term of the servo.
            if field not in taken and not (0 in taken and not np.isnan(values[0])):
                kinds = " or ".join(FIELDS[kind] for kind in sorted(taken))
                remedy = f"command its {kinds}" if kinds else "command it by the topic ctrl"
                raise CommandError(f"joint_commands: actuator {name!r} accepts no {FIELDS[field]}; {remedy}")
        for entry in inputs:
            if not np.isnan(values[entry.field]):
                control = entry.offset + float(np.nan_to_num(values) @ entry.weights)
                if self._limited[entry.control]:
                    control = float(np.clip(control, *self._ranges[entry.control]))
                controls[entry.control] = control


class DriveTable:
    """Drives of hinge and slide joints, which convert targets to controls.

    Each drive belongs to one joint. Joints are specified by their indices in the table.

    Attributes:
        joint: (drives,) Joint of each drive.
        control: (drives,) Index of the control of each drive.
        field: (drives,) Index in `FIELDS` of the target that each drive accepts.
        servo: (drives,) Whether each drive was added by the configuration's table ``control``.
        offset: (drives,) Control when all targets are 0.
        weights: (drives, 3) Weights of the targets in the control.
        force_weights: (drives,) Change of the control per unit of effort on the joint; 0 if unknown.
        range: (drives, 2) Range to which MuJoCo clamps the control.
        takes: For each field, a mask (joints,) of the joints that accept a target for it.
        reach: (joints, 3, 2) Minimum and maximum of the position [rad or m], velocity [rad/s or m/s] and
            effort [N m or N] targets.
    """

    def __init__(self, model: mujoco.MjModel, joints: np.ndarray):
        rows = {int(joint): k for k, joint in enumerate(joints)}
        found = read_drives(model)
        servos = added_servos(model, found)
        by_servo = {drive.joint for drive in servos}
        motors: dict[int, int] = {}  # if a joint has several motors, only one is used
        for drive in found:
            if drive.field == EFFORT and drive.joint not in by_servo:
                motors.setdefault(drive.joint, drive.control)
        drives = [d for d in found if d.field != EFFORT or motors.get(d.joint) == d.control]
        self.joint = np.array([rows[drive.joint] for drive in drives], int)
        self.control = np.array([drive.control for drive in drives], int)
        self.field = np.array([drive.field for drive in drives], int)
        self.servo = np.array([drive in servos for drive in drives], bool)
        self.offset = np.array([drive.offset for drive in drives], float)
        self.weights = np.array([drive.weights for drive in drives], float).reshape(-1, len(FIELDS))
        self.force_weights = self.weights[:, EFFORT].copy()
        self.weights[(self.field != EFFORT) & ~self.servo, EFFORT] = 0.0
        limited = model.actuator_ctrllimited[self.control].astype(bool)[:, None]
        limited &= not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL
        self.range = np.where(limited, model.actuator_ctrlrange[self.control], (-np.inf, np.inf))
        takes = np.zeros((len(joints), len(FIELDS)), bool)
        takes[self.joint, self.field] = True
        takes[self.joint[self.servo], EFFORT] = True
        damped = self.servo & (self.weights[:, VELOCITY] != 0.0)
        takes[self.joint[damped], VELOCITY] = True
        self.takes = dict(zip(FIELDS, takes.T, strict=True))
        self.reach = np.tile((-np.inf, np.inf), (len(joints), len(FIELDS), 1))
        limits = np.where(model.jnt_limited[:, None].astype(bool), model.jnt_range, (-np.inf, np.inf))
        self.reach[:, POSITION] = limits[joints]
        for k, joint in enumerate(joints.tolist()):
            self.reach[k, EFFORT] = effort_range(model, joint, found)
        for k in np.flatnonzero(self.weights[np.arange(len(drives)), self.field]).tolist():
            reach, weight = self.reach[self.joint[k], self.field[k]], self.weights[k, self.field[k]]
            low, high = np.sort((self.range[k] - self.offset[k]) / weight)
            reach[:] = max(reach[0], low), min(reach[1], high)

    def controls(self, drives: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the controls (k,) of some drives, clamped to their ranges.

        - ``targets``: (k, 3) Position, velocity and effort targets of their joints; NaN means no target.
        """
        controls = self.offset[drives] + np.sum(self.weights[drives] * np.nan_to_num(targets), axis=1)
        return np.clip(controls, *self.range[drives].T)


class Grips:
    """Set points of gripping joints, which apply until another command replaces them.

    Joints are specified by their indices in a `DriveTable`.

    The effort is limited by keeping the control of the position servo so close to the current position that
    the servo's force stays within the limit. This works with any engine and does not change the model.
    """

    def __init__(self, drives: DriveTable, qpos: np.ndarray, dofs: np.ndarray, timestep: float):
        """Create a table in which no joint is gripping.

        - ``qpos``: (joints,) addresses of the joints in ``qpos``.
        - ``dofs``: (joints,) addresses of the joints in ``qvel``.
        """
        self._table, self._qpos, self._dofs, self._timestep = drives, qpos, dofs, timestep
        self._last = 0
        """Number of the last grip."""
        self.active = False
        """Whether any joint is gripping."""
        self.owner = np.zeros(len(qpos), int)
        """(joints,) number of the grip that each joint follows; 0 for none."""
        self._plan = np.zeros((len(qpos), 5))
        """(joints, 5) columns: target, maximum effort, maximum velocity, start position and start time."""

    def check(self, joints: np.ndarray, names: list[str]) -> None:
        """Check that joints have position servos whose effort can be limited.

        - ``joints``: (k,) Indices of the joints.
        """
        rows = self._rows()
        able = rows[self._table.force_weights[rows] != 0.0]
        for joint, name in zip(joints, names, strict=True):
            if joint not in self._table.joint[able]:
                raise CommandError(
                    f"joint {name!r} has no position servo with a constant gain; "
                    f"set control: {{{name}: {{mode: position}}}}"
                )

    def start(
        self,
        engine: EngineArrays,
        joints: np.ndarray,
        start: np.ndarray,
        target: float,
        effort: float,
        velocity: float,
    ) -> int:
        """Start moving joints to a position.

        - ``joints``: (k,) Indices of joints that passed `check`.
        - ``start``: (k,) Current set points [m or rad].

        Returns:
            Number of the grip, see `owner`.
        """
        self._last += 1
        self.owner[joints], self.active = self._last, True
        self._plan[joints, :3] = target, effort, velocity
        self._plan[joints, 3], self._plan[joints, 4] = start, engine.time
        return self._last

    def release(self, joints: np.ndarray) -> None:
        """End the grips of some joints (indices or mask) without changing their controls."""
        self.owner[joints] = 0
        self.active = bool(self.owner.any())

    def apply(self, engine: EngineArrays, targets: np.ndarray) -> None:
        """Update the set points of gripping joints, and set their controls for the next step.

        - ``targets``: (joints, 3) position, velocity and effort targets; positions are modified in place.
        """
        joints = np.flatnonzero(self.owner)
        target, _, velocity, start, begin = self._plan[joints].T
        reach = np.minimum(velocity, 1e10) * (engine.time + self._timestep - begin)
        targets[joints, POSITION] = start + np.clip(target - start, -reach, reach)
        rows = self._rows()
        rows = rows[self.owner[self._table.joint[rows]] > 0]
        owners = self._table.joint[rows]
        controls = self._table.controls(rows, targets[owners])
        present = np.zeros((len(rows), 3))
        present[:, POSITION] = engine.qpos[self._qpos[owners]]
        present[:, VELOCITY] = engine.qvel[self._dofs[owners]]
        without_force = self._table.offset[rows] + np.sum(self._table.weights[rows] * present, axis=1)
        bound = np.abs(self._table.force_weights[rows]) * np.minimum(self._plan[owners, 1], 1e10)
        limited = np.clip(controls, without_force - bound, without_force + bound)
        engine.ctrl[self._table.control[rows]] = np.clip(limited, *self._table.range[rows].T)

    def _rows(self) -> np.ndarray:
        return np.flatnonzero(self._table.field == POSITION)


@dataclass(frozen=True)
class JointCommand:
    """Targets from a JointState message.

    Each array is empty or as long as ``name``. NaN means that a joint has no target.
    """

    name: Sequence[str]
    position: np.ndarray
    """Target position of each joint [rad or m]."""
    velocity: np.ndarray
    """Target velocity of each joint [rad/s or m/s]."""
    effort: np.ndarray
    """Target effort of each joint [N m or N]."""


def joint_tables(
    fields: Mapping[str, Mapping[str, Any] | None], count: int
) -> tuple[list[str], list[np.ndarray]]:
    """Convert commands by joint name to one array for each field.

    - ``fields``: For each field, such as ``position``, its values by joint name, or None. A value is a
      number or an array (count,).

    Returns:
        Names of k joints, and an array (count, k) for each field. NaN means no target.
    """
    values = {field: by_name(f"command_joints: {field}", given) for field, given in fields.items()}
    names = list(dict.fromkeys(name for given in values.values() for name in given))
    tables = []
    for field, given in values.items():
        tables.append(np.full((count, len(names)), np.nan))
        for name, value in given.items():
            array = as_array(value)
            if array.shape not in ((), (count,)):
                raise CommandError(
                    f"command_joints: {field} of joint {name!r}: must be a number"
                    f"{f' or {count} numbers' if count > 1 else ''}, got {described(value)}"
                )
            tables[-1][:, names.index(name)] = array
    return names, tables


class Commander:
    """Converts joint commands to actuator controls, and stores the last command for each joint.

    Controls are computed from the gain and bias of the actuators, so that a servo exerts no force at its
    target. If the configuration's table ``control`` added a servo to a joint, a commanded effort is added to
    the servo's force. Other joints receive the effort from their motor or, without a motor, as an applied
    force. Until the first command, servos added by ``control`` hold the joint positions of the last reset.
    """

    def __init__(self, model: mujoco.MjModel, names: Names):
        """Read the actuators of a compiled model, including servos added by ``control``."""
        self._model = model
        self._joints = np.flatnonzero(np.isin(model.jnt_type, SCALAR))
        self.joint_names = [names.joints[j] for j in self._joints]
        """Names of the hinge and slide joints, which are listed in joint states and accept commands."""
        self.qpos = model.jnt_qposadr[self._joints]
        self.dofs = model.jnt_dofadr[self._joints]
        self._index = {name: k for k, name in enumerate(self.joint_names)}
        self.without_position = {names.joints[joint]: why for joint, why in undriven(model, names).items()}
        """Why joints do not accept position commands, keyed by the names of these joints."""
        self.followers = {names.joints[joint] for joint in leaders(model)} & set(self.without_position)
        """Names of joints that follow another joint and have no servo of their own."""
        self.drives = DriveTable(model, self._joints)
        """Drives of the joints in `joint_names`, and the targets that these joints accept."""
        self._actuators = ActuatorCommands(model, names)
        self.grips = Grips(self.drives, self.qpos, self.dofs, model.opt.timestep)
        """Set points of joints that move with limited effort."""
        self._reported: set[tuple[int, int]] = set()
        self.release()

    def indices(self, names: Sequence[str]) -> np.ndarray:
        """Convert joint names to indices (k,) in `joint_names`."""
        return np.array([self._index[name] for name in names], int)

    def check_controls(self, controls: Sequence[float] | np.ndarray) -> np.ndarray:
        """Check raw controls and return them as an array (nu,)."""
        return numbers("ctrl", controls, self._model.nu)

    def check(self, command: JointCommand) -> dict[str, np.ndarray]:
        """Check a command and convert it to arrays.

        Returns:
            A mapping with targets (joints,) for ``position``, ``velocity`` and ``effort``, and with
            ``controls`` (nu,) for the tendons and actuators that the command names. NaN means no target.
        """
        valid = {*self._index, *self._actuators.names}
        for name in command.name:
            known("joint_commands: no joint", name, valid)
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
            huge = np.abs(values) >= LARGEST_STATE
            if huge.any():
                k = int(np.argmax(huge))
                raise CommandError(
                    f"joint_commands: {field} of joint {command.name[k]!r}: must be finite and below"
                    f" {LARGEST_STATE:g}, got {values[k]:g}"
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
                    f"joint_commands: joint {name!r} accepts no {field}{why}; {remedy}, or command its effort"
                )
        return targets

    def check_trajectory(self, trajectory: JointTrajectory) -> None:
        """Check that the scene's joints can follow a trajectory."""
        trajectory.check(self.joint_names)
        for name in trajectory.joints:
            if not self.drives.takes["position"][self._index[name]]:
                why = self.without_position.get(name, "")
                raise CommandError(
                    f"joint_trajectory: joint {name!r} accepts no position ({why}); "
                    f"set control: {{{name}: {{mode: position}}}}"
                )

    # -- applying commands -----------------------------------------------------------------------------------

    def start(self, engine: EngineArrays) -> None:
        """Forget all commands after a reset; servos added by ``control`` hold the current positions."""
        self.release()
        engine.ctrl[self.drives.control[self.drives.servo]] = 0.0
        self.hold(engine, np.arange(len(self._joints)))

    def hold(self, engine: EngineArrays, joints: np.ndarray) -> None:
        """Let servos added by ``control`` hold the current positions of joints that have no command."""
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

        - ``joints``: (k,) indices in `joint_names`.
        """
        return self._targets[joints, :EFFORT]

    def accept(self, targets: Mapping[str, np.ndarray], engine: EngineArrays) -> None:
        """Store and apply the targets in a checked command; this ends the current trajectory.

        Joints without a target keep their last command.
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

        - ``controls``: (nu,) Mask of the controls that are set directly.
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
        """Start to follow a trajectory from the current set points."""
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

        - ``joints``: (k,) indices of joints that passed ``grips.check``.

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
