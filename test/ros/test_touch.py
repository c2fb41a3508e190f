"""Test that forces, wrenches and contacts of the same stamp agree with each other and with statics."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3, WrenchStamped  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from support.ros import stamp, wait_for  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame, TactileLayout  # noqa: E402
from tactile_sim.srv import SetBodyState  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

G = 9.81
BOX_MASS, BALL_MASS = 2.0, 0.5
SCENE = f"""
<mujoco><option timestep="0.002"/><worldbody>
  <body name="table" pos="0 0 -.05"><geom type="box" size="1 1 .05" friction="1"/></body>
  <body name="box" pos="0 0 .1002" euler="0 0 30"><freejoint/>
    <geom type="box" size=".1 .1 .1" mass="{BOX_MASS}" friction="1"/></body>
  <body name="ball" pos=".6 0 .05"><freejoint/>
    <geom type="sphere" size=".05" mass="{BALL_MASS}" friction="1 .01 .01" condim="6"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def scene(ros):
    path = ros.folder / "scene.xml"
    path.write_text(SCENE)
    return str(path)


def by_stamp(*topics):
    """Return tuples of messages with the same stamp, one from each topic."""
    tables = [{stamp(message): message for message in topic} for topic in topics]
    common = sorted(set(tables[0]).intersection(*tables[1:]))
    return [tuple(table[time] for table in tables) for time in common]


def rotation_of(transforms, frame):
    """Return the rotation of a frame in a TF message."""
    index = transforms.transforms.child_frame_id.index(frame)
    return Rotation.from_quat(transforms.transforms.transform.rotation[index])


def skin_force(array):
    return array.data.reshape(array.taxel_count, array.channels).sum(axis=0, dtype=float)


def settled(ros, scene, **more):
    """Run until a box is at rest; return tuples (array, wrench, contacts, tf), each with a common stamp."""
    arrays = ros.listen(TactileArray, "tactile/box/array")
    wrenches = ros.listen(WrenchStamped, "tactile/box/wrench")
    contacts = ros.listen(ContactWrenchArray, "contacts")
    transforms = ros.listen(TFMessage, "/tf")
    ros.run(scene=scene, skin={"scales": {"box": 0.02}}, **more)

    def rows():
        topics = [list(topic) for topic in (arrays, wrenches, contacts, transforms)]
        return [row for row in by_stamp(*topics) if stamp(row[0]) > 1.5e9]

    wait_for(lambda: len(rows()) > 20, "20 stamps at rest")
    return rows()


def test_box_at_rest_reads_its_weight_on_every_topic(ros, scene):
    rows = settled(ros, scene)
    for array, wrench, contacts, transforms in rows:
        to_world = rotation_of(transforms, "box")
        skin = to_world.apply(skin_force(array))
        net = to_world.apply(wrench.wrench.force)
        assert set(contacts.contacts.body2) == {"box"}
        contact = np.asarray(contacts.contacts.wrench.force).sum(axis=0)
        weight = np.array([0, 0, BOX_MASS * G])
        for force in (skin, net, contact):
            np.testing.assert_allclose(force, weight, atol=0.01 * weight[2])
        np.testing.assert_allclose(skin, contact, atol=0.001 * weight[2])
        np.testing.assert_allclose(net, contact, atol=0.001 * weight[2])


def test_ball_on_box_adds_its_weight_with_opposite_forces(ros, scene):
    frames = ros.listen(TactileFrame, "tactile/frame")
    contacts = ros.listen(ContactWrenchArray, "contacts")
    ros.run(
        scene=scene, real_time_factor=2.0,
        skin={"scales": {"b*": 0.02, "table": 0.2}, "touch_function": "force_vector_global"},
    )  # fmt: skip
    wait_for(lambda: frames and stamp(frames[-1]) > 10**9, "the box to rest")
    pose = Pose(position=Point(x=0.01, y=0.02, z=0.2502), orientation=Quaternion(w=1.0))
    answer = ros.call(SetBodyState, "/tactile_sim/set_body_state", body="ball", pose=pose, twist=Twist())
    assert answer.success, answer.message
    set_at = stamp(frames[-1])
    wait_for(lambda: stamp(frames[-1]) > set_at + 2 * 10**9, "the ball to rest")
    frame, contact = by_stamp(list(frames), list(contacts))[-1]
    ends = np.cumsum(frame.taxel_counts)
    data = frame.data.reshape(-1, frame.channels).astype(float)
    sums = {
        body: data[end - count : end].sum(axis=0)
        for body, count, end in zip(frame.bodies, frame.taxel_counts, ends, strict=True)
    }
    assert sums["table"][2] == pytest.approx(-(BOX_MASS + BALL_MASS) * G, rel=0.01)
    assert sums["ball"][2] == pytest.approx(BALL_MASS * G, rel=0.01)
    assert sums["box"][2] == pytest.approx(BOX_MASS * G, rel=0.01)
    # Every contact is between two skins, so all readings sum to zero.
    assert all(contact.contacts.sensing1) and all(contact.contacts.sensing2)
    np.testing.assert_allclose(sum(sums.values()), 0.0, atol=1e-4)


