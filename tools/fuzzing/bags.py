"""Generate bags with invalid types, messages, times, names, metadata or bytes."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml
from mcap.writer import CompressionType, Writer

from fuzzing import values
from tactile_sim.ros.cdr import encode_struct
from tactile_sim.wire import of_definition

ROOT = Path(__file__).resolve().parents[2]
TYPES = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "std_msgs/String": "string data",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w 1",
    "geometry_msgs/Wrench": "Vector3 force\nVector3 torque",
    "geometry_msgs/Transform": "Vector3 translation\nQuaternion rotation",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\nTransform transform",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "test_msgs/Mixed": "bool flag\nbyte level\nint8 a\nfloat64[2] pair\nstring[] names\n"
    "geometry_msgs/Point[] points\nThing[] things\nuint16[<=4] few",
    "test_msgs/Thing": "string name\ngeometry_msgs/Point at\nuint16[] numbers",
    **{f"tactile_sim/{file.stem}": file.read_text() for file in (ROOT / "msg").glob("*.msg")},
}
SEPARATOR = f"\n{'=' * 80}\n"
HOSTILE = (
    "", " ", "\n", "float64", "float64 x y", "float64[999999999999] x", "float64[-1] x", "float64[<=-1] x",
    "float64[0] x", "float64[][] x", "float64[100000] x", "string<=0 x", "wstring x", "wstring[] x", "A a",
    "nowhere/A a", "float64 x\nfloat64 x", "float64 def", "float64 __class__", "float64 _", "float64 X",
    "int32 A=x", "int32 A=1", "float64[2] x [1,2,3]", "uint8 x 300", "time x", "duration x", "string[2] x",
    "char x\nbyte y", "# only\n" * 9000, "float64 x # " + "y" * 100_000, "float64 " + "x" * 100_000,
    "\n" * 100_000, " " * 100_000, "float64 x\n" * 3000, "[" * 10_000, "a" * 100_000, "\0", "\ufeff", "é x",
    "string x '", 'string x "' + "\\" * 5000, "float64[x] y", "float64[1e3] x",
    "float64[999999999999999999999999999] x", "int64 x -99999999999999999999",
)  # fmt: skip
METADATA = (
    "[" * 20_000, "{" * 20_000, "a: " * 20_000, "- " * 20_000, "[[[[1]]]]", "", "1", "[]", "a", "\t", "a: [1",
    "&a [*a]", "&a [1, 1]", "- {history: 9}", "- *x", "!!python/object:os.system x", "{a: {b: 1e999}}",
    "'" + "a" * 100_000,
)  # fmt: skip
TIMES = (0, 1, 10**9, 2**31, 2**63 - 1, 2**63, 2**64 - 1)


@dataclass
class Topic:
    """A topic to write into a bag."""

    name: str
    type_name: str
    definition: str
    messages: list[bytes]
    encoding: str = "cdr"
    language: str = "ros2msg"
    metadata: dict[str, str] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)


def make(random: Random, folder: Path) -> list[str]:
    """Write a random bag into a folder and return the arguments of the command that reads it."""
    topics = [_topic(name) for name in _VALUES]
    topics = random.sample(topics, random.choice([1, 2, len(topics)]))
    for topic in topics:
        topic.times = [10_000_000 * (k + 1) for k in range(len(topic.messages))]
    kind = random.random()
    for _ in range(random.choice([1, 1, 2, 4]) if kind < 0.55 else 0):
        _change(random, random.choice(topics))
    bag = folder / "bag"
    bag.mkdir()
    file = bag / "bag_0.mcap"
    file.write_bytes(_written(random, topics))
    if 0.55 <= kind < 0.75:
        file.write_bytes(values.damaged(random, file.read_bytes()))
    described = bag / "metadata.yaml"
    if random.random() < 0.8:
        described.write_bytes(_described(random, file.name, corrupt=0.75 <= kind < 0.95))
    if kind >= 0.95:
        values.special_file(random, random.choice([file, described]), random.choice(values.SPECIAL))
    named = random.choice(["bag", "bag", "bag/bag_0.mcap"])
    action = random.choice(
        ["info", "info", "repair", "repair", "npz", "npz", "parquet", "parquet", "parquet", "plot"]
    )
    if action == "plot":
        return ["plot", named, random.choice(["forces", "raster", "contacts", "peak"])]
    if action in ("info", "repair"):
        return ["bag", action, named]
    return ["bag", "export", named, "--format", action]


def warm_up(command: Callable[[list[str]], int]) -> None:
    """Import all modules that the cases need."""
    import contextlib

    with tempfile.TemporaryDirectory() as made, contextlib.redirect_stdout(io.StringIO()):
        bag = Path(made) / "bag.mcap"
        topics = [_topic(name) for name in _VALUES]
        for topic in topics:
            topic.times = list(range(len(topic.messages)))
        bag.write_bytes(_written(Random(0), topics))
        for arguments in (["info"], ["repair"], ["export"], ["export", "--format", "parquet"]):
            assert command(["bag", arguments[0], str(bag), *arguments[1:]]) == 0, arguments
        assert command(["plot", str(bag), "forces", "raster"]) == 0


_HEADER = {"stamp": 5_000_000, "frame_id": "cube"}
_UPRIGHT = {"rotation": {"w": 1.0}}
_LAYOUT = {
    "header": _HEADER, "layout_id": 1, "body": "cube", "spacing": 0.05, "areas": np.full(4, 0.01),
    "positions": np.array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1.0]), "normals": np.tile([0, 0, 1.0], 4),
}  # fmt: skip
_READINGS = {
    "header": _HEADER, "layout_id": 1, "quantity": "force_vector", "unit": "N", "channels": 3,
    "data": np.arange(12.0),
}  # fmt: skip
_VALUES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "/tactile/cube/layout": ("tactile_sim/TactileLayout", [_LAYOUT]),
    "/tactile/cube/array": (
        "tactile_sim/TactileArray",
        [{**_READINGS, "body": "cube", "taxel_count": 4}] * 3,
    ),
    "/tactile/frame": (
        "tactile_sim/TactileFrame",
        [{**_READINGS, "bodies": ["cube"], "frame_ids": ["cube"], "taxel_counts": [4]}] * 3,
    ),
    "/contacts": (
        "tactile_sim/ContactWrenchArray",
        [
            {"header": _HEADER, "contacts": [{"body1": "table", "body2": "cube"}] * count}
            for count in (0, 2, 1)
        ],
    ),
    "/tf": (
        "tf2_msgs/TFMessage",
        [{"transforms": [{"header": _HEADER, "child_frame_id": "cube", "transform": _UPRIGHT}]}] * 3,
    ),
    "/chatter": ("std_msgs/String", [{"data": "a"}, {"data": "bc"}]),
    "/mixed": (
        "test_msgs/Mixed",
        [
            {"names": ["a"] * count, "things": [{"name": "x", "numbers": [1] * count}] * count}
            for count in (2, 0, 1)
        ],
    ),
}


@cache
def _definition(name: str) -> str:
    """Return the definition of a message type, followed by the types that it uses."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found[current] = TYPES[current]
        words = [line.split("#")[0].split() for line in TYPES[current].splitlines()]
        kinds = [word[0].partition("[")[0] for word in words if word]
        waiting += [
            used for kind in kinds for used in (kind, f"{current.partition('/')[0]}/{kind}") if used in TYPES
        ]
    head = found.pop(name)
    return head + "".join(f"{SEPARATOR}MSG: {used}\n{text}" for used, text in found.items())


