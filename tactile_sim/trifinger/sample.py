"""Draws positions in the arena and joint positions.

The numbers come from ``random`` and ``numpy.random``: seed those to have them again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.errors import InvalidValueError

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger

_STRATEGIES = ("separated", "uniform", "triangle")
_TRIES = 100_000  # about one in forty succeeds with the robots' own limits
_TIP_DISTANCE = 0.05  # of each of three tips from the position they stand around [m]


def random_position_in_arena(
    height_limits: Sequence[float] | float = (0.05, 0.15),
    angle_limits: Sequence[float] = (-2 * math.pi, 2 * math.pi),
    radius_limits: Sequence[float] = (0.0, 0.15),
) -> list[float]:
    """A position [x, y, z] [m], even over the ring between the radii and over the heights.

    Args:
        height_limits: lowest and highest z, or the z [m].
        angle_limits: first and last angle about z [rad].
        radius_limits: nearest and farthest distance from z [m].
    """
    angle = random.uniform(*angle_limits)
    inner, outer = min(radius_limits), max(radius_limits)
    radius = math.sqrt(inner**2 + random.random() * (outer**2 - inner**2))
    height = height_limits if isinstance(height_limits, int | float) else random.uniform(*height_limits)
    return [radius * math.cos(angle), radius * math.sin(angle), height]


def random_joint_positions(
    number_of_fingers: int,
    lower_bounds: Sequence[float] = (-math.radians(30), -math.radians(60), -math.radians(100)),
    upper_bounds: Sequence[float] = (math.radians(30), math.radians(60), math.radians(2)),
) -> list[float]:
    """Joint angles [rad], each even between the bounds of one finger's (upper, middle, lower) joint."""
    return [
        random.uniform(lower, upper)
        for _ in range(number_of_fingers)
        for lower, upper in zip(lower_bounds, upper_bounds, strict=False)
    ]


def feasible_random_joint_positions_for_reaching(
    finger: SimFinger, action_bounds: Mapping[str, Any], sampling_strategy: str = "separated"
) -> Sequence[float] | np.ndarray:
    """Joint angles [rad] at which the fingers hardly collide.

    Args:
        finger: the robot.
        action_bounds: ``low`` and ``high``, angles of each joint [rad]; the first finger's hold for all.
        sampling_strategy: ``separated``: each tip somewhere in its own third of the arena; ``uniform``: each
            joint even over the bounds of :func:`random_joint_positions`; ``triangle``: three tips around a
            position.

    Raises:
        InvalidValueError: a ``ValueError``; no such strategy.
        RuntimeError: ``triangle`` with a single finger.
    """
    if sampling_strategy == "uniform":
        return random_joint_positions(finger.number_of_fingers)
    if sampling_strategy == "triangle":
        return _around_a_position(finger)
    if sampling_strategy == "separated":
        bounds = [np.asarray(action_bounds[end])[:3] for end in ("low", "high")]
        return np.concatenate([_in_own_third(finger, *bounds) for _ in range(finger.number_of_fingers)])
    raise InvalidValueError(
        f"no sampling strategy {sampling_strategy!r}; there are: {', '.join(_STRATEGIES)}"
    )


def _around_a_position(finger: SimFinger) -> np.ndarray:
    if finger.number_of_fingers == 1:
        raise RuntimeError("the sampling strategy 'triangle' needs three fingers")
    tips = get_tip_positions_around_position(finger.number_of_fingers, random_position_in_arena())
    guess = random_joint_positions(finger.number_of_fingers)
    return finger.kinematics.inverse_kinematics(tips, np.array(guess))[0]


def _in_own_third(finger: SimFinger, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Angles (3,) that bring the first finger's tip between 30° and 150° about z, 2 cm to 20 cm from it."""
    for _ in range(_TRIES):
        angles = np.random.uniform(  # noqa: NPY002 - programs seed numpy.random
            np.deg2rad([-90, -77.5, -172]), np.deg2rad([90, 257.5, -2])
        )
        x, y = finger.kinematics.forward_kinematics(np.tile(angles, finger.number_of_fingers))[0][:2]
        distance = np.hypot(x, y)
        in_reach = 0.02 < distance < 0.2 and y > 0 and abs(x) < distance * math.cos(math.pi / 6)
        if in_reach and (low < angles).all() and (angles < high).all():
            return angles
    raise InvalidValueError(f"no tip is in its third of the arena with joints from {low} to {high}")


def get_tip_positions_around_position(number_of_fingers: int, position: ArrayLike) -> list[np.ndarray]:
    """Tip positions (3,) [m]: of one finger the position itself, of three 0.05 m around it.

    Raises:
        InvalidValueError: a ``ValueError``; neither 1 nor 3 fingers.
    """
    center = np.asarray(position)
    if number_of_fingers == 1:
        return [center]
    if number_of_fingers == 3:
        angles = np.deg2rad([0, -120, -240])
        return [center + _TIP_DISTANCE * np.array([math.cos(angle), math.sin(angle), 0]) for angle in angles]
    raise InvalidValueError(f"there are robots of 1 and of 3 fingers, not of {number_of_fingers}")
