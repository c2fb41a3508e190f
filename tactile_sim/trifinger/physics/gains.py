"""Properties of `SimFinger` that read and set the gains of its action rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.values import limits

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger


def gains(row: int, name: str, doc: str) -> property:
    """Create a property of `SimFinger` that accesses a row of `Rules.gains`.

    The property accepts one number for all joints, or (n_joints,) numbers.

    Args:
        row: Row of `Rules.gains`.
        name: Name of the attribute, for error messages.
        doc: Docstring of the property.
    """

    def get(finger: SimFinger) -> np.ndarray:
        return finger.physics.rules.gains[row]

    def set_(finger: SimFinger, values: ArrayLike) -> None:
        rules = finger.physics.rules
        rules.gains[row] = limits(name, values, rules.n)

    return property(get, set_, doc=doc)
