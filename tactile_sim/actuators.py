"""Indices of the controls and outputs of a model's actuators.

Since MuJoCo 4, an actuator can have several controls and outputs. In earlier versions, each actuator has one
control and one output; the index of both is the actuator's id.
"""

from __future__ import annotations

import mujoco
import numpy as np


def count_actuators(model: mujoco.MjModel) -> int:
    """Return the number of actuators in a model, which can differ from the number of controls ``nu``."""
    return getattr(model, "nactuator", model.nu)


def control_spans(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Return, for each actuator, the index of its first control in ``ctrl`` and its number of controls."""
    if not hasattr(model, "actuator_ctrladr"):
        return [(control, 1) for control in range(model.nu)]
    return list(zip(model.actuator_ctrladr.tolist(), model.actuator_ctrlnum.tolist(), strict=True))


def first_outputs(model: mujoco.MjModel) -> np.ndarray:
    """Return the index (nactuator,) of each actuator's first output.

    The row of ``actuator_gear`` for this output has the same index.
    """
    return getattr(model, "actuator_outadr", np.arange(model.nu))
