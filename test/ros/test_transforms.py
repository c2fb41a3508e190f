"""Test that TF contains all bodies under their parents, only free bodies, or none, as configured."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.ros import wait_for  # noqa: E402
from support.transforms import pose_in, tree  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileArray  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

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


def test_tf_has_every_body_under_its_parent(ros, frames):
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


def test_tf_objects_has_only_free_bodies(ros, frames):
    moving = ros.listen(TFMessage, "/tf")
    ros.run(**frames, tf="objects")
    wait_for(lambda: len(moving) > 10)
    assert all(tree(message) == {"die": "world"} for message in moving)
    assert not ros.node.get_publishers_info_by_topic("/tf_static")


def test_tf_off_publishes_no_frames(ros, frames):
    moving = ros.listen(TFMessage, "/tf")
    fixed = ros.listen(TFMessage, "/tf_static", lasting=True)
    arrays = ros.listen(TactileArray, "tactile/die/array")
    ros.run(**frames, tf="off")
    wait_for(lambda: len(arrays) > 10)
    assert not moving and not fixed
    assert not ros.node.get_publishers_info_by_topic("/tf")
