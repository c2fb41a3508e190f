"""Check commands to joints and actuators before they are applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.names import Names
from tactile_sim.common.schema import LARGEST_STATE, as_array, by_name, described, known, numbers
from tactile_sim.control.actuator_commands import ActuatorCommands
from tactile_sim.control.drive_table import DriveTable
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.scenes.drives import FIELDS, SCALAR, leaders, undriven


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

    Args:
        fields: For each field, such as ``position``, its values by joint name, or None. A value is a number
            or an array (count,).
        count: Number of environments.

    Returns:
        Names of k joints, and an array (count, k) for each field. NaN means no target.

    Raises:
        CommandError: A field is not a mapping, or a value is neither a number nor an array (count,) of
            numbers.
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


class CommandChecks:
    """The joints and actuators of a scene that accept commands, and checks for these commands."""

    def __init__(self, model: mujoco.MjModel, names: Names):
        """Read the joints and actuators of a compiled model."""
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

    def indices(self, names: Sequence[str]) -> np.ndarray:
        """Convert joint names to indices (k,) in `joint_names`."""
        return np.array([self._index[name] for name in names], int)

    def check_controls(self, controls: Sequence[float] | np.ndarray) -> np.ndarray:
        """Check raw controls and return them as an array (nu,).

        Args:
            controls: One value per control.

        Raises:
            CommandError: The number of values is wrong, or a value is not a finite number or too large.
        """
        return numbers("ctrl", controls, self._model.nu)

    def check(self, command: JointCommand) -> dict[str, np.ndarray]:
        """Check a command and convert it to arrays.

        Returns:
            A mapping with targets (joints,) for ``position``, ``velocity`` and ``effort``, and with
            ``controls`` (nu,) for the tendons and actuators that the command names. NaN means no target.

        Raises:
            CommandError: The command is invalid.
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
        """Check that the scene's joints can follow a trajectory.

        Raises:
            CommandError: The trajectory is invalid, or a joint does not accept positions.
        """
        trajectory.check(self.joint_names)
        for name in trajectory.joints:
            if not self.drives.takes["position"][self._index[name]]:
                why = self.without_position.get(name, "")
                raise CommandError(
                    f"joint_trajectory: joint {name!r} accepts no position ({why}); "
                    f"set control: {{{name}: {{mode: position}}}}"
                )
