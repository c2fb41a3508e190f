"""Plug-in that adds the engine ``trifinger`` with its scene, commander, motion and topics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.control.makers import Motion
from tactile_sim.engines import Engine, EnginePlugin, EngineTopic
from tactile_sim.names import Names
from tactile_sim.scenes.camera import Camera
from tactile_sim.trifinger.control.commander import FingerCommander
from tactile_sim.trifinger.control.grasp_motion import GraspMotion
from tactile_sim.trifinger.engine import TrifingerEngine
from tactile_sim.trifinger.images.calibration import (
    CALIBRATIONS,
    CLIPPING,
    PLATFORM,
    CameraParameters,
    load_camera_parameters,
)
from tactile_sim.trifinger.robot.skin import SPACINGS
from tactile_sim.trifinger.robot.spec import joint_names, load_spec
from tactile_sim.trifinger.settings import TrifingerSettings
from tactile_sim.trifinger.workspace.scene import workspace_spec


class TrifingerPlugin(EnginePlugin):
    """Engine plug-in that runs MuJoCo with the TriFinger's action rules in the TriFinger's scene.

    See `EnginePlugin` for the arguments of the methods.
    """

    Settings = TrifingerSettings

    def make_engine(
        self,
        spec: mujoco.MjSpec,
        model: mujoco.MjModel,
        options: TrifingerSettings | None,
        bodies: Collection[int] | None,
    ) -> TrifingerEngine:
        """Return the engine for a robot in its workspace."""
        if options is None:
            return TrifingerEngine(spec, model)
        return TrifingerEngine(spec, model, options.link_drag, options.object_noise, options.seed)

    def scene_name(self, options: TrifingerSettings) -> str:
        """Return the name of the scene, which is the finger type of the robot."""
        return options.type

    def make_scene(self, name: str, options: TrifingerSettings | None, where: str) -> mujoco.MjSpec:
        """Return the spec of the scene.

        If ``options`` is None, it contains only the robot, the floor, the table and the border.
        """
        return load_spec(name) if options is None else workspace_spec(options, where)

    def default_scales(self, options: TrifingerSettings) -> Mapping[str, float]:
        """Return the default spacing of the taxels on tips and lower links [m], by pattern of link names."""
        return {f"{link}*": spacing for link, spacing in SPACINGS.items()}

    def make_commander(
        self, engine: Engine, names: Names, control: Mapping[str, Mapping[str, Any]], where: str
    ) -> FingerCommander:
        """Return a commander that converts joint commands to desired actions."""
        assert isinstance(engine, TrifingerEngine)
        return FingerCommander(engine.model, names, control, engine.physics.rules, where)

    def make_motion(self, engine: Engine, options: TrifingerSettings) -> Motion | None:
        """Return the motion that grasps the cube, or None if it is not configured."""
        assert isinstance(engine, TrifingerEngine)
        return GraspMotion(options.type, engine.physics) if options.grasp else None

    def cameras(self, options: TrifingerSettings) -> Mapping[str, Camera]:
        """Return the three cameras of the platform, with the calibration that `TriFingerPlatform` uses."""
        return {
            camera.name: camera for camera in map(_camera, load_camera_parameters(CALIBRATIONS, PLATFORM))
        }

    def topics(self, engine: Engine) -> Iterator[EngineTopic]:
        """Yield the topics for motor torques [N m], push sensors in the tips and the tracked object."""
        assert isinstance(engine, TrifingerEngine)
        names: dict[str, Any] = {"name": joint_names(engine.finger_type)}
        yield from (
            EngineTopic(
                "joint_states",
                "sensor_msgs/msg/JointState",
                "finger/applied_torque",
                "effort",
                lambda: engine.physics.torque,
                names,
            ),
            EngineTopic(
                "joint_states",
                "std_msgs/msg/Float64MultiArray",
                "finger/tip_force",
                "data",
                lambda: engine.push_sensors,
            ),
        )
        if engine.tracks_object:
            yield EngineTopic(
                "sensors",
                "geometry_msgs/msg/PoseStamped",
                "finger/object_pose",
                "pose",
                lambda: engine.object_pose,
            )


def _camera(calibration: CameraParameters) -> Camera:
    """Convert a calibration to a camera that is fixed in the world."""
    rotation, translation = calibration.tf_world_to_camera[:3, :3], calibration.tf_world_to_camera[:3, 3]
    return Camera(
        calibration.name,
        0,
        -rotation.T @ translation,
        Rotation.from_matrix(rotation.T).as_quat(scalar_first=True),
        calibration.width,
        calibration.height,
        calibration.camera_matrix,
        *CLIPPING,
        np.array(calibration.distortion_coefficients),
    )
