"""What a form refuses, as it is made and as it is filled in."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="the types of messages are those of ROS")

from geometry_msgs.msg import WrenchStamped
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from tactile_sim import TactileSimError
from tactile_sim.ros import cdr
from tactile_sim.ros.cdr import STAMP, Each, Key, Pick, Slice, Value, Whole
from tactile_sim.wire.form import Form
from tactile_sim.wire.sources import of_class
from tactile_sim.wire.types import PRIMITIVES, Sequence, Struct

CONTACT = {"body1": Pick(0, ["a", "bc"]), "geom1_id": Key(1), "distance": Value(0), "wrench": Value(1)}
CONTACTS = {"contacts": Each(CONTACT)}


def test_a_row_that_asks_for_what_is_not_there_is_refused_by_name_and_the_form_goes_on():
    form = cdr.form(ContactWrenchArray, CONTACTS)
    keys, values = np.zeros((2, 2), np.int32), np.ones((2, 7))
    whole = form.fill(0, keys, values)
    for key in (2, -3, 2**31 - 1, -(2**31)):
        wrong = np.array([[0, 0], [key, 0]], np.int32)
        told = f"ContactWrenchArray.contacts.body1: row 1 of the keys picks number {key} of 2"
        with pytest.raises(TactileSimError, match=told):
            form.fill(0, wrong, values)
    narrow, few = (keys[:, :1].copy(), values), (keys, values[:1])
    for wrong in (narrow, (keys, values[:, :6].copy()), few, (keys,), ()):
        with pytest.raises(TactileSimError, match="ContactWrenchArray: needs 2 columns of keys and 7 of val"):
            form.fill(0, *wrong)
    assert form.fill(0, keys, values) == whole


@pytest.mark.parametrize(
    ("begin", "count"), [(0, 4), (3, 1), (4, 0), (-1, 1), (0, -1), (2**31 - 1, 2**31 - 1)]
)
def test_a_slice_beyond_the_points_is_refused_by_name(begin, count):
    form = cdr.form(MarkerArray, {"markers": Each({"points": Slice(0, 1)})})
    keys = np.array([[begin, count]], np.int32)
    with pytest.raises(TactileSimError, match=r"markers\.points: row 0 of the keys takes .* shape \(3, 3\)"):
        form.fill(0, keys, points=np.ones((3, 3)))


def test_points_that_are_taken_twice_or_of_another_width_are_refused():
    form = cdr.form(MarkerArray, {"markers": Each({"points": Slice(0, 1)})})
    keys = np.array([[0, 2], [1, 2]], np.int32)
    with pytest.raises(TactileSimError, match="row 1 .* may be taken once"):
        form.fill(0, keys, points=np.ones((3, 3)))
    with pytest.raises(TactileSimError, match=r"2 rows of 3 numbers .* \(4, 2\)"):
        form.fill(0, keys, points=np.ones((4, 2)))


def test_what_stands_outside_the_elements_wants_a_row():
    for fields in ({"wrench": Value(0)}, {"header": {"frame_id": Pick(0, "ab")}}):
        with pytest.raises(TactileSimError, match="WrenchStamped: needs .* at least 1"):
            cdr.form(WrenchStamped, fields).fill(0, np.zeros((0, 1), np.int32), np.zeros((0, 6)))


@pytest.mark.parametrize(
    ("message_type", "fields", "told"),
    [
        (TFMessage, {"transform": []}, ["TFMessage", "transform", "did you mean 'transforms'"]),
        (TFMessage, {"transforms": Each({"heder": 1})}, ["TFMessage.transforms", "heder", "'header'"]),
        (TFMessage, {"transforms": Each({"header": {"frame": ""}})}, ["transforms.header", "'frame_id'"]),
        (TFMessage, {"transforms": Each(3)}, ["TFMessage.transforms", "TransformStamped", "3"]),
        (TFMessage, {"transforms": Each({"child_frame_id": 3})}, ["transforms.child_frame_id", "string"]),
        (TFMessage, {"transforms": [{"child_frame_id": Key(0)}]}, ["transforms[0].child_frame_id", "Key"]),
        (TFMessage, {"transforms": Key(0)}, ["TFMessage.transforms", "integer", "Key"]),
        (TFMessage, {"transforms": Value(0)}, ["TFMessage.transforms", "real number", "Value"]),
        (TFMessage, {"transforms": Whole()}, ["TFMessage.transforms", "numbers", "Whole"]),
        (TFMessage, {"transforms": Slice(0, 1)}, ["TFMessage.transforms", "float64", "Slice"]),
        (TFMessage, {"transforms": Each({"header": Value(0)})}, ["transforms.header", "real number"]),
        (WrenchStamped, {"wrench": Each({})}, ["WrenchStamped.wrench", "sequence", "Each"]),
        (WrenchStamped, {"wrench": Value(-1)}, ["WrenchStamped.wrench", "columns", "-1"]),
        (WrenchStamped, {"wrench": STAMP}, ["WrenchStamped.wrench", "time", "Stamp"]),
        (WrenchStamped, {"wrench": {"force": Key(0)}}, ["WrenchStamped.wrench.force", "integer", "Key"]),
        (WrenchStamped, {"header": {"stamp": Value(0)}}, ["WrenchStamped.header.stamp", "real number"]),
        (WrenchStamped, {"header": {"frame_id": Pick(0, ["a", 3])}}, ["frame_id", "thing 1", "string"]),
        (TactileArray, {"channels": Pick(0, [1, 256])}, ["TactileArray.channels", "thing 1", "uint8", "256"]),
        (TactileArray, {"channels": Value(0)}, ["TactileArray.channels", "real number"]),
        (TactileArray, {"data": Slice(0, 1)}, ["TactileArray.data", "float64", "Slice"]),
        (TactileArray, {"data": Each({})}, ["TactileArray.data", "structs", "Each"]),
        (TactileArray, {"body": Whole()}, ["TactileArray.body", "sequence", "Whole"]),
        (TactileFrame, {"taxel_counts": Whole(), "data": Whole()}, ["TactileFrame.data", "one"]),
        (MarkerArray, {"markers": Each({"points": Whole()})}, ["markers.points", "outside"]),
        (MarkerArray, {"markers": Each({"points": Each({})})}, ["markers.points", "none inside another"]),
    ],
)  # fmt: skip
def test_a_blank_that_does_not_fit_is_named_by_type_and_field(message_type, fields, told):
    with pytest.raises(TactileSimError) as caught:
        cdr.form(message_type, fields)
    text = str(caught.value)
    assert text.startswith(of_class(message_type).name), text
    assert all(part in text for part in told), text
    assert "\n" not in text


def test_a_sequence_that_is_bounded_is_not_left_blank():
    kind = Struct("test/Few", (("numbers", Sequence(PRIMITIVES["double"], 3), ()),))
    with pytest.raises(TactileSimError, match=r"test/Few\.numbers: holds 3 elements at most"):
        Form(kind, {"numbers": Whole()})
