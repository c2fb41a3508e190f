"""Define built-in motion, such as a smooth loop through the keyframes of the scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import mujoco
import numpy as np

from tactile_sim.common.names import Names
from tactile_sim.engines import Engine


class Motion(Protocol):
    """Built-in motion of a scene, which runs until the first command."""

    interval: float
    """Simulation time between two calls of `act` [s]; 0 means one call per step."""

    def act(self, engine: Engine) -> None:
        """Set the controls for the next steps."""

    def restart(self) -> None:
        """Restart after a reset of the engine."""


class KeyframeMotion:
    """Motion that moves the controls in a smooth loop through the controls stored in keyframes."""

    interval = 0.01

    def __init__(self, model: mujoco.MjModel, names: Names, keyframes: Sequence[str], period: float):
        """Prepare a loop through keyframes.

        Args:
            model: Compiled scene.
            names: Names of the scene's elements.
            keyframes: Names of the keyframes, in the order of the loop.
            period: Duration of the loop [s].

        Raises:
            SceneError: A keyframe is unknown.
        """
        self._controls = model.key_ctrl[[names.keyframe_id(name) for name in keyframes]]
        self._interval = period / len(keyframes)

    def act(self, engine: Engine) -> None:
        """Set the controls for the current time."""
        engine.ctrl[:] = self.control(engine.time)

    def restart(self) -> None:
        """Do nothing; the motion has no state."""

    def control(self, time: float) -> np.ndarray:
        """Return the controls (nu,) at a time [s] since the reset."""
        phase, fraction = divmod(time / self._interval, 1.0)
        first = int(phase) % len(self._controls)
        here, there = self._controls[first], self._controls[first + 1 - len(self._controls)]
        # Cosine interpolation: the controls are at rest at every keyframe.
        return here + (there - here) * (0.5 - 0.5 * math.cos(math.pi * fraction))
