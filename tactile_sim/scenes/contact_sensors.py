"""Declare, add and check contact sensors, and describe where their fields are in ``sensordata``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco

from tactile_sim.common.errors import ConfigError, SceneError, suggest
from tactile_sim.common.names import Names, topic_token
from tactile_sim.common.schema import Check, Choice, Integer, Text, check_characters, shown

FIELDS = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
"""Fields of a contact in canonical order."""
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
"""Reductions, indexed by their number in MuJoCo."""
FIRST = ("geom1", "body1", "subtree1", "site")
"""Keys that specify object 1, or the site that contains the contacts; at most one may be set."""
SECOND = ("geom2", "body2", "subtree2")
"""Keys that specify object 2; at most one may be set."""
MOST_SLOTS = 1000


@dataclass(frozen=True)
class Ordered:
    """Check for a list of one or more of ``words``, without repetition and in the order of ``words``."""

    words: tuple[str, ...]

    def __call__(self, value: Any) -> tuple[str, ...]:
        example = f"[{', '.join(self.words[:2])}]"
        listed = isinstance(value, list | tuple) and len(value) > 0
        if not listed or not all(isinstance(entry, str) for entry in value):
            raise ValueError(f"must be a list of words, such as {example}, got {shown(value)}")
        for entry in value:
            if entry not in self.words:
                raise ValueError(f"must not contain {entry!r}{suggest(entry, self.words)}")
        wanted = [word for word in self.words if word in value]
        if list(value) != wanted:
            raise ValueError(
                f"must have each word once and in order, [{', '.join(wanted)}], got [{', '.join(value)}]"
            )
        return tuple(value)


_NAME = Text(filled=True)
CONTACT_SENSOR: dict[str, Check] = {
    **dict.fromkeys((*FIRST, *SECOND), _NAME),
    "data": Ordered(FIELDS),
    "num": Integer(1, MOST_SLOTS),
    "reduce": Choice(REDUCTIONS),
}
"""For each key of a contact sensor, the function that checks its value."""


def check_sensors(sensors: Mapping[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """Check the keys of contact sensors and return them keyed by sensor name."""
    if not isinstance(sensors, Mapping):
        raise ConfigError(f"{where}: contact_sensors: must have keys below it, got {shown(sensors)}")
    checked: dict[str, dict[str, Any]] = {}
    for name, keys in sensors.items():
        place = f"{where}: contact_sensors.{name}"
        if not isinstance(name, str) or not isinstance(keys, Mapping):
            raise ConfigError(f"{place}: must have a name and keys below it, got {shown(keys)}")
        checked[name] = {}
        for key, value in keys.items():
            if key not in CONTACT_SENSOR:
                raise ConfigError(f"{place}: unknown key {key!r}{suggest(str(key), CONTACT_SENSOR)}")
            try:
                check_characters(name)
                checked[name][key] = CONTACT_SENSOR[key](value)
            except ValueError as error:
                raise ConfigError(f"{place}.{key}: {error}") from None
    return checked


def sides(keys: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the keys that specify object 1 (or the site) and object 2, or None where any object matches."""
    chosen: list[str | None] = []
    for options in (FIRST, SECOND):
        given = [key for key in options if key in keys]
        if len(given) > 1:
            raise ValueError(f"has both {given[0]} and {given[1]}; name at most one of {', '.join(options)}")
        chosen.append(given[0] if given else None)
    return chosen[0], chosen[1]


COMPLETE = "tactile_sim/complete/"
"""Name prefix of added sensors that measure all fields, followed by the id of the scene's sensor."""

WIDTHS = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}
_MUJOCO_WIDTHS = {**WIDTHS, "linvel": 3, "angvel": 3}
MUJOCO_FIELDS = tuple(_MUJOCO_WIDTHS)
"""Fields in MuJoCo's order; bit k of a sensor's data specification selects field k."""
ALL_BITS = (1 << len(FIELDS)) - 1


