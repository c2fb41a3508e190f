"""Decode the messages of a bag one at a time, without loading the bag into memory."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tactile_sim.bag.mcap_file import McapScan, Progress
from tactile_sim.bag.mcap_file import Message as Stored
from tactile_sim.bag.metadata import files_of
from tactile_sim.common.errors import BagError
from tactile_sim.wire import (
    Array,
    Primitive,
    Record,
    Sequence,
    String,
    Struct,
    WireError,
    decoder,
    is_row,
    of_definition,
    stamp_of,
)


def require(what: str, module: str, name: str, package: str) -> None:
    """Import a module and raise a clear error if it is missing or broken."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise BagError(_broken(what, name, package, error)) from None
        raise BagError(f"{what} needs {name}, which is not installed: pip install {package}") from None
    except ImportError as error:
        raise BagError(_broken(what, name, package, error)) from None


def _broken(what: str, name: str, package: str, error: ImportError) -> str:
    reason = " ".join(str(error).split())
    return f"{what} needs {name}, which is broken ({reason}): pip install --force-reinstall {package}"


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


VIEW_TOPIC, VIEW_TYPE = "web_view", "std_msgs/msg/String"
"""Name, relative to the namespace of the node, and type of the latched topic."""
LARGEST = 1e6
"""Upper limit of coordinates [m] and of the end of the color scale."""
FIELDS_OF_VIEW = 0.01, 3.0
"""Smallest and largest field of view with which a scene is recognizable [rad]."""
PARALLEL = 1e-7
"""Angle between the line of sight and the upward direction below which a view is invalid [rad].

Browsers keep an angle of 1e-6 in a view from the top.
"""
Vector = tuple[float, float, float]


def is_view_topic(name: str, type_name: str) -> bool:
    """Return whether a topic with this name and type carries live views, in any namespace."""
    return name.endswith(f"/{VIEW_TOPIC}") and type_name == VIEW_TYPE


@dataclass(frozen=True)
class LiveView:
    """Camera and color scale of a view."""

    position: Vector
    """Position of the camera in the world frame [m]."""
    look_at: Vector
    """Point that the camera looks at, in the world frame [m]."""
    up: Vector
    """Direction in the world frame that points upward in the image."""
    field_of_view: float
    """Vertical field of view [rad]."""
    scale_end: float = 0.0
    """Reading at the end of the color scale; 0 adapts the scale to the readings."""
    logarithmic: bool = True
    """Whether the color scale is logarithmic."""
    dots: bool = False
    """Whether taxels are drawn as dots instead of a surface."""

    @property
    def text(self) -> str:
        """The view as JSON with the names of the fields as keys."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> LiveView | None:
        """Return a view from JSON, or None if the text does not describe a valid view."""
        try:
            given = json.loads(text)
            vectors = {name: _vector(given[name]) for name in ("position", "look_at", "up")}
            view = cls(
                **vectors,
                field_of_view=float(given["field_of_view"]),
                scale_end=float(given["scale_end"]),
                logarithmic=bool(given["logarithmic"]),
                dots=bool(given["dots"]),
            )
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        return view if view._is_valid() else None

    def _is_valid(self) -> bool:
        sight = [to - at for to, at in zip(self.look_at, self.position, strict=True)]
        (x, y, z), (u, v, w) = sight, self.up
        across = math.hypot(y * w - z * v, z * u - x * w, x * v - y * u)
        return (
            across > PARALLEL * math.hypot(*sight) * math.hypot(*self.up) > 0.0
            and FIELDS_OF_VIEW[0] <= self.field_of_view <= FIELDS_OF_VIEW[1]
            and 0.0 <= self.scale_end < LARGEST
        )


def _vector(values: list[float]) -> Vector:
    x, y, z = map(float, values)
    if not all(abs(value) < LARGEST for value in (x, y, z)):
        raise ValueError("out of range")
    return x, y, z


ADD = 0
"""The action that adds or changes a marker."""
CUBE, SPHERE, CYLINDER, TRIANGLES = 1, 2, 3, 11
"""Types of markers."""


class Message(NamedTuple):
    """A decoded message.

    ``log_time`` is in ns. ``stamp`` is the stamp in the message [ns], or the log time if the message has
    no stamp.
    """

    topic: str
    type_name: str
    log_time: int
    stamp: int
    value: Any


class Messages:
    """Iterates over the decoded messages of selected topics, in the order of the bag.

    After the iteration, ``damage`` describes the damage of the bag or is None, ``lost`` is the number of
    bytes that could not be read, and ``others`` contains the names of the topics that were not selected.
    """

    def __init__(
        self,
        path: Path,
        wanted: Callable[[str], bool] = lambda topic: True,
        progress: Progress | None = None,
    ) -> None:
        self.files = files_of(path)
        self.wanted = wanted
        self.progress = progress
        self.damage: str | None = None
        self.lost = 0
        self.others: set[str] = set()
        self._decoders: dict[str, TopicDecoder] = {}

    def __iter__(self) -> Iterator[Message]:
        self.damage, self.lost = None, 0
        for file in self.files:
            scan = McapScan(file, self.progress)
            for message in scan:
                topic = message.channel.topic
                if not self.wanted(topic):
                    self.others.add(topic)
                    continue
                if topic not in self._decoders:
                    self._decoders[topic] = decoder_of(message)
                kind = self._decoders[topic].kind
                value = self._decoders[topic].decode(message, bytes(message.data))
                stamp = stamp_of(kind, message.data)
                yield Message(
                    topic,
                    message.schema.name,
                    message.log_time,
                    message.log_time if stamp is None else stamp,
                    value,
                )
            if scan.damage:
                self.damage = self.damage or f"{file.name}: {scan.damage}"
                self.lost += scan.lost


class Selection:
    """A set of topics, selected by name with or without the leading slash. None selects all topics."""

    def __init__(self, names: Collection[str] | None) -> None:
        if names is not None and (
            isinstance(names, str | bytes)
            or not isinstance(names, Collection)
            or getattr(names, "ndim", 1) != 1
            or not all(isinstance(name, str) for name in names)
        ):
            raise BagError(f"topics: must be a list of names, got {names!r}")
        self.names = None if names is None else list(names)
        own = self.names or []
        self._both = {*own, *("/" + name.lstrip("/") for name in own)}

    def __contains__(self, topic: str) -> bool:
        return self.names is None or topic in self._both

    def missing(self, found: Collection[str]) -> str | None:
        """Return the first selected name that is not in ``found`` (with a leading slash added), or None."""
        for name in self.names or ():
            full = "/" + name.lstrip("/")
            if name not in found and full not in found:
                return full
        return None


def unique_names(topics: Iterable[str], name_of: Callable[[str], str]) -> dict[str, str]:
    """Map topics to unique names. Numbers are appended to duplicates."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for topic in sorted(topics):
        name = name_of(topic)
        numbered = (f"{name}_{number}" for number in count(2))
        names[topic] = name if name not in taken else next(other for other in numbered if other not in taken)
        taken.add(names[topic])
    return names


