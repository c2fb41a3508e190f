"""Forces, contacts and layouts on topics agree with each other and with statics."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.published import published  # noqa: E402
from support.ros import stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileArray, TactileFrame  # noqa: E402

from tactile_sim.simulation import Simulation  # noqa: E402

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
def scene(tmp_path):
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    return str(path)


def test_ball_on_box_adds_its_weight_with_opposite_forces(scene):
    skin = {"scales": {"b*": 0.02, "table": 0.2}, "touch_function": "force_vector_global"}
    simulation = Simulation({"scene": scene, "skin": skin})
    simulation.step(500)
    simulation.set_body_state("ball", [0.01, 0.02, 0.2502], [1, 0, 0, 0], [0, 0, 0], [0, 0, 0])
    simulation.step(1000)
    found = published(simulation, ("tactile/frame", "contacts"), 0)
    [frame], [contact] = (list(by_stamp.values()) for by_stamp in found.values())
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


def test_friction_opposes_sliding(scene):
    simulation = Simulation({"scene": scene, "skin": {"scales": {"box": 0.02}}})
    simulation.set_body_state("box", [0, 0, 0.09995], [1, 0, 0, 0], [1, 0, 0], [0, 0, 0])
    contacts = published(simulation, ("contacts",), 20)["contacts"].values()
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
    force = array.data.reshape(array.taxel_count, array.channels).sum(axis=0, dtype=float)
    np.testing.assert_allclose(force, [0, 0, 2 * BOX_MASS * G], atol=0.02 * BOX_MASS * G)
    assert list(frames[0].frame_ids) == ["map", "map"]


def test_layout_has_positions_normals_and_areas_of_taxels(scene):
    simulation = Simulation({"scene": scene, "skin": {"scales": {"box": 0.02}}})
    found = published(simulation, ("tactile/box/layout", "tactile/box/array"), 0)
    layout, array = (by_stamp[0] for by_stamp in found.values())
    positions, normals = layout.positions.reshape(-1, 3), layout.normals.reshape(-1, 3)
    assert layout.layout_id == array.layout_id
    assert len(positions) == array.taxel_count == len(layout.geom_index)
    np.testing.assert_allclose(np.abs(positions).max(axis=1), 0.1, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    assert layout.areas.sum() == pytest.approx(6 * 0.2**2, rel=0.05)
    assert layout.geoms == ["box/geom0"]
    assert layout.header.frame_id == array.header.frame_id == "box"
    assert layout.spacing == pytest.approx(0.02)
