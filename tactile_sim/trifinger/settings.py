"""Settings in the ``trifinger`` section of a configuration."""

from __future__ import annotations

from dataclasses import dataclass

from tactile_sim.schema import Choice, Flag, Number, Numbers, parameter
from tactile_sim.trifinger.finger_types_data import finger_types_data


@dataclass(frozen=True)
class TrifingerSettings:
    """``trifinger.*``: type of the robot and the object on its table."""

    type: str = parameter(Choice(tuple(finger_types_data)), "the robot", "trifingerpro")
    object: str = parameter(Choice(("cube", "none")), "object on the table", "cube")
    object_noise: tuple[float, ...] = parameter(
        Numbers(Number(least=0), (2,)),
        "standard deviations of the tracked pose `finger/object_pose`: position [m] and rotation [rad]",
        (0.0, 0.0),
    )
    link_drag: bool = parameter(
        Flag(), "whether links and objects have the drag of PyBullet, for which the gains were tuned", True
    )
    grasp: bool = parameter(
        Flag(), "built-in motion: three fingers grasp the cube, lift it and hold it", False
    )
    seed: int = 0
    """The key ``seed`` of the configuration."""
