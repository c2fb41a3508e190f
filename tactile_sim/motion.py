"""Built-in motion: controls that pass smoothly through the keyframes of the scene, over and over."""

from __future__ import annotations

import mujoco
import numpy as np


class Motion:
    """Control vectors (nu,) over time, from the controls of keyframes."""

    def __init__(self, model: mujoco.MjModel, keyframes: list[int], period: float):
        """keyframes: ids, all visited in turn within a period [s]."""
        self._controls = model.key_ctrl[keyframes]
        self._interval = period / len(keyframes)

    def control(self, time: float) -> np.ndarray:
        """The controls (nu,) at a time [s] since the reset."""
        phase, fraction = divmod(time / self._interval, 1.0)
        here, there = (self._controls[int(phase + k) % len(self._controls)] for k in (0, 1))
        # A cosine: every keyframe is reached at rest.
        return here + (there - here) * (0.5 - 0.5 * np.cos(np.pi * fraction))
