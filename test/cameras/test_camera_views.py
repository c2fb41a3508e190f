"""Images of cameras in the view of a simulation, in bags that it records, and in the view of a bag."""

from __future__ import annotations

import numpy as np
import pytest
from support.cameras import SCENE, TURRET, check_ball, require_opengl
from support.published_view import FakeProcess

from tactile_sim import bag
from tactile_sim.config import from_mapping
from tactile_sim.figures.rviz_display import rviz_display
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.inventory import contents
from tactile_sim.simulation.runner import Output, Runner
from tactile_sim.view.address import Endpoint
from tactile_sim.view.model_scene import scene_of_simulation
from tactile_sim.view.process import FrameBuilder, Replica
from tactile_sim.view.rendering import CameraViews, camera_infos
from tactile_sim.view.viewer import Viewer


@pytest.fixture
def simulation(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)
    cameras = {"wide": {"camera": "shifted", "size": [480, 320]}, "eye": {**TURRET, "depth": True}}
    return Simulation(from_mapping({"scene": "scene.xml", "contacts": "all", "cameras": cameras}, tmp_path))


def ball(simulation):
    """Return the position of the ball in the frame of the camera ``wide``, which looks along y."""
    x, y, z = simulation.engine.body_positions[simulation.names.bodies.index("ball")]
    return np.array([x, -z, y + 2])


def test_view_shows_small_images_of_the_state(simulation):
    require_opengl()
    scene = scene_of_simulation(simulation, camera_infos(simulation))
    assert [(info.camera, info.width, info.height) for info in scene.images] == [
        ("wide", 240, 160), ("eye", 200, 150)
    ]  # fmt: skip
    process = FakeProcess(simulation)
    replica = Replica(simulation.settings)
    builder = FrameBuilder(scene, None, replica, cameras=CameraViews(replica.simulation))
    simulation.reset("moving")
    simulation.step(30)
    state = np.empty(simulation.engine.state_size)
    simulation.engine.get_state(state)
    process.write(
        state=state, paused=True, touch_function=b"force_vector", response_function=b"spread_linear"
    )
    frame = builder.build(process.shared.read())
    matrix = simulation.cameras["wide"].scaled(240).matrix
    simulation.observe()
    check_ball(frame.images[0], None, matrix, ball(simulation))


def test_panel_has_a_folder_of_cameras(simulation):
    viewer = Viewer(scene_of_simulation(simulation, camera_infos(simulation)), Endpoint(port=0), None)
    assert [image.label for image in viewer.panel.images.handles] == ["camera wide", "camera eye"]
    viewer.close()


def test_recorded_images_are_in_the_bag_and_its_view(simulation, tmp_path):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
    require_opengl()
    from tactile_sim.ros.bag_output import BagOutput
    from tactile_sim.view.bag_frames import BagFrames
    from tactile_sim.view.bag_index import BagIndex
    from tactile_sim.view.bag_scene import read_scene

    simulation.reset("moving")
    with simulation.open_cameras() as cameras:
        runner = Runner(simulation, Output())
        runner.paused = True  # then images are not skipped
        output = BagOutput(runner, tmp_path / "out", cameras=cameras)
        output.record(True)
        places = {}
        for _ in range(5):
            simulation.step(7)
            output.publish(simulation.observe(), output.subscribed())
            places[simulation.stamp] = ball(simulation)
        output.record(False)
        output.close()
    [folder] = (tmp_path / "out").iterdir()
    recorded = bag.read(folder)
    for topic in ("wide/image", "wide/camera_info", "eye/depth"):
        assert recorded[f"cameras/{topic}"].stamps.tolist() == list(places)
    index = BagIndex(folder)
    content = read_scene(index)
    assert [info.camera for info in content.scene.images] == ["eye", "wide"]
    frames = BagFrames(index, content)
    for stamp, place in places.items():
        check_ball(frames.at(stamp).images[1], None, simulation.cameras["wide"].matrix, place)


def test_rviz_and_info_list_cameras(simulation):
    assert rviz_display(simulation.settings).images == ["cameras/wide/image", "cameras/eye/image"]
    [listing] = [each for each in contents(simulation) if each.key == "cameras"]
    assert listing.records()[1] == {
        "camera": "eye",
        "topic": "cameras/eye",
        "body": "turret",
        "image": [200, 150],
        "rate": 15.0,
        "depth": True,
    }
