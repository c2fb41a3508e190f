"""RViz accepts the messages of every shipped scene without a warning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from geometry_msgs.msg import Point  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import PointCloud2  # noqa: E402
from std_msgs.msg import ColorRGBA  # noqa: E402
from support.ros import Ros, stamp, wait_for  # noqa: E402
from support.rviz_checks import (  # noqa: E402
    cloud_complaints,
    each,
    frames,
    marker_complaints,
    transform_complaints,
)
from tf2_msgs.msg import TFMessage  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from tactile_sim import config  # noqa: E402
from tactile_sim.figures.rviz_display import rviz_display  # noqa: E402
from tactile_sim.ros import cdr  # noqa: E402

ROOT = Path(__file__).parents[2]
ALIKE = {"trifingeredu", "trifingerone"}
"""Configurations that are drawn like `trifinger`, but with different meshes."""
SHIPPED = sorted({path.stem for path in (ROOT / "config").glob("*.yaml")} - ALIKE)
FIXED_FRAME = yaml.safe_load((ROOT / "rviz/tactile_sim.rviz").read_text())["Visualization Manager"][
    "Global Options"
]["Fixed Frame"]


class Shown:
    """Collects the messages that RViz would receive from the node of a shipped scene."""

    def __init__(self, ros: Ros, config: str):
        self.config = config
        self.scene = ros.listen(MarkerArray, "scene_markers", lasting=True)
        self.markers = ros.listen(MarkerArray, "markers")
        self.skin = ros.listen(MarkerArray, "skin_markers")
        self.clouds = ros.listen(PointCloud2, "tactile/points")
        self.moving = ros.listen(TFMessage, "/tf")
        self.fixed = ros.listen(TFMessage, "/tf_static", lasting=True)

    def complete(self) -> bool:
        return bool(self.scene and self.markers and self.skin and self.clouds and self.moving and self.fixed)


@pytest.fixture(scope="module", params=SHIPPED)
def shown(request, tmp_path_factory):
    """Yield the messages of a shipped scene's first second, with all configured markers and clouds."""
    ros = Ros(tmp_path_factory.mktemp("rviz"))
    try:
        shown = Shown(ros, request.param)
        ros.start("run", request.param, "--ros-args", "-p", "start_paused:=true", "-p", "rates.tf:=30.0")
        wait_for(shown.complete, "the first state")
        while ros.step(100, shown.markers, shown.skin, shown.clouds, shown.moving) < 10**9:
            pass
        yield shown
    finally:
        ros.close()


def test_every_message_passes_rviz_checks(shown):
    for array in [*shown.scene, *shown.markers, *shown.skin]:
        assert marker_complaints(array) == []
    for cloud in shown.clouds:
        assert cloud_complaints(cloud) == []
    assert transform_complaints([*shown.moving, *shown.fixed]) == []


def test_every_frame_is_known_and_has_one_parent_only(shown):
    known = frames([*shown.moving, *shown.fixed], FIXED_FRAME)
    named = {
        marker.header.frame_id
        for array in [*shown.scene, *shown.markers, *shown.skin]
        for marker in each(array)
    }
    named |= {cloud.header.frame_id for cloud in shown.clouds}
    assert named <= known
    children = set(shown.moving[0].transforms.child_frame_id)
    assert not children & set(shown.fixed[0].transforms.child_frame_id)


def test_skin_follows_frames_of_bodies(shown):
    # Markers without lock, or in the world frame, would lag behind the geoms, which move with every /tf.
    lit = [marker for array in shown.skin for marker in each(array) if marker.action == Marker.ADD]
    assert all(marker.frame_locked and marker.header.frame_id != FIXED_FRAME for marker in lit)


def test_arrows_are_visible_but_inside_the_window(shown):
    # Of a window whose height is 0.83 times the camera's distance.
    view = yaml.safe_load(rviz_display(config.load(shown.config)).text)["Visualization Manager"]["Views"]
    longest = []
    for array in shown.markers:
        arrows = [np.diff(m.points, axis=0) for m in each(array) if m.type == Marker.ARROW and len(m.points)]
        longest += [np.linalg.norm(arrows, axis=-1).max()] if arrows else []
    shares = np.array(longest) / view["Current"]["Distance"]
    assert (shares < 0.7).all()
    assert len(shares) < 10 or np.median(shares) > 0.03  # a first touch may be light


