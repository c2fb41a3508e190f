"""What cannot be told of a scene that motrixsim moves."""

from __future__ import annotations

import mujoco
import numpy as np

_SENSOR, _EQUALITY = mujoco.mjtSensor, mujoco.mjtEq
_LIMIT_FORCES = (_SENSOR.mjSENS_JOINTLIMITFRC, _SENSOR.mjSENS_TENDONLIMITFRC)
_REACTIONS = (_SENSOR.mjSENS_FORCE, _SENSOR.mjSENS_TORQUE)
_HOLDS_BODIES = (_EQUALITY.mjEQ_CONNECT, _EQUALITY.mjEQ_WELD)


def untold_sensors(model: mujoco.MjModel) -> set[int]:
    """Ids of the sensors that need forces which motrixsim keeps to itself: of limits and of constraints."""
    untold = [*_LIMIT_FORCES]
    if np.isin(model.eq_type, _HOLDS_BODIES).any():
        untold += _REACTIONS
    return set(np.flatnonzero(np.isin(model.sensor_type, untold)).tolist())


def unknown_efforts(model: mujoco.MjModel) -> np.ndarray:
    """Degrees of freedom behind actuators with a state of their own, which motrixsim keeps to itself."""
    stateful = (model.actuator_dyntype != mujoco.mjtDyn.mjDYN_NONE) & (
        model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT
    )
    return model.jnt_dofadr[np.unique(model.actuator_trnid[stateful, 0])]


def limits(model: mujoco.MjModel) -> list[str]:
    """The same and what motrixsim leaves out without a word, a line each."""
    lines = []
    for sensor in sorted(untold_sensors(model)):
        kind = mujoco.mjtSensor(model.sensor_type[sensor]).name.removeprefix("mjSENS_").lower()
        lines.append(f"sensor {model.sensor(sensor).name!r} ({kind}) is not given")
    for dof in unknown_efforts(model).tolist():
        lines.append(f"the effort of joint {model.joint(model.dof_jntid[dof]).name!r} is not given (NaN)")
    for joint in np.flatnonzero(model.jnt_actfrclimited).tolist():
        lines.append(f"joint {model.joint(joint).name!r}: actuatorfrcrange is left out")
    if model.nflex:
        lines.append("flexes are left out")
    return lines
