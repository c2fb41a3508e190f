"""Runs a platform's log again: it must come out the same, and the reward is counted on the way."""

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
    """A log that cannot be run again, or that comes out otherwise."""


def replay(
    logfile: str | os.PathLike[str],
    start: Pose,
    steps: int,
    cost: Callable[[int, ObjectPose], float],
) -> float:
    """The reward of a log's actions: minus the sum of the costs of all steps.

    Args:
        logfile: of ``TriFingerPlatform.store_action_log``. Only open logs that you trust: it is a pickle.
        start: where the cube has to start.
        steps: how many the log has to have.
        cost: of a time index and the cube's pose that is seen then.

    Raises:
        OSError: the log cannot be opened.
        ReplayError: it is none, starts elsewhere, has another length, or comes out otherwise.
    """
    log = _read(logfile)
    _compare("the cube's first pose", log["initial_object_pose"], start, ("position", "orientation"))
    if len(log["actions"]) != steps:
        raise ReplayError(f"{logfile}: the log has {len(log['actions'])} steps, the episode {steps}")
    platform = TriFingerPlatform(False, log["initial_robot_position"], start, action_log=0)
    reward = 0.0
    for entry in log["actions"]:
        t = platform.append_desired_action(entry["action"])
        robot, seen = platform.get_robot_observation(t), platform.get_camera_observation(t)
        assert isinstance(seen, TriCameraObjectObservation)
        pose = seen.object_pose
        _compare(f"the robot in step {t}", entry["robot_observation"], robot, _OBSERVED)
        _compare(f"the cube in step {t}", entry["object_pose"], pose, ("position", "orientation"))
        reward -= cost(t, pose)
    return reward


def _read(logfile: str | os.PathLike[str]) -> dict[str, Any]:
    with open(logfile, "rb") as file:
        try:
            log = pickle.load(file)
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, ValueError) as error:
            raise ReplayError(f"{logfile}: this is no action log: {error}") from error
    if not isinstance(log, dict) or not {"initial_robot_position", "initial_object_pose", "actions"} <= set(
        log
    ):
        raise ReplayError(f"{logfile}: this is no action log")
    return log


def _compare(what: str, logged: Any, actual: Any, fields: tuple[str, ...]) -> None:
    for field in fields:
        difference = np.abs(np.subtract(getattr(logged, field), getattr(actual, field))).max()
        if not difference < 1e-6:
            raise ReplayError(f"{what} does not come out as in the log: {field} differs by {difference:.3g}")
