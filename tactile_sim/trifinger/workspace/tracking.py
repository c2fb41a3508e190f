"""Track the object as the platform does: at the rate of its cameras, with a delay and with noise."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

RATE = 10.0
"""Rate at which the cameras see the object [Hz]."""
DELAY = 0.09
"""Time after which a pose is available [s]."""


class ObjectTracker:
    """Poses of the object as the platform provides them.

    At each time, the pose is that of the last image that is at least `DELAY` old, or the initial pose.
    """

    def __init__(self, timestep: float, noise: tuple[float, ...] = (0.0, 0.0), seed: int = 0):
        """Create a tracker.

        Args:
            timestep: Time step of the simulation [s].
            noise: Standard deviations of the position [m] and of the rotation about each axis [rad].
            seed: Seed of the noise, which also depends on the number of the image since the reset.
        """
        self._interval, self._delay = round(1 / RATE / timestep), round(DELAY / timestep)
        self._noise, self._seed = noise, seed
        self._poses: dict[int, np.ndarray] = {}
        """The last two poses, by the number of their image."""

    def restart(self) -> None:
        """Forget all poses, after a reset."""
        self._poses.clear()

    def update(self, step: int, pose: np.ndarray) -> None:
        """Take an image if one is due.

        Args:
            step: Number of steps since the reset.
            pose: (7,) current pose of the object: position [m] and quaternion wxyz.
        """
        if step % self._interval == 0:
            number = step // self._interval
            self._poses = {number: pose.copy(), number - 1: self._poses.get(number - 1, pose.copy())}

    def pose(self, step: int, current: np.ndarray) -> np.ndarray:
        """Return the available pose (7,): position [m] and quaternion xyzw.

        Args:
            step: Number of steps since the reset.
            current: (7,) pose that is used if the state was set, so that there is no earlier one; wxyz.
        """
        number = max((step - self._delay) // self._interval, 0)
        pose = self._poses.get(number, current)
        random = np.random.default_rng((self._seed, number))
        position = pose[:3] + self._noise[0] * random.normal(size=3)
        error = Rotation.from_rotvec(self._noise[1] * random.normal(size=3))
        rotation = Rotation.from_quat(pose[3:], scalar_first=True) * error
        return np.concatenate([position, rotation.as_quat()])