def test_friction_opposes_sliding(ros, scene):
    contacts = ros.listen(ContactWrenchArray, "contacts")
    ros.run(scene=scene, skin={"scales": {"box": 0.02}}, start_paused=True, rates={"contacts": 500.0})
    wait_for(lambda: contacts)
    pose = Pose(position=Point(z=0.09995), orientation=Quaternion(w=1.0))
    twist = Twist(linear=Vector3(x=1.0))
    assert ros.call(SetBodyState, "/tactile_sim/set_body_state", body="box", pose=pose, twist=twist).success
    ros.step(20, contacts, at_once=10)
    slides = [message.contacts for message in contacts if len(message.contacts.geom1)]
    assert len(slides) >= 3
    for slide in slides:
        assert (slide.relative_velocity[:, 0] > 0.3).all()
        # Coulomb friction acts against the motion; it is the normal force times the coefficient 1.
        force = np.asarray(slide.wrench.force).sum(axis=0)
        assert force[2] > 0
        assert force[0] == pytest.approx(-force[2], rel=0.05)


OWN_FUNCTION = """
import sys

import numpy as np

from tactile_sim.commands import main
from tactile_sim.skin import TOUCH_FUNCTIONS, TouchFunction


def support(loads):
    return loads.force_world * np.array([0.0, 0.0, 2.0])


TOUCH_FUNCTIONS["support"] = TouchFunction(3, "N", support, frame="world")
sys.exit(main())
"""


def test_user_touch_function_is_published_in_its_frame(ros, scene):
    program = ros.folder / "own.py"
    program.write_text(OWN_FUNCTION)
    arrays, frames = ros.listen(TactileArray, "tactile/box/array"), ros.listen(TactileFrame, "tactile/frame")
    skin = {"scales": {"box": 0.02, "ball": 0.02}, "touch_function": "support"}
    ros.run(program, scene=scene, skin=skin, world_frame="map", real_time_factor=0.0)

    wait_for(lambda: any(stamp(array) > 1.5e9 for array in arrays) and frames, "a box at rest")
    array = next(array for array in arrays if stamp(array) > 1.5e9)
    assert (array.header.frame_id, array.quantity) == ("map", "support")
    np.testing.assert_allclose(skin_force(array), [0, 0, 2 * BOX_MASS * G], atol=0.02 * BOX_MASS * G)
    assert list(frames[0].frame_ids) == ["map", "map"]


def test_layout_has_positions_normals_and_areas_of_taxels(ros, scene):
    layouts = ros.listen(TactileLayout, "tactile/box/layout", lasting=True)
    arrays = ros.listen(TactileArray, "tactile/box/array")
    ros.run(scene=scene, skin={"scales": {"box": 0.02}})
    wait_for(lambda: layouts and arrays)
    layout = layouts[0]
    positions, normals = layout.positions.reshape(-1, 3), layout.normals.reshape(-1, 3)
    assert layout.layout_id == arrays[0].layout_id
    assert len(positions) == arrays[0].taxel_count == len(layout.geom_index)
    np.testing.assert_allclose(np.abs(positions).max(axis=1), 0.1, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    assert layout.areas.sum() == pytest.approx(6 * 0.2**2, rel=0.05)
    assert layout.geoms == ["box/geom0"]
    assert layout.header.frame_id == arrays[0].header.frame_id == "box"
    assert layout.spacing == pytest.approx(0.02)
