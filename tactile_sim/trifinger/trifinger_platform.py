"""The TriFingerPro with a table, an object and three cameras."""

from __future__ import annotations

import copy
import enum
import os
import pickle
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np

from tactile_sim.trifinger import camera, trifingerpro_limits
from tactile_sim.trifinger.collision_objects import BaseCollisionObject
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.images.observations import (
    CameraObservation,
    ObjectPose,
    TriCameraObjectObservation,
    TriCameraObservation,
)
from tactile_sim.trifinger.running.action_log import ActionLog
from tactile_sim.trifinger.running.time_index import check_time_index
from tactile_sim.trifinger.sim_finger import SimFinger
from tactile_sim.trifinger.tasks import move_cube, rearrange_dice
from tactile_sim.trifinger.values import count, numbers, quaternion
from tactile_sim.trifinger.workspace import objects
from tactile_sim.trifinger.workspace.objects import int_to_rgba

__all__ = [
    "CameraObservation",
    "ObjectPose",
    "ObjectType",
    "TriCameraObjectObservation",
    "TriCameraObservation",
    "TriFingerPlatform",
    "int_to_rgba",
]


class ObjectType(enum.Enum):
    """Kinds of objects on the table."""

    NONE = 0
    COLORED_CUBE = 1
    DICE = 2


class TriFingerPlatform:
    """Simulated TriFingerPro platform: a robot, an object and cameras.

    The class has the same interface as the real platform.


    Camera images and the object's pose are captured ``camera_rate_fps`` times per second and become available
    ``camera_delay_steps`` steps later. The next capture waits until the previous one is available.

    Attributes:
        simfinger: The robot.
        object_type: Object on the table.
        cube: The cube. This attribute exists only for ``ObjectType.COLORED_CUBE``.
        dice: List of the dice. This attribute exists only for ``ObjectType.DICE``.
        tricamera: The cameras.
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
        action_log: int = move_cube.EPISODE_LENGTH,
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
        """Rate at which images and object poses are captured [Hz]."""
        self.enable_cameras = enable_cameras
        """Whether images are rendered."""
        self.object_type = ObjectType(object_type)
        self._time_step = time_step_s
        self._camera_delay_steps = count("camera_delay_steps", camera_delay_steps)
        log_length = count("action_log", action_log)
        self._next_camera_trigger_t = 0
        self._camera_ready_t: int | None = None
        self._taken: TriCameraObservation | TriCameraObjectObservation | None = None
        self._seen: TriCameraObservation | TriCameraObjectObservation | None = None

        start = (
            self.spaces.robot_position.default if initial_robot_position is None else initial_robot_position
        )
        if initial_object_pose is None:
            initial_object_pose = move_cube.Pose(
                self.spaces.object_position.default, self.spaces.object_orientation.default
            )
        _check_pose("initial_object_pose", initial_object_pose)
        self.simfinger = SimFinger(
            "trifingerpro",
            time_step_s,
            visualization,
            furnish=lambda spec: self._furnish(spec, initial_object_pose),
        )
        number = self.simfinger._pybullet_client_id
        self._has_object_tracking = self.object_type is ObjectType.COLORED_CUBE
        if self._has_object_tracking:
            self.cube = BaseCollisionObject(number, "cube")
        elif self.object_type is ObjectType.DICE:
            self.dice = [BaseCollisionObject(number, name) for name in self._dice]
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
        self._log = ActionLog(log_length)

    def _furnish(self, spec: mujoco.MjSpec, pose: Any) -> None:
        if self.object_type is ObjectType.COLORED_CUBE:
            objects.add_cube(spec, "cube", pose.position, pose.orientation)
        elif self.object_type is ObjectType.DICE:
            self._dice = objects.add_dice(spec, rearrange_dice.sample_goal())

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
        check_time_index(t, self.simfinger._t, upcoming=True)
        if self._seen is None:  # before the first action
            self._seen = self._take()
            _stamp(self._seen, 0.0)
        return self._seen

    def store_action_log(self, filename: str | os.PathLike[str]) -> None:
        """Write the action log to a pickle file, overwriting an existing file.

        The file contains a mapping with ``initial_robot_position``, ``initial_object_pose`` and ``actions``.
        ``actions`` is a list with one mapping per step, which contains ``t``, ``action`` and
        ``robot_observation``. If the object is a cube, the mapping of each step also contains
        ``object_pose``, and the file also contains ``final_object_pose`` with ``t`` and ``pose``.

        Args:
            filename: File to write.

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
            self._taken = self._take()
            _stamp(self._taken, self.get_timestamp_ms(t) / 1000)
            self._next_camera_trigger_t += round(1.0 / self.camera_rate_fps / self._time_step)
            self._camera_ready_t = t + self._camera_delay_steps
            if self._seen is None:
                self._seen = self._taken
        if self._camera_ready_t is not None and t >= self._camera_ready_t:
            self._seen = self._taken
            self._camera_ready_t = None

    def _take(self) -> TriCameraObservation | TriCameraObjectObservation:
        """Capture an observation of the current state, without time stamps."""
        cameras = [CameraObservation() for _ in camera.CAMERA_IDS]
        if self.enable_cameras:
            for observation, image in zip(cameras, self.tricamera.get_images(), strict=True):
                observation.image = image
        if not self._has_object_tracking:
            return TriCameraObservation(cameras)
        return TriCameraObjectObservation(cameras, self._object_pose(), self._object_pose())

    def _object_pose(self) -> ObjectPose:
        position, orientation = self.cube.get_state()
        return ObjectPose(np.array(position), np.array(orientation))


def _check_pose(what: str, pose: Any) -> None:
    try:
        position, orientation = pose.position, pose.orientation
    except AttributeError:
        raise InvalidValueError(
            f"{what}: must have a position and an orientation, as move_cube.Pose, got {pose!r}"
        ) from None
    numbers(f"{what}.position", position, 3)
    quaternion(f"{what}.orientation", orientation)


def _stamp(observation: TriCameraObservation | TriCameraObjectObservation, seconds: float) -> None:
    for one in observation.cameras:
        one.timestamp = seconds
