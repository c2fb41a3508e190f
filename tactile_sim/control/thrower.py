"""Throw balls at bodies with skin."""

from __future__ import annotations

import re

import numpy as np

from tactile_sim.common.errors import CommandError

DISTANCE = 0.5
"""Horizontal distance of a ball from its target at the start [m]."""
FLIGHT = 0.25
"""Duration of the flight [s]."""


class Thrower:
    """Throws the free bodies named ``ball`` or ``ball_...`` in turn, each at a random body with skin."""

    def __init__(
        self, free_bodies: list[tuple[str, int]], targets: list[int], gravity: np.ndarray, seed: int
    ):
        """Select the balls and the targets.

        Args:
            free_bodies: Names and ids of the bodies with a free joint; the balls are selected by name.
            targets: Ids of the bodies with skin.
            gravity: (3,) Gravity in the world frame [m/s²].
            seed: Seed for the random choice of targets and directions.
        """
        self._gravity = gravity
        self._seed = seed
        self._balls = [(name, body) for name, body in free_bodies if re.fullmatch(r"ball(_.*)?", name)]
        balls = {body for _, body in self._balls}
        self._targets = [body for body in targets if body and body not in balls]
        self.restart()

    @property
    def can_throw(self) -> bool:
        """True if the scene has a ball and a body with skin."""
        return bool(self._balls and self._targets)

    def restart(self) -> None:
        """Restart the random sequence of throws from its beginning."""
        self._thrown = 0
        self._random = np.random.default_rng(self._seed)

    def throw(self, body_positions: np.ndarray) -> tuple[str, int, np.ndarray, np.ndarray]:
        """Choose the next ball and a random target, and return the state in which the ball starts.

        Args:
            body_positions: (nbody, 3) positions of the bodies in the world [m].

        Returns:
            Name and body id of the ball, and its start position (3,) [m] and velocity (3,) [m/s] in the
            world frame.

        Raises:
            CommandError: The scene has no ball or no body with skin.
        """
        if not self._balls:
            raise CommandError("the scene has no ball to throw: a free body named 'ball' or 'ball_...'")
        if not self._targets:
            raise CommandError("no body has a skin to throw a ball at")
        name, ball = self._balls[self._thrown % len(self._balls)]
        self._thrown += 1
        target = body_positions[self._random.choice(self._targets)]
        azimuth = self._random.uniform(-np.pi, np.pi)
        # From the side and a little above, so that tables and floors are not in the way.
        start = target + DISTANCE * np.array([np.cos(azimuth), np.sin(azimuth), 0.7])
        velocity = (target - start) / FLIGHT - 0.5 * FLIGHT * self._gravity
        return name, ball, start, velocity
