"""What cannot be told of a scene that motrixsim moves."""

from __future__ import annotations

from functools import cached_property

import mujoco
import numpy as np

from tactile_sim.engines.mujoco_sensors import MujocoSensors
from tactile_sim.engines.sensor_layout import sensor_names
from tactile_sim.errors import EngineError

_SENSOR, _EQUALITY = mujoco.mjtSensor, mujoco.mjtEq
_LIMIT_FORCES = [int(_SENSOR.mjSENS_JOINTLIMITFRC), int(_SENSOR.mjSENS_TENDONLIMITFRC)]
_REACTIONS = [int(_SENSOR.mjSENS_FORCE), int(_SENSOR.mjSENS_TORQUE)]
_HOLDS_BODIES = (_EQUALITY.mjEQ_CONNECT, _EQUALITY.mjEQ_WELD)


class TellsSome(MujocoSensors):
    """Sensors of which some cannot be told: those are as if they were not there, and refused by name."""

    name: str
    _untold: dict[int, str]
    """Why, by the sensor's id."""

    @cached_property
    def _all_sensors(self) -> dict[str, int]:
        return sensor_names(self.model)

    @cached_property
    def sensor_ids(self) -> dict[str, int]:
        """Ids of the scene's sensors by name, but for those that this engine cannot tell."""
        return {name: k for name, k in self._all_sensors.items() if k not in self._untold}

    def untold_lines(self) -> list[str]:
        """A line for each that cannot be told."""
        return [
            f"sensor {name!r} is not told: {self._untold[sensor]}"
            for name, sensor in self._all_sensors.items()
            if sensor in self._untold
        ]

    def _sensor(self, name: str) -> int:
        sensor = self._all_sensors.get(name)
        if sensor in self._untold:
            raise EngineError(f"engine {self.name!r} does not tell sensor {name!r}: {self._untold[sensor]}")
        return super()._sensor(name)


def untold_sensors(model: mujoco.MjModel) -> dict[int, str]:
    """Why one environment does not tell some sensors, by their ids."""
    why = dict.fromkeys(_LIMIT_FORCES, "motrixsim keeps the forces of limits to itself")
    if np.isin(model.eq_type, _HOLDS_BODIES).any():
        why |= dict.fromkeys(_REACTIONS, "motrixsim keeps the forces of connects and welds to itself")
    return {s: why[kind] for s, kind in enumerate(model.sensor_type.tolist()) if kind in why}


def unknown_efforts(model: mujoco.MjModel) -> np.ndarray:
    """Degrees of freedom behind actuators with a state of their own, which motrixsim keeps to itself."""
    stateful = (model.actuator_dyntype != mujoco.mjtDyn.mjDYN_NONE) & (
        model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT
    )
    return model.jnt_dofadr[np.unique(model.actuator_trnid[stateful, 0])]


def limits(model: mujoco.MjModel) -> list[str]:
    """What is not told beside sensors, and what motrixsim leaves out without a word: a line each."""
    lines = []
    for dof in unknown_efforts(model).tolist():
        lines.append(f"the effort of joint {model.joint(model.dof_jntid[dof]).name!r} is not given (NaN)")
    for joint in np.flatnonzero(model.jnt_actfrclimited).tolist():
        lines.append(f"joint {model.joint(joint).name!r}: actuatorfrcrange is left out")
    if model.nflex:
        lines.append("flexes are left out")
    return lines
