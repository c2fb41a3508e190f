"""What a browser asks of whoever runs the simulation."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Controls(Protocol):
    """Each returns at once; what comes of it is seen in the next moments, or told in words."""

    def pause(self, paused: bool) -> None:
        """Let time stand still, or go on."""

    def step(self, count: int) -> None:
        """Take so many steps while time stands still."""

    def reset(self, keyframe: str | None) -> None:
        """Back to the start, or to a keyframe."""

    def throw(self) -> None:
        """Throw the next ball at the skin."""

    def push(self, body: int, force: np.ndarray) -> None:
        """Push a body for a moment; body: index into ``World.bodies``, force (3,) in the world [N]."""

    def set_control(self, index: int, value: float) -> None:
        """Set an actuator's control."""

    def set_real_time_factor(self, factor: float) -> None:
        """Set the pace of time; 0: as fast as possible."""