def _topic(name: str) -> Topic:
    type_name, messages = _VALUES[name]
    full = type_name.replace("/", "/msg/")
    kind = of_definition(full, _definition(type_name))
    return Topic(name, full, _definition(type_name), [encode_struct(kind, value) for value in messages])


def _change(random: Random, topic: Topic) -> None:
    """Make one property of a topic invalid."""
    kind = random.randrange(9)
    if kind == 0:
        topic.name = random.choice(
            [values.text(random), "/" + "x" * 5000, "/a\0b", "/../../x", "//", "/a/b/" * 1000, "x"]
        )
    elif kind == 1:
        topic.definition = random.choice(
            [*HOSTILE, _circle(), _nested(random.choice([30, 3000])), _widening()]
        )
    elif kind == 2:
        topic.definition = values.damaged(random, topic.definition.encode()).decode("utf-8", "replace")
    elif kind == 3:
        topic.type_name = random.choice(
            [values.text(random), "std_msgs/msg/Header", "A", "a/b/c/d", "tactile_sim/msg/TactileFrame"]
        )
    elif kind == 4:
        topic.encoding = random.choice(["", "json", "ros1", "x" * 9000])
        topic.language = random.choice(["", "ros2idl", "jsonschema", "ros2msg", "protobuf"])
    elif kind == 5:
        topic.messages = [values.damaged(random, message) for message in topic.messages]
    elif kind == 6:
        k = random.randrange(len(topic.messages))
        message = bytearray(topic.messages[k])
        for _ in range(random.choice([1, 3])):
            start = random.randrange(0, max(1, len(message) - 4), 4)
            message[start : start + 4] = random.choice(
                [b"\xff" * 4, b"\0\0\0\x80", b"\xff\xff\0\0", b"\0\0\x80\x7f", b"\0\0\xc0\x7f"]
            )
        topic.messages[k] = bytes(message)
    elif kind == 7:
        topic.times = [random.choice(TIMES) for _ in topic.times]
    else:
        text = random.choice([*METADATA, values.text(random)])
        topic.metadata[
            random.choice(["offered_qos_profiles", "offered_qos_profiles", "topic_type_hash", text[:99]])
        ] = text


