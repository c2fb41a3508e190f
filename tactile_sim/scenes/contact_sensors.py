"""Add and check the contact sensors of a scene before it is compiled."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco

from tactile_sim.errors import ConfigError, SceneError, suggest
from tactile_sim.names import Names, topic_token
from tactile_sim.scenes.sensor_layout import ALL_BITS, COMPLETE, MUJOCO_FIELDS, unnamed_sensor
from tactile_sim.scenes.sensor_schema import (
    CONTACT_SENSOR,
    FIELDS,
    FIRST,
    MOST_SLOTS,
    REDUCTIONS,
    SECOND,
    Ordered,
    sides,
)
from tactile_sim.schema import Check

_CONTACT = getattr(mujoco.mjtSensor, "mjSENS_CONTACT", None)  # since MuJoCo 3.3.5
_KINDS = {
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "subtree": mujoco.mjtObj.mjOBJ_XBODY,
    "site": mujoco.mjtObj.mjOBJ_SITE,
}
"""MuJoCo object type for each kind of object that a contact sensor can refer to."""
_IN_MJCF: dict[str, Check] = {**CONTACT_SENSOR, "data": Ordered(MUJOCO_FIELDS)}
"""For each attribute of a ``<contact>`` sensor in MJCF, the function that checks its value."""
_COPIED = ("objtype", "objname", "reftype", "refname", "delay", "nsample", "interval")
"""Attributes that an added sensor copies from the scene's sensor. Interpolation is not copied, because
values interpolated between two contacts describe neither of them."""


def add_contact_sensors(spec: mujoco.MjSpec, table: Mapping[str, Mapping[str, Any]], where: str) -> None:
    """Add configured contact sensors to a scene.

    Args:
        spec: The scene, which is modified.
        table: For each sensor name, its checked keys as declared in `tactile_sim.scenes.sensor_schema`.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: A sensor has no object, its object is unknown, its name is already used, or the scene
            disables sensors.
    """
    if table and spec.option.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR:
        raise ConfigError(
            f'{where}: the scene disables all sensors (option flag sensor="disable"), so these would'
            " find nothing; enable them there"
        )
    taken = {sensor.name for sensor in spec.sensors}
    for name, keys in table.items():
        if name in taken:
            raise ConfigError(f"{where}.{name}: the scene already has a sensor of that name; rename this one")
        if name.startswith(COMPLETE):
            raise ConfigError(f"{where}.{name}: names that begin with {COMPLETE!r} are reserved; rename it")
        try:
            chosen = sides(keys)
        except ValueError as error:
            raise ConfigError(f"{where}.{name}: {error}") from None
        if not any(chosen):
            needed = ", ".join((*FIRST, *SECOND))
            raise ConfigError(f"{where}.{name}: has no object; add at least one of {needed}")
        objects: dict[str, Any] = {}
        for key, side in zip(chosen, ("obj", "ref"), strict=True):
            if key:
                kind = key.rstrip("12")
                _name_object(spec, kind, keys[key], f"{where}.{name}.{key}")
                objects |= {f"{side}type": _KINDS[kind], f"{side}name": keys[key]}
        sensor = spec.add_sensor(name=name, type=_CONTACT, **objects)
        bits = sum(1 << FIELDS.index(field) for field in keys.get("data", ("found",)))
        _ask(sensor, bits, REDUCTIONS.index(keys.get("reduce", "none")), keys.get("num", 1))


def complete_contact_sensors(spec: mujoco.MjSpec, where: str) -> None:
    """Check a scene's contact sensors, and add complete ones where necessary.

    For each contact sensor that does not measure all fields or that interpolates, another sensor with all
    fields is added. The ids and layouts of the scene's own sensors do not change.

    Raises:
        SceneError: A sensor's object is missing, or two sensors would share a name or a topic.
    """
    given = list(spec.sensors)
    if any(sensor.name.startswith(COMPLETE) for sensor in given):
        return
    _check_names(given, where)
    for number, sensor in enumerate(given):
        if sensor.type != _CONTACT:
            continue
        for kind, name, side in (
            (sensor.objtype, sensor.objname, "1"),
            (sensor.reftype, sensor.refname, "2"),
        ):
            word = next((word for word, object_kind in _KINDS.items() if object_kind == kind), None)
            if word and not _find(spec, word, name):
                key = word if word == "site" else word + side
                raise SceneError(
                    f"{where}: sensor {sensor.name!r}: {key}: {_missing(word, name, _names(spec, word))}"
                )
        bits, reduction, num = (int(part) for part in sensor.intprm[:3])
        if bits & ALL_BITS == ALL_BITS and not sensor.interp:
            continue
        beside = spec.add_sensor(name=f"{COMPLETE}{number}", type=_CONTACT)
        for part in _COPIED:
            setattr(beside, part, getattr(sensor, part))
        _ask(beside, ALL_BITS, reduction, 1 if REDUCTIONS[reduction] == "netforce" else num)


def fault_of_contact_sensor(path: Path) -> str | None:
    """Describe what is wrong with the first invalid ``<contact>`` sensor in an MJCF file, or return None."""
    try:
        scene = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError):
        return None
    for sensor in scene.iterfind("sensor/contact"):
        keys: dict[str, Any] = dict(sensor.attrib)
        called = f"sensor {keys.get('name', '<contact>')!r}"
        for key, check in _IN_MJCF.items():
            if key not in keys or not keys[key]:
                continue
            value: Any = keys[key].split() if key == "data" else keys[key]
            if key == "num" and re.fullmatch(r"[+-]?\d+", value):
                # A scene may request more slots than a configuration.
                value = min(int(value), MOST_SLOTS)
            try:
                check(value)
            except ValueError as error:
                return f"{called}: {key}: {error}"
        try:
            sides(keys)
        except ValueError as error:
            return f"{called}: {error}"
    return None


def _ask(sensor: mujoco.MjsSensor, bits: int, reduction: int, num: int) -> None:
    parameters = list(sensor.intprm)
    parameters[:3] = bits, reduction, num
    sensor.intprm = parameters


def _name_object(spec: mujoco.MjSpec, kind: str, name: str, where: str) -> None:
    """Set the generated name of an unnamed geom or body as its real name.

    A sensor in the spec can refer only to real names. An object that already has the name is not changed.

    Args:
        spec: The scene, which is modified.
        kind: Kind of the object: ``geom``, ``body``, ``subtree`` or ``site``.
        name: Name by which the sensor refers to the object.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: There is no such object.
    """
    if _find(spec, kind, name):
        return
    if kind == "site":
        raise ConfigError(f"{where}: {_missing(kind, name, _names(spec, kind))}")
    # Unnamed elements have generated names, which depend on their order in the compiled model.
    made = Names(spec.compile())
    names, elements = (made.geoms, spec.geoms) if kind == "geom" else (made.bodies, spec.bodies)
    if name not in names:
        raise ConfigError(f"{where}: {_missing(kind, name, names)}")
    next(element for element in elements if element.id == names.index(name)).name = name


def _find(spec: mujoco.MjSpec, kind: str, name: str) -> Any:
    find = {"geom": spec.geom, "site": spec.site}.get(kind, spec.body)
    return find(name)


def _names(spec: mujoco.MjSpec, kind: str) -> list[str]:
    elements = {"geom": spec.geoms, "site": spec.sites}.get(kind, spec.bodies)
    return [element.name for element in elements if element.name]


def _missing(kind: str, name: str, names: Iterable[str]) -> str:
    return f"the scene has no {'body' if kind == 'subtree' else kind} named {name!r}{suggest(name, names)}"


def _check_names(sensors: Sequence[mujoco.MjsSensor], where: str) -> None:
    given = {sensor.name for sensor in sensors}
    taken: dict[str, str] = {}
    for number, sensor in enumerate(sensors):
        name = sensor.name or unnamed_sensor(number)
        if not sensor.name and name in given:
            raise SceneError(
                f"{where}: an unnamed sensor is called {name!r}, like another one; give it a name"
            )
        topic = f"{'contact_sensors' if sensor.type == _CONTACT else 'sensors'}/{topic_token(name)}"
        if topic in taken:
            raise SceneError(
                f"{where}: the sensors {taken[topic]!r} and {name!r} would share the topic {topic!r};"
                " rename one"
            )
        taken[topic] = name
