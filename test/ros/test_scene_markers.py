"""Check the scene's RViz markers against RViz's rules and the geometry of the scene."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from scipy.spatial.transform import Rotation  # noqa: E402
from support.published import published  # noqa: E402
from support.rviz_checks import each, marker_complaints  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from tactile_sim.simulation import Simulation  # noqa: E402

# A wedge with unequal sides and a corner at the origin of the mesh. MuJoCo moves and rotates meshes to
# their principal axes, but the marker must have the pose in the file.
WEDGE = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]])
SCENE = f"""
<mujoco>
  <asset><mesh name="wedge" vertex="{" ".join(map(str, WEDGE.ravel()))}"/>
    <material name="paint" rgba=".1 .2 .3 .5"/></asset>
  <worldbody>
    <geom name="endless" type="plane" size="0 0 1"/>
    <geom name="floor" type="plane" size="2 3 1" pos="0 0 -.1"/>
    <body name="parts" pos="0 0 1"><freejoint/>
      <geom name="box" type="box" size=".1 .2 .3" pos="1 0 0" euler="0 0 90" material="paint"/>
      <geom name="sphere" type="sphere" size=".1" pos="2 0 0" rgba="1 0 0 1"/>
      <geom name="cylinder" type="cylinder" size=".1 .2" pos="3 0 0"/>
      <geom name="ellipsoid" type="ellipsoid" size=".1 .2 .3" pos="4 0 0"/>
      <geom name="capsule" type="capsule" size=".1" fromto="5 0 0 5.4 0 0"/>
      <geom name="wedge" type="mesh" mesh="wedge" pos="6 0 0" euler="0 90 0"/>
      <geom type="sphere" size=".05" pos="7 0 0"/>
      <geom name="collision" type="sphere" size=".05" pos="8 0 0" group="3"/>
      <geom name="air" type="sphere" size=".05" pos="9 0 0" rgba="1 1 1 0"/>
    </body>
    <body name="post" pos="0 5 0"><geom name="post" type="box" size=".1 .1 .5"/></body>
  </worldbody>
</mujoco>"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Return the scene's markers, the names of all TF frames, and the MarkerArray with the markers."""
    file = tmp_path_factory.mktemp("drawn") / "scene.xml"
    file.write_text(SCENE)
    simulation = Simulation({"scene": str(file), "skin": {"scales": {"parts": 0.1}}, "frame_prefix": "sim/",
                             "world_frame": "map"})  # fmt: skip
    found = published(simulation, ("scene_markers", "/tf", "/tf_static"), 0)
    scene, moving, fixed = (by_stamp[0] for by_stamp in found.values())
    return each(scene), {"map", *moving.transforms.child_frame_id, *fixed.transforms.child_frame_id}, scene


@pytest.fixture
def geoms(drawn):
    return {marker.ns: marker for marker in drawn[0]}


def test_each_visible_geom_has_one_marker_in_its_body_frame(drawn, geoms):
    markers, frames, array = drawn
    assert marker_complaints(array) == []
    parts = {"box", "sphere", "cylinder", "ellipsoid", "capsule", "wedge", "parts/geom6"}
    assert sorted(marker.ns for marker in markers) == sorted(parts | {"endless", "floor", "post"})
    for marker in markers:
        assert marker.frame_locked
        assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
        assert (marker.lifetime.sec, marker.lifetime.nanosec) == (0, 0)
        assert marker.header.frame_id in frames
    assert {marker.ns for marker in markers if marker.header.frame_id == "sim/parts"} == parts
    assert geoms["post"].header.frame_id == "sim/post"
    assert geoms["floor"].header.frame_id == geoms["endless"].header.frame_id == "map"


def test_primitives_have_type_size_pose_and_color(geoms):
    expected = {
        "box": (Marker.CUBE, [0.2, 0.4, 0.6]),
        "sphere": (Marker.SPHERE, [0.2, 0.2, 0.2]),
        "cylinder": (Marker.CYLINDER, [0.2, 0.2, 0.4]),
        "ellipsoid": (Marker.SPHERE, [0.2, 0.4, 0.6]),
        "post": (Marker.CUBE, [0.2, 0.2, 1.0]),
    }
    for name, (kind, scale) in expected.items():
        assert geoms[name].type == kind
        np.testing.assert_allclose(geoms[name].scale, scale, atol=1e-12)
    np.testing.assert_allclose(geoms["box"].pose.position, [1, 0, 0], atol=1e-12)
    turned = Rotation.from_quat(geoms["box"].pose.orientation).apply([1, 0, 0])
    np.testing.assert_allclose(turned, [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(geoms["box"].color, [0.1, 0.2, 0.3, 0.5], atol=1e-6)
    np.testing.assert_allclose(geoms["sphere"].color, [1, 0, 0, 1], atol=1e-6)


def test_top_of_plane_marker_is_the_plane(geoms):
    assert geoms["floor"].type == geoms["endless"].type == Marker.CUBE
    np.testing.assert_allclose(geoms["floor"].scale[:2], [4, 6])
    assert min(geoms["endless"].scale[:2]) >= 10
    for name, height in (("floor", -0.1), ("endless", 0.0)):
        top = geoms[name].pose.position[2] + geoms[name].scale[2] / 2
        assert top == pytest.approx(height, abs=1e-3)


def triangles(marker) -> np.ndarray:
    """Return the corners (t, 3, 3) of a marker's triangles in the frame of the body [m]."""
    assert marker.type == Marker.TRIANGLE_LIST
    turn = Rotation.from_quat(marker.pose.orientation)
    return (turn.apply(np.asarray(marker.points) * marker.scale) + marker.pose.position).reshape(-1, 3, 3)


def volume(corners: np.ndarray) -> float:
    """Return the volume enclosed by triangles that are counter-clockwise when seen from outside [m3]."""
    return np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6


def test_capsule_marker_is_on_capsule_surface(geoms):
    corners = triangles(geoms["capsule"])
    points = corners.reshape(-1, 3)
    nearest = np.clip(points[:, 0], 5.0, 5.4)
    distance = np.linalg.norm(points - np.stack([nearest, 0 * nearest, 0 * nearest], -1), axis=1)
    np.testing.assert_allclose(distance, 0.1, atol=1e-6)
    np.testing.assert_allclose([points[:, 0].min(), points[:, 0].max()], [4.9, 5.5], atol=1e-6)
    full = np.pi * 0.1**2 * 0.4 + 4 / 3 * np.pi * 0.1**3
    assert 0.9 * full < volume(corners - [5.2, 0, 0]) < full


def test_mesh_marker_has_pose_of_mesh_file(geoms):
    corners = triangles(geoms["wedge"])
    points = np.unique(corners.reshape(-1, 3).round(6), axis=0)
    expected = Rotation.from_euler("y", 90, degrees=True).apply(WEDGE) + [6, 0, 0]
    assert len(corners) == 4 and len(points) == 4
    gaps = np.linalg.norm(points[:, None] - expected[None], axis=-1)
    assert gaps.min(axis=0).max() < 1e-5
    assert volume(corners - [6, 0, 0]) == pytest.approx(0.3 * 0.2 * 0.1 / 6, rel=1e-4)
