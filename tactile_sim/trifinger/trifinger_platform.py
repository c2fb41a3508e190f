"""The TriFingerPro with a table, an object and three cameras."""

from __future__ import annotations

import copy
import enum
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np

from tactile_sim.common.errors import TactileSimError
from tactile_sim.trifinger import camera, trifingerpro_limits
from tactile_sim.trifinger.checks import InvalidValueError, count, numbers, quaternion
from tactile_sim.trifinger.collision_objects import BaseCollisionObject, add_cube, add_dice
from tactile_sim.trifinger.sim_finger import Action, Observation, SimFinger
from tactile_sim.trifinger.sim_finger import int_to_rgba as int_to_rgba  # part of the interface
from tactile_sim.trifinger.tasks import EPISODE_LENGTH, Pose, rearrange_dice


@dataclass(slots=True)
class ObjectPose:
    """Tracked pose of the object in the world."""

    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """(3,) position of the object in the world [m]."""
    orientation: np.ndarray = field(default_factory=lambda: np.zeros(4))
    """(4,) orientation of the object in the world, quaternion (x, y, z, w)."""
    confidence: float = 1.0
    """Tracking confidence; always 1 in simulation."""


@dataclass(slots=True)
class CameraObservation:
    """Image from one camera, with its time stamp."""

    image: np.ndarray | None = None
    """(height, width, 3) uint8 RGB image, or None if cameras are disabled."""
    timestamp: float | None = None
    """Simulation time at which the image was taken [s]."""


@dataclass(slots=True)
class TriCameraObservation:
    """Images that the three cameras took at the same time."""

    cameras: list[CameraObservation] = field(default_factory=lambda: [CameraObservation() for _ in range(3)])
    """Observations of camera60, camera180 and camera300."""


@dataclass(slots=True)
class TriCameraObjectObservation(TriCameraObservation):
    """Images of the three cameras and pose of the object, captured at the same time."""

    object_pose: ObjectPose = field(default_factory=ObjectPose)
    filtered_object_pose: ObjectPose = field(default_factory=ObjectPose)
    """Filtered pose of the object; equal to ``object_pose`` in simulation."""


class ObjectType(enum.Enum):
    """Kinds of objects on the table."""

    NONE = 0
    COLORED_CUBE = 1
    DICE = 2


