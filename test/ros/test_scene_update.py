"""The Foxglove scene contains the same geoms as the RViz scene."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
pytest.importorskip(
    "foxglove_msgs", reason="foxglove_msgs is not installed: apt has it for a ROS installation"
)

from foxglove_msgs.msg import SceneUpdate  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402

from tactile_sim.ros.topics import simulation_topics  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

SCENE = """
<mujoco><asset><mesh name="wedge" vertex="0 0 0 .3 0 0 0 .2 0 0 0 .1"/></asset><worldbody>
  <geom name="floor" type="plane" size="2 3 1" pos="0 0 -.1"/>
  <body name="parts" pos="0 0 1"><freejoint/>
    <geom name="box" type="box" size=".1 .2 .3" pos="1 0 0" rgba=".1 .2 .3 .5"/>
    <geom name="cylinder" type="cylinder" size=".1 .2" pos="3 0 0"/>
    <geom name="ellipsoid" type="ellipsoid" size=".1 .2 .3" pos="4 0 0"/>
    <geom name="wedge" type="mesh" mesh="wedge" pos="6 0 0"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def entities(tmp_path_factory):
    file = tmp_path_factory.mktemp("scene") / "scene.xml"
    file.write_text(SCENE)
    simulation = Simulation({"scene": str(file), "skin": {"scales": {"parts": 0.1}}})
    [topic] = [topic for topic in simulation_topics(simulation) if topic.name == "scene_update"]
    message = deserialize_message(topic.make(simulation.observe()), SceneUpdate)
    assert not message.deletions
    return {entity.id: entity for entity in message.entities}


def numbers(vector) -> list[float]:
    return [vector.x, vector.y, vector.z]


def test_primitives_have_size_pose_and_color(entities):
    assert sorted(entities) == ["box", "cylinder", "ellipsoid", "floor", "wedge"]
    frames = {entity.frame_id for name, entity in entities.items() if name != "floor"}
    assert (entities["floor"].frame_id, frames) == ("world", {"parts"})
    assert all(entity.frame_locked and entity.timestamp.sec == 0 for entity in entities.values())
    [box], [cylinder], [ellipsoid] = (
        entities["box"].cubes,
        entities["cylinder"].cylinders,
        entities["ellipsoid"].spheres,
    )
    assert numbers(box.size) == pytest.approx([0.2, 0.4, 0.6])
    assert numbers(box.pose.position) == pytest.approx([1, 0, 0])
    assert [box.color.r, box.color.g, box.color.b, box.color.a] == pytest.approx([0.1, 0.2, 0.3, 0.5])
    assert numbers(cylinder.size) == pytest.approx([0.2, 0.2, 0.4])
    assert (cylinder.bottom_scale, cylinder.top_scale) == (1.0, 1.0)
    assert numbers(ellipsoid.size) == pytest.approx([0.2, 0.4, 0.6])


def test_mesh_is_a_closed_list_of_triangles(entities):
    [wedge] = entities["wedge"].triangles
    points = np.array([numbers(point) for point in wedge.points])
    assert len(points) == 4
    corners = points[np.array(wedge.indices)].reshape(-1, 3, 3)
    volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(0.3 * 0.2 * 0.1 / 6)
