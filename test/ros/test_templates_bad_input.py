"""Invalid templates and invalid arguments of `fill`."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="the types of messages are those of ROS")

from geometry_msgs.msg import WrenchStamped
from support.errors import raises
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from tactile_sim import TactileSimError
from tactile_sim.ros import cdr
from tactile_sim.ros.cdr import STAMP, IntColumn, Lookup, MessageTemplate, Payload, Repeat, RowRange, Value
from tactile_sim.wire import PRIMITIVES, Sequence, Struct, of_class

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
