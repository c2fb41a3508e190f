"""Test the content of topics, when they are published, and the bag of a killed recorder."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, WrenchStamped  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState, PointCloud2, PointField  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.listener import Listener, step_to  # noqa: E402
from support.published import published  # noqa: E402
from support.ros import PATIENCE, kept, wait_for  # noqa: E402
from support.transforms import pose_in, tree  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame  # noqa: E402
from tactile_sim.srv import Reset, SetBodyState, Step  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from tactile_sim import bag  # noqa: E402
from tactile_sim.commands import main  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

WEIGHT = 1.0 * 9.81
"""Weight of the cube of touch_cube [N]."""


# -- the shipped cube: forces and points ------------------------------------------------------------------


@pytest.fixture(scope="module")
def fall():
    """Return three seconds of messages by topic and stamp; the cube falls, tumbles and comes to rest."""
    topics = ("tactile/cube/array", "tactile/cube/wrench", "/tf", "contacts", "tactile/points",
              "tactile/frame", "tactile/cube/layout")  # fmt: skip
    found = published(Simulation("touch_cube"), topics, 1500, every=5)
    return found | {"layout": found["tactile/cube/layout"][0]}


def test_shipped_cube_at_rest_reads_its_weight_on_every_topic(fall):
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


def test_points_have_documented_fields(fall):
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
    """Decode a PointCloud2 into a structured array, according to the fields in the message."""
    types = {PointField.FLOAT32: "<f4", PointField.UINT16: "<u2", PointField.UINT32: "<u4"}
    fields = cloud.fields
    dtype = np.dtype({
        "names": list(fields.name), "formats": [types[kind] for kind in fields.datatype],
        "offsets": list(fields.offset), "itemsize": cloud.point_step,
    })  # fmt: skip
    return np.frombuffer(bytes(cloud.data), dtype)


def test_points_are_taxels_at_pose_in_tf(fall):
    local = fall["layout"].positions.reshape(-1, 3).astype(float)
    assert len(fall["tactile/points"]) > 290
    traveled = []
    for t, cloud in fall["tactile/points"].items():
        points = points_of(cloud)
        turn, place = pose_in(fall["/tf"][t], "cube")
        traveled.append(place)
        expected = turn.apply(local) + place
        np.testing.assert_allclose(np.stack([points[c] for c in "xyz"], -1), expected, atol=1e-6)
        assert (points["body"] == 0).all()
        np.testing.assert_array_equal(points["taxel"], np.arange(len(local)))
    assert np.ptp(traveled, axis=0)[2] > 0.1  # it fell, so the poses differ


def test_points_have_contact_forces_and_magnitudes(fall):
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


# -- times of publishing ---------------------------------------------------------------------------------

SMALL_CUBE = {"scene": "touch_cube.xml", "skin": {"scales": {"cube": 0.05}}}


def test_clock_and_tf_precede_other_topics_at_each_stamp(ros):
    clocks, transforms = Listener(ros, Clock, "/clock"), Listener(ros, TFMessage, "/tf")
    array, joints = (
        Listener(ros, TactileArray, "tactile/cube/array"),
        Listener(ros, JointState, "joint_states"),
    )
    ros.run(**SMALL_CUBE, rates={"tactile": 500.0, "clock": 100.0, "tf": 100.0}, start_paused=True)
    every = [clocks, transforms, array, joints]
    wait_for(lambda: all(listener.received for listener in every))
    step_to(ros, every, range(10**7, 10**8 + 1, 10**7))
    fast = list(range(0, 10**8 + 1, 2_000_000))
    assert clocks.stamps == transforms.stamps == array.stamps == fast
    assert joints.stamps == fast[::5]
    for later in (array, joints):
        for t, sent in later.sent.items():
            assert clocks.sent[t] <= sent and transforms.sent[t] <= sent


def test_each_state_change_publishes_every_topic_once(ros):
    kinds = {
        "/clock": Clock, "/tf": TFMessage, "tactile/cube/array": TactileArray, "contacts": ContactWrenchArray,
        "tactile/cube/wrench": WrenchStamped, "tactile/frame": TactileFrame, "tactile/points": PointCloud2,
        "joint_states": JointState,
    }  # fmt: skip
    listeners = {topic: Listener(ros, kind, topic) for topic, kind in kinds.items()}
    ros.run(**SMALL_CUBE, start_paused=True)

    def counts() -> dict[str, int]:
        return {topic: len(listener.received) for topic, listener in listeners.items()}

    def each_is_sent_once_more(since: dict[str, int]) -> int:
        """Wait for exactly one more message on each topic and return their common stamp."""
        wait_for(lambda: all(n > since[topic] for topic, n in counts().items()), "one more of each")
        time.sleep(0.2)  # long enough for four queries for subscribers by the paused loop
        assert counts() == {topic: n + 1 for topic, n in since.items()}
        [common] = {listener.stamps[-1] for listener in listeners.values()}
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

    # After running and pausing, all topics end with the same stamp.
    assert ros.call(SetBool, "/tactile_sim/pause", data=False).success
    wait_for(lambda: listeners["tactile/points"].stamps[-1] > reached[-1] + 10**8)
    assert ros.call(SetBool, "/tactile_sim/pause", data=True).success
    time.sleep(0.2)
    wait_for(
        lambda: len({listener.stamps[-1] for listener in listeners.values()}) == 1, "the stamp of the pause"
    )

    # New subscribers receive the current state on their topics; nothing is published again on others.
    before = counts()
    late = {"markers": MarkerArray, "/diagnostics": DiagnosticArray}
    new = [Listener(ros, kind, topic) for topic, kind in late.items()]
    wait_for(lambda: all(listener.received for listener in new), "the present state")
    time.sleep(0.2)
    assert counts() == before
    assert [listener.stamps for listener in new] == [[listeners["/clock"].stamps[-1]]] * 2
    for topic, listener in listeners.items():
        assert (np.diff(listener.stamps) > 0).all(), topic


# -- names and parameters --------------------------------------------------------------------------------

NAMED = """
<mujoco><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="left/hand" pos="1 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="my box" pos="2 0 .1"><freejoint/><geom name="shell" type="box" size=".1 .1 .1"/></body>
  <body name="3rd" pos="3 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""