@dataclass(frozen=True)
class ContactLayout:
    """Configuration of a contact sensor, independent of the engine."""

    name: str
    data: tuple[str, ...]
    """Requested fields in canonical order."""
    reduce: str
    slots: int
    """Largest number of contacts that the sensor reports: ``num``, or 1 for ``netforce``."""


@dataclass(frozen=True)
class MujocoLayout(ContactLayout):
    """Layout of a contact sensor's slots in MuJoCo's ``sensordata``."""

    address: int
    bits: int

    @cached_property
    def stride(self) -> int:
        """Number of values in a slot."""
        return sum(width for k, width in enumerate(_MUJOCO_WIDTHS.values()) if self.bits >> k & 1)

    @cached_property
    def force(self) -> int | None:
        """Index of the first slot's force in ``sensordata``, or None if it is not requested."""
        found, force = self.bits & 1, self.bits >> 1 & 1
        return self.address + found if force else None


def unnamed_sensor(sensor: int) -> str:
    """Return the generated name of an unnamed sensor with this id."""
    return f"sensor{sensor}"


def sensor_names(model: mujoco.MjModel) -> dict[str, int]:
    """Return the ids of the scene's original sensors by name; an unnamed sensor is ``sensor<id>``."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SENSOR, i) for i in range(model.nsensor)]
    return {
        name or unnamed_sensor(i): i
        for i, name in enumerate(names)
        if not (name and name.startswith(COMPLETE))
    }


def is_contact(model: mujoco.MjModel, sensor: int) -> bool:
    """Return whether the sensor with this id is a ``<contact>`` sensor."""
    return model.sensor_type[sensor] == mujoco.mjtSensor.mjSENS_CONTACT


def contact_layout(model: mujoco.MjModel, sensor: int, name: str) -> MujocoLayout:
    """Return the layout of a ``<contact>`` sensor."""
    bits, reduction, num = (int(number) for number in model.sensor_intprm[sensor][:3])
    reduce = REDUCTIONS[reduction]
    data = tuple(field for k, field in enumerate(FIELDS) if bits >> k & 1)
    slots = 1 if reduce == "netforce" else num
    return MujocoLayout(name, data, reduce, slots, int(model.sensor_adr[sensor]), bits)


def complete_layout(model: mujoco.MjModel, sensor: int, layout: MujocoLayout) -> MujocoLayout | None:
    """Return a layout from which all fields of a contact sensor can be read.

    This is the layout of the sensor that `complete_contact_sensors` added for this purpose, if there is one.
    Otherwise, it is the layout of the sensor itself if that has all fields.
    """
    added = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, f"{COMPLETE}{sensor}")
    if added >= 0:
        return contact_layout(model, added, layout.name)
    return layout if layout.bits & ALL_BITS == ALL_BITS else None


_CONTACT = getattr(mujoco.mjtSensor, "mjSENS_CONTACT", None)  # since MuJoCo 3.3.5
_KINDS = {
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "subtree": mujoco.mjtObj.mjOBJ_XBODY,
    "site": mujoco.mjtObj.mjOBJ_SITE,
}
"""MuJoCo object type for each kind of object that a contact sensor can refer to."""
_COPIED = ("objtype", "objname", "reftype", "refname", "delay", "nsample", "interval")
"""Attributes that an added sensor copies from the scene's sensor. Interpolation is not copied, because
values interpolated between two contacts describe neither of them."""


def add_contact_sensors(spec: mujoco.MjSpec, table: Mapping[str, Mapping[str, Any]], where: str) -> None:
    """Add configured contact sensors to a scene."""
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


def _ask(sensor: mujoco.MjsSensor, bits: int, reduction: int, num: int) -> None:
    parameters = list(sensor.intprm)
    parameters[:3] = bits, reduction, num
    sensor.intprm = parameters


def _name_object(spec: mujoco.MjSpec, kind: str, name: str, where: str) -> None:
    """Set the generated name of an unnamed geom or body as its real name.

    A sensor in the spec can refer only to real names. An object that already has the name is not changed.
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
