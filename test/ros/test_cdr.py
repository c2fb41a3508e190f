"""Compare the encoder and decoder with rclpy's serializer."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="the wire format is compared with rclpy's serializer")

from action_msgs.msg import GoalStatus, GoalStatusArray
from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Point, PoseWithCovarianceStamped, TransformStamped, WrenchStamped
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState, PointCloud2, PointField
from std_msgs.msg import Bool, ColorRGBA, Float64MultiArray, String
from support.errors import raises
from support.random_messages import decoded_plain, plain, random_message
from support.rclpy_bytes import rclpy_bytes
from tactile_sim.msg import (
    ContactSensor,
    ContactSlot,
    ContactWrenchArray,
    TactileArray,
    TactileFrame,
    TactileLayout,
)
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim import TactileSimError
from tactile_sim.ros import cdr

TYPES = [
    TactileArray, TactileLayout, TactileFrame, ContactWrenchArray, ContactSensor, PointCloud2, JointState,
    TFMessage, Clock, WrenchStamped, MarkerArray, DiagnosticArray, Image, Float64MultiArray, GoalStatusArray,
    PoseWithCovarianceStamped, String,
]  # fmt: skip


@pytest.mark.parametrize("message_type", TYPES, ids=lambda t: t.__name__)
def test_bytes_equal_rclpy_and_decode_to_the_same_message(message_type):
    rng = np.random.default_rng(7)
    messages = [random_message(message_type, rng) for _ in range(40)]
    for message, expected in zip(messages, rclpy_bytes(messages), strict=True):
        data = cdr.encode(message_type, message)
        assert data == expected[: len(data)]
        # rclpy always reserves alignment padding for an empty sequence of doubles.
        room = 4 * 3 if message_type in (Float64MultiArray, JointState) else 0
        assert len(expected) - len(data) <= room and not any(expected[len(data) :])
        decoded = cdr.decode(message_type, data)
        assert decoded_plain(decoded, plain(message)) == plain(message)
        assert deserialize_message(data, message_type) == message


@pytest.mark.parametrize("message_type", TYPES, ids=lambda t: t.__name__)
def test_omitted_fields_have_ros_defaults(message_type):
    [expected] = rclpy_bytes([message_type()])
    data = cdr.encode(message_type, {})
    assert expected.startswith(data) and len(expected) - len(data) <= 4 * 3
    assert cdr.encode(message_type, message_type()) == data


def test_nested_defaults_apply_in_sequences():
    """A transform in which only the child frame is set has a unit quaternion."""
    data = cdr.encode(TFMessage, {"transforms": [{"child_frame_id": name} for name in ("a", "bc")]})
    assert data == cdr.encode(
        TFMessage, TFMessage(transforms=[TransformStamped(child_frame_id=name) for name in ("a", "bc")])
    )
    transforms = cdr.decode(TFMessage, data).transforms
    assert transforms.transform.rotation.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]
    assert [transform.child_frame_id for transform in transforms] == ["a", "bc"]
    assert transforms[-1].transform.rotation.tolist() == [0, 0, 0, 1]
    assert transforms[1:].child_frame_id == ["bc"] and len(transforms[1:]) == 1
    with pytest.raises(IndexError):
        transforms[2]


def test_decoded_messages_can_be_encoded_again():
    message = Marker(ns="a", points=[Point(x=1.0), Point(z=2.0)], colors=[ColorRGBA(a=0.5)])
    data = cdr.encode(Marker, message)
    assert cdr.encode(Marker, cdr.decode(Marker, data)) == data


@pytest.mark.parametrize("frame", ["", "a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg"])
def test_arrays_are_aligned_at_every_offset(frame):
    """With strings of eight lengths, the points start at every offset modulo 8."""
    points = np.arange(15.0).reshape(5, 3)
    message = Marker(points=[Point(x=x, y=y, z=z) for x, y, z in points.tolist()], text=frame, ns=frame)
    message.header.frame_id = frame
    value = {"header": {"frame_id": frame}, "points": points, "text": frame, "ns": frame}
    assert [cdr.encode(Marker, value)] == rclpy_bytes([message])


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_first_element_with_different_alignment(count):
    """Elements of 25 bytes contain 4-byte numbers; three bytes of padding precede each but the first."""
    stamps = np.arange(count) * 1_500_000_000
    identities = np.arange(16 * count, dtype=np.uint8).reshape(count, 16)
    message, goals = GoalStatusArray(), []
    for i in range(count):
        goal = GoalStatus(status=i)
        goal.goal_info.goal_id.uuid = identities[i]
        goal.goal_info.stamp = Time(sec=int(stamps[i]) // 10**9, nanosec=int(stamps[i]) % 10**9)
        message.status_list.append(goal)
        goals.append({"goal_info": {"goal_id": identities[i], "stamp": stamps[i]}, "status": i})
    data = cdr.encode(GoalStatusArray, {"status_list": goals})
    assert [data] == rclpy_bytes([message])
    decoded = cdr.decode(GoalStatusArray, data).status_list
    np.testing.assert_array_equal(decoded.goal_info.goal_id.uuid, identities)
    np.testing.assert_array_equal(decoded.goal_info.stamp.sec, stamps // 10**9)


def test_sequence_of_nested_uniform_structs_accepts_an_array():
    """Encode three contact slots of 22 numbers each, given as rows of an array.

    The force is in columns 6 to 8 and the distance in column 12.
    """
    slots = np.zeros((3, 22))
    slots[:, 6:9], slots[:, 12] = 1.0, np.arange(3.0)
    data = cdr.encode(ContactSensor, {"name": "abc", "slots": slots})
    message = ContactSensor(name="abc", slots=[ContactSlot(dist=float(i)) for i in range(3)])
    for slot in message.slots:
        slot.wrench.force.x = slot.wrench.force.y = slot.wrench.force.z = 1.0
    assert [data] == rclpy_bytes([message])
    assert cdr.decode(ContactSensor, data).slots.wrench.force.tolist() == [[1.0, 1.0, 1.0]] * 3


def test_point_cloud_from_a_structured_array_and_its_bytes():
    points = np.arange(20, dtype=np.float32)
    fields = [{"name": "x", "datatype": PointField.FLOAT32, "count": 1}, {"name": "intensity", "offset": 4}]
    values = [{"fields": fields, "data": data} for data in (points.tobytes(), points.view(np.uint8))]
    message = PointCloud2(
        fields=[PointField(name="x", datatype=7, count=1), PointField(name="intensity", offset=4)],
        data=points.tobytes(),
    )
    assert [cdr.encode(PointCloud2, value) for value in values] == rclpy_bytes([message]) * 2


def test_arrays_of_any_memory_layout_and_dtype_are_accepted():
    points = np.arange(24).reshape(4, 6)
    expected = cdr.encode(Marker, {"points": points[:, ::2].astype(float).tolist()})
    assert cdr.encode(Marker, {"points": points[:, ::2]}) == expected
    assert cdr.encode(Marker, {"points": np.asfortranarray(points[:, ::2], dtype=np.float32)}) == expected
    frame = cdr.encode(TactileFrame, {"data": np.arange(6.0).reshape(2, 3), "taxel_counts": [1, 1]})
    assert cdr.decode(TactileFrame, frame).data.tolist() == [0, 1, 2, 3, 4, 5]


def test_nan_and_infinity_are_encoded():
    values = [np.nan, np.inf, -np.inf, -0.0]
    data = cdr.encode(Float64MultiArray, {"data": values})
    np.testing.assert_array_equal(cdr.decode(Float64MultiArray, data).data, values)


def test_decoded_arrays_are_read_only_views():
    data = cdr.encode(TactileArray, {"data": np.arange(300, dtype=np.float32)})
    array = cdr.decode(TactileArray, data).data
    assert np.shares_memory(array, np.frombuffer(data, np.uint8)) and not array.flags.writeable


def test_times_and_durations_accept_integer_nanoseconds():
    assert cdr.encode(Time, -1) == cdr.encode(Time, Time(sec=-1, nanosec=999_999_999))
    assert cdr.encode(Duration, np.int64(2_000_000_003)) == cdr.encode(Duration, Duration(sec=2, nanosec=3))
    with raises(cdr.WireError, "builtin_interfaces/msg/Time.sec"):
        cdr.encode(Time, 2**31 * 10**9)


STAMP = 12_345_678_901


@pytest.mark.parametrize(
    ("message_type", "value", "expected"),
    [
        (Clock, {"clock": STAMP}, STAMP),
        (TactileArray, {"header": {"stamp": STAMP}}, STAMP),
        (TFMessage, {"transforms": [{"header": {"stamp": STAMP}}]}, STAMP),
        (TFMessage, {}, None),
        (MarkerArray, {"markers": [{"header": {"stamp": STAMP}}]}, STAMP),
        (Float64MultiArray, {"data": [1.0]}, None),
        (String, {"data": "no time in here"}, None),
    ],
)
def test_stamp_is_read_without_decoding(message_type, value, expected):
    assert cdr.stamp(message_type, cdr.encode(message_type, value)) == expected


@pytest.mark.parametrize(
    ("message_type", "value", "facts"),
    [
        (TactileArray, {"daat": [1.0]}, ["TactileArray", "daat", "'data'"]),
        (TactileArray, {"data": "abc"}, ["TactileArray.data", "float", "'abc'"]),
        (TactileArray, {"data": b"abcd"}, ["TactileArray.data", "float", "b'abcd'"]),
        (TactileArray, {"data": None}, ["TactileArray.data", "float"]),
        (TactileArray, {"data": [1.0, "x"]}, ["TactileArray.data", "float"]),
        (TactileArray, {"data": [[1.0], [2.0, 3.0]]}, ["TactileArray.data"]),
        (TactileArray, {"body": 3}, ["TactileArray.body", "3"]),
        (TactileArray, {"body": "\ud800"}, ["TactileArray.body", "UTF-8"]),
        (TactileArray, {"channels": 256}, ["TactileArray.channels", "uint8", "256"]),
        (TactileArray, {"channels": 1.5}, ["TactileArray.channels", "uint8", "1.5"]),
        (TactileArray, {"header": "world"}, ["TactileArray.header", "std_msgs/msg/Header", "'world'"]),
        (TactileArray, {"header": {"stamp": 1.5}}, ["TactileArray.header.stamp", "1.5"]),
        (TactileArray, {"header": Time()}, ["TactileArray.header", "Header", "stamp"]),
        (TactileArray, None, ["TactileArray", "None"]),
        (TactileLayout, {"triangles": [[-1, 0, 1]]}, ["TactileLayout.triangles", "uint32", "-1"]),
        (TactileLayout, {"triangles": [0.5]}, ["TactileLayout.triangles", "uint32", "float64"]),
        (TactileLayout, {"geoms": "cube"}, ["TactileLayout.geoms", "'cube'"]),
        (TactileLayout, {"geoms": ["a", 1]}, ["TactileLayout.geoms[1]", "1"]),
        (Marker, {"points": np.zeros((4, 2))}, ["Marker.points", "(n, 3)", "(4, 2)"]),
        (Marker, {"points": [[0.0, 1.0]]}, ["Marker.points[0]", "3", "2"]),
        (Marker, {"points": {"x": [1.0]}}, ["Marker.points", "Point", "(n, 3)", "dict"]),
        (Marker, {"scale": np.zeros(4)}, ["Marker.scale", "(3,)", "(4,)"]),
        (Marker, {"pose": {"orientation": [0.0, 0.0, 1.0]}}, ["Marker.pose.orientation", "4", "3"]),
        (Bool, {"data": 1}, ["Bool.data", "boolean", "1"]),
        (DiagnosticStatus, {"level": b"ab"}, ["DiagnosticStatus.level", "octet"]),
        (MarkerArray, {"markers": [{}, {"ns": b"x"}]}, ["MarkerArray.markers[1].ns", "b'x'"]),
        (MarkerArray, {"markers": [{"idd": 1}]}, ["MarkerArray.markers[0]", "idd", "'id'"]),
        (MarkerArray, {"markers": [{"points": [[1.0]]}]}, ["markers[0].points[0]", "3", "1"]),
        (MarkerArray, {"markers": [{"scale": np.ones((2, 3))}]}, ["markers[0].scale", "(3,)", "(2, 3)"]),
        (MarkerArray, {"markers": cdr.Columns(id=[1])}, ["MarkerArray.markers", "Columns"]),
        (MarkerArray, {"markers": np.zeros((3, 4))}, ["MarkerArray.markers", "Marker"]),
        (int, {}, ["int"]),
    ],
)  # fmt: skip
def test_invalid_value_error_names_type_and_field(message_type, value, facts):
    with raises(TactileSimError, *facts):
        cdr.encode(message_type, value)


def test_truncated_and_big_endian_messages_are_rejected():
    contacts = [{"body1": "a", "position": np.ones(3)}, {"body1": "b"}]
    whole = cdr.encode(ContactWrenchArray, {"header": {"frame_id": "world"}, "contacts": contacts})
    for length in range(len(whole)):
        with raises(TactileSimError, "ContactWrenchArray"):
            cdr.decode(ContactWrenchArray, whole[:length])
    with raises(TactileSimError, "ContactWrenchArray"):
        cdr.decode(ContactWrenchArray, b"\x00\x00" + whole[2:])


def test_excessive_count_is_rejected_without_allocation():
    data = bytearray(cdr.encode(MarkerArray, {}))
    data[4:8] = b"\xff\xff\xff\x7f"
    with raises(TactileSimError, "MarkerArray"):
        cdr.decode(MarkerArray, bytes(data))


@pytest.mark.parametrize("stamp", [2_999_999_999, 3_000_000_000, 2_000_000_000 * 10**9 + 7])
def test_stamps_decoded_as_arrays_are_exact_nanoseconds(stamp):
    data = cdr.encode(TFMessage, {"transforms": [{"header": {"stamp": stamp}, "child_frame_id": "a"}] * 2})
    found = cdr.decode(TFMessage, data).transforms.header.stamp
    assert cdr.nanoseconds(found.sec, found.nanosec).tolist() == [stamp] * 2
    assert cdr.nanoseconds(found.sec[0], found.nanosec[0]) == stamp