def _circle() -> str:
    return f"B b{SEPARATOR}MSG: std_msgs/B\nstd_msgs/String s\nB b{SEPARATOR}MSG: std_msgs/String\nB b"


def _nested(depth: int) -> str:
    return "A0 a" + "".join(f"{SEPARATOR}MSG: std_msgs/A{k}\nA{k + 1} a" for k in range(depth)) + (
        f"{SEPARATOR}MSG: std_msgs/A{depth}\nint8 x"
    )  # fmt: skip


def _widening() -> str:
    """Return a short type definition that expands to 2^40 numbers."""
    return "A0 a" + "".join(f"{SEPARATOR}MSG: std_msgs/A{k}\nA{k + 1} a\nA{k + 1} b" for k in range(40)) + (
        f"{SEPARATOR}MSG: std_msgs/A40\nint8 x"
    )  # fmt: skip


def _written(random: Random, topics: list[Topic]) -> bytes:
    """Return the content of an MCAP file with these topics."""
    file = io.BytesIO()
    compression = random.choice([CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD])
    writer = Writer(file, chunk_size=random.choice([100, 1 << 20]), compression=compression)
    writer.start("ros2", "")
    queue = []
    for topic in topics:
        schema = writer.register_schema(
            _storable(topic.type_name), topic.language, topic.definition.encode("utf-8", "replace")
        )
        metadata = {_storable(key): _storable(value) for key, value in topic.metadata.items()}
        channel = writer.register_channel(_storable(topic.name), topic.encoding, schema, metadata)
        queue += [(time, channel, data) for time, data in zip(topic.times, topic.messages, strict=True)]
    for time, channel, data in sorted(queue) if random.random() < 0.9 else queue:
        writer.add_message(channel, time, data, time)
    if random.random() < 0.01:
        writer.add_message(channel, time, bytes(random.choice([100, 400]) << 20), time)
    if random.random() < 0.9:
        writer.finish()
    return file.getvalue()


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _described(random: Random, file: str, corrupt: bool) -> bytes:
    """Return the content of a bag's metadata file, usually invalid if ``corrupt``."""
    information: dict[str, Any] = {
        "version": 9, "storage_identifier": "mcap", "relative_file_paths": [file], "message_count": 1,
        "duration": {"nanoseconds": 1}, "starting_time": {"nanoseconds_since_epoch": 0}, "files": [],
        "compression_format": "", "compression_mode": "",
    }  # fmt: skip
    text = yaml.safe_dump({"rosbag2_bagfile_information": information})
    if not corrupt:
        return text.encode()
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(METADATA).encode()
    if kind == 1:
        return values.damaged(random, text.encode())
    if kind == 2:
        return f"rosbag2_bagfile_information: {random.choice(METADATA)}\n".encode()
    key = random.choice(
        ["storage_identifier", "relative_file_paths", "relative_file_paths", "version", "compression_mode"]
    )
    wrong = [
        1, [1], [None], [], {}, None, "a", [["a"]], ["../x"], ["/dev/zero"], [values.text(random)],
        [file] * 3, values.text(random),
    ]  # fmt: skip
    information[key] = random.choice(wrong)
    return json.dumps({"rosbag2_bagfile_information": information}).encode()
