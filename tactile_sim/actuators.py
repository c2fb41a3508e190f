"""Where the controls and outputs of actuators lie in a model.

Since MuJoCo 4 an actuator can have several controls and outputs. Before, each has one, with its own id.
"""

from __future__ import annotations

import mujoco
import numpy as np


def count_actuators(model: mujoco.MjModel) -> int:
    """Return the number of actuators."""
    return getattr(model, "nactuator", model.nu)


def control_spans(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Return the first control of each actuator, and the number of its controls."""
    if not hasattr(model, "actuator_ctrladr"):
        return [(control, 1) for control in range(model.nu)]
    return list(zip(model.actuator_ctrladr.tolist(), model.actuator_ctrlnum.tolist(), strict=True))


def first_outputs(model: mujoco.MjModel) -> np.ndarray:
    """Return the row of each actuator's first output in ``actuator_gear``."""
    return getattr(model, "actuator_outadr", np.arange(model.nu))
