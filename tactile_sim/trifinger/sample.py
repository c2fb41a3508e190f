"""Draw random positions in the arena and random joint positions.

Random numbers are drawn from ``random`` and ``numpy.random``. Seed both for reproducible results.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.arguments import as_array, described, is_whole, known
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.values import count, numbers

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger

_STRATEGIES = ("separated", "uniform", "triangle")
_TRIES = 100_000  # about one in forty succeeds within the robots' joint limits
_TIP_DISTANCE = 0.05  # distance of each of three tips from the position between them [m]


def random_position_in_arena(
    height_limits: Sequence[float] | float = (0.05, 0.15),
    angle_limits: Sequence[float] = (-2 * math.pi, 2 * math.pi),
    radius_limits: Sequence[float] = (0.0, 0.15),
) -> list[float]:
    """Return a random position, uniformly distributed over a ring and a range of heights.

    Args:
        height_limits: Minimum and maximum z, or a fixed z [m].
        angle_limits: Minimum and maximum angle about the z axis [rad].
        radius_limits: Minimum and maximum distance from the z axis [m].

    Returns:
        [x, y, z] in the world [m].

    Raises:
        InvalidValueError: A limit is not a finite number, or an argument has the wrong length.
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
    """Return random joint positions, uniformly distributed between the bounds.

    Args:
        number_of_fingers: Number of fingers.
        lower_bounds: Lower bounds of the upper, middle and lower joint of each finger [rad].
        upper_bounds: Upper bounds of these joints [rad].

    Returns:
        Joint positions [rad], finger by finger.

    Raises:
        InvalidValueError: The number of fingers or the bounds are invalid.
    """
    bounds = numbers("lower_bounds", lower_bounds, 3), numbers("upper_bounds", upper_bounds, 3)
    return [
        random.uniform(lower, upper)
        for _ in range(count("number_of_fingers", number_of_fingers))
        for lower, upper in np.transpose(bounds).tolist()
    ]


def feasible_random_joint_positions_for_reaching(
    finger: SimFinger, action_bounds: Mapping[str, Any], sampling_strategy: str = "separated"
) -> Sequence[float] | np.ndarray:
    """Return random joint positions at which collisions between fingers are unlikely.

    Args:
        finger: The robot.
        action_bounds: Bounds ``low`` and ``high`` of the joint positions [rad], used by ``separated``. The
            bounds of the first finger apply to all fingers.
        sampling_strategy: ``separated`` places each tip in its own third of the arena. ``uniform`` draws each
            joint position within the default bounds of `random_joint_positions`. ``triangle`` places three
            tips around a random position.

    Returns:
        Joint positions [rad], finger by finger.

    Raises:
        InvalidValueError: The strategy is unknown, or the bounds are invalid.
        RuntimeError: The strategy is ``triangle`` and the robot has one finger.
    """
    known("sampling_strategy: unknown strategy", sampling_strategy, _STRATEGIES, InvalidValueError)
    if sampling_strategy == "uniform":
        return random_joint_positions(finger.number_of_fingers)
    if sampling_strategy == "triangle":
        return _around_a_position(finger)
    if not isinstance(action_bounds, Mapping) or not {"low", "high"} <= action_bounds.keys():
        raise InvalidValueError(f"action_bounds: must have the keys 'low' and 'high', got {action_bounds!r}")
    bounds = [_first_three(f"action_bounds: {end}", action_bounds[end]) for end in ("low", "high")]
    return np.concatenate([_in_own_third(finger, *bounds) for _ in range(finger.number_of_fingers)])


def _first_three(what: str, values: Any) -> np.ndarray:
    """Return the first three values, which belong to the joints of the first finger."""
    joints = as_array(values)
    if joints.ndim != 1 or len(joints) < 3:
        raise InvalidValueError(f"{what}: must be a number for each joint, got {described(values)}")
    return joints[:3]


def _around_a_position(finger: SimFinger) -> np.ndarray:
    if finger.number_of_fingers == 1:
        raise RuntimeError("sampling_strategy: 'triangle' requires three fingers")
    tips = get_tip_positions_around_position(finger.number_of_fingers, random_position_in_arena())
    guess = random_joint_positions(finger.number_of_fingers)
    return finger.kinematics.inverse_kinematics(tips, np.array(guess))[0]


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
    """Return tip positions that surround a position.

    Args:
        number_of_fingers: 1 or 3.
        position: (3,) position [m].

    Returns:
        Tip position (3,) of each finger [m]. A single finger gets the position itself; three fingers get
        positions at a horizontal distance of 0.05 m from it.

    Raises:
        InvalidValueError: The number of fingers is neither 1 nor 3, or the position is invalid.
    """
    center = numbers("position", position, 3)
    if not is_whole(number_of_fingers) or number_of_fingers not in (1, 3):
        raise InvalidValueError(f"number_of_fingers: must be 1 or 3, got {number_of_fingers!r}")
    if number_of_fingers == 1:
        return [center]
    angles = np.deg2rad([0, -120, -240])
    return [center + _TIP_DISTANCE * np.array([math.cos(angle), math.sin(angle), 0]) for angle in angles]
