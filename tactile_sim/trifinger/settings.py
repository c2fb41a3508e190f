"""Settings in the ``trifinger`` section of a configuration."""

from __future__ import annotations

from dataclasses import dataclass

from tactile_sim.config.keys import key
from tactile_sim.schema import Choice, Flag
from tactile_sim.trifinger.finger_types_data import finger_types_data


@dataclass(frozen=True)
class TrifingerSettings:
    """``trifinger.*``: type of the robot and the object on its table."""

    type: str = key("trifingerpro", Choice(tuple(finger_types_data)), "the robot")
    object: str = key("cube", Choice(("cube", "none")), "object on the table")
    link_drag: bool = key(
        True, Flag(), "whether links and objects have the drag of PyBullet, for which the gains were tuned"
    )
    grasp: bool = key(False, Flag(), "built-in motion: three fingers grasp the cube, lift it and hold it")