def test_invalid_names_are_replaced_only_in_topics(tmp_path):
    (tmp_path / "named.xml").write_text(NAMED)
    tokens = {"body1": "body1", "left/hand": "left_hand", "my box": "my_box", "3rd": "_3rd"}
    scales = dict.fromkeys(tokens, 0.05)
    simulation = Simulation({"scene": str(tmp_path / "named.xml"), "skin": {"scales": scales}})
    simulation.step(100)
    kinds = [f"tactile/{token}/{kind}" for token in tokens.values() for kind in ("array", "layout")]
    found = published(simulation, ["contacts", "/tf", *kinds], 0)
    last = {topic: message for topic, by_stamp in found.items() for message in by_stamp.values()}
    for name, token in tokens.items():
        array, layout = last[f"tactile/{token}/array"], last[f"tactile/{token}/layout"]
        assert array.body == array.header.frame_id == layout.body == name
        assert layout.geoms == (["shell"] if name == "my box" else [f"{name}/geom0"])
    assert set(last["contacts"].contacts.body2) == set(tokens)
    assert set(last["contacts"].contacts.geom1) == {"world/geom0"}
    assert tree(last["/tf"]) == dict.fromkeys(tokens, "world")


def test_use_sim_time_is_ignored_with_warning(ros):
    process = ros.start("run", ros.config(**SMALL_CUBE, use_sim_time=True), "--duration", "0.2")
    output = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, output
    [line] = [line for line in output.splitlines() if "use_sim_time" in line]
    assert "WARN" in line and "ignored" in line


# -- a killed recorder -----------------------------------------------------------------------------------


def test_killed_recorder_of_infant_loses_at_most_one_second(ros, capsys):
    folder = ros.folder / "b"
    topics = {"tactile/frame": TactileFrame, "contacts": ContactWrenchArray, "tactile/points": PointCloud2}
    listeners = {topic: Listener(ros, kind, topic) for topic, kind in topics.items()}
    recorder = ros.start("record", folder)
    # On a busy machine, the recorder can fall behind by more than the default queue of 10 messages.
    keep = [f"qos_overrides./{topic}.publisher.depth:=1000" for topic in topics]
    ros.start("run", "infant", "--ros-args", *(word for each in keep for word in ("-p", each)))
    wait_for(lambda: all(kept(folder)[f"/{topic}"] for topic in topics), "the topics in the bag")

    def late() -> float:
        """Return the longest time between the arrivals of two consecutive frames [s].

        A long time means that the machine was busy. The recorder may have been delayed for as long.
        """
        arrivals = [arrival for *_, arrival in listeners["tactile/frame"].received]
        return max(np.diff(arrivals), default=np.inf)

    begin = {topic: len(listener.received) for topic, listener in listeners.items()}
    wait_for(
        lambda: all(
            len(listener.until(time.monotonic() - 1.0 - late())) >= begin[topic] + 30
            for topic, listener in listeners.items()
        ),
        "30 messages a second ago",
    )
    # Reading the bag delays this process; this must not count as a delay of the recorder.
    due = {topic: listener.until(time.monotonic() - 1.0 - late()) for topic, listener in listeners.items()}
    recorder.kill()
    recorder.wait(PATIENCE)

    with pytest.warns(UserWarning, match="writer was stopped"):
        damaged = bag.read(folder)
    assert damaged.damage
    assert main(["bag", "repair", str(folder)]) == 0
    capsys.readouterr()
    repaired = bag.read(folder)
    assert repaired.damage is None
    for topic in listeners:
        for read in (damaged, repaired):
            stamps = read[topic].stamps
            expected = [t for t in due[topic] if t >= stamps[0]]  # after the recorder has been discovered
            assert len(expected) >= 20
            assert set(expected) <= set(stamps.tolist())
            assert (np.diff(stamps) > 0).all()
    live, frames = listeners["tactile/frame"].by_stamp(), repaired["tactile/frame"]
    for t, data in zip(frames.stamps.tolist(), frames.data, strict=True):
        if t in live:
            np.testing.assert_array_equal(data.ravel(), live[t].data)
