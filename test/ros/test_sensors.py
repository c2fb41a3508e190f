"""Test ``sensors/<name>``: a message for each type of MJCF sensor, in frames that exist in TF."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from geometry_msgs.msg import PointStamped, QuaternionStamped, Vector3Stamped, WrenchStamped  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from sensor_msgs.msg import Imu, JointState, MagneticField, Range  # noqa: E402
from support.errors import raises  # noqa: E402
from support.published import published  # noqa: E402
from tactile_sim.msg import TactileArray  # noqa: E402

from tactile_sim import ConfigError, config  # noqa: E402
from tactile_sim.ros.publishers import Publishers  # noqa: E402
from tactile_sim.ros.topics.sensors import sensor_topics  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

# A box of 2 kg at rest, an arm with 1 kg at its end and its hinge at a limit, range finders up and down.
SCENE = """
<mujoco><option timestep="0.002" magnetic="0 0 .5"/><worldbody><geom name="floor" type="plane" size="2 2 .1"/>
  <site name="gate" pos="0 0 1" zaxis="0 0 -1"/><site name="sky" pos="0 1 1"/>
  <body name="box" pos="0 0 .1"><freejoint/><geom name="shell" type="box" size=".1 .1 .1" mass="2"/>
    <site name="imu" pos=".05 0 0" euler="90 0 0"/><site name="skin" type="box" size=".11 .11 .11"/></body>
  <body name="arm" pos="1 0 1">
    <joint name="hinge" axis="0 1 0" range="-90 0" damping="1" solreflimit=".004 1"/>
    <geom type="box" size=".01 .01 .01" mass=".001" contype="0" conaffinity="0"/>
    <body name="hand" pos=".2 0 0"><geom size=".01" pos=".1 0 0" mass="1"/><site name="hand" euler="0 0 90"/>
      <site/></body></body>
</worldbody><actuator><motor name="motor" joint="hinge"/></actuator><sensor>
  <touch name="touch" site="skin"/>
  <accelerometer name="acc" site="imu"/><gyro name="gyro" site="imu"/>
  <velocimeter name="velocity" site="imu"/><magnetometer name="compass" site="imu"/>
  <accelerometer name="lone" site="skin"/>
  <force name="force" site="hand"/><torque name="torque" site="hand"/>
  <rangefinder name="below" site="gate"/><rangefinder name="above" site="sky"/>
  <jointpos name="angle" joint="hinge"/><jointvel name="speed" joint="hinge"/>
  <actuatorfrc name="drive" actuator="motor"/>
  <framepos name="place" objtype="xbody" objname="box"/>
  <framepos name="place in arm" objtype="xbody" objname="box" reftype="site" refname="gate"/>
  <framequat name="turn" objtype="site" objname="imu"/><framezaxis name="axis" objtype="site" objname="imu"/>
  <subtreecom name="center" body="hand"/><clock/><user name="extra" dim="3"/>
</sensor></mujoco>"""
KINDS = {
    "touch": TactileArray, "acc": Imu, "gyro": Imu, "velocity": Vector3Stamped, "compass": MagneticField,
    "lone": Imu, "force": WrenchStamped, "torque": WrenchStamped, "below": Range, "above": Range,
    "angle": JointState, "speed": JointState, "drive": JointState, "place": PointStamped,
    "place_in_arm": PointStamped, "turn": QuaternionStamped, "axis": Vector3Stamped, "center": PointStamped,
    "sensor18": TactileArray, "extra": TactileArray,
}  # fmt: skip
G = 9.81
HALF = np.sqrt(0.5)


@pytest.fixture
def last(tmp_path):
    """Return each sensor's message after one second, and the moving and fixed TF frames."""
    (tmp_path / "scene.xml").write_text(SCENE)
    simulation = Simulation({"scene": str(tmp_path / "scene.xml"), "skin": {"scales": {"box": 0.1}}})
    kinds = {topic.name: topic.type for topic in sensor_topics(simulation)}
    assert kinds == {f"sensors/{name}": kind for name, kind in KINDS.items()}
    found = published(simulation, [*kinds, "/tf", "/tf_static"], 500, every=500)
    messages = {topic.removeprefix("sensors/"): by_stamp[10**9] for topic, by_stamp in found.items()}
    return messages, messages.pop("/tf"), messages.pop("/tf_static")


