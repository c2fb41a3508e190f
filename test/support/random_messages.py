"""Random ROS messages, and their contents as dicts and lists for comparisons."""

from __future__ import annotations

import numpy as np

from tactile_sim.ros import cdr

TEXTS = ["", "a", "palm", "left.hand", "Käse", "触覚の皮膚", "🖐"]


def random_value(slot, rng):
    """Return a random value for a field described by rosidl."""
    described = type(slot).__name__
    if described == "BasicType":
        name = slot.typename
        if name == "boolean":
            return bool(rng.integers(2))
        if name == "octet":
            return bytes([rng.integers(256)])
        if name in ("float", "double"):
            return float(np.float32(rng.normal(scale=100)))
        limits = np.iinfo(name)
        return int(rng.integers(limits.min, limits.max, dtype=name, endpoint=True))
    if described == "UnboundedString":
        return TEXTS[rng.integers(len(TEXTS))]
    if described == "NamespacedType":
        return random_message(getattr(__import__(".".join(slot.namespaces), fromlist=["x"]), slot.name), rng)
    count = slot.size if described == "Array" else rng.integers(5)
    values = [random_value(slot.value_type, rng) for _ in range(count)]
    return np.array(values) if described == "Array" else values


def random_message(message_type, rng):
    names = message_type.get_fields_and_field_types()
    return message_type(
        **{name: random_value(slot, rng) for name, slot in zip(names, message_type.SLOT_TYPES, strict=True)}
    )


def plain(value):
    """Convert a ROS message to dicts, lists and numbers."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, str | bytes | bool | int | float):
        return value
    return [plain(element) for element in np.asarray(value).tolist()] if not isinstance(value, list) else [
        plain(element) for element in value
    ]  # fmt: skip


def decoded_plain(value, like):
    """Convert a decoded value to the structure of ``like``, the plain original message."""
    if isinstance(like, dict):
        if isinstance(value, np.ndarray):
            assert len(value) == len(like)
            return dict(zip(like, value.tolist(), strict=True))
        assert list(vars(value)) == list(like)
        return {name: decoded_plain(getattr(value, name), inner) for name, inner in like.items()}
    if isinstance(value, cdr.Columns) or (like and isinstance(like, list) and isinstance(like[0], dict)):
        assert len(value) == len(like)
        return [decoded_plain(row(value, index), element) for index, element in enumerate(like)]
    if isinstance(like, bytes) and isinstance(value, np.integer):
        return bytes([value])
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def row(columns, index):
    """Return one element of a decoded sequence of structs."""
    if isinstance(columns, cdr.Columns):
        return cdr.Record(**{name: row(column, index) for name, column in vars(columns).items()})
    return columns[index]
