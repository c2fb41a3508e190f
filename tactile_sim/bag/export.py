"""A bag as one ``.npz`` file, for programs that know numpy and nothing of ROS."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.bag.reader import Bag, Topic
from tactile_sim.errors import BagError
from tactile_sim.wire.decode import Columns

_VECTOR_UNITS = {"force": "N", "torque": "N m", "linear": "m/s", "angular": "rad/s"}
# Units of fields by the last part of their type's name; SI (REP-103) where the message does not say.
_UNITS = {
    "TactileLayout": {"spacing": "m", "positions": "m", "normals": "1", "areas": "m2", "lengths": "m"},
    "ContactWrenchArray": {
        "contacts.position": "m",
        "contacts.distance": "m",
        "contacts.normal": "1",
        "contacts.tangent1": "1",
        "contacts.tangent2": "1",
        "contacts.contact_force": "N",
        "contacts.relative_velocity": "m/s",
    },
    "ContactSensor": {"slots.dist": "m", "slots.pos": "m", "slots.normal": "1", "slots.tangent": "1"},
    "TFMessage": {"transforms.transform.translation": "m", "transforms.transform.rotation": "1"},
    "Clock": {"clock.sec": "s", "clock.nanosec": "ns"},
}


def arrays(bag: Bag) -> dict[str, np.ndarray]:
    """A name and an array for each field: ``/tactile/frame/data``, ``/tactile/frame/stamps`` and so on.

    A field whose length differs from message to message becomes the messages' values one after the other, and
    ``NAME.counts`` says how many of them are of which message. ``units`` is JSON: the units of the
    names that have one.
    """
    found: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    for name, topic in bag.items():
        mine: dict[str, np.ndarray] = {}
        for field, value in vars(topic).items():
            _add(mine, field, value)
        for field, array in mine.items():
            found[f"{name}/{field}"] = array
            unit = _unit(topic, field)
            if unit:
                units[f"{name}/{field}"] = unit
    found["units"] = np.array(json.dumps(units, ensure_ascii=False))
    return found


def export(bag: Bag, out: Path) -> int:
    """Write :func:`arrays` into a new compressed ``.npz`` file; returns their number."""
    made = arrays(bag)
    fresh = out.with_name(out.name + ".new")
    try:
        with open(fresh, "wb") as file:
            np.savez_compressed(file, **made)  # type: ignore[arg-type]
        os.replace(fresh, out)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise BagError(f"cannot write {out}: {error.strerror}") from None
    return len(made)


def _add(into: dict[str, np.ndarray], name: str, value: Any) -> None:
    if isinstance(value, Columns):
        for field, inner in vars(value).items():
            _add(into, f"{name}.{field}", inner)
    elif isinstance(value, list) and value and not isinstance(value[0], str | bytes):
        into[f"{name}.counts"] = np.array([len(element) for element in value])
        if isinstance(value[0], Columns):
            for field in vars(value[0]):
                _join(into, f"{name}.{field}", [getattr(element, field) for element in value])
        else:
            _join(into, name, value)
    else:
        into[name] = np.array(value)


def _join(into: dict[str, np.ndarray], name: str, values: list[Any]) -> None:
    """The values of all messages one after the other."""
    if isinstance(values[0], Columns):
        for field in vars(values[0]):
            _join(into, f"{name}.{field}", [getattr(value, field) for value in values])
    elif isinstance(values[0], np.ndarray):
        into[name] = np.concatenate(values)
    else:
        _add(into, name, [element for value in values for element in value])


def _unit(topic: Topic, field: str) -> str | None:
    if field in ("stamps", "log_times"):
        return "ns"
    own = getattr(topic, "unit", None)
    if field == "data" and own:
        return own[0]
    known = _UNITS.get(topic.message_type.rpartition("/")[2], {}).get(field)
    return known or _VECTOR_UNITS.get(field.rpartition(".")[2])