def test_sensors_disabled_in_scene_have_no_topics(tmp_path):
    scene = tmp_path / "scene.xml"
    for option, count in (("", len(KINDS)), ('<option><flag sensor="disable"/></option>', 0)):
        scene.write_text(SCENE.replace("</mujoco>", f"{option}</mujoco>"))
        settings = config.from_mapping({"scene": str(scene), "skin": {"scales": {"box": 0.1}}})
        assert len(list(sensor_topics(Simulation(settings)))) == count


def test_too_long_topic_name_is_rejected(ros):
    scene = ros.folder / "scene.xml"
    scene.write_text(SCENE.replace("extra", "x" * 250))
    settings = config.from_mapping({"scene": str(scene), "skin": {"scales": {"box": 0.1}}})
    with raises(ConfigError, "sensors/xxx"):
        Publishers(ros.node, Simulation(settings))


def test_each_sensor_has_analytic_value_in_frame_of_tf(last):
    published, moving, fixed = last

    def near(one, other, **tolerance):
        np.testing.assert_allclose(one, other, **({"atol": 1e-3} | tolerance))

    touch = published["touch"]
    assert (touch.quantity, touch.unit, touch.taxel_count, touch.channels) == ("normal", "N", 1, 1)
    assert touch.body == "box"
    near(touch.data, [2 * G], rtol=0.01)
    # At rest, an accelerometer measures the floor's reaction, which points up along y of this site.
    for name in ("acc", "gyro"):
        imu = published[name]
        near(imu.linear_acceleration, [0, G, 0], atol=0.02)
        near(imu.angular_velocity, [0, 0, 0])
        near(imu.orientation, [HALF, 0, 0, HALF])
    lone = published["lone"]
    near(lone.linear_acceleration, [0, 0, G], atol=0.02)
    assert lone.angular_velocity_covariance[0] == lone.orientation_covariance[0] == -1.0
    assert lone.linear_acceleration_covariance[0] == 0.0
    near(published["velocity"].vector, [0, 0, 0])
    near(published["compass"].magnetic_field, [0, 0.5, 0])
    # The parent supports 1 kg at 0.1 m along x. The site's x axis is y of the world, its y axis is -x.
    for name in ("force", "torque"):
        near(published[name].wrench.force, [0, 0, G], atol=0.02)
        near(published[name].wrench.torque, [-0.1 * G, 0, 0], atol=0.02)
    near(published["below"].range, 0.8)
    assert published["above"].range == np.inf
    assert published["angle"].name == published["speed"].name == ["hinge"] and published["drive"].name == [
        "motor"
    ]
    near(published["angle"].position, [0], atol=0.02)
    near(published["speed"].velocity, [0])
    near(published["drive"].effort, [0])
    assert not len(published["angle"].velocity) and not len(published["angle"].effort)
    near(published["place"].point, [0, 0, 0.1])
    near(published["place_in_arm"].point, [0, 0, 0.9])
    near(published["turn"].quaternion, [HALF, 0, 0, HALF])
    near(published["axis"].vector, [0, -1, 0])
    near(published["center"].point, [1.3, 0, 1], atol=0.01)
    assert (published["sensor18"].quantity, published["sensor18"].unit) == ("clock", "s")
    near(published["sensor18"].data, [1.0])
    assert published["extra"].taxel_count == 3

    transforms = fixed.transforms
    names = list(transforms.child_frame_id)
    known = {"world", *names, *moving.transforms.child_frame_id}
    frames = {name: message.header.frame_id for name, message in published.items()}
    joints = {"angle", "speed", "drive"}
    assert {frame for name, frame in frames.items() if name not in joints} <= known
    assert frames["force"] == "hand_site" and frames["acc"] == "imu" and frames["below"] == "gate"
    assert frames["place_in_arm"] == "gate_site" and frames["place"] == "world"

    def pose(frame):
        row = names.index(frame)
        turn = Rotation.from_quat(transforms.transform.rotation[row])
        return transforms.header.frame_id[row], np.asarray(transforms.transform.translation[row]), turn

    parent, place, turn = pose("imu")
    assert parent == "box"
    np.testing.assert_allclose(place, [0.05, 0, 0], atol=1e-12)
    np.testing.assert_allclose(turn.apply([0, 0, 1]), [0, -1, 0], atol=1e-12)
    parent, place, turn = pose("gate")
    # A Range is measured along x of its frame. MuJoCo measures along z of the site, here downwards.
    assert parent == "world"
    np.testing.assert_allclose(turn.apply([1, 0, 0]), [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(pose("gate_site")[2].apply([0, 0, 1]), [0, 0, -1], atol=1e-12)
