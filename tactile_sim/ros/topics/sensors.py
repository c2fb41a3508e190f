"""Topics for the sensors of the scene: ``contact_sensors/<name>`` and ``sensors/<name>``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import PointStamped, QuaternionStamped, Vector3Stamped, WrenchStamped
from mujoco import mjtSensor
from sensor_msgs.msg import Imu, JointState, MagneticField, Range

from tactile_sim.common.frames import to_xyzw
from tactile_sim.common.names import topic_token
from tactile_sim.msg import ContactSensor, TactileArray
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled, header
from tactile_sim.simulation import Simulation, Snapshot

_ROWS: dict[mjtSensor, tuple[type, str, str]] = {
    mjtSensor.mjSENS_VELOCIMETER: (Vector3Stamped, "vector", "here"),
    mjtSensor.mjSENS_MAGNETOMETER: (MagneticField, "magnetic_field", "here"),
    mjtSensor.mjSENS_BALLQUAT: (QuaternionStamped, "quaternion", "parent"),
    mjtSensor.mjSENS_BALLANGVEL: (Vector3Stamped, "vector", "body"),
    mjtSensor.mjSENS_FRAMEPOS: (PointStamped, "point", "reference"),
    mjtSensor.mjSENS_FRAMEQUAT: (QuaternionStamped, "quaternion", "reference"),
    mjtSensor.mjSENS_FRAMEXAXIS: (Vector3Stamped, "vector", "reference"),
    mjtSensor.mjSENS_FRAMEYAXIS: (Vector3Stamped, "vector", "reference"),
    mjtSensor.mjSENS_FRAMEZAXIS: (Vector3Stamped, "vector", "reference"),
    mjtSensor.mjSENS_FRAMELINVEL: (Vector3Stamped, "vector", "reference"),
    mjtSensor.mjSENS_FRAMEANGVEL: (Vector3Stamped, "vector", "reference"),
    mjtSensor.mjSENS_FRAMELINACC: (Vector3Stamped, "vector", "reference"),
    mjtSensor.mjSENS_FRAMEANGACC: (Vector3Stamped, "vector", "reference"),
    mjtSensor.mjSENS_SUBTREECOM: (PointStamped, "point", "world"),
    mjtSensor.mjSENS_SUBTREELINVEL: (Vector3Stamped, "vector", "world"),
    mjtSensor.mjSENS_SUBTREEANGMOM: (Vector3Stamped, "vector", "world"),
    mjtSensor.mjSENS_GEOMNORMAL: (Vector3Stamped, "vector", "world"),
}
"""Message class, field and frame for each type of sensor whose values fit into one message field.

The frame belongs to the object to which the sensor is attached (``here``), to the sensor's reference object
(``reference``), to the body that a joint moves (``body``), to the parent of that body (``parent``), or to the
world (``world``).
"""
_JOINTS = {
    mjtSensor.mjSENS_JOINTPOS: "position",
    mjtSensor.mjSENS_JOINTVEL: "velocity",
    mjtSensor.mjSENS_JOINTACTFRC: "effort",
    mjtSensor.mjSENS_JOINTLIMITPOS: "position",
    mjtSensor.mjSENS_JOINTLIMITVEL: "velocity",
    mjtSensor.mjSENS_JOINTLIMITFRC: "effort",
    mjtSensor.mjSENS_TENDONPOS: "position",
    mjtSensor.mjSENS_TENDONVEL: "velocity",
    mjtSensor.mjSENS_TENDONACTFRC: "effort",
    mjtSensor.mjSENS_TENDONLIMITPOS: "position",
    mjtSensor.mjSENS_TENDONLIMITVEL: "velocity",
    mjtSensor.mjSENS_TENDONLIMITFRC: "effort",
    mjtSensor.mjSENS_ACTUATORPOS: "position",
    mjtSensor.mjSENS_ACTUATORVEL: "velocity",
    mjtSensor.mjSENS_ACTUATORFRC: "effort",
}
"""The JointState array that contains the sensor's value, for each joint, tendon or actuator sensor type."""
_UNITS = {
    mjtSensor.mjSENS_TOUCH: "N",
    mjtSensor.mjSENS_RANGEFINDER: "m",
    mjtSensor.mjSENS_CAMPROJECTION: "px",
    mjtSensor.mjSENS_GEOMDIST: "m",
    mjtSensor.mjSENS_GEOMFROMTO: "m",
    mjtSensor.mjSENS_E_POTENTIAL: "J",
    mjtSensor.mjSENS_E_KINETIC: "J",
    mjtSensor.mjSENS_CLOCK: "s",
}
_UNKNOWN = [-1.0, *[0.0] * 8]
"""Covariance that marks quantities in an Imu message as not measured."""


