"""A bag as one ``.npz`` file, for programs that know numpy and nothing of ROS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.bag.fresh import fresh
from tactile_sim.bag.reader import Bag
from tactile_sim.bag.units import unit_of
from tactile_sim.wire.decode import Columns


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
        own = getattr(topic, "unit", None)
        for field, value in vars(topic).items():
            _add(mine, field, value)
        for field, array in mine.items():
            found[f"{name}/{field}"] = array
            unit = unit_of(topic.message_type, field, own[0] if own else None)
            if unit:
                units[f"{name}/{field}"] = unit
    found["units"] = np.array(json.dumps(units, ensure_ascii=False))
    return found


def export(bag: Bag, out: Path) -> int:
    """Write :func:`arrays` into a new compressed ``.npz`` file; returns their number."""
    made = arrays(bag)
    with fresh(out) as path, open(path, "wb") as file:
        np.savez_compressed(file, **made)  # type: ignore[arg-type]
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
