"""Declare the keys ``grippers.NAME.*`` of grippers, which are groups of joints for the gripper actions."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tactile_sim.errors import ConfigError, ErrorList
from tactile_sim.schema import DURATION, Check, Flag, Number, Texts, parameter

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings


@dataclass(frozen=True)
class GripperSettings:
    """``grippers.NAME``: a gripper. Names and defaults are as in ros2_control's gripper controllers."""

    joints: tuple[str, ...] = parameter(
        Texts(), "joints of the gripper, which all move to the position of a goal", ()
    )
    goal_tolerance: float = parameter(
        Number(least=0, unit="m or rad", usual=(1e-6, 1.0)),
        "largest distance of each joint from the goal at which the goal counts as reached [m, rad]",
        0.01,
    )
    max_effort: float = parameter(
        Number(least=0, unit="N or N m", usual=(1e-3, 1e4)),
        "maximum effort on each joint for goals that do not specify one [N, N m]; 0: the joint's own limit",
        0.0,
    )
    stall_velocity_threshold: float = parameter(
        Number(least=0, unit="m/s or rad/s", usual=(1e-6, 1.0)),
        "velocity up to which a joint counts as not moving [m/s, rad/s]",
        0.001,
    )
    stall_timeout: float = parameter(
        DURATION, "time without motion after which the gripper counts as stalled [s]", 1.0
    )
    allow_stalling: bool = parameter(
        Flag(), "whether a goal succeeds if the gripper stalls, as in a grasp; otherwise it is aborted", False
    )


GRIPPER: dict[str, Check] = {
    entry.name: entry.metadata["check"] for entry in dataclasses.fields(GripperSettings)
}
"""For each key of a gripper, the function that checks its value."""


def fault_of_gripper(entry: Mapping[str, Any]) -> str | None:
    """Return an error message if a gripper has no joints, or else None."""
    return None if entry.get("joints") else "must have joints, such as joints: [left, right]"


def check_joints(settings: Settings, joints: Collection[str]) -> None:
    """Check that the joints of all grippers exist.

    Args:
        settings: Configuration with the table ``grippers``.
        joints: Names of the hinge and slide joints of the scene.

    Raises:
        ConfigError: A joint is unknown.
        ConfigErrors: Several joints are unknown.
    """
    errors = ErrorList()
    for name, keys in settings.grippers.items():
        for joint in keys.get("joints", ()):
            if joint not in joints:
                where = f"{settings.source}: grippers.{name}.joints"
                errors.add(ConfigError(f"{where}: no joint {joint!r}", near=(joint, joints)))
    errors.check()
