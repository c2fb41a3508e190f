"""Joint trajectories, interpolated as in ros2_control's joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.schema import as_array, known, numbers

_NONE = np.empty((0, 0))


@dataclass(frozen=True)
class JointTrajectory:
    """Trajectory of joints, defined by waypoints.

    Interpolation is linear between points with positions only, cubic between points that also have
    velocities, and quintic between points with accelerations.
    """

    joints: Sequence[str]
    """(k,) names of the joints."""
    times: np.ndarray
    """(n,) times of the waypoints since the start of the trajectory [s]."""
    positions: np.ndarray
    """(n, k) positions of the joints at the waypoints [rad or m]."""
    velocities: np.ndarray = field(default_factory=lambda: _NONE)
    """(n, k) velocities of the joints at the waypoints [rad/s or m/s], or empty."""
    accelerations: np.ndarray = field(default_factory=lambda: _NONE)
    """(n, k) accelerations of the joints at the waypoints [rad/s² or m/s²], or empty.

    Accelerations require velocities.
    """

    def __post_init__(self) -> None:
        """Convert lists to arrays; raise CommandError if a field does not contain names or numbers."""
        listed = isinstance(self.joints, Iterable) and getattr(self.joints, "ndim", 1) == 1
        if isinstance(self.joints, str) or not listed:
            raise CommandError(f"joint_trajectory: joints: must be a list of names, got {self.joints!r}")
        object.__setattr__(self, "joints", list(self.joints))
        for name in ("times", "positions", "velocities", "accelerations"):
            array = as_array(given := getattr(self, name))
            if array.ndim not in (1, 2):
                raise CommandError(f"joint_trajectory: {name}: must be rows of numbers, got {given!r}")
            object.__setattr__(self, name, array)

    def check(self, joints: Sequence[str]) -> None:
        """Check the waypoints."""
        for name in self.joints:
            known("joint_trajectory: no joint", name, joints)
        twice = [name for name in self.joints if self.joints.count(name) > 1]
        if twice:
            raise CommandError(f"joint_trajectory names joint {twice[0]!r} twice")
        numbers("joint_trajectory: time_from_start", self.times, len(self.times), unit="s")
        if not len(self.times):
            return
        shape = (len(self.times), len(self.joints))
        for name in ("positions", "velocities", "accelerations"):
            values = getattr(self, name)
            if values.size or name == "positions":
                numbers(f"joint_trajectory: {name}", values, *shape)
        if self.accelerations.size and not self.velocities.size:
            raise CommandError("joint_trajectory: accelerations need velocities; add them")
        steps = np.diff(self.times, prepend=-1e-9)
        if (steps <= 0.0).any():
            k = int(np.argmax(steps <= 0.0))
            raise CommandError(
                f"joint_trajectory: time_from_start must be >= 0 and increase, got {self.times[k]:g} s at "
                f"point {k}"
            )

    def starting_from(self, position: np.ndarray, velocity: np.ndarray) -> JointTrajectory:
        """Return the trajectory with a point added at time 0, or unchanged if it already starts at time 0.

        - ``position``: (k,) Positions of the added point [rad or m].
        - ``velocity``: (k,) Velocities of the added point [rad/s or m/s].
        """
        if self.times[0] <= 0.0:
            return self
        rows = (position, velocity, np.zeros(len(position)))
        arrays = (self.positions, self.velocities, self.accelerations)
        longer = [
            np.vstack([row, values]) if values.size else values
            for row, values in zip(rows, arrays, strict=True)
        ]
        return JointTrajectory(self.joints, np.concatenate([[0.0], self.times]), *longer)

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the joints' positions and velocities, each (k,), at a time since the start [s].

        The joints are at rest before the first waypoint and after the last one.
        """
        if time >= self.times[-1]:
            return self.positions[-1], np.zeros(len(self.joints))
        k = max(0, int(np.searchsorted(self.times, time, side="right")) - 1)
        if time < self.times[0]:
            return self.positions[0], np.zeros(len(self.joints))
        span, s = self.times[k + 1] - self.times[k], time - self.times[k]
        start, change = self.positions[k], self.positions[k + 1] - self.positions[k]
        if not self.velocities.size:
            return start + change * (s / span), change / span
        v0, v1 = self.velocities[k], self.velocities[k + 1]
        if not self.accelerations.size:
            a, b = 3 * change - (2 * v0 + v1) * span, -2 * change + (v0 + v1) * span
            coefficients = [start, v0, a / span**2, b / span**3]
        else:
            a0, a1 = self.accelerations[k], self.accelerations[k + 1]
            coefficients = [
                start,
                v0,
                a0 / 2,
                (20 * change - (8 * v1 + 12 * v0) * span - (3 * a0 - a1) * span**2) / (2 * span**3),
                (-30 * change + (14 * v1 + 16 * v0) * span + (3 * a0 - 2 * a1) * span**2) / (2 * span**4),
                (12 * change - 6 * (v1 + v0) * span - (a0 - a1) * span**2) / (2 * span**5),
            ]
        powers = s ** np.arange(len(coefficients))
        slopes = np.arange(1, len(coefficients)) * powers[:-1]
        return powers @ np.stack(coefficients), slopes @ np.stack(coefficients[1:])
