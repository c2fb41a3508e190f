"""The engine ``trifinger``: MuJoCo with the robot's action rules, its scene, commands and topics."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.common.errors import CommandError, ConfigError, EngineError
from tactile_sim.common.names import Names
from tactile_sim.common.schema import Choice, Flag, Number, Numbers, parameter, whole
from tactile_sim.control.commander import Commander, JointCommand
from tactile_sim.control.makers import Motion
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.engines import Engine, EnginePlugin, EngineTopic
from tactile_sim.engines.mujoco import MujocoEngine
from tactile_sim.engines.protocol import EngineArrays
from tactile_sim.scenes.camera import Camera
from tactile_sim.scenes.servos import match_control
from tactile_sim.trifinger.camera import CALIBRATIONS, CLIPPING, PLATFORM, load_camera_parameters
from tactile_sim.trifinger.collision_objects import add_cube
from tactile_sim.trifinger.finger_types_data import (
    finger_types_data,
    get_initial_joint_positions,
    get_number_of_fingers,
    joint_names,
)
from tactile_sim.trifinger.grip import GraspMotion
from tactile_sim.trifinger.physics import FingerPhysics, Rules
from tactile_sim.trifinger.scene import load_spec
from tactile_sim.trifinger.sim_finger import SPACINGS

EYE, LOOKS_AT = (0.045, -0.17, 0.165), (0.0, 0.0, 0.05)
"""Position of the scene's camera and the point it looks at, in the world frame [m]."""
TRACKING_RATE = 10.0
"""Rate at which the platform's cameras see the object [Hz]."""
TRACKING_DELAY = 0.09
"""Time after which a pose of the object is available [s]."""


@dataclass(frozen=True)
class TrifingerSettings:
    """``trifinger.*``: type of the robot and the object on its table."""

    type: str = parameter(Choice(tuple(finger_types_data)), "the robot", "trifingerpro")
    object: str = parameter(Choice(("cube", "none")), "object on the table", "cube")
    object_noise: tuple[float, ...] = parameter(
        Numbers(Number(least=0), (2,)),
        "standard deviations of the tracked pose `finger/object_pose`: position [m] and rotation [rad]",
        (0.0, 0.0),
    )
    link_drag: bool = parameter(
        Flag(), "whether links and objects have the drag of PyBullet, for which the gains were tuned", True
    )
    grasp: bool = parameter(
        Flag(), "built-in motion: three fingers grasp the cube, lift it and hold it", False
    )
    seed: int = 0
    """The key ``seed`` of the configuration."""