class TriFingerPlatform:
    """Simulated TriFingerPro platform: a robot, an object and cameras.

    The class has the same interface as the real platform. Camera images and the object's pose are captured
    ``camera_rate_fps`` times per second and become available ``camera_delay_steps`` steps later. The next
    capture waits until the previous one is available.

    Attributes:
        simfinger: The robot.
        object_type: Object on the table.
        cube: The cube. This attribute exists only for ``ObjectType.COLORED_CUBE``.
        dice: List of the dice. This attribute exists only for ``ObjectType.DICE``.
        tricamera: The cameras.
        camera_rate_fps: Rate at which images and object poses are captured [Hz].
        enable_cameras: Whether images are rendered.
    """

    spaces = SimpleNamespace(
        robot_torque=trifingerpro_limits.robot_torque,
        robot_position=trifingerpro_limits.robot_position,
        robot_velocity=trifingerpro_limits.robot_velocity,
        object_position=trifingerpro_limits.object_position,
        object_orientation=trifingerpro_limits.object_orientation,
    )
    """Limits of actions and observations. The ``gym`` property of each requires gym or gymnasium."""

    def __init__(
        self,
        visualization: bool = False,
        initial_robot_position: Sequence[float] | None = None,
        initial_object_pose: Any = None,
        enable_cameras: bool = False,
        time_step_s: float = 0.001,
        object_type: ObjectType = ObjectType.COLORED_CUBE,
        camera_delay_steps: int = 90,
        *,
        action_log: int = EPISODE_LENGTH,
    ):
        """Create a platform.

        Args:
            visualization: Whether to show the platform in a browser view and print its URL.
            initial_robot_position: (9,) initial joint positions [rad].
            initial_object_pose: Initial pose of the cube: an object with ``position`` (3,) [m] and
                ``orientation``, quaternion (x, y, z, w), in the world. Dice have random positions.
            enable_cameras: Whether to render camera images. Otherwise images are ``None``.
            time_step_s: Time step [s].
            object_type: Object on the table. Only the cube is tracked.
            camera_delay_steps: Number of steps between the capture and the availability of an image.
            action_log: Maximum number of steps in the action log; 0 disables it.

        Raises:
            InvalidValueError: An argument is invalid.
            SceneError: The robot's files are not installed.
        """
        self.camera_rate_fps = 10
        self.enable_cameras = enable_cameras
        self.object_type = ObjectType(object_type)
        self._time_step = time_step_s
        self._camera_delay_steps = count("camera_delay_steps", camera_delay_steps)
        self._log = ActionLog(count("action_log", action_log))
        self._next_camera_trigger_t = 0
        self._camera_ready_t: int | None = None
        self._taken: TriCameraObservation | None = None
        self._seen: TriCameraObservation | None = None

        start = initial_robot_position
        if start is None:
            start = self.spaces.robot_position.default
        if initial_object_pose is None:
            initial_object_pose = Pose(
                self.spaces.object_position.default, self.spaces.object_orientation.default
            )
        try:
            numbers("initial_object_pose.position", initial_object_pose.position, 3)
            quaternion("initial_object_pose.orientation", initial_object_pose.orientation)
        except AttributeError:
            raise InvalidValueError(
                "initial_object_pose: must have a position and an orientation, as move_cube.Pose, got"
                f" {initial_object_pose!r}"
            ) from None
        self._has_object_tracking = self.object_type is ObjectType.COLORED_CUBE

        def furnish(spec: mujoco.MjSpec) -> None:
            if self.object_type is ObjectType.COLORED_CUBE:
                add_cube(spec, "cube", initial_object_pose.position, initial_object_pose.orientation)
            elif self.object_type is ObjectType.DICE:
                dice.extend(add_dice(spec, rearrange_dice.sample_goal()))

        dice: list[str] = []
        self.simfinger = SimFinger("trifingerpro", time_step_s, visualization, furnish=furnish)
        number = self.simfinger._pybullet_client_id
        if self._has_object_tracking:
            self.cube = BaseCollisionObject(number, "cube")
        elif self.object_type is ObjectType.DICE:
            self.dice = [BaseCollisionObject(number, name) for name in dice]
        self.simfinger.reset_finger_positions_and_velocities(start)
        self.tricamera = camera.create_trifinger_camera_array_from_config(
            camera.CALIBRATIONS, camera.PLATFORM, number
        )

        self.Action = self.simfinger.Action
        self.get_desired_action = self.simfinger.get_desired_action
        self.get_applied_action = self.simfinger.get_applied_action
        self.get_timestamp_ms = self.simfinger.get_timestamp_ms
        self.get_current_timeindex = self.simfinger.get_current_timeindex
        self.get_robot_observation = self.simfinger.get_observation
        self.forward_kinematics = self.simfinger.kinematics.forward_kinematics

        self._started_from = {
            "initial_robot_position": copy.copy(start),
            "initial_object_pose": copy.copy(initial_object_pose),
        }

    def get_time_step(self) -> float:
        """Return the time step [s]."""
        return self._time_step

    def append_desired_action(self, action: Any) -> int:
        """Apply an action for one time step; see `SimFinger.append_desired_action`."""
        self._update_cameras()
        t = self.simfinger.append_desired_action(action)
        seen = self.get_camera_observation(t)
        pose = seen.object_pose if isinstance(seen, TriCameraObjectObservation) else None
        self._log.append(t, action, self.get_robot_observation(t), pose)
        return t

    def get_camera_observation(self, t: int) -> TriCameraObservation | TriCameraObjectObservation:
        """Return the latest available camera observation; see the class docstring.

        It contains the pose of the cube if the object is a cube.

        Args:
            t: Index of the last step, or the next index. Both give the same observation.

        Raises:
            InvalidValueError: ``t`` has any other value.
            RenderingError: Cameras are enabled and this machine cannot render.
        """
        self.simfinger.check_time_index(t, upcoming=True)
        if self._seen is None:  # before the first action
            self._seen = self._take(0.0)
        return self._seen

    def store_action_log(self, filename: str | os.PathLike[str]) -> None:
        """Write the action log to a pickle file, overwriting an existing file.

        The file contains a mapping with ``initial_robot_position``, ``initial_object_pose`` and ``actions``.
        ``actions`` is a list with one mapping per step, which contains ``t``, ``action`` and
        ``robot_observation``. If the object is a cube, the mapping of each step also contains
        ``object_pose``, and the file also contains ``final_object_pose`` with ``t`` and ``pose``.

        Raises:
            InvalidValueError: No step has been taken yet.
            TactileSimError: The action log is disabled.
        """
        t = self.get_current_timeindex()
        log = {**self._started_from, "actions": self._log.read(self._has_object_tracking)}
        seen = self.get_camera_observation(t)
        if isinstance(seen, TriCameraObjectObservation):
            log["final_object_pose"] = {"t": t, "pose": seen.object_pose}
        with open(filename, "wb") as file:
            pickle.dump(log, file)

    def _update_cameras(self) -> None:
        """Capture a camera observation, or make one available, if that is due before the next step."""
        t = self.simfinger._t + 1
        if self._camera_ready_t is None and t >= self._next_camera_trigger_t:
            self._taken = self._take(self.get_timestamp_ms(t) / 1000)
            self._next_camera_trigger_t += round(1.0 / self.camera_rate_fps / self._time_step)
            self._camera_ready_t = t + self._camera_delay_steps
            if self._seen is None:
                self._seen = self._taken
        if self._camera_ready_t is not None and t >= self._camera_ready_t:
            self._seen = self._taken
            self._camera_ready_t = None

    def _take(self, timestamp: float) -> TriCameraObservation:
        """Capture an observation of the current state with a time stamp [s]."""
        images: Sequence[np.ndarray | None] = [None] * len(camera.CAMERA_IDS)
        if self.enable_cameras:
            images = self.tricamera.get_images()
        cameras = [CameraObservation(image, timestamp) for image in images]
        if not self._has_object_tracking:
            return TriCameraObservation(cameras)
        position, orientation = map(np.array, self.cube.get_state())
        pose, filtered = (ObjectPose(position.copy(), orientation.copy()) for _ in range(2))
        return TriCameraObjectObservation(cameras, pose, filtered)