class TopicDecoder:
    """Decodes messages of one type."""

    def __init__(self, kind: Struct) -> None:
        self.kind = kind
        self._decoder = decoder(kind)

    def decode(self, message: Stored, data: bytes | memoryview) -> Any:
        """Decode a message.

        Args:
            message: The stored message, whose topic and log time are used in errors.
            data: The serialized message. Arrays in the result are views of it.

        Raises:
            BagError: The data is not a message of the topic's type.
        """
        try:
            value = self._decoder.decode(data)
        except WireError as error:
            raise _invalid(message.channel.topic, message.log_time, error) from None
        if is_row(self.kind):  # a struct of equal numbers, such as a Point, which decodes to an array
            names = (name for name, _, _ in self.kind.fields)
            return Record(**dict(zip(names, value.tolist(), strict=True)))
        return value


def require_rows(message: Message) -> None:
    """Check the array lengths in a decoded message of a known type."""
    try:
        check_rows(message.type_name, message.value)
    except WireError as error:
        raise _invalid(message.topic, message.log_time, error) from None


def _invalid(topic: str, log_time: int, error: WireError) -> BagError:
    return BagError(f"{topic}: invalid message at {log_time / 1e9:.3f} s: {error}")


def decoder_of(message: Stored) -> TopicDecoder:
    """Create the decoder for the messages of a topic."""
    require("reading a bag", "rosbags.typesys", "rosbags", "rosbags")
    channel, schema = message.channel, message.schema
    if (channel.message_encoding, schema.encoding) != ("cdr", "ros2msg"):
        raise BagError(
            f"{channel.topic}: must be encoded as 'cdr' with types in 'ros2msg', got "
            f"{channel.message_encoding!r} with types in {schema.encoding!r}; select other topics"
        )
    try:
        struct = of_definition(schema.name, schema.data.decode())
        check_definition(struct)
        return TopicDecoder(struct)
    except (WireError, UnicodeDecodeError) as error:
        raise BagError(f"{channel.topic} cannot be read: {' '.join(str(error).split())}") from None
