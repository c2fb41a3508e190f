"""Test that TF contains all bodies under their parents, only free bodies, or none, as configured."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from support.published import published  # noqa: E402
from support.ros import stamp, wait_for  # noqa: E402
from support.transforms import pose_in, tree  # noqa: E402
from tactile_sim.msg import TactileArray  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from tactile_sim.simulation import Simulation  # noqa: E402

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
MS = 1_000_000


@pytest.fixture
def frames(tmp_path):
    path = tmp_path / "frames.xml"
    path.write_text(FRAMES)
    return {"scene": str(path), "skin": {"scales": {"die": 0.05}}}


def test_tf_has_every_body_under_its_parent(frames):
    simulation = Simulation(frames | {"frame_prefix": "sim/", "world_frame": "map"})
    topics = "/tf", "/tf_static", "tactile/die/array", "contacts"
    moving, fixed, array, contacts = (found[0] for found in published(simulation, topics, 0).values())
    assert tree(moving) == {"sim/handle": "map", "sim/die": "map", "sim/arm": "map"}
    assert tree(fixed) == {"sim/desk": "map", "sim/knob": "sim/handle", "sim/spot": "sim/die"}
    for name, message, turn, place in (
        ("sim/handle", moving, [HALF, 0, 0, HALF], [1, 2, 3]),
        ("sim/desk", fixed, [0, 0, HALF, HALF], [0, 0, -1]),
        ("sim/knob", fixed, [0, 0, 0, 1], [0, 0, 0.2]),
        ("sim/spot", fixed, [0, HALF, 0, HALF], [0.1, 0, 0]),
    ):
        rotation, position = pose_in(message, name)
        np.testing.assert_allclose(rotation.as_quat(), turn, atol=1e-12)
        np.testing.assert_allclose(position, place, atol=1e-12)
    assert (array.header.frame_id, array.body, contacts.header.frame_id) == ("sim/die", "die", "map")


def test_tf_objects_has_only_free_bodies_and_tf_off_no_frames(frames):
    found = published(Simulation(frames | {"tf": "objects"}), ("/tf", "/tf_static"), 0)
    assert tree(found["/tf"][0]) == {"die": "world"} and not found["/tf_static"]
    assert not any(published(Simulation(frames | {"tf": "off"}), ("/tf", "/tf_static"), 0).values())


PADS = {"die": {"body": "die", "spacing": 0.05, "rate": 500}, "arm": {"body": "arm", "spacing": 0.05}}


def test_tf_has_frames_of_fast_messages_at_their_stamps(ros, frames):
    """Pad die at 500 Hz, pad arm at 100 Hz, /tf at 10 Hz; handle has no skin."""
    received = {
        "clock": ros.listen(Clock, "/clock"),
        "tf": ros.listen(TFMessage, "/tf"),
        "die": ros.listen(TactileArray, "tactile/die/array"),
        "arm": ros.listen(TactileArray, "tactile/arm/array"),
        "joints": ros.listen(JointState, "joint_states"),
    }
    rates = {"tf": 10.0, "clock": 10.0, "joint_states": 50.0}
    ros.run(scene=frames["scene"], skin={"pads": PADS}, rates=rates, start_paused=True)
    wait_for(lambda: all(received.values()))
    ros.step(100, received["die"], at_once=10)
    wait_for(lambda: {stamp(message) for message in received["clock"]} == set(range(0, 200 * MS + 1, 2 * MS)))
    sent = {stamp(message): set(tree(message)) for message in received["tf"]}
    assert sorted(sent) == list(range(0, 200 * MS + 1, 2 * MS))
    # ~/step publishes all topics after the last step of a request: every 20 ms.
    whole = {time for time in sent if time % (20 * MS) == 0}
    for time, bodies in sent.items():
        expected = {"die"} | ({"arm"} if time % (10 * MS) == 0 else set())
        assert bodies == ({"handle", "die", "arm"} if time in whole else expected), time


def test_tf_keeps_its_rate_if_fast_messages_have_no_frame(ros, frames):
    moving = ros.listen(TFMessage, "/tf")
    joints = ros.listen(JointState, "joint_states")
    ros.run(**frames, rates={"tf": 10.0, "joint_states": 500.0}, real_time_factor=0.2)
    wait_for(lambda: joints and moving and stamp(joints[-1]) > stamp(moving[0]) + 400 * MS)
    times = [stamp(message) for message in moving if stamp(message) % (100 * MS) == 0]
    assert len(moving) <= len(times) + 1  # the first message is sent to a new subscriber at once
    assert set(np.diff(times)) == {100 * MS}
    assert {tuple(tree(message)) for message in moving} == {("handle", "die", "arm")}
