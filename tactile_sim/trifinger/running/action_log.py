"""Log the actions and observations of a platform."""

from __future__ import annotations

import tempfile
import warnings
from typing import Any

import numpy as np

from tactile_sim.errors import TactileSimError
from tactile_sim.trifinger.action import Action
from tactile_sim.trifinger.images.observations import ObjectPose
from tactile_sim.trifinger.observation import Observation

_JOINTS, _FINGERS = 9, 3
_STEP = np.dtype(
    [
        ("t", np.int64),
        *((name, float, _JOINTS) for name in ("torque", "position", "position_kp", "position_kd")),
        *((f"observed_{name}", float, _JOINTS) for name in ("position", "velocity", "torque")),
        ("observed_tip_force", float, _FINGERS),
        ("object_position", float, 3),
        ("object_orientation", float, 4),
    ]
)
_ACTION = ("torque", "position", "position_kp", "position_kd")
_OBSERVATION = ("position", "velocity", "torque", "tip_force")


class ActionLog:
    """Log of the first steps of a run, kept in a temporary file so that memory use does not grow."""

    def __init__(self, limit: int):
        """Create a log.

        Args:
            limit: Maximum number of steps; 0 disables the log.
        """
        self._limit = limit
        self._steps = 0
        self._row = np.zeros(1, _STEP)
        self._file = tempfile.TemporaryFile(prefix="tactile_sim_actions_") if limit else None

    def append(self, t: int, action: Any, observation: Observation, pose: ObjectPose | None) -> None:
        """Add a step, unless the log is full.

        Args:
            t: Time index.
            action: Desired action.
            observation: Observation at time index ``t``.
            pose: Observed pose of the object; None if it is not tracked.
        """
        self._steps += 1
        if self._file is None or self._steps > self._limit:
            return
        row = self._row[0]
        row["t"] = t
        for name in _ACTION:
            row[name] = getattr(action, name)
        for name in _OBSERVATION:
            row[f"observed_{name}"] = getattr(observation, name)
        if pose is not None:
            row["object_position"], row["object_orientation"] = pose.position, pose.orientation
        self._file.write(self._row.tobytes())

    def read(self, with_object: bool) -> list[dict[str, Any]]:
        """Return the logged steps; warn if the run had more steps than the limit.

        Args:
            with_object: Whether to include ``object_pose``.

        Returns:
            One mapping per step: ``t``, ``action``, ``robot_observation`` and optionally ``object_pose``.

        Raises:
            TactileSimError: The log is disabled.
        """
        if self._file is None:
            raise TactileSimError(
                "action log: disabled; set its length with TriFingerPlatform(action_log=...)"
            )
        if self._steps > self._limit:
            warnings.warn(
                f"action log: contains the first {self._limit} of {self._steps} steps; set its length with"
                " TriFingerPlatform(action_log=...)",
                stacklevel=3,
            )
        self._file.seek(0)
        rows = np.frombuffer(self._file.read(), _STEP)
        return [_entry(row, with_object) for row in rows]


def _entry(row: np.void, with_object: bool) -> dict[str, Any]:
    observation = Observation()
    for name in _OBSERVATION:
        setattr(observation, name, row[f"observed_{name}"].copy())
    entry = {
        "t": int(row["t"]),
        "action": Action(*(row[name].copy() for name in _ACTION)),
        "robot_observation": observation,
    }
    if with_object:
        entry["object_pose"] = ObjectPose(row["object_position"].copy(), row["object_orientation"].copy())
    return entry
