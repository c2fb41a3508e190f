"""Message templates produce the same bytes as the encoder and rclpy."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="the wire format is compared with rclpy's serializer")

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, PointCloud, PointCloud2
from support.rclpy_bytes import rclpy_bytes
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

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
from tactile_sim.wire import PRIMITIVES, Struct, of_class

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
def test_transforms_equal_encoder_output(count):
    transform = {
        "header": header(Lookup(0, TEXTS)),
        "child_frame_id": Lookup(1, TEXTS),
        "transform": Value(0),
    }
    template = cdr.template(TFMessage, {"transforms": Repeat(transform)})
    keys, values = picks(count, 2, len(TEXTS)), numbers(count, 7)
    transforms = [
        {
            "header": header(TEXTS[a], NOW),
            "child_frame_id": TEXTS[b],
            "transform": {"translation": row[:3], "rotation": row[3:]},
        }
        for (a, b), row in zip(keys.tolist(), values, strict=True)
    ]
    same(TFMessage, template.fill(NOW, keys, values), {"transforms": transforms})


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


@pytest.mark.parametrize("size", range(10))
def test_point_clouds_equal_encoder_output(size):
    fields = [{"name": "x", "datatype": 7, "count": 1}, {"name": "intensity", "offset": 4}]
    cloud = {"header": header("world"), "width": 3, "fields": fields, "data": Payload(), "is_dense": True}
    data = np.arange(size, dtype=np.uint8)
    made = cdr.template(PointCloud2, cloud).fill(NOW, data=data)
    same(PointCloud2, made, cloud | {"header": header("world", NOW), "data": data})


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
@pytest.mark.parametrize("text", TEXTS)
def test_tactile_messages_equal_encoder_output(count, text):
    data, valid = numbers(count, 3).astype(np.float32), np.arange(count, dtype=np.uint8) % 2
    common = {"layout_id": 2**32 - 1, "quantity": "force", "unit": text, "channels": 3}
    array = common | {"body": text, "taxel_count": count}
    frame = common | {"bodies": [text, "palm"], "frame_ids": ["", text], "taxel_counts": [1, 2]}
    for message_type, fields in ((TactileArray, array), (TactileFrame, frame)):
        template = cdr.template(message_type, fields | {"header": header(text), "data": Payload()})
        value = fields | {"header": header(text, NOW), "data": data}
        same(message_type, template.fill(NOW, data=data), value)
        placeholders = {"header": header(text), "valid": Payload(), "data": Payload()}
        template = cdr.template(message_type, fields | placeholders)
        same(message_type, template.fill(NOW, data=(valid, data)), value | {"valid": valid})
        same(message_type, template.fill(NOW, data=(valid[:0], data)), value)


@EVERY_COUNT
@pytest.mark.parametrize("text", TEXTS)
def test_joint_states_equal_encoder_output(count, text):
    joints = {"header": header(text), "name": [text, "knee"]}
    template = cdr.template(
        JointState,
        joints | {"position": RowRange(0, 3), "velocity": RowRange(1, 3), "effort": RowRange(2, 4)},
    )
    states = numbers(2 * count + 1, 1)
    keys = np.array([[0, count, 2 * count, count, 1]], np.int32)
    position, velocity, effort = states[:count], states[count : 2 * count], states[2 * count :]
    value = joints | {
        "header": header(text, NOW),
        "position": position,
        "velocity": velocity,
        "effort": effort,
    }
    same(JointState, template.fill(NOW, keys, points=states), value)


@pytest.mark.parametrize("frame", TEXTS)
def test_wrenches_and_clocks_equal_encoder_output(frame):
    template = cdr.template(WrenchStamped, {"header": header(frame), "wrench": {"torque": Value(2)}})
    values = numbers(1, 5)
    value = {"header": header(frame, NOW), "wrench": {"torque": values[0, 2:]}}
    same(WrenchStamped, template.fill(NOW, values=values), value)
    clock = cdr.template(Clock, {"clock": STAMP})
    for stamp in (0, 1, NOW, -1, 2**31 * 10**9 - 1):
        same(Clock, clock.fill(stamp), {"clock": stamp})


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
