"""Draw random positions in the arena and random joint positions.

Random numbers are drawn from ``random`` and ``numpy.random``. Seed both for reproducible results. Invalid
arguments raise `InvalidValueError`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.common.schema import as_array, described, is_integer, known
from tactile_sim.trifinger.checks import InvalidValueError, count, numbers
from tactile_sim.trifinger.sim_finger import SimFinger

_STRATEGIES = ("separated", "uniform", "triangle")
_TRIES = 100_000  # about one in forty succeeds within the robots' joint limits
_TIP_DISTANCE = 0.05  # distance of each of three tips from the position between them [m]


def random_position_in_arena(
    height_limits: Sequence[float] | float = (0.05, 0.15),
    angle_limits: Sequence[float] = (-2 * math.pi, 2 * math.pi),
    radius_limits: Sequence[float] = (0.0, 0.15),
) -> list[float]:
    """Return a random position [x, y, z] in the world [m], uniform over a ring and a range of heights.

    Args:
        height_limits: Minimum and maximum z, or a fixed z [m].
        angle_limits: Minimum and maximum angle about the z axis [rad].
        radius_limits: Minimum and maximum distance from the z axis [m].
    """
    angle = random.uniform(*numbers("angle_limits", angle_limits, 2).tolist())
    inner, outer = sorted(numbers("radius_limits", radius_limits, 2).tolist())
    radius = math.sqrt(inner**2 + random.random() * (outer**2 - inner**2))
    if isinstance(height_limits, int | float):
        height = float(numbers("height_limits", height_limits))
    else:
        height = random.uniform(*numbers("height_limits", height_limits, 2).tolist())
    return [radius * math.cos(angle), radius * math.sin(angle), height]


def random_joint_positions(
    number_of_fingers: int,
    lower_bounds: Sequence[float] = (-math.radians(30), -math.radians(60), -math.radians(100)),
    upper_bounds: Sequence[float] = (math.radians(30), math.radians(60), math.radians(2)),
) -> list[float]:
    """Return random joint positions [rad], finger by finger, uniform between bounds (3,) for each finger."""
    bounds = numbers("lower_bounds", lower_bounds, 3), numbers("upper_bounds", upper_bounds, 3)
    return [
        random.uniform(lower, upper)
        for _ in range(count("number_of_fingers", number_of_fingers))
        for lower, upper in np.transpose(bounds).tolist()
    ]


def feasible_random_joint_positions_for_reaching(
    finger: SimFinger, action_bounds: Mapping[str, Any], sampling_strategy: str = "separated"
) -> Sequence[float] | np.ndarray:
    """Return random joint positions [rad], finger by finger, at which fingers are unlikely to collide.

    Args:
        finger: The robot.
        action_bounds: Bounds ``low`` and ``high`` of the joint positions [rad], used by ``separated``. The
            bounds of the first finger apply to all fingers.
        sampling_strategy: ``separated`` places each tip in its own third of the arena. ``uniform`` draws each
            joint position within the default bounds of `random_joint_positions`. ``triangle`` places three
            tips around a random position.

    Raises:
        RuntimeError: The strategy is ``triangle`` and the robot has one finger.
    """
    known("sampling_strategy: unknown strategy", sampling_strategy, _STRATEGIES, InvalidValueError)
    if sampling_strategy == "uniform":
        return random_joint_positions(finger.number_of_fingers)
    if sampling_strategy == "triangle":
        if finger.number_of_fingers == 1:
            raise RuntimeError("sampling_strategy: 'triangle' requires three fingers")
        tips = get_tip_positions_around_position(finger.number_of_fingers, random_position_in_arena())
        guess = random_joint_positions(finger.number_of_fingers)
        return finger.kinematics.inverse_kinematics(tips, np.array(guess))[0]
    if not isinstance(action_bounds, Mapping) or not {"low", "high"} <= action_bounds.keys():
        raise InvalidValueError(f"action_bounds: must have the keys 'low' and 'high', got {action_bounds!r}")
    bounds = [as_array(action_bounds[end]) for end in ("low", "high")]
    for end, joints in zip(("low", "high"), bounds, strict=True):
        if joints.ndim != 1 or len(joints) < 3:
            got = described(action_bounds[end])
            raise InvalidValueError(f"action_bounds: {end}: must be a number for each joint, got {got}")
    low, high = (joints[:3] for joints in bounds)
    return np.concatenate([_in_own_third(finger, low, high) for _ in range(finger.number_of_fingers)])


def _in_own_third(finger: SimFinger, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return joint positions (3,) [rad] that put the first finger's tip in its third of the arena.

    The tip is 2 to 20 cm from the z axis, at an angle of 30° to 150° about it.
    """
    for _ in range(_TRIES):
        angles = np.random.uniform(  # noqa: NPY002 - programs seed numpy.random
            np.deg2rad([-90, -77.5, -172]), np.deg2rad([90, 257.5, -2])
        )
        x, y = finger.kinematics.forward_kinematics(np.tile(angles, finger.number_of_fingers))[0][:2]
        distance = np.hypot(x, y)
        in_reach = 0.02 < distance < 0.2 and y > 0 and abs(x) < distance * math.cos(math.pi / 6)
        if in_reach and (low < angles).all() and (angles < high).all():
            return angles
    raise InvalidValueError(
        f"action_bounds: found no joint positions with the tip in its third of the arena, got {low} to {high}"
    )


def get_tip_positions_around_position(number_of_fingers: int, position: ArrayLike) -> list[np.ndarray]:
    """Return the tip position (3,) of each finger [m] around a position (3,) [m].

    A single finger gets the position itself; three fingers get positions at a horizontal distance of 0.05 m.
    """
    center = numbers("position", position, 3)
    if not is_integer(number_of_fingers) or number_of_fingers not in (1, 3):
        raise InvalidValueError(f"number_of_fingers: must be 1 or 3, got {number_of_fingers!r}")
    if number_of_fingers == 1:
        return [center]
    angles = np.deg2rad([0, -120, -240])
    return [center + _TIP_DISTANCE * np.array([math.cos(angle), math.sin(angle), 0]) for angle in angles]
