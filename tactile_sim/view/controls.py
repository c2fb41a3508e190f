"""The requests that a browser can send to a simulation."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Controls(Protocol):
    """Receives requests. Methods return at once; results appear in later frames or as notices."""

    def pause(self, paused: bool) -> None:
        """Pause or continue."""

    def step(self, count: int) -> None:
        """Take steps while paused."""

    def reset(self, keyframe: str | None) -> None:
        """Reset to the initial state or to a keyframe."""

    def throw(self) -> None:
        """Throw the next ball at the skin."""

    def push(self, body: int, force: np.ndarray) -> None:
        """Push a body for a short time.

        Args:
            body: Index into ``ViewScene.bodies``.
            force: (3,) world frame [N].
        """

    def set_control(self, index: int, value: float) -> None:
        """Set the control of an actuator."""

    def set_real_time_factor(self, factor: float) -> None:
        """Set simulation time per wall time; 0: as fast as possible."""
