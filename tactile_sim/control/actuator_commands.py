"""Convert commands for tendons and actuators to controls."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.names import Names
from tactile_sim.scenes.drives import FIELDS, Input, read_inputs

_TENDON = mujoco.mjtTrn.mjTRN_TENDON


class ActuatorCommands:
    """Converts targets of tendons and actuators to controls.

    The position of a tendon is its length. The position of an actuator is the length of its transmission
    before the gear ratio is applied. An effort is the force along the tendon or transmission. As with joints,
    a servo accepts positions or velocities, and a motor accepts efforts.
    """

    def __init__(self, model: mujoco.MjModel, names: Names):
        """Read the actuators of a compiled model."""
        self._inputs: dict[str, list[Input]] = {}
        for actuator, name in enumerate(names.actuators):
            inputs = read_inputs(model, actuator)
            self._inputs.setdefault(name, []).extend(inputs)
            if model.actuator_trntype[actuator] == _TENDON:
                tendon = model.tendon(model.actuator_trnid[actuator, 0]).name
                if tendon and tendon != name:
                    self._inputs.setdefault(tendon, []).extend(inputs)
        self.names = list(self._inputs)
        """Names of the actuators, and of the tendons that have an actuator."""
        self._limited = model.actuator_ctrllimited.astype(bool)
        self._ranges = model.actuator_ctrlrange

    def set_controls(self, name: str, targets: Sequence[float], controls: np.ndarray) -> None:
        """Set the controls of a tendon or actuator.

        Args:
            name: Name of the tendon or actuator, one of `names`.
            targets: Position [m or rad], velocity [m/s or rad/s] and effort [N or N m]; NaN for no target.
            controls: (nu,) controls, modified in place.

        Raises:
            CommandError: The tendon or actuator does not accept one of the targets.
        """
        values = np.asarray(targets, float)
        inputs = self._inputs[name]
        taken = {entry.field for entry in inputs}
        for field in np.flatnonzero(~np.isnan(values)).tolist():
            # A velocity or an effort given with a position is a feedforward term of the servo.
            if field not in taken and not (0 in taken and not np.isnan(values[0])):
                kinds = " or ".join(FIELDS[kind] for kind in sorted(taken))
                remedy = f"command its {kinds}" if kinds else "command it by the topic ctrl"
                raise CommandError(f"joint_commands: actuator {name!r} accepts no {FIELDS[field]}; {remedy}")
        for entry in inputs:
            if not np.isnan(values[entry.field]):
                control = entry.offset + float(np.nan_to_num(values) @ entry.weights)
                if self._limited[entry.control]:
                    control = float(np.clip(control, *self._ranges[entry.control]))
                controls[entry.control] = control
