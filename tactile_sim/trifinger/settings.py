"""Settings in the ``trifinger`` section of a configuration."""

from __future__ import annotations

from dataclasses import dataclass

from tactile_sim.config.keys import key
from tactile_sim.schema import Choice, Flag, Number, Numbers
from tactile_sim.trifinger.finger_types_data import finger_types_data


@dataclass(frozen=True)
class TrifingerSettings:
    """``trifinger.*``: type of the robot and the object on its table."""

    type: str = key("trifingerpro", Choice(tuple(finger_types_data)), "the robot")
    object: str = key("cube", Choice(("cube", "none")), "object on the table")
    object_noise: tuple[float, ...] = key(
        (0.0, 0.0),
        Numbers(Number(least=0), (2,)),
        "standard deviations of the tracked pose `finger/object_pose`: position [m] and rotation [rad]",
    )
    link_drag: bool = key(
        True, Flag(), "whether links and objects have the drag of PyBullet, for which the gains were tuned"
    )
    grasp: bool = key(False, Flag(), "built-in motion: three fingers grasp the cube, lift it and hold it")
    seed: int = 0
    """The key ``seed`` of the configuration."""
