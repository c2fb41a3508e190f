"""Messages and services have the documented fields, and their files describe each field."""

import re
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")

from tactile_sim import msg, srv

ROOT = Path(__file__).parents[2]
FLOATS, UNSIGNED = "sequence<float>", "sequence<uint32>"
HEADER = ("header", "std_msgs/Header")
VECTOR, POINT, WRENCH = "geometry_msgs/Vector3", "geometry_msgs/Point", "geometry_msgs/Wrench"

# In the order of serialization.
FIELDS = {
    msg.TactileArray: [
        HEADER, ("layout_id", "uint32"), ("pad", "string"), ("body", "string"), ("quantity", "string"),
        ("unit", "string"), ("taxel_count", "uint32"), ("channels", "uint8"), ("valid", "sequence<uint8>"),
        ("data", FLOATS),
    ],
    msg.TactileFrame: [
        HEADER, ("layout_id", "uint32"), ("quantity", "string"), ("unit", "string"), ("channels", "uint8"),
        ("pads", "sequence<string>"), ("bodies", "sequence<string>"), ("frame_ids", "sequence<string>"),
        ("taxel_counts", UNSIGNED), ("quantities", "sequence<string>"), ("units", "sequence<string>"),
        ("pad_channels", "sequence<uint8>"), ("valid", "sequence<uint8>"), ("data", FLOATS),
    ],
    msg.TactileLayout: [
        HEADER, ("layout_id", "uint32"), ("pad", "string"), ("body", "string"), ("spacing", "float"),
        ("positions", FLOATS), ("normals", FLOATS), ("orientations", FLOATS), ("ids", UNSIGNED),
        ("rows", UNSIGNED), ("columns", UNSIGNED), ("areas", FLOATS), ("triangles", UNSIGNED),
        ("geoms", "sequence<string>"),
        ("geom_index", "sequence<uint16>"), ("lengths", FLOATS), ("uv", FLOATS), ("image_width", "uint32"),
        ("image_height", "uint32"), ("pixels", UNSIGNED),
    ],
    msg.ContactWrench: [
        ("body1", "string"), ("geom1", "string"), ("body2", "string"), ("geom2", "string"),
        ("geom1_id", "int32"), ("geom2_id", "int32"), ("sensing1", "boolean"), ("sensing2", "boolean"),
        ("position", POINT), ("normal", VECTOR), ("tangent1", VECTOR), ("tangent2", VECTOR),
        ("distance", "double"), ("wrench", WRENCH), ("contact_force", VECTOR), ("relative_velocity", VECTOR),
    ],
    msg.ContactWrenchArray: [HEADER, ("contacts", "sequence<tactile_sim/ContactWrench>")],
    msg.ContactSlot: [
        ("force", VECTOR), ("torque", VECTOR), ("wrench", WRENCH), ("dist", "double"), ("pos", POINT),
        ("normal", VECTOR), ("tangent", VECTOR),
    ],
    msg.ContactSensor: [
        HEADER, ("name", "string"), ("reduce", "string"), ("data", "sequence<string>"), ("found", "uint32"),
        ("slots", "sequence<tactile_sim/ContactSlot>"),
    ],
    msg.TactileState: [
        HEADER, ("pad", "string"), ("body", "string"), ("contact", "boolean"), ("contact_raw", "boolean"),
        ("contact_time", "double"), ("air_time", "double"), ("center_of_pressure", POINT), ("normal", VECTOR),
        ("area", "double"), ("force", VECTOR), ("torque", VECTOR), ("friction_utilization", "double"),
        ("slip_velocity", VECTOR),
    ],
    srv.Reset.Request: [("keyframe", "string")],
    srv.Reset.Response: [("success", "boolean"), ("message", "string")],
    srv.Step.Request: [("steps", "uint32")],
    srv.Step.Response: [("success", "boolean"), ("message", "string"), ("time", "builtin_interfaces/Time")],
    srv.SetBodyState.Request: [
        ("body", "string"), ("pose", "geometry_msgs/Pose"), ("twist", "geometry_msgs/Twist"),
    ],
    srv.SetBodyState.Response: [("success", "boolean"), ("message", "string")],
    srv.SetJointState.Request: [
        ("joint_names", "sequence<string>"), ("positions", "sequence<double>"),
        ("velocities", "sequence<double>"),
    ],
    srv.SetJointState.Response: [("success", "boolean"), ("message", "string")],
    srv.SetMocapPose.Request: [("body", "string"), ("pose", "geometry_msgs/Pose")],
    srv.SetMocapPose.Response: [("success", "boolean"), ("message", "string")],
    srv.SetEquality.Request: [("name", "string"), ("active", "boolean")],
    srv.SetEquality.Response: [("success", "boolean"), ("message", "string")],
}  # fmt: skip
FILES = sorted(ROOT.glob("msg/*.msg")) + sorted(ROOT.glob("srv/*.srv"))


@pytest.mark.parametrize("interface", FIELDS, ids=lambda interface: interface.__name__)
def test_fields_have_documented_names_types_and_order(interface):
    assert list(interface.get_fields_and_field_types().items()) == FIELDS[interface]


def test_every_interface_file_is_built():
    built = {interface.__name__.removesuffix("_Request").removesuffix("_Response") for interface in FIELDS}
    assert {file.stem for file in FILES} == built


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_field_has_a_comment(file):
    for line in file.read_text().splitlines():
        if line and not line.startswith("#") and line != "---":
            assert re.search(r"\S  +# \S", line), line


def test_comments_of_quantities_name_units():
    measured = {
        "spacing": "[m]", "positions": "[m]", "areas": "[m2]", "lengths": "[m]", "position": "[m]",
        "distance": "[m]", "dist": "[m]", "pos": "[m]", "contact_force": "[N]", "force": "[N]",
        "torque": "[N m]", "wrench": "[N m]", "relative_velocity": "[m/s]", "pose": "[m]", "twist": "[rad/s]",
    }  # fmt: skip
    found = set()
    for file in FILES:
        for field, comment in re.findall(r"^\S+ (\w+) +# (.*)$", file.read_text(), re.MULTILINE):
            if field in measured:
                assert measured[field] in comment, f"{file.name}: {field}"
                found.add(field)
    assert found == set(measured)


def test_tf_message_has_fields_of_ros():
    tf2_msgs = pytest.importorskip("tf2_msgs.msg")
    assert tf2_msgs.TFMessage.get_fields_and_field_types() == {
        "transforms": "sequence<geometry_msgs/TransformStamped>"
    }


def test_cpp_headers_and_cmake_config_are_installed():
    from ament_index_python.packages import get_package_prefix

    prefix = Path(get_package_prefix("tactile_sim"))
    assert (prefix / "share/tactile_sim/cmake/tactile_simConfig.cmake").is_file()
    headers = {path.name for path in prefix.glob("include/tactile_sim/tactile_sim/*/*.hpp")}
    assert {"tactile_frame.hpp", "contact_wrench_array.hpp", "set_body_state.hpp"} <= headers
