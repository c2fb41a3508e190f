"""Gains of a robot's rules, as attributes of the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.values import limits

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger


def gains(row: int, name: str, doc: str) -> property:
    """The attribute of a robot that is a row of its rules' gains.

    It takes one number for all joints, or (n_joints,); ValueError for anything else.

    Args:
        row: of `Rules.gains`.
        name: of the attribute, for errors.
        doc: its docstring.
    """

    def get(finger: SimFinger) -> np.ndarray:
        return finger.physics.rules.gains[row]

    def set_(finger: SimFinger, values: ArrayLike) -> None:
        rules = finger.physics.rules
        rules.gains[row] = limits(name, values, rules.n)

    return property(get, set_, doc=doc)
