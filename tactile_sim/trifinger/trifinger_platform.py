"""The TriFingerPro on its table, with an object to handle and three cameras."""

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
    """What lies on the table."""

    NONE = 0
    COLORED_CUBE = 1
    DICE = 2


class TriFingerPlatform:
    """A :class:`SimFinger` with an object and cameras, under the names of the real platform's frontend.

    Cameras, and with them the object's pose, are taken ``camera_rate_fps`` times a second, and are seen
    ``camera_delay_steps`` steps later; the next is not taken before the last is seen.
    """

    spaces = SimpleNamespace(
        robot_torque=trifingerpro_limits.robot_torque,
        robot_position=trifingerpro_limits.robot_position,
        robot_velocity=trifingerpro_limits.robot_velocity,
        object_position=trifingerpro_limits.object_position,
        object_orientation=trifingerpro_limits.object_orientation,
    )
    """Limits of actions and observations; ``.gym`` of each is a ``Box`` where gymnasium is installed."""

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
        """Args:
            visualization: shows the platform in the browser; the address is printed.
            initial_robot_position: (9,) joint angles [rad].
            initial_object_pose: of the cube: anything with ``position`` (3,) [m] and ``orientation``, a
                quaternion (x, y, z, w). Dice lie at random.
            enable_cameras: draws the cameras' pictures. Without, they are ``None``, but the rest is there.
            time_step_s: [s]
            object_type: what lies on the table; only the cube is tracked.
            camera_delay_steps: steps from taking a picture until it is seen.
            action_log: how many steps :meth:`store_action_log` can write, at most; 0: none.

        Raises:
            ValueError: the joint angles, the pose, the time step or a number of steps cannot be.
            SceneError: the robot's files are not installed.
        """
        self.camera_rate_fps = 10
        """Pictures, and poses of the object, a second."""
        self.enable_cameras = enable_cameras
        """Whether pictures are drawn from now on."""
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
            camera.CALIBRATIONS, "camera{id}_cropped_and_downsampled.yml", number
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
        """Time from one action to the next [s]."""
        return self._time_step

    def append_desired_action(self, action: Any) -> int:
        """Goes one time step on under an action; see :meth:`SimFinger.append_desired_action`."""
        self._update_cameras()
        t = self.simfinger.append_desired_action(action)
        seen = self.get_camera_observation(t)
        pose = seen.object_pose if isinstance(seen, TriCameraObjectObservation) else None
        self._log.append(t, action, self.get_robot_observation(t), pose)
        return t

    def get_camera_observation(self, t: int) -> TriCameraObservation | TriCameraObjectObservation:
        """What of the cameras is seen at a time index, with the cube's pose where there is the cube.

        Args:
            t: index of the last action, or the one after it.

        Raises:
            ValueError: any other time index.
            RenderingError: pictures were asked for, and this machine cannot draw them.
        """
        check_time_index(t, self.simfinger._t, upcoming=True)
        if self._seen is None:  # before the first action
            self._seen = self._take()
            _stamp(self._seen, 0.0)
        return self._seen

    def store_action_log(self, filename: str | os.PathLike[str]) -> None:
        """Writes all steps since the start, up to the limit ``action_log``, as a pickle.

        It is a mapping: ``initial_robot_position``, ``initial_object_pose``, ``actions`` (each with ``t``,
        ``action``, ``robot_observation`` and, of the cube, ``object_pose``) and, of the cube,
        ``final_object_pose`` with ``t`` and ``pose``. A file that is there is overwritten.

        Raises:
            ValueError: before the first action.
            TactileSimError: no log was kept.
        """
        t = self.get_current_timeindex()
        log = {**self._started_from, "actions": self._log.read(self._has_object_tracking)}
        seen = self.get_camera_observation(t)
        if isinstance(seen, TriCameraObjectObservation):
            log["final_object_pose"] = {"t": t, "pose": seen.object_pose}
        with open(filename, "wb") as file:
            pickle.dump(log, file)

    def _update_cameras(self) -> None:
        """Before a step: takes what is due, shows what is ready."""
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
        """The present state, without a stamp."""
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
            f"{what}: what has a position and an orientation is needed, as move_cube.Pose, not {pose!r}"
        ) from None
    numbers(f"{what}.position", position, 3)
    quaternion(f"{what}.orientation", orientation)


def _stamp(observation: TriCameraObservation | TriCameraObjectObservation, seconds: float) -> None:
    for one in observation.cameras:
        one.timestamp = seconds
