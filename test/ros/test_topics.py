"""What each topic holds: forces, points, frames and names; when it is sent; what a killed recorder leaves."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, WrenchStamped  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from sensor_msgs.msg import JointState, PointCloud2, PointField  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.ros import PATIENCE, Ros, kept, wait_for  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame, TactileLayout  # noqa: E402
from tactile_sim.srv import Reset, SetBodyState, Step  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from tactile_sim import bag  # noqa: E402
from tactile_sim.cli import main  # noqa: E402
from tactile_sim.ros import cdr  # noqa: E402

WEIGHT = 1.0 * 9.81
"""Of the cube of touch_cube [N]."""


class Ear:
    """Listens to a topic; keeps each message's bytes, the time of sending [ns] and of arrival [s]."""

    def __init__(self, ros: Ros, kind: type, topic: str):
        self.kind = kind
        self.heard: list[tuple[bytes, int, float]] = []

        def take(data, info):
            self.heard.append((data, info["source_timestamp"], time.monotonic()))

        self.subscription = ros.node.create_subscription(kind, topic, take, QoSProfile(depth=5000), raw=True)

    @property
    def stamps(self) -> list[int]:
        return [cdr.stamp(self.kind, data) for data, *_ in list(self.heard)]

    @property
    def last(self) -> int | None:
        return cdr.stamp(self.kind, self.heard[-1][0])

    @property
    def sent(self) -> dict[int, int]:
        """The time at which each stamp was sent."""
        return {cdr.stamp(self.kind, data): sent for data, sent, _ in list(self.heard)}

    def by_stamp(self) -> dict:
        return {cdr.stamp(self.kind, data): cdr.decode(self.kind, data) for data, *_ in list(self.heard)}

    def until(self, moment: float) -> list[int]:
        """Stamps of what arrived before a moment [s]."""
        return [cdr.stamp(self.kind, data) for data, _, came in list(self.heard) if came < moment]


