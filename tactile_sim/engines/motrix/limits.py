"""Features of a scene that motrixsim does not support."""

from __future__ import annotations

from functools import cached_property

import mujoco
import numpy as np

from tactile_sim.actuators import first_outputs
from tactile_sim.engines.mujoco.sensors import MujocoSensors
from tactile_sim.errors import EngineError
from tactile_sim.names import Names
from tactile_sim.scenes.contact_sensors import ALL_BITS, contact_layout, is_contact, sensor_names

_SENSOR, _EQUALITY = mujoco.mjtSensor, mujoco.mjtEq
_LIMIT_FORCES = [int(_SENSOR.mjSENS_JOINTLIMITFRC), int(_SENSOR.mjSENS_TENDONLIMITFRC)]
_REACTIONS = [int(_SENSOR.mjSENS_FORCE), int(_SENSOR.mjSENS_TORQUE)]
_LOOSE = (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL)
_ON_JOINTS = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
_HOLDS_BODIES = (_EQUALITY.mjEQ_CONNECT, _EQUALITY.mjEQ_WELD)


class PartialSensors(MujocoSensors):
    """Base class of engines that support only some sensors.

    Reading an unsupported sensor raises an error that contains the reason.
    """

    name: str
    _unsupported_sensors: dict[int, str]
    """Reason why each unsupported sensor is not supported, keyed by sensor id."""

    @cached_property
    def _all_sensors(self) -> dict[str, int]:
        return sensor_names(self.model)

    @cached_property
    def sensor_ids(self) -> dict[str, int]:
        """Ids of the supported sensors by name; an unnamed sensor is called ``sensor<id>``."""
        return {name: k for name, k in self._all_sensors.items() if k not in self._unsupported_sensors}

    def unsupported_sensor_lines(self) -> list[str]:
        """Return one line for each reason why sensors are unsupported, with the names of these sensors."""
        names: dict[str, list[str]] = {}
        for name, sensor in self._all_sensors.items():
            if sensor in self._unsupported_sensors:
                names.setdefault(self._unsupported_sensors[sensor], []).append(repr(name))
        return [
            f"unsupported sensor{'s' if len(those) > 1 else ''} {', '.join(those)}: {why}"
            for why, those in names.items()
        ]

    def _sensor(self, name: str) -> int:
        sensor = self._all_sensors.get(name) if isinstance(name, str) else None
        if sensor in self._unsupported_sensors:
            raise EngineError(
                f"engine {self.name!r} does not support sensor {name!r}: {self._unsupported_sensors[sensor]}"
            )
        return super()._sensor(name)


def unsupported_sensors(model: mujoco.MjModel) -> dict[int, str]:
    """Return why sensors are not supported when the engine steps a single environment, keyed by sensor id."""
    why = dict.fromkeys(_LIMIT_FORCES, "motrixsim does not report the forces of limits")
    if np.isin(model.eq_type, _HOLDS_BODIES).any():
        why |= dict.fromkeys(_REACTIONS, "motrixsim does not report the forces of connects and welds")
    found = {s: why[kind] for s, kind in enumerate(model.sensor_type.tolist()) if kind in why}
    late = np.flatnonzero((model.sensor_delay > 0.0) | (model.sensor_interval > 0.0).any(axis=1))
    return found | dict.fromkeys(
        late.tolist(), "it has a delay or an interval, which only MuJoCo's own steps support"
    )


def unsupported_in_batch(model: mujoco.MjModel) -> dict[int, str]:
    """Return why sensors are not supported when the engine steps several environments, keyed by sensor id."""
    remedy = "; load the scene with num_envs=1"
    why = unsupported_sensors(model)
    for sensor in range(model.nsensor):
        if not is_contact(model, sensor):
            why[sensor] = "several environments support contact sensors only" + remedy
        elif contact_layout(model, sensor, "").bits & ~ALL_BITS:
            why[sensor] = "several environments do not support velocities of contacts" + remedy
    return why


def _may_exceed_limit(model: mujoco.MjModel) -> np.ndarray:
    """Return for each joint (njnt,) whether its actuators could exceed the joint's force limit."""
    exceeds = np.full(model.njnt, bool((model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON).any()))
    on_joints = np.isin(model.actuator_trntype, _ON_JOINTS)
    gears = model.actuator_gear[first_outputs(model), :1]
    most = np.abs(model.actuator_forcerange * gears).max(axis=1, initial=0.0)
    most[model.actuator_forcelimited == 0] = np.inf
    for joint in range(model.njnt):
        own = most[on_joints & (model.actuator_trnid[:, 0] == joint)]
        exceeds[joint] |= own.sum() > np.abs(model.jnt_actfrcrange[joint]).min()
    return exceeds


def unsupported_features(model: mujoco.MjModel) -> list[str]:
    """Return the unsupported features that motrixsim does not warn about, except sensors.

    Args:
        model: The model.

    Returns:
        One line for each feature.
    """
    joints = Names(model).joints
    lines: list[str] = []
    loose = np.isin(model.jnt_type, _LOOSE)
    for key, there in (
        ("actuatorfrcrange", model.jnt_actfrclimited & _may_exceed_limit(model)),
        ("damping", loose & (model.dof_damping[model.jnt_dofadr] != 0.0)),
        ("stiffness", loose & (model.jnt_stiffness != 0.0)),
    ):
        lines += [f"joint {joints[j]!r}: {key} is ignored" for j in np.flatnonzero(there).tolist()]
    if model.nflex:
        lines.append("flexes are ignored")
    return lines