def test_scene_is_published_again_after_frames(ros):
    # RViz shows a permanent error for a marker that arrives before its frame.
    sent: dict[str, list[int]] = {"scene_markers": [], "/tf": []}
    for kind, topic, lasting in ((MarkerArray, "scene_markers", True), (TFMessage, "/tf", False)):
        durability = DurabilityPolicy.TRANSIENT_LOCAL if lasting else DurabilityPolicy.VOLATILE
        qos = QoSProfile(depth=100, durability=durability)

        def take(_, info, topic=topic):
            sent[topic].append(info["source_timestamp"])

        ros.node.create_subscription(kind, topic, take, qos, raw=True)
    ros.run(scene="touch_cube.xml", skin={"scales": {"cube": 0.05}}, start_paused=True)
    # Compare the times of sending, because messages on different topics can arrive in any order.
    wait_for(lambda: all(sent.values()) and max(sent["scene_markers"]) > min(sent["/tf"]), "the scene again")
    # The first message must not be lost either, because RViz would warn: a late subscriber gets both.
    late = ros.listen(MarkerArray, "scene_markers", lasting=True)
    wait_for(lambda: len(late) == 2, "both of them")


def test_scene_is_published_a_third_time_after_settling(ros):
    # RViz drops all frames when time jumps back, for example after a restart of the node.
    scenes = ros.listen(MarkerArray, "scene_markers", lasting=True)
    ros.listen(TFMessage, "/tf")
    ros.run(scene="touch_cube.xml", skin={"scales": {"cube": 0.05}})
    wait_for(lambda: len(scenes) == 3, "at the start, after the first frames, and a second later")


def test_readings_and_markers_agree_at_same_stamp(shown):
    assert len(shown.scene[0].markers.id) > 3
    drawn = {}
    for array in shown.markers:
        first = each(array)[0]  # all markers in a message have the same stamp
        drawn[stamp(first)] = {marker.type for marker in each(array) if marker.action == Marker.ADD}
    clouds = [cloud for cloud in shown.clouds if stamp(cloud) in drawn]
    assert len(clouds) >= 30
    for cloud in clouds:
        intensity = np.frombuffer(bytes(cloud.data), "<f4").reshape(-1, 9)[:, 3]
        assert (intensity >= 0).all()
        assert (Marker.SPHERE_LIST in drawn[stamp(cloud)]) >= (intensity.max() > 0)
    has_feelers = "feelers:" in (ROOT / f"config/{shown.config}.yaml").read_text()
    assert all((Marker.LINE_LIST in types) == has_feelers for types in drawn.values())


def test_contact_points_do_not_hide_the_contact(shown):
    # The shapes of `imprint` are a few millimeters wide.
    largest = {"imprint": 0.0016}.get(shown.config, 0.004)
    found = [m for array in shown.markers for m in each(array) if m.type == Marker.SPHERE_LIST]
    assert all(marker.scale[0] <= 2 * largest for marker in found)


def marker(kind: int, points: int, **changes) -> Marker:
    """Return a marker that is valid except for the specified changes."""
    made = Marker(ns="test", type=kind, points=[Point(x=float(k)) for k in range(points)])
    made.header.frame_id = "world"
    made.pose.orientation.w = changes.get("w", 1.0)
    made.scale.x = changes.get("x", 1.0)
    made.scale.y = made.scale.z = 1.0
    made.color.a = changes.get("alpha", 1.0)
    made.colors = [ColorRGBA(a=1.0)] * changes.get("colors", 0)
    return made


@pytest.mark.parametrize(
    ("markers", "expected"),
    [
        ([marker(Marker.LINE_LIST, 3)], "odd number"),
        ([marker(Marker.TRIANGLE_LIST, 4)], "divisible by 3"),
        ([marker(Marker.ARROW, 1)], "one point"),
        ([marker(Marker.SPHERE_LIST, 0)], "no points"),
        ([marker(Marker.CUBE, 0, x=0.0)], "Scale of 0"),
        ([marker(Marker.CUBE, 0, w=0.5)], "unit quaternion"),
        ([marker(Marker.CUBE, 0, alpha=0.0)], "alpha"),
        ([marker(Marker.CUBE, 0, x=float("nan"))], "floating point"),
        ([marker(Marker.SPHERE_LIST, 3, colors=2)], "number of colors"),
        ([marker(Marker.CUBE, 0), marker(Marker.SPHERE, 0)], "same ns and id"),
        ([Marker(ns="test", action=Marker.DELETEALL), marker(Marker.CUBE, 0)], "same ns and id"),
    ],
)
def test_checks_detect_what_rviz_rejects(markers, expected):
    array = cdr.decode(MarkerArray, serialize_message(MarkerArray(markers=markers)))
    assert expected in "; ".join(marker_complaints(array))
    assert marker_complaints(cdr.decode(MarkerArray, serialize_message(MarkerArray()))) == []