def go(ros: Ros, ears: list[Ear], stamps: range) -> None:
    """Steps of 2 ms from stamp to stamp [ns]; a publisher keeps 10 messages, so each waits to be heard."""
    for t in stamps:
        ros.step(stamps.step // 2_000_000)
        wait_for(lambda t=t: all(ear.last == t for ear in ears), f"{t} ns")


def pose_in(transforms, frame: str) -> tuple[Rotation, np.ndarray]:
    """The rotation and place of a frame in its parent."""
    index = transforms.transforms.child_frame_id.index(frame)
    transform = transforms.transforms.transform
    return Rotation.from_quat(transform.rotation[index]), transform.translation[index]


# -- the cube that ships: forces and points --------------------------------------------------------------


@pytest.fixture(scope="module")
def fall(tmp_path_factory):
    """Three seconds of the shipped touch_cube, all topics by stamp; the cube falls, tumbles and rests."""
    ros = Ros(tmp_path_factory.mktemp("fall"))
    try:
        kinds = {
            "tactile/cube/array": TactileArray, "tactile/cube/wrench": WrenchStamped, "/tf": TFMessage,
            "contacts": ContactWrenchArray, "tactile/points": PointCloud2, "tactile/frame": TactileFrame,
        }  # fmt: skip
        ears = {topic: Ear(ros, kind, topic) for topic, kind in kinds.items()}
        layouts = ros.listen(TactileLayout, "tactile/cube/layout", lasting=True)
        parameters = ("start_paused:=true", "rates.points:=100.0")
        ros.start("run", "touch_cube", "--ros-args", *(word for p in parameters for word in ("-p", p)))
        wait_for(lambda: layouts and all(ear.heard for ear in ears.values()), "the first state")
        go(ros, list(ears.values()), range(10**8, 3 * 10**9 + 1, 10**8))
    finally:
        ros.close()
    return {topic: ear.by_stamp() for topic, ear in ears.items()} | {"layout": layouts[0]}


def test_the_shipped_cube_at_rest_feels_its_weight_on_every_topic_alike(fall):
    rows = [fall[topic] for topic in ("tactile/cube/array", "tactile/cube/wrench", "contacts", "/tf")]
    at_rest = [t for t in sorted(set.intersection(*map(set, rows))) if t >= 2.5e9]
    assert len(at_rest) >= 50
    weight = np.array([0, 0, WEIGHT])
    for t in at_rest:
        array, wrench, contacts, transforms = (row[t] for row in rows)
        turn, _ = pose_in(transforms, "cube")
        assert array.header.frame_id == wrench.header.frame_id == "cube"
        assert contacts.header.frame_id == "world"
        skin = turn.apply(array.data.reshape(array.taxel_count, array.channels).sum(axis=0, dtype=float))
        net = turn.apply(wrench.wrench.force)
        assert set(contacts.contacts.body2) == {"cube"}
        contact = np.asarray(contacts.contacts.wrench.force).sum(axis=0)
        for force in (skin, net, contact):
            np.testing.assert_allclose(force, weight, atol=0.01 * WEIGHT)
        for one, other in ((skin, contact), (net, contact), (skin, net)):
            np.testing.assert_allclose(one, other, atol=0.001 * WEIGHT)


def test_the_points_have_the_fields_that_the_contract_names(fall):
    for cloud in fall["tactile/points"].values():
        count = len(fall["layout"].areas)
        assert (cloud.height, cloud.width, cloud.point_step) == (1, count, 36)
        assert cloud.row_step == 36 * count == len(cloud.data)
        assert not cloud.is_bigendian and cloud.is_dense
        assert cloud.header.frame_id == "world"
        fields = cloud.fields
        names = "x y z intensity fx fy fz body taxel".split()
        assert list(fields.name) == names
        assert list(fields.offset) == [0, 4, 8, 12, 16, 20, 24, 28, 32]
        assert list(fields.datatype) == [PointField.FLOAT32] * 7 + [PointField.UINT16, PointField.UINT32]
        assert list(fields.count) == [1] * 9


def points_of(cloud) -> np.ndarray:
    """The points, read as their fields say."""
    types = {PointField.FLOAT32: "<f4", PointField.UINT16: "<u2", PointField.UINT32: "<u4"}
    fields = cloud.fields
    dtype = np.dtype({
        "names": list(fields.name), "formats": [types[kind] for kind in fields.datatype],
        "offsets": list(fields.offset), "itemsize": cloud.point_step,
    })  # fmt: skip
    return np.frombuffer(bytes(cloud.data), dtype)


def test_the_points_are_the_taxels_where_tf_has_them_at_that_stamp(fall):
    local = fall["layout"].positions.reshape(-1, 3).astype(float)
    assert len(fall["tactile/points"]) > 290
    travelled = []
    for t, cloud in fall["tactile/points"].items():
        points = points_of(cloud)
        turn, place = pose_in(fall["/tf"][t], "cube")
        travelled.append(place)
        expected = turn.apply(local) + place
        np.testing.assert_allclose(np.stack([points[c] for c in "xyz"], -1), expected, atol=1e-6)
        assert (points["body"] == 0).all()
        np.testing.assert_array_equal(points["taxel"], np.arange(len(local)))
    assert np.ptp(travelled, axis=0)[2] > 0.1  # it fell: the poses were not all the same


def test_the_points_carry_the_contact_forces_and_their_magnitudes(fall):
    touched = 0
    for t, cloud in fall["tactile/points"].items():
        points = points_of(cloud)
        forces = np.stack([points[c].astype(float) for c in ("fx", "fy", "fz")], -1)
        contacts = fall["contacts"][t].contacts
        expected = np.asarray(contacts.wrench.force).reshape(-1, 3).sum(axis=0)
        np.testing.assert_allclose(forces.sum(axis=0), expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(points["intensity"], np.linalg.norm(forces, axis=1), rtol=1e-5, atol=1e-9)
        touched += len(contacts.geom1) > 0
    assert touched > 200


# -- frames ----------------------------------------------------------------------------------------------

FRAMES = """
<mujoco><option timestep="0.002"/><worldbody>
  <body name="desk" pos="0 0 -1" euler="0 0 90"><geom type="box" size=".5 .5 .1"/></body>
  <body name="handle" mocap="true" pos="1 2 3" euler="90 0 0"><geom size=".1" contype="0" conaffinity="0"/>
    <body name="knob" pos="0 0 .2"><geom size=".05" contype="0" conaffinity="0"/></body></body>
  <body name="die" pos="0 0 5"><freejoint/><geom type="box" size=".1 .1 .1"/>
    <body name="spot" pos=".1 0 0" euler="0 90 0"><geom size=".02" mass=".01"/></body></body>
  <body name="arm" pos="3 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
  </body>
</worldbody></mujoco>"""
HALF = np.sqrt(0.5)


@pytest.fixture
def frames(ros):
    path = ros.folder / "frames.xml"
    path.write_text(FRAMES)
    return {"scene": str(path), "skin": {"scales": {"die": 0.05}}}


def tree(message) -> dict[str, str]:
    """The parent of each frame."""
    transforms = message.transforms
    return dict(zip(transforms.child_frame_id, transforms.header.frame_id, strict=True))


def test_tf_has_every_body_under_its_parent_and_a_late_listener_the_fixed_ones_too(ros, frames):
    moving = ros.listen(TFMessage, "/tf")
    arrays = ros.listen(TactileArray, "tactile/die/array")
    contacts = ros.listen(ContactWrenchArray, "contacts")
    ros.run(**frames, frame_prefix="sim/", world_frame="map")
    wait_for(lambda: len(moving) > 3 and arrays and contacts)
    fixed = ros.listen(TFMessage, "/tf_static", lasting=True)
    wait_for(lambda: fixed, "the fixed frames")
    assert tree(moving[-1]) == {"sim/handle": "map", "sim/die": "map", "sim/arm": "map"}
    assert tree(fixed[0]) == {"sim/desk": "map", "sim/knob": "sim/handle", "sim/spot": "sim/die"}
    for name, message, turn, place in (
        ("sim/handle", moving[0], [HALF, 0, 0, HALF], [1, 2, 3]),
        ("sim/desk", fixed[0], [0, 0, HALF, HALF], [0, 0, -1]),
        ("sim/knob", fixed[0], [0, 0, 0, 1], [0, 0, 0.2]),
        ("sim/spot", fixed[0], [0, HALF, 0, HALF], [0.1, 0, 0]),
    ):
        rotation, position = pose_in(message, name)
        np.testing.assert_allclose(rotation.as_quat(), turn, atol=1e-12)
        np.testing.assert_allclose(position, place, atol=1e-12)
    assert arrays[0].header.frame_id == "sim/die"
    assert arrays[0].body == "die"
    assert contacts[0].header.frame_id == "map"
    assert len(fixed) == 1


def test_tf_of_objects_has_the_free_bodies_alone(ros, frames):
    moving = ros.listen(TFMessage, "/tf")
    ros.run(**frames, tf="objects")
    wait_for(lambda: len(moving) > 10)
    assert all(tree(message) == {"die": "world"} for message in moving)
    assert not ros.node.get_publishers_info_by_topic("/tf_static")


def test_with_tf_off_there_are_no_frames(ros, frames):
    moving = ros.listen(TFMessage, "/tf")
    fixed = ros.listen(TFMessage, "/tf_static", lasting=True)
    arrays = ros.listen(TactileArray, "tactile/die/array")
    ros.run(**frames, tf="off")
    wait_for(lambda: len(arrays) > 10)
    assert not moving and not fixed
    assert not ros.node.get_publishers_info_by_topic("/tf")


# -- when ------------------------------------------------------------------------------------------------

SMALL_CUBE = {"scene": "touch_cube.xml", "skin": {"scales": {"cube": 0.05}}}


def test_time_and_frames_of_each_stamp_go_out_before_the_rest_as_often_as_the_fastest_topic(ros):
    clocks, transforms = Ear(ros, Clock, "/clock"), Ear(ros, TFMessage, "/tf")
    array, joints = Ear(ros, TactileArray, "tactile/cube/array"), Ear(ros, JointState, "joint_states")
    ros.run(**SMALL_CUBE, rates={"tactile": 500.0, "clock": 100.0, "tf": 100.0}, start_paused=True)
    every = [clocks, transforms, array, joints]
    wait_for(lambda: all(ear.heard for ear in every))
    go(ros, every, range(10**7, 10**8 + 1, 10**7))
    fast = list(range(0, 10**8 + 1, 2_000_000))
    assert clocks.stamps == transforms.stamps == array.stamps == fast
    assert joints.stamps == fast[::5]
    for later in (array, joints):
        for t, sent in later.sent.items():
            assert clocks.sent[t] <= sent and transforms.sent[t] <= sent


def test_after_each_intervention_every_topic_is_sent_once(ros):
    kinds = {
        "/clock": Clock, "/tf": TFMessage, "tactile/cube/array": TactileArray, "contacts": ContactWrenchArray,
        "tactile/cube/wrench": WrenchStamped, "tactile/frame": TactileFrame, "tactile/points": PointCloud2,
        "joint_states": JointState,
    }  # fmt: skip
    ears = {topic: Ear(ros, kind, topic) for topic, kind in kinds.items()}
    ros.run(**SMALL_CUBE, start_paused=True)

    def counts() -> dict[str, int]:
        return {topic: len(ear.heard) for topic, ear in ears.items()}

    def each_is_sent_once_more(since: dict[str, int]) -> int:
        """Waits for one more message of each topic, and a while for none after; gives their common stamp."""
        wait_for(lambda: all(n > since[topic] for topic, n in counts().items()), "one more of each")
        time.sleep(0.2)  # four looks of the standing loop for new listeners
        assert counts() == {topic: n + 1 for topic, n in since.items()}
        [common] = {ear.stamps[-1] for ear in ears.values()}
        return common

    reached = [each_is_sent_once_more(dict.fromkeys(kinds, 0))]
    pose = Pose(position=Point(z=0.4), orientation=Quaternion(w=1.0))
    state = {"body": "cube", "pose": pose, "twist": Twist()}
    for kind, name, request in (
        (Step, "step", {"steps": 1}),
        (Reset, "reset", {}),
        (SetBodyState, "set_body_state", state),
        (Step, "step", {"steps": 1}),
        (Reset, "reset", {"keyframe": "rest"}),
    ):
        before = counts()
        assert ros.call(kind, f"/tactile_sim/{name}", **request).success
        reached.append(each_is_sent_once_more(before))
    assert reached == [k * 2_000_000 for k in range(6)]

    # Time runs a little, and stands: all end with the same instant.
    assert ros.call(SetBool, "/tactile_sim/pause", data=False).success
    wait_for(lambda: ears["tactile/points"].stamps[-1] > reached[-1] + 10**8)
    assert ros.call(SetBool, "/tactile_sim/pause", data=True).success
    time.sleep(0.2)
    wait_for(lambda: len({ear.stamps[-1] for ear in ears.values()}) == 1, "the instant of the pause")

    # Newcomers are greeted on their topics; those who heard all hear nothing again.
    before = counts()
    late = {"markers": MarkerArray, "/diagnostics": DiagnosticArray}
    greeted = [Ear(ros, kind, topic) for topic, kind in late.items()]
    wait_for(lambda: all(ear.heard for ear in greeted), "the greeting")
    time.sleep(0.2)
    assert counts() == before
    assert [ear.stamps for ear in greeted] == [[ears["/clock"].stamps[-1]]] * 2
    for topic, ear in ears.items():
        assert (np.diff(ear.stamps) > 0).all(), topic


# -- names and parameters --------------------------------------------------------------------------------

NAMED = """
<mujoco><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="left/hand" pos="1 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="my box" pos="2 0 .1"><freejoint/><geom name="shell" type="box" size=".1 .1 .1"/></body>
  <body name="3rd" pos="3 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""


def test_names_that_ros_does_not_allow_are_mended_in_topics_and_kept_everywhere_else(ros):
    (ros.folder / "named.xml").write_text(NAMED)
    tokens = {"body1": "body1", "left/hand": "left_hand", "my box": "my_box", "3rd": "_3rd"}
    arrays = {name: ros.listen(TactileArray, f"tactile/{token}/array") for name, token in tokens.items()}
    layouts = {name: ros.listen(TactileLayout, f"tactile/{token}/layout", lasting=True)
               for name, token in tokens.items()}  # fmt: skip
    contacts = ros.listen(ContactWrenchArray, "contacts")
    transforms = ros.listen(TFMessage, "/tf")
    ros.run(scene=str(ros.folder / "named.xml"), skin={"scales": dict.fromkeys(tokens, 0.05)})
    wait_for(lambda: all(arrays.values()) and all(layouts.values()) and transforms)
    wait_for(lambda: contacts and len(set(contacts[-1].contacts.body2)) == 4, "contacts of all four")
    for name in tokens:
        assert arrays[name][0].body == arrays[name][0].header.frame_id == layouts[name][0].body == name
        assert layouts[name][0].geoms == (["shell"] if name == "my box" else [f"{name}/geom0"])
    assert set(contacts[-1].contacts.body2) == set(tokens)
    assert set(contacts[-1].contacts.geom1) == {"world/geom0"}
    assert tree(transforms[0]) == dict.fromkeys(tokens, "world")


def test_use_sim_time_is_ignored_with_a_line_in_the_log(ros):
    process = ros.start("run", ros.config(**SMALL_CUBE, use_sim_time=True), "--duration", "0.2")
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, said
    [line] = [line for line in said.splitlines() if "use_sim_time" in line]
    assert "WARN" in line and "ignored" in line


# -- a recorder that is killed ---------------------------------------------------------------------------


def test_when_the_recorder_is_killed_all_but_the_last_second_of_the_infant_is_there(ros, capsys):
    folder = ros.folder / "b"
    topics = {"tactile/frame": TactileFrame, "contacts": ContactWrenchArray, "tactile/points": PointCloud2}
    ears = {topic: Ear(ros, kind, topic) for topic, kind in topics.items()}
    recorder = ros.start("record", folder)
    # A busy machine may make the recorder wait for longer than the 10 messages that are kept otherwise.
    keep = [f"qos_overrides./{topic}.publisher.depth:=1000" for topic in topics]
    ros.start("run", "infant", "--ros-args", *(word for each in keep for word in ("-p", each)))
    wait_for(lambda: all(kept(folder)[f"/{topic}"] >= 60 for topic in topics), "2 s at 30 Hz in the bag")
    killed = time.monotonic()
    recorder.kill()
    recorder.wait(PATIENCE)

    torn = bag.read(folder)
    assert torn.damage
    assert main(["bag", "repair", str(folder)]) == 0
    capsys.readouterr()
    mended = bag.read(folder)
    assert mended.damage is None
    # However the machine makes us wait, it may make the recorder wait too.
    late = max(np.diff([came for *_, came in ears["tactile/frame"].heard]))
    for topic, ear in ears.items():
        due = ear.until(killed - 1.0 - late)
        for read in (torn, mended):
            stamps = read[topic].stamps
            expected = [t for t in due if t >= stamps[0]]  # from the recorder's first match on
            assert len(expected) >= 20
            assert set(expected) <= set(stamps.tolist())
            assert (np.diff(stamps) > 0).all()
    live, frames = ears["tactile/frame"].by_stamp(), mended["tactile/frame"]
    for t, data in zip(frames.stamps.tolist(), frames.data, strict=True):
        if t in live:
            np.testing.assert_array_equal(data.ravel(), live[t].data)
