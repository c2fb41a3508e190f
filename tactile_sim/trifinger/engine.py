"""The TriFinger engine, which runs MuJoCo and applies the robot's action rules in each step."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np

from tactile_sim.arguments import whole
from tactile_sim.engines.mujoco import MujocoEngine
from tactile_sim.errors import EngineError
from tactile_sim.trifinger.finger_types_data import get_initial_joint_positions
from tactile_sim.trifinger.observation import push_sensors
from tactile_sim.trifinger.physics.fingers import FingerPhysics
from tactile_sim.trifinger.workspace.tracking import ObjectTracker


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
            spec: Scene from `robot.spec.load_spec`, possibly with added objects.
            model: The compiled scene.
            link_drag: Whether to apply Bullet's drag to links and objects, and to limit joint speeds as in
                Bullet.
            object_noise: As in `ObjectTracker`.
            seed: As in `ObjectTracker`.
        """
        self.finger_type = spec.modelname
        self.physics = FingerPhysics(spec, self.finger_type, link_drag=link_drag, model=model)
        cube = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, "cube")
        self._object = slice(model.jnt_qposadr[cube], model.jnt_qposadr[cube] + 7) if cube >= 0 else None
        """Pose of the tracked object in ``qpos``."""
        self._tracker = ObjectTracker(float(model.opt.timestep), object_noise, seed)
        super().__init__(model, self.physics.data)

    def __deepcopy__(self, memo: dict[int, Any]) -> TrifingerEngine:
        """Return an engine with a copy of the state and of the desired action."""
        new = super().__deepcopy__(memo)
        assert isinstance(new, TrifingerEngine)
        new.physics = memo[id(self.physics)] = self.physics.copied(new.data)
        memo[id(self.physics.rules)] = new.physics.rules
        new._tracker = copy.copy(self._tracker)
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

        Args:
            keyframe: Name of the keyframe; None for the initial state.

        Raises:
            EngineError: The keyframe does not exist.
        """
        self._reset_data(keyframe)
        self._tracker.restart()
        self.physics.rules.rest()
        if not keyframe:
            self.physics.q[:] = get_initial_joint_positions(self.finger_type)
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
        """Let the platform see the object, before a step."""
        if self._object:
            self._tracker.update(self._steps, self.qpos[self._object])

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
        """(7,) pose of the tracked object as the platform provides it: position [m] and quaternion xyzw."""
        self._track()
        return self._tracker.pose(self._steps, self.qpos[self._object])

    @property
    def push_sensors(self) -> np.ndarray:
        """(n_fingers,) readings of the push sensors in the tips, from 0.05 to 1."""
        return push_sensors(self.finger_type, self.physics.tip_normal_forces)