class TrifingerEngine(MujocoEngine):
    """Engine that simulates a TriFinger robot in its workspace.

    ``physics.rules`` contains the desired action. Motor torques are written to ``qfrc_applied``.
    """

    name = "trifinger"

    def __init__(
        self,
        spec: mujoco.MjSpec,
        model: mujoco.MjModel,
        link_drag: bool = True,
        object_noise: tuple[float, ...] = (0.0, 0.0),
        seed: int = 0,
    ):
        """Create an engine.

        Args:
            spec: Scene from `scene.load_spec`, possibly with added objects.
            model: The compiled scene.
            link_drag: Whether to apply Bullet's drag and to limit joint speeds as in Bullet.
            object_noise: Standard deviations of the tracked object's position [m] and rotation [rad].
            seed: Seed of this noise.
        """
        self.physics = FingerPhysics(spec, spec.modelname, link_drag=link_drag, model=model)
        self._noise, self._seed = object_noise, seed
        self._images: dict[int, np.ndarray] = {}
        """The last two poses of the object that the platform saw, by the number of the image."""
        cube = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, "cube")
        self._object = slice(model.jnt_qposadr[cube], model.jnt_qposadr[cube] + 7) if cube >= 0 else None
        """Pose of the tracked object in ``qpos``."""
        super().__init__(model, self.physics.data)

    def __deepcopy__(self, memo: dict[int, Any]) -> TrifingerEngine:
        """Return an engine with a copy of the state and of the desired action."""
        new = super().__deepcopy__(memo)
        assert isinstance(new, TrifingerEngine)
        new.physics = memo[id(self.physics)] = self.physics.copied(new.data)
        memo[id(self.physics.rules)] = new.physics.rules
        new._images = copy.copy(self._images)
        return new

    def step(self, n: int = 1) -> None:
        """Advance by n time steps."""
        for _ in range(whole("step: n", n, error=EngineError)):
            self._track()
            self.physics.step()

    def forward(self) -> bool:
        """Compute poses, contacts and forces for the current state and the desired action."""
        self.physics.forward()
        return True

    def integrate(self) -> None:
        """Advance from the state of the last `forward` to the next state."""
        self._track()
        self.physics.integrate()

    def reset(self, keyframe: str | None = None) -> None:
        """Reset the scene to its initial state or to a keyframe, and compute poses and contacts.

        In the initial state, the robot has the initial joint positions of its finger type. The desired action
        becomes zero torque without position control.

        Raises:
            EngineError: The keyframe does not exist.
        """
        self._reset_data(keyframe)
        self._images.clear()
        self.physics.rules.rest()
        if not keyframe:
            self.physics.q[:] = get_initial_joint_positions(self.physics.finger_type)
        self.physics.restart()

    @property
    def state_size(self) -> int:
        """Length of the vector that `get_state` writes."""
        return super().state_size + self.physics.rules.desired.size

    def get_state(self, out: np.ndarray) -> None:
        """Write the state, the inputs and the desired action to a vector (state_size,)."""
        super().get_state(out[: super().state_size])
        out[super().state_size :] = self.physics.rules.desired.ravel()

    def set_state(self, values: np.ndarray) -> None:
        """Restore the state, the inputs and the desired action from a vector written by `get_state`."""
        super().set_state(values[: super().state_size])
        desired = self.physics.rules.desired
        desired[:] = values[super().state_size :].reshape(desired.shape)

    def _track(self) -> None:
        """Let the platform see the object before a step, if an image is due."""
        if self._object is None:
            return
        number, rest = divmod(self._steps, round(1 / TRACKING_RATE / self.timestep))
        if rest == 0:
            pose = self.qpos[self._object].copy()
            self._images = {number: pose, number - 1: self._images.get(number - 1, pose)}

    @property
    def _steps(self) -> int:
        """Number of steps since the reset."""
        return round(self.time / self.timestep)

    @property
    def tracks_object(self) -> bool:
        """Whether there is an object that the platform tracks, the cube."""
        return self._object is not None

    @property
    def object_pose(self) -> np.ndarray:
        """(7,) pose of the tracked object as the platform provides it: position [m] and quaternion xyzw.

        It is the pose in the last image that is at least `TRACKING_DELAY` old, or the initial one. The noise
        depends on the seed and the number of the image.
        """
        self._track()
        delay, interval = round(TRACKING_DELAY / self.timestep), round(1 / TRACKING_RATE / self.timestep)
        number = max((self._steps - delay) // interval, 0)
        pose = self._images.get(number, self.qpos[self._object])  # the state may have been set
        random = np.random.default_rng((self._seed, number))
        position = pose[:3] + self._noise[0] * random.normal(size=3)
        error = Rotation.from_rotvec(self._noise[1] * random.normal(size=3))
        rotation = Rotation.from_quat(pose[3:], scalar_first=True) * error
        return np.concatenate([position, rotation.as_quat()])

    @property
    def push_sensors(self) -> np.ndarray:
        """(n_fingers,) readings of the push sensors in the tips, from 0.05 to 1."""
        return self.physics.push_sensors(self.physics.tip_normal_forces)


class FingerCommander(Commander):
    """Commander that converts joint commands to desired actions.

    A command affects only the joints for which it contains a position or an effort. If it contains only an
    effort, position control of the joint is disabled. If it contains only a position, the joint has no
    additional torque. The action rules (`Rules`) compute the motor torques.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        names: Names,
        gains: Mapping[str, Mapping[str, Any]],
        rules: Rules,
        where: str = "control",
    ):
        """Create a commander and set the configured gains in the action rules.

        Args:
            model: The compiled scene; its only hinge joints must be those of the robot.
            names: Names of the model's elements.
            gains: ``kp`` [N m/rad] and ``kd`` [N m s/rad] by joint name or shell pattern; they replace the
                default gains.
            rules: Action rules of the robot.
            where: Prefix for error messages (configuration key of the gains).

        Raises:
            ConfigError: An entry of ``gains`` matches no joint or has a key other than ``kp`` and ``kd``, or
                two patterns conflict.
        """
        self._rules = rules
        super().__init__(model, names)
        self.drives.takes["position"][:] = True
        self.without_position = {}
        for joint, (entry, keys) in match_control(gains, model, names, where).items():
            if other := sorted(keys.keys() - {"kp", "kd"}):
                raise ConfigError(f"{where}.{entry}.{other[0]}: the TriFinger has only kp and kd; remove it")
            for row, gain in enumerate((keys.get("kp", 0.0), keys.get("kd", 0.0))):
                if gain > 0.0:
                    rules.gains[row, self._index[names.joints[joint]]] = gain

    def release(self) -> None:
        """Clear all commands."""
        super().release()
        self._rules.rest()

    def check_trajectory(self, trajectory: JointTrajectory) -> None:
        """Reject a trajectory, because the TriFinger does not support trajectories."""
        raise CommandError("joint_trajectory: the TriFinger does not support it; command positions")

    def check(self, command: JointCommand) -> dict[str, np.ndarray]:
        """Check a command of positions and efforts and return its targets; see `Commander.check`."""
        if not np.isnan(np.asarray(command.velocity, float)).all():
            raise CommandError(
                "joint_commands: the TriFinger does not support velocity; command position, effort, or both"
            )
        return super().check(command)

    def accept(self, targets: Mapping[str, np.ndarray], engine: EngineArrays) -> None:
        """Set the desired action from targets that `check` returned."""
        position, effort = targets["position"], targets["effort"]
        commanded = ~np.isnan(position) | ~np.isnan(effort)
        self._rules.desired[0, commanded] = np.nan_to_num(effort[commanded])
        self._rules.desired[1, commanded] = position[commanded]


class TrifingerPlugin(EnginePlugin):
    """Engine plug-in with the TriFinger's scene, commander, motion and topics; see `EnginePlugin`."""

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
        """Return the spec of the scene: robot, floor, table, border and, with ``options``, the object.

        Raises:
            SceneError: The robot's files are not installed.
            ConfigError: A grasp is configured without three fingers or without the cube.
        """
        if options is None:
            return load_spec(name)
        if options.grasp and (options.object != "cube" or get_number_of_fingers(options.type) < 3):
            raise ConfigError(
                f"{where}.grasp: requires three fingers and the cube, got type: {options.type} and"
                f" object: {options.object}; remove it, or set type: trifingerpro and object: cube"
            )
        spec = load_spec(options.type)
        back, up = np.subtract(EYE, LOOKS_AT), (0.0, 0.0, 1.0)
        turn, _ = Rotation.align_vectors([back, up], [up, (0.0, 1.0, 0.0)], [1e6, 1.0])
        spec.worldbody.add_camera(name="main", pos=EYE, quat=np.roll(turn.as_quat(), 1))
        if options.object == "cube":
            add_cube(spec)
        return spec

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
        return GraspMotion(engine.physics) if options.grasp else None

    def cameras(self, options: TrifingerSettings) -> Mapping[str, Camera]:
        """Return the three cameras of the platform, with the calibration that `TriFingerPlatform` uses."""
        cameras = {}
        for calibration in load_camera_parameters(CALIBRATIONS, PLATFORM):
            to_camera = calibration.tf_world_to_camera
            rotation = to_camera[:3, :3]
            cameras[calibration.name] = Camera(
                calibration.name,
                0,
                -rotation.T @ to_camera[:3, 3],
                Rotation.from_matrix(rotation.T).as_quat(scalar_first=True),
                calibration.width,
                calibration.height,
                calibration.camera_matrix,
                *CLIPPING,
                np.array(calibration.distortion_coefficients),
            )
        return cameras

    def topics(self, engine: Engine) -> Iterator[EngineTopic]:
        """Yield the topics for motor torques [N m], push sensors in the tips and the tracked object."""
        assert isinstance(engine, TrifingerEngine)
        yield EngineTopic(
            "joint_states",
            "sensor_msgs/msg/JointState",
            "finger/applied_torque",
            "effort",
            lambda: engine.physics.torque,
            {"name": joint_names(engine.physics.finger_type)},
        )
        yield EngineTopic(
            "joint_states",
            "std_msgs/msg/Float64MultiArray",
            "finger/tip_force",
            "data",
            lambda: engine.push_sensors,
        )
        if engine.tracks_object:
            yield EngineTopic(
                "sensors",
                "geometry_msgs/msg/PoseStamped",
                "finger/object_pose",
                "pose",
                lambda: engine.object_pose,
            )
