"""Check the definitions and messages in a bag, for all message types that this package interprets.

A bag contains its own message definitions, which may be invalid or from another version.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tactile_sim.wire.sources import of_definition
from tactile_sim.wire.types import Array, Primitive, Sequence, String, Struct, WireError

ROWS: dict[str, dict[str, str | int]] = {
    "tactile_sim/msg/TactileArray": {"data": "channels"},
    "tactile_sim/msg/TactileFrame": {"data": "channels"},
    "tactile_sim/msg/TactileLayout": {
        "positions": 3,
        "normals": 3,
        "orientations": 4,
        "triangles": 3,
        "uv": 2,
    },
}
"""Row lengths of array fields that have several numbers per taxel or triangle, by message type and field.

A row length is a number, or the name of the message field that contains the number.
"""
_READINGS = (
    "std_msgs/Header header\nuint32 layout_id\nstring quantity\nstring unit\nuint8 channels\nfloat32[] data\n"
)
_REQUIRED = {
    "tactile_sim/msg/TactileArray": _READINGS + "string body\nuint32 taxel_count",
    "tactile_sim/msg/TactileFrame": _READINGS + "string[] bodies\nuint32[] taxel_counts",
    "tactile_sim/msg/TactileLayout": "std_msgs/Header header\nuint32 layout_id\nstring body\n"
    "float32 spacing\nfloat32[] positions\nfloat32[] normals\nfloat32[] areas\nuint32[] triangles\n"
    "float32[] lengths\nfloat32[] uv",
    "tactile_sim/msg/ContactWrenchArray": "std_msgs/Header header\nContactWrench[] contacts",
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "visualization_msgs/msg/MarkerArray": "Marker[] markers",
    "sensor_msgs/msg/Image": "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n"
    "uint32 step\nuint8[] data",
    "sensor_msgs/msg/PointCloud2": "std_msgs/Header header\nPointField[] fields\nuint32 point_step\n"
    "uint8[] data",
}
_USED = """
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
MSG: std_msgs/ColorRGBA
float32 r
float32 g
float32 b
float32 a
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
MSG: geometry_msgs/Pose
Point position
Quaternion orientation
MSG: geometry_msgs/Wrench
Vector3 force
Vector3 torque
MSG: geometry_msgs/Transform
Vector3 translation
Quaternion rotation
MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
Transform transform
MSG: tactile_sim/ContactWrench
string body1
string body2
int32 geom1_id
int32 geom2_id
geometry_msgs/Point position
geometry_msgs/Vector3 normal
geometry_msgs/Vector3 tangent1
geometry_msgs/Vector3 tangent2
geometry_msgs/Wrench wrench
geometry_msgs/Vector3 contact_force
MSG: visualization_msgs/Marker
std_msgs/Header header
string ns
int32 type
int32 action
geometry_msgs/Pose pose
geometry_msgs/Vector3 scale
std_msgs/ColorRGBA color
geometry_msgs/Point[] points
MSG: sensor_msgs/PointField
string name
uint32 offset
uint8 datatype
"""


def check_definition(kind: Struct) -> None:
    """Check that a bag's definition of a known type has the fields that this package reads."""
    if kind.name in _REQUIRED:
        _compare(_required(kind.name), kind, kind.name)


def check_rows(type_name: str, value: Any) -> None:
    """Check that arrays in a decoded message of a known type consist of complete rows; see `ROWS`."""
    for name, row in ROWS.get(type_name, {}).items():
        if not hasattr(value, name):  # the bag is older than the field
            continue
        width, size = row if isinstance(row, int) else getattr(value, row), len(getattr(value, name))
        if size % width if width else size:
            raise WireError(f"length must be a multiple of {width}, got {size}", name, type_name)


@cache
def _required(name: str) -> Struct:
    text = (_REQUIRED[name] + _USED).replace("\nMSG:", f"\n{'=' * 80}\nMSG:")
    return of_definition(name, text)


def _compare(required: Any, found: Any, place: str) -> None:
    """Check that the type ``found`` has all fields of ``required``, with the same types."""
    if isinstance(required, Struct) and isinstance(found, Struct):
        fields = {name: kind for name, kind, _ in found.fields}
        for name, kind, _ in required.fields:
            if name not in fields:
                raise WireError(f"field {name!r} is missing from the definition in the bag", "", place)
            _compare(kind, fields[name], f"{place}.{name}")
        same = required.uniform is None or required.width == found.width
    elif isinstance(required, Sequence) and isinstance(found, Sequence | Array):
        _compare(required.element, found.element, place)
        same = True
    elif isinstance(required, Primitive) and isinstance(found, Primitive):
        same = {"i": "u"}.get(required.dtype.kind, required.dtype.kind) == {"i": "u"}.get(
            found.dtype.kind, found.dtype.kind
        )
    else:
        same = isinstance(required, String) and isinstance(found, String)
    if not same:
        raise WireError("has a different type in the bag's definition", "", place)
