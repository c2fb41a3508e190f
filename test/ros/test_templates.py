"""Message templates produce the same bytes as the encoder and rclpy, and reject invalid input."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="the wire format is compared with rclpy's serializer")

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import PointCloud, PointCloud2
from support.errors import raises
from support.rclpy_bytes import rclpy_bytes
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim import TactileSimError
from tactile_sim.ros import cdr
from tactile_sim.ros.cdr import (
    STAMP,
    IntColumn,
    Lookup,
    MessageTemplate,
    Payload,
    Repeat,
    RowRange,
    Value,
    encode_struct,
)
from tactile_sim.ros.topics import simulation_topics
from tactile_sim.simulation import Simulation
from tactile_sim.wire import PRIMITIVES, Sequence, String, Struct, of_class

NOW = 2_000_000_005
TEXTS = ["palm"[:n] if n < 5 else "fingertip"[:n] for n in range(9)]
"""Strings of lengths from 0 to 8, so that the next field starts at every offset modulo 8."""
COUNTS = (0, 1, 2, 7, 40)
EVERY_COUNT = pytest.mark.parametrize("count", COUNTS)


def header(frame, stamp=STAMP):
    return {"stamp": stamp, "frame_id": frame}


def same(message_type, made, value):
    """Assert that a filled template has the same bytes as the value encoded by our encoder and by rclpy."""
    assert made == cdr.encode(message_type, value)
    [expected] = rclpy_bytes([deserialize_message(made, message_type)])
    # rclpy always reserves alignment padding for an empty sequence of doubles.
    assert expected.startswith(made) and not any(expected[len(made) :])


def numbers(count, width):
    return np.random.default_rng(count).normal(size=(count, width))


def picks(count, columns, things):
    """Return random Lookup indices (count, columns) from -``things`` to ``things`` - 1."""
    return np.random.default_rng(count).integers(-things, things, (count, columns)).astype(np.int32)


@pytest.mark.parametrize("config", ["touch_cube", "gripper", "infant"])
def test_every_topic_equals_encoder_output(config):
    simulation = Simulation(config)
    simulation.step(300)
    snapshot = simulation.observe()
    for topic in simulation_topics(simulation):
        data = topic.make(snapshot)
        same(topic.type, data, deserialize_message(data, topic.type))


@pytest.mark.parametrize("stamp", [0, 1, NOW, -1, 2**31 * 10**9 - 1])
def test_clock_equals_encoder_output(stamp):
    same(Clock, cdr.template(Clock, {"clock": STAMP}).fill(stamp), {"clock": stamp})


@EVERY_COUNT
@pytest.mark.parametrize("frame", TEXTS)
def test_contacts_equal_encoder_output(count, frame):
    touching = [len(name) % 2 == 0 for name in TEXTS]
    contact = {
        "body1": Lookup(0, TEXTS), "geom1": "floor", "body2": Lookup(1, TEXTS), "geom2": Lookup(2, TEXTS),
        "geom1_id": IntColumn(2), "geom2_id": 7, "sensing1": Lookup(0, touching), "sensing2": True,
        "position": Value(0), "normal": [0.0, 0.0, 1.0], "distance": Value(3), "wrench": Value(4),
    }  # fmt: skip
    template = cdr.template(ContactWrenchArray, {"header": header(frame), "contacts": Repeat(contact)})
    keys, values = picks(count, 3, len(TEXTS)), numbers(count, 10)
    contacts = [
        contact
        | {"body1": TEXTS[a], "body2": TEXTS[b], "geom2": TEXTS[c], "geom1_id": c, "sensing1": touching[a]}
        | {"position": row[:3], "distance": row[3], "wrench": row[4:]}
        for (a, b, c), row in zip(keys.tolist(), values, strict=True)
    ]
    made = template.fill(NOW, keys, values)
    same(ContactWrenchArray, made, {"header": header(frame, NOW), "contacts": contacts})


@EVERY_COUNT
@pytest.mark.parametrize("frame", TEXTS)
def test_markers_equal_encoder_output(count, frame):
    """The markers are those of the node: DELETEALL, a sphere list, then arrows with two points each."""
    spaces, types = ["arrows", "points", ""], [Marker.ARROW, Marker.SPHERE_LIST, Marker.ARROW]
    actions, scales = [Marker.ADD, Marker.ADD, Marker.DELETEALL], 0.01 * np.arange(9.0).reshape(3, 3)
    marker = {
        "header": header(frame), "ns": Lookup(0, spaces), "id": IntColumn(1), "type": Lookup(0, types),
        "action": Lookup(0, actions), "pose": {"orientation": {"w": 1.0}}, "scale": Lookup(0, scales),
        "points": RowRange(2, 3), "text": frame,
    }  # fmt: skip
    template = cdr.template(MarkerArray, {"markers": Repeat(marker)})
    points = numbers(3 * count, 3)
    arrows = [[0, k, count + 2 * k, 2] for k in range(count)]
    keys = np.array([[2, 0, 0, 0], [1, 0, 0, count], *arrows], np.int32)
    markers = [
        marker
        | {"header": header(frame, NOW), "ns": spaces[look], "id": id_, "type": types[look]}
        | {"action": actions[look], "scale": scales[look], "points": points[begin : begin + size]}
        for look, id_, begin, size in keys.tolist()
    ]
    same(MarkerArray, template.fill(NOW, keys, points=points), {"markers": markers})
    same(MarkerArray, template.fill(NOW, keys[:1], points=points), {"markers": markers[:1]})


@EVERY_COUNT
@pytest.mark.parametrize("text", TEXTS)
def test_list_with_placeholders_has_constant_length(count, text):
    marker = {
        "ns": Lookup(0, TEXTS), "points": [Value(0), [1.0, 2.0, 3.0], {"z": Value(3)}], "text": text,
        "mesh_file": {"data": bytes(3)},
    }  # fmt: skip
    template = cdr.template(MarkerArray, {"markers": Repeat(marker)})
    keys, values = picks(count, 1, len(TEXTS)), numbers(count, 4)
    markers = [
        marker | {"ns": TEXTS[key], "points": [row[:3], [1.0, 2.0, 3.0], {"z": row[3]}]}
        for (key,), row in zip(keys.tolist(), values, strict=True)
    ]
    same(MarkerArray, template.fill(NOW, keys, values), {"markers": markers})


@pytest.mark.parametrize("size", [*range(10), 250_092])
@pytest.mark.parametrize("text", TEXTS[:5])
def test_reserved_payload_makes_the_same_bytes(size, text):
    template = cdr.template(PointCloud2, {"header": header(text), "data": Payload(), "is_dense": True})
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    message, content = template.reserve(NOW, size)
    content[:] = data
    assert message == template.fill(NOW, data=data)
    assert content.ctypes.data % 4 == 0
    other, _ = template.reserve(NOW + 1, size)
    assert other[:12] != message[:12] and bytes(content) == data.tobytes()  # messages share no memory


@EVERY_COUNT
def test_fields_after_a_sequence_equal_encoder_output(count):
    """The fields ``channels`` follow a sequence of points that is filled as Repeat or as Payload."""
    cloud = {"header": header("w"), "channels": [{"name": "force", "values": [1.0, 2.0]}, {"name": "a"}]}
    points = numbers(count, 4)
    value = cloud | {"header": header("w", NOW), "points": points[:, 1:]}
    template = cdr.template(
        PointCloud, cloud | {"points": Repeat({"x": Value(1), "y": Value(2), "z": Value(3)})}
    )
    same(PointCloud, template.fill(NOW, values=points), value)
    template = cdr.template(PointCloud, cloud | {"points": Payload()})
    same(PointCloud, template.fill(NOW, data=points[:, 1:].astype(np.float32)), value)


@pytest.mark.parametrize("count", COUNTS[1:])
def test_placeholders_outside_repeat_use_first_row(count):
    point, cloud = {"x": Value(0), "z": 1.5}, {"header": header(Lookup(0, TEXTS))}
    kind = of_class(PointCloud)
    template = cdr.template(PointCloud, cloud | {"points": Repeat(point)})
    keys, values = picks(count, 1, len(TEXTS)), numbers(count, 1)
    points = [{"x": x, "z": 1.5} for x in values[:, 0]]
    value = {"header": header(TEXTS[keys[0, 0]], NOW), "points": points}
    same(PointCloud, template.fill(NOW, keys, values), value)
    type_ = Struct("test/Trailing", (*kind.fields, ("last", PRIMITIVES["double"], 0.0)))
    made = MessageTemplate(type_, cloud | {"points": Repeat(point), "last": Value(0)}).fill(NOW, keys, values)
    assert made == encode_struct(type_, value | {"last": values[0, 0]})


def test_small_message_after_large_one_has_no_leftover_bytes():
    contact = {
        "body1": Lookup(0, ["a", "bc"]),
        "geom1_id": IntColumn(1),
        "distance": Value(0),
        "wrench": Value(1),
    }
    template = cdr.template(ContactWrenchArray, {"contacts": Repeat(contact)})
    large = np.full((40, 2), -1, np.int32), np.full((40, 7), np.nan)
    small = np.zeros((3, 2), np.int32), np.zeros((3, 7))
    first = template.fill(-1, *large)
    contacts = [{"body1": "a", "distance": 0.0, "wrench": np.zeros(6)}] * 3
    assert template.fill(0, *small) == cdr.encode(ContactWrenchArray, {"contacts": contacts})
    assert template.fill(-1, *large) == first


# -- types with numbers of every size ---------------------------------------------------------------------

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
THING = Struct("test/Thing", (("flag", PRIMITIVES["octet"], 0), ("x", PRIMITIVES["double"], 0.0)))
LOOSE = Struct(
    "test/Loose",
    (
        ("bytes", Sequence(PRIMITIVES["uint8"]), ()),
        ("real", PRIMITIVES["double"], 0.0),
        ("flag", PRIMITIVES["boolean"], False),
        *((name, PRIMITIVES[name], 0) for name in INTEGERS),
        ("single", PRIMITIVES["float"], 0.0),
        ("numbers", Sequence(PRIMITIVES["double"]), ()),
        ("thing", THING, None),
        ("text", String(), ""),
    ),
)
"""A type with numbers of every size at every alignment."""


@pytest.mark.parametrize("size", range(17))
@pytest.mark.parametrize("key", [0, 1, 127, -1, -128, 2**31 - 1, -(2**31)])
def test_numbers_of_all_sizes_stay_aligned_after_byte_payload(size, key):
    things = [{"flag": 1, "x": 0.5}, {"flag": 2, "x": -0.5}]
    placeholders = {name: IntColumn(k) for k, name in enumerate(("flag", *INTEGERS))}
    template = MessageTemplate(
        LOOSE,
        placeholders
        | {"bytes": Payload(), "real": Value(0), "single": Value(1), "numbers": RowRange(9, 10)}
        | {"thing": Lookup(9, things), "text": "end"},
    )
    # Clamped to the range of each type.
    given = [max(np.iinfo(name).min, min(np.iinfo(name).max, key)) for name in INTEGERS]
    keys = np.array([[key % 2, *given, 1, 2]], np.int32)
    data = np.arange(size, dtype=np.uint8)
    value = dict(zip(placeholders, [bool(key % 2), *given], strict=True)) | {
        "bytes": data, "real": 0.1, "single": 0.1, "numbers": [2.0, 3.0], "thing": things[1], "text": "end",
    }  # fmt: skip
    made = template.fill(0, keys, np.array([[0.1, 0.1]]), np.arange(1.0, 4.0)[:, None], data)
    assert made == encode_struct(LOOSE, value)


@pytest.mark.parametrize("sizes", [(0, 3), (5, 0), (7, 2)])
def test_several_payloads_around_repeat_equal_encoder_output(sizes):
    fields = (
        ("bytes", Sequence(PRIMITIVES["uint8"]), ()),
        ("things", Sequence(THING), ()),
        ("doubles", Sequence(PRIMITIVES["double"]), ()),
        ("shorts", Sequence(PRIMITIVES["int16"]), ()),
    )
    kind = Struct("test/Several", fields)
    payloads = dict.fromkeys(("bytes", "doubles", "shorts"), Payload())
    template = MessageTemplate(kind, payloads | {"things": Repeat({"flag": 1, "x": Value(0)})})
    data = np.arange(sizes[0], dtype=np.uint8), np.arange(sizes[1]) - 0.5, np.arange(3, dtype=np.int16)
    xs = np.linspace(-1.0, 1.0, 9)[:, None]
    value = dict(zip(("bytes", "doubles", "shorts"), data, strict=True))
    things = [{"flag": 1, "x": x} for x in xs[:, 0]]
    made = template.fill(0, values=xs, data=data)
    assert made == encode_struct(kind, value | {"things": things})


# -- invalid templates and arguments ----------------------------------------------------------------------

CONTACT = {
    "body1": Lookup(0, ["a", "bc"]),
    "geom1_id": IntColumn(1),
    "distance": Value(0),
    "wrench": Value(1),
}
CONTACTS = {"contacts": Repeat(CONTACT)}


def test_out_of_range_key_names_field_and_template_stays_usable():
    template = cdr.template(ContactWrenchArray, CONTACTS)
    keys, values = np.zeros((2, 2), np.int32), np.ones((2, 7))
    whole = template.fill(0, keys, values)
    for key in (2, -3, 2**31 - 1, -(2**31)):
        wrong = np.array([[0, 0], [key, 0]], np.int32)
        facts = ("ContactWrenchArray.contacts.body1", "keys[1, 0]", str(key))
        with raises(TactileSimError, *facts):
            template.fill(0, wrong, values)
    narrow, few = (keys[:, :1].copy(), values), (keys, values[:1])
    for wrong in (narrow, (keys, values[:, :6].copy()), few, (keys,), ()):
        shapes = [str(array.shape) for array in wrong]
        with raises(TactileSimError, "ContactWrenchArray", "2 columns", *shapes):
            template.fill(0, *wrong)
    assert template.fill(0, keys, values) == whole


@pytest.mark.parametrize(
    ("begin", "count"), [(0, 4), (3, 1), (4, 0), (-1, 1), (0, -1), (2**31 - 1, 2**31 - 1)]
)
def test_row_range_beyond_points_names_field_and_shape(begin, count):
    template = cdr.template(MarkerArray, {"markers": Repeat({"points": RowRange(0, 1)})})
    keys = np.array([[begin, count]], np.int32)
    with raises(TactileSimError, "markers.points", "keys[0]", "(3, 3)"):
        template.fill(0, keys, points=np.ones((3, 3)))


def test_points_used_twice_or_of_wrong_width_are_rejected():
    template = cdr.template(MarkerArray, {"markers": Repeat({"points": RowRange(0, 1)})})
    keys = np.array([[0, 2], [1, 2]], np.int32)
    with raises(TactileSimError, "markers.points", "keys[1]"):
        template.fill(0, keys, points=np.ones((3, 3)))
    with raises(TactileSimError, "2 rows of 3", "(4, 2)"):
        template.fill(0, keys, points=np.ones((4, 2)))


@pytest.mark.parametrize("data", [np.zeros(3, np.float32), (np.zeros(3, np.uint8),) * 3])
def test_number_of_contents_must_equal_number_of_payloads(data):
    template = cdr.template(TactileFrame, {"taxel_counts": Payload(), "data": Payload()})
    with raises(TactileSimError, "TactileFrame", "2"):
        template.fill(0, data=data)


def test_reserve_requires_one_payload_and_nothing_else():
    fields = {"header": {"stamp": STAMP}}
    for more in ({}, {"data": Payload(), "valid": Payload()}, {"data": Payload(), "channels": IntColumn(0)}):
        with raises(cdr.WireError, "TactileArray", "reserve"):
            cdr.template(TactileArray, fields | more).reserve(0, 8)


def test_placeholders_outside_repeat_require_a_row():
    for fields in ({"wrench": Value(0)}, {"header": {"frame_id": Lookup(0, "ab")}}):
        with raises(TactileSimError, "WrenchStamped", "(0, 1)"):
            cdr.template(WrenchStamped, fields).fill(0, np.zeros((0, 1), np.int32), np.zeros((0, 6)))


@pytest.mark.parametrize(
    ("message_type", "fields", "facts"),
    [
        (TFMessage, {"transform": []}, ["transform", "'transforms'"]),
        (TFMessage, {"transforms": Repeat({"heder": 1})}, ["TFMessage.transforms", "heder", "'header'"]),
        (TFMessage, {"transforms": Repeat({"header": {"frame": ""}})}, ["transforms.header", "'frame_id'"]),
        (TFMessage, {"transforms": Repeat(3)}, ["TFMessage.transforms", "TransformStamped", "3"]),
        (TFMessage, {"transforms": Repeat({"child_frame_id": 3})}, ["transforms.child_frame_id", "3"]),
        (TFMessage, {"transforms": [{"child_frame_id": IntColumn(0)}]}, ["[0].child_frame_id", "IntColumn"]),
        (TFMessage, {"transforms": IntColumn(0)}, ["TFMessage.transforms", "IntColumn"]),
        (TFMessage, {"transforms": Value(0)}, ["TFMessage.transforms", "Value"]),
        (TFMessage, {"transforms": Payload()}, ["TFMessage.transforms", "Payload"]),
        (TFMessage, {"transforms": RowRange(0, 1)}, ["TFMessage.transforms", "float64", "RowRange"]),
        (TFMessage, {"transforms": Repeat({"header": Value(0)})}, ["transforms.header", "Value"]),
        (WrenchStamped, {"wrench": Repeat({})}, ["WrenchStamped.wrench", "Repeat"]),
        (WrenchStamped, {"wrench": Value(-1)}, ["WrenchStamped.wrench", "-1"]),
        (WrenchStamped, {"wrench": STAMP}, ["WrenchStamped.wrench", "Stamp"]),
        (WrenchStamped, {"wrench": {"force": IntColumn(0)}}, ["WrenchStamped.wrench.force", "IntColumn"]),
        (WrenchStamped, {"header": {"stamp": Value(0)}}, ["WrenchStamped.header.stamp", "Value"]),
        (WrenchStamped, {"header": {"frame_id": Lookup(0, ["a", 3])}}, ["frame_id", "value 1", "3"]),
        (TactileArray, {"channels": Lookup(0, [1, 256])}, ["channels", "value 1", "uint8", "256"]),
        (TactileArray, {"channels": Value(0)}, ["TactileArray.channels", "Value"]),
        (TactileArray, {"data": RowRange(0, 1)}, ["TactileArray.data", "float64", "RowRange"]),
        (TactileArray, {"data": Repeat({})}, ["TactileArray.data", "Repeat"]),
        (TactileArray, {"body": Payload()}, ["TactileArray.body", "Payload"]),
        (MarkerArray, {"markers": Repeat({"points": Payload()})}, ["markers.points", "Payload"]),
        (MarkerArray, {"markers": Repeat({"points": Repeat({})})}, ["markers.points", "Repeat"]),
    ],
)  # fmt: skip
def test_invalid_template_error_names_type_and_field(message_type, fields, facts):
    with raises(TactileSimError, of_class(message_type).name, *facts):
        cdr.template(message_type, fields)


def test_bounded_sequence_accepts_no_placeholder():
    kind = Struct("test/Few", (("numbers", Sequence(PRIMITIVES["double"], 3), ()),))
    with raises(TactileSimError, "test/Few.numbers", "3"):
        MessageTemplate(kind, {"numbers": Payload()})
