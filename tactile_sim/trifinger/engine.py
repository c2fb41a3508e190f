"""The TriFinger platform behind the engine interface: MuJoCo, with its action rules in each step."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.engines.mujoco import MujocoEngine
from tactile_sim.trifinger.finger_types_data import get_initial_joint_positions
from tactile_sim.trifinger.observation import push_sensors
from tactile_sim.trifinger.physics.fingers import FingerPhysics


class TrifingerEngine(MujocoEngine):
    """One robot in its workplace.

    ``physics.rules`` holds the action that is desired; what the motors then give acts as an applied force.
    """

    name = "trifinger"

    def __init__(self, spec: mujoco.MjSpec, model: mujoco.MjModel, link_drag: bool = True):
        """spec: of `robot.spec.load_spec`, with whatever was added; model: what it compiles to."""
        self.finger_type = spec.modelname
        self.physics = FingerPhysics(spec, self.finger_type, link_drag=link_drag, model=model)
        super().__init__(model, self.physics.data)

    def step(self, n: int = 1) -> None:
        """Goes n time steps on."""
        for _ in range(n):
            self.physics.step()

    def forward(self) -> None:
        """Computes all that follows from the present positions, velocities and the desired action."""
        self.physics.forward()

    def integrate(self) -> None:
        """Goes from the instant of the last ``forward`` to the next."""
        self.physics.integrate()

    def reset(self, keyframe: str | None = None) -> None:
        """Goes back to the robot's first posture, all else to where it was.

        Raises EngineError for an unknown keyframe.
        """
        self._to_start(keyframe)
        self.physics.rules.rest()
        if not keyframe:
            self.physics.q[:] = get_initial_joint_positions(self.finger_type)
        self.physics.restart()

    @property
    def desired(self) -> np.ndarray:
        """(4, n) the action, as in `tactile_sim.trifinger.physics.rules.Rules`."""
        return self.physics.rules.desired

    @property
    def push_sensors(self) -> np.ndarray:
        """(fingers,) what the robot's own sensors in its tips read: no newtons."""
        return push_sensors(self.finger_type, self.physics.tip_normal_forces)