_STEP = np.dtype(
    [
        ("t", np.int64),
        *((name, float, 9) for name in ("torque", "position", "position_kp", "position_kd")),
        *((f"observed_{name}", float, 9) for name in ("position", "velocity", "torque")),
        ("observed_tip_force", float, 3),
        ("object_position", float, 3),
        ("object_orientation", float, 4),
    ]
)
_ACTION = ("torque", "position", "position_kp", "position_kd")
_OBSERVATION = ("position", "velocity", "torque", "tip_force")


class ActionLog:
    """Log of the first steps of a run, kept in a temporary file so that memory use does not grow."""

    def __init__(self, limit: int):
        """Create a log of at most ``limit`` steps; 0 disables it."""
        self._limit = limit
        self._steps = 0
        self._row = np.zeros(1, _STEP)
        self._file = tempfile.TemporaryFile(prefix="tactile_sim_actions_") if limit else None

    def append(self, t: int, action: Any, observation: Observation, pose: ObjectPose | None) -> None:
        """Add a step, unless the log is full. ``pose`` is None if the object is not tracked."""
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
        """Return the entries of ``actions`` in `TriFingerPlatform.store_action_log`.

        Warn if the run had more steps than the limit.
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
        entries = []
        for row in np.frombuffer(self._file.read(), _STEP):
            observation = Observation()
            for name in _OBSERVATION:
                setattr(observation, name, row[f"observed_{name}"].copy())
            action = Action(*(row[name].copy() for name in _ACTION))
            entry = {"t": int(row["t"]), "action": action, "robot_observation": observation}
            if with_object:
                entry["object_pose"] = ObjectPose(
                    row["object_position"].copy(), row["object_orientation"].copy()
                )
            entries.append(entry)
        return entries


class ReplayError(TactileSimError):
    """Error for a log that cannot be replayed, or whose observations differ from those of the replay."""


def replay(
    logfile: str | os.PathLike[str], start: Pose, steps: int, cost: Callable[[int, ObjectPose], float]
) -> float:
    """Replay a log, check that its observations are reproduced, and return the reward.

    Args:
        logfile: File written by `TriFingerPlatform.store_action_log`. It is a pickle, so open only trusted
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
    with open(logfile, "rb") as file:
        try:
            log = pickle.load(file)
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, ValueError) as error:
            raise ReplayError(f"{logfile}: not an action log: {error}") from error
    needed = {"initial_robot_position", "initial_object_pose", "actions"}
    if not isinstance(log, dict) or not needed <= set(log):
        raise ReplayError(f"{logfile}: not an action log")
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
        _compare(f"robot in step {t}", entry["robot_observation"], robot, ("position", "velocity", "torque"))
        _compare(f"cube in step {t}", entry["object_pose"], pose, ("position", "orientation"))
        reward -= cost(t, pose)
    return reward


def _compare(what: str, logged: Any, actual: Any, fields: tuple[str, ...]) -> None:
    for name in fields:
        difference = np.abs(np.subtract(getattr(logged, name), getattr(actual, name))).max()
        if not difference < 1e-6:
            raise ReplayError(f"{what}: {name} differs from the log by {difference:.3g}")
