"""Look up the SI units (REP-103) of message fields."""

from __future__ import annotations

_VECTORS = {"force": "N", "torque": "N m", "linear": "m/s", "angular": "rad/s"}
"""Units of fields in any message type, keyed by the last component of the field's name."""
_FIELDS = {
    "TactileLayout": {"spacing": "m", "positions": "m", "normals": "1", "areas": "m2", "lengths": "m"},
    "TactileState": {
        "contact_time": "s",
        "air_time": "s",
        "center_of_pressure": "m",
        "normal": "1",
        "area": "m2",
        "friction_utilization": "1",
        "slip_velocity": "m/s",
    },
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
"""Units of fields, keyed by message type (without the package) and then by field name."""
TIMES = ("stamps", "log_times", "stamp", "log_time")


def unit_of(type_name: str, field: str, own: str | None = None) -> str | None:
    """Return the unit of a field, or None if it is unknown."""
    if field in TIMES:
        return "ns"
    if field == "data" and own:
        return own
    known = _FIELDS.get(type_name.rpartition("/")[2], {}).get(field)
    return known or _VECTORS.get(field.rpartition(".")[2])
