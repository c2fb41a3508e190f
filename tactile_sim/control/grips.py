"""Let joints approach a position with limited effort and velocity, as a gripper does."""

from __future__ import annotations

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.control.drive_table import DriveTable
from tactile_sim.engines.protocol import EngineArrays
from tactile_sim.scenes.drives import POSITION, VELOCITY


class Grips:
    """Set points of gripping joints, which apply until another command replaces them.

    Joints are specified by their indices in a `DriveTable`.

    The effort is limited by keeping the control of the position servo so close to the current position that
    the servo's force stays within the limit. This works with any engine and does not change the model.
    """

    def __init__(self, drives: DriveTable, qpos: np.ndarray, dofs: np.ndarray, timestep: float):
        """Create a table in which no joint is gripping.

        Args:
            drives: Drives of the joints.
            qpos: (joints,) addresses of the joints in ``qpos``.
            dofs: (joints,) addresses of the joints in ``qvel``.
            timestep: Time step [s].
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

        Args:
            joints: (k,) Indices of the joints.
            names: Names of the joints, for error messages.

        Raises:
            CommandError: A joint has no such servo.
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

        Args:
            engine: State and inputs of the engine.
            joints: (k,) Indices of joints that passed `check`.
            start: (k,) Current set points [m or rad].
            target: Target position [m or rad].
            effort: Maximum effort on each joint [N or N m]; may be infinite.
            velocity: Maximum velocity of the set point [m/s or rad/s]; may be infinite.

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

        Args:
            engine: State and inputs of the engine.
            targets: (joints, 3) position, velocity and effort targets; positions are modified in place.
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
