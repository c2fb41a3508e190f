"""Replay action logs to check that the observations are reproduced, and to compute the reward."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from tactile_sim.errors import TactileSimError
from tactile_sim.trifinger.images.observations import ObjectPose, TriCameraObjectObservation
from tactile_sim.trifinger.tasks.poses import Pose
from tactile_sim.trifinger.trifinger_platform import TriFingerPlatform

_OBSERVED = ("position", "velocity", "torque")


class ReplayError(TactileSimError):
    """Error for a log that cannot be replayed, or whose observations differ from those of the replay."""


def replay(
    logfile: str | os.PathLike[str],
    start: Pose,
    steps: int,
    cost: Callable[[int, ObjectPose], float],
) -> float:
    """Replay a log, check that its observations are reproduced, and return the reward.

    Args:
        logfile: File written by ``TriFingerPlatform.store_action_log``. It is a pickle, so open only trusted
            logs.
        start: Required initial pose of the cube.
        steps: Required number of steps.
        cost: Function that returns the cost, given a time index and the observed pose of the cube.

    Returns:
        The reward: the negative sum of the costs of all steps.

    Raises:
        OSError: The log cannot be opened.
        ReplayError: The file is not a log, has a different initial pose or length, or contains observations
            that differ from those of the replay.
    """
    log = _read(logfile)
    _compare("initial pose of the cube", log["initial_object_pose"], start, ("position", "orientation"))
    if len(log["actions"]) != steps:
        raise ReplayError(f"{logfile}: must have {steps} steps, got {len(log['actions'])}")
    platform = TriFingerPlatform(False, log["initial_robot_position"], start, action_log=0)
    reward = 0.0
    for entry in log["actions"]:
        t = platform.append_desired_action(entry["action"])
        robot, seen = platform.get_robot_observation(t), platform.get_camera_observation(t)
        assert isinstance(seen, TriCameraObjectObservation)
        pose = seen.object_pose
        _compare(f"robot in step {t}", entry["robot_observation"], robot, _OBSERVED)
        _compare(f"cube in step {t}", entry["object_pose"], pose, ("position", "orientation"))
        reward -= cost(t, pose)
    return reward


def _read(logfile: str | os.PathLike[str]) -> dict[str, Any]:
    with open(logfile, "rb") as file:
        try:
            log = pickle.load(file)
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, ValueError) as error:
            raise ReplayError(f"{logfile}: not an action log: {error}") from error
    if not isinstance(log, dict) or not {"initial_robot_position", "initial_object_pose", "actions"} <= set(
        log
    ):
        raise ReplayError(f"{logfile}: not an action log")
    return log


def _compare(what: str, logged: Any, actual: Any, fields: tuple[str, ...]) -> None:
    for field in fields:
        difference = np.abs(np.subtract(getattr(logged, field), getattr(actual, field))).max()
        if not difference < 1e-6:
            raise ReplayError(f"{what}: {field} differs from the log by {difference:.3g}")