_Fields = dict[str, Any]
_Parts = Callable[[Snapshot], Mapping[str, Any]]
_Message = tuple[type, _Fields, _Parts]
"""Message class, fields and parts of a topic: arguments of `filled`."""


def sensor_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield a topic for each sensor, or none if the scene disables sensors."""
    engine = simulation.engine
    if engine.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR:
        return
    for name in engine.contact_sensor_names:
        fields, parts = _contact_sensor(simulation, name)
        yield filled("sensors", ContactSensor, f"contact_sensors/{topic_token(name)}", fields, parts)
    sensors = _Sensors(simulation)
    for name, sensor in engine.sensor_ids.items():
        if name not in engine.contact_sensor_names:
            message_type, fields, parts = sensors.message(sensor)
            yield filled("sensors", message_type, f"sensors/{topic_token(name)}", fields, parts)


def _contact_sensor(simulation: Simulation, name: str) -> tuple[_Fields, _Parts]:
    layout = simulation.engine.contact_layout(name)

    def parts(snapshot: Snapshot) -> dict[str, np.ndarray]:
        sensor = snapshot.simulation.engine.get_contact_sensor(name)
        keys = np.array([[sensor.found[0], 0, sensor.filled[0]]], np.int32)
        return {"keys": keys, "points": sensor.values[0]}

    fields = {
        "header": header(simulation.settings.world_frame),
        "name": name,
        "reduce": layout.reduce,
        "data": list(layout.data),
        "found": cdr.IntColumn(0),
        # A ContactSlot has 22 numbers, in the order of the columns of ContactSensor.values.
        "slots": cdr.RowRange(1, 2),
    }
    return fields, parts


class _Sensors:
    """Declares the messages of all MuJoCo sensors except contact sensors."""

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        self._model = simulation.engine.model
        self._frames = simulation.sensor_frames

    def message(self, sensor: int) -> _Message:
        """Return the message class, the fields and the parts of a sensor's topic, as for `filled`."""
        model = self._model
        kind = mjtSensor(model.sensor_type[sensor])
        columns = np.arange(model.sensor_dim[sensor]) + model.sensor_adr[sensor]
        if kind in _ROWS:
            message, field, place = _ROWS[kind]
            columns = to_xyzw(columns) if message is QuaternionStamped else columns
            return _row(message, self._frame(sensor, place), {field: cdr.Value(0)}, columns)
        if kind in (mjtSensor.mjSENS_ACCELEROMETER, mjtSensor.mjSENS_GYRO):
            return self._imu(sensor)
        if kind in (mjtSensor.mjSENS_FORCE, mjtSensor.mjSENS_TORQUE):
            return self._wrench(sensor)
        if kind == mjtSensor.mjSENS_RANGEFINDER and len(columns) == 1:
            return self._range(sensor)
        if kind in _JOINTS:
            return self._joint(sensor, _JOINTS[kind])
        return self._numbers(sensor)

    def _frame(self, sensor: int, place: str) -> str:
        model, object_id = self._model, int(self._model.sensor_objid[sensor])
        if place == "here":
            return self._frames.of(int(model.sensor_objtype[sensor]), object_id)
        if place == "reference":
            return self._frames.of(int(model.sensor_reftype[sensor]), int(model.sensor_refid[sensor]))
        if place == "world":
            return self._simulation.settings.world_frame
        body = model.jnt_bodyid[object_id]
        return self._simulation.frames[body if place == "body" else model.body_parentid[body]]

    def _columns_on_same_object(self, sensor: int, kind: mjtSensor) -> np.ndarray | None:
        """Return the data columns of a sensor of type ``kind`` on the same object as ``sensor``, or None."""
        model = self._model
        for other in (sensor, *self._simulation.engine.sensor_ids.values()):
            same = (
                model.sensor_objtype[other] == model.sensor_objtype[sensor]
                and model.sensor_objid[other] == model.sensor_objid[sensor]
                and model.sensor_refid[other] == model.sensor_refid[sensor]
            )
            if same and model.sensor_type[other] == kind:
                return np.arange(model.sensor_dim[other]) + model.sensor_adr[other]
        return None

    def _imu(self, sensor: int) -> _Message:
        quaternion = self._columns_on_same_object(sensor, mjtSensor.mjSENS_FRAMEQUAT)
        parts = {
            "orientation": None if quaternion is None else to_xyzw(quaternion),
            "angular_velocity": self._columns_on_same_object(sensor, mjtSensor.mjSENS_GYRO),
            "linear_acceleration": self._columns_on_same_object(sensor, mjtSensor.mjSENS_ACCELEROMETER),
        }
        fields: dict[str, Any] = {}
        columns: list[int] = []
        for name, part in parts.items():
            if part is None:
                fields[f"{name}_covariance"] = _UNKNOWN
            else:
                fields[name] = cdr.Value(len(columns))
                columns += part.tolist()
        return _row(Imu, self._frame(sensor, "here"), fields, np.array(columns))

    def _wrench(self, sensor: int) -> _Message:
        halves = [
            self._columns_on_same_object(sensor, kind)
            for kind in (mjtSensor.mjSENS_FORCE, mjtSensor.mjSENS_TORQUE)
        ]
        columns = np.concatenate([np.full(3, -1) if half is None else half for half in halves])
        return _row(WrenchStamped, self._frame(sensor, "here"), {"wrench": cdr.Value(0)}, columns)

    def _range(self, sensor: int) -> _Message:
        model = self._model
        kind, object_id = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
        column, cutoff = model.sensor_adr[sensor], model.sensor_cutoff[sensor]
        fields = {
            "header": header(self._frames.of(kind, object_id, along_x=True)),
            "radiation_type": Range.INFRARED,
            "max_range": cutoff if cutoff > 0.0 else np.inf,
            "range": cdr.Value(0),
        }

        def parts(snapshot: Snapshot) -> dict[str, np.ndarray]:
            distance = snapshot.sensor_data[column]
            return {"values": np.array([[distance if distance >= 0.0 else np.inf]])}

        return Range, fields, parts

    def _joint(self, sensor: int, field: str) -> _Message:
        model, names = self._model, self._simulation.names
        kind, object_id = mujoco.mjtObj(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
        known = {mujoco.mjtObj.mjOBJ_JOINT: names.joints, mujoco.mjtObj.mjOBJ_ACTUATOR: names.actuators}
        name = known[kind][object_id] if kind in known else mujoco.mj_id2name(model, kind, object_id)
        column = int(model.sensor_adr[sensor])
        fields = {
            "header": {"stamp": cdr.STAMP},
            "name": [name or f"tendon{object_id}"],
            field: cdr.RowRange(0, 1),
        }
        one = np.array([[0, 1]], np.int32)
        return (
            JointState,
            fields,
            lambda snapshot: {
                "keys": one,
                "points": snapshot.sensor_data[column : column + 1].reshape(1, 1),
            },
        )

    def _numbers(self, sensor: int) -> _Message:
        """Declare a TactileArray message with a unit, for a sensor that fits no standard message."""
        model, names = self._model, self._simulation.names
        kind = mjtSensor(model.sensor_type[sensor])
        touch = kind == mjtSensor.mjSENS_TOUCH
        body = self._frames.body_of(int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor]))
        at_site = model.sensor_objtype[sensor] == mujoco.mjtObj.mjOBJ_SITE
        start, count = int(model.sensor_adr[sensor]), int(model.sensor_dim[sensor])
        fields = {
            "header": header(self._frame(sensor, "here" if at_site else "world")),
            "body": names.bodies[body],
            "quantity": "normal" if touch else kind.name.removeprefix("mjSENS_").lower(),
            "unit": _UNITS.get(kind, ""),
            "taxel_count": count,
            "channels": 1,
            "data": cdr.Payload(),
        }
        return (
            TactileArray,
            fields,
            lambda snapshot: {"data": snapshot.sensor_data[start : start + count].astype(np.float32)},
        )


def _row(message_type: type, frame: str, fields: Mapping[str, Any], columns: np.ndarray) -> _Message:
    """Declare a message whose values are copied from columns of the sensor data."""
    missing = np.flatnonzero(columns < 0)

    def parts(snapshot: Snapshot) -> dict[str, np.ndarray]:
        values = snapshot.sensor_data[columns].reshape(1, -1)
        values[0, missing] = np.nan
        return {"values": values}

    return message_type, {"header": header(frame), **fields}, parts
