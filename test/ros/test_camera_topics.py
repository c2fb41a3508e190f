"""Topics of cameras: geometry, stamps, pace, bags and missing OpenGL, with the node in another process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import CameraInfo, Image  # noqa: E402
from support.cameras import SCENE, TURRET, check_ball, require_opengl  # noqa: E402
from support.ros import PATIENCE, stamp, wait_for  # noqa: E402
from support.transforms import pose_in  # noqa: E402
from tactile_sim.srv import Reset  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from tactile_sim import bag  # noqa: E402

MS = 1_000_000


@pytest.fixture
def scene(ros):
    """Return the parameters of a scene with a moving ball and a camera on a turning body."""
    path = ros.folder / "scene.xml"
    path.write_text(SCENE)
    cameras = {"eye": {**TURRET, "orientation": [float(part) for part in TURRET["orientation"]]}}
    cameras["eye"] |= {"rate": 50.0, "depth": True}
    return {"scene": str(path), "contacts": "all", "cameras": cameras, "rates": {"tf": 50.0}}


def pixels(image):
    """Return the pixels of an image message."""
    data = np.frombuffer(image.data.tobytes(), {"rgb8": np.uint8, "32FC1": np.float32}[image.encoding])
    return data.reshape(image.height, image.width, -1).squeeze()


def ball_in(moving, fixed, frame):
    """Return the position of the ball in a camera's frame."""
    turn, place = pose_in(moving, "turret")
    own_turn, own_place = pose_in(fixed, frame)
    _, ball = pose_in(moving, "ball")
    return own_turn.inv().apply(turn.inv().apply(ball - place) - own_place)


def camera_process(node):
    """Return the id of the process that renders the images of a node."""
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if parent == node.pid and b"tactile_sim.simulation.camera_main" in command:
            return int(folder.name)
    raise AssertionError("the node has no camera process")


def test_ball_is_where_camera_info_and_tf_of_the_same_stamp_say(ros, scene):
    require_opengl()
    moving = ros.listen(TFMessage, "/tf")
    infos = ros.listen(CameraInfo, "cameras/eye/camera_info")
    images = ros.listen(Image, "cameras/eye/image")
    depths = ros.listen(Image, "cameras/eye/depth")
    fixed = ros.listen(TFMessage, "/tf_static", lasting=True)
    ros.run(**scene, start_paused=True)
    wait_for(lambda: images and depths and infos and moving and fixed, "the initial messages")
    assert ros.call(Reset, "/tactile_sim/reset", keyframe="moving").success
    ros.step(40, images, depths, at_once=20)
    by_stamp = {stamp(message): message for message in moving}
    named = {stamp(message): message for message in infos}
    assert [stamp(image) for image in images] == [stamp(depth) for depth in depths]
    assert len({stamp(image) for image in images}) == len(images) > 20
    places = []
    for image, depth in zip(images, depths, strict=True):
        info = named[stamp(image)]
        assert image.header.frame_id == info.header.frame_id == "eye_optical_frame"
        assert (image.encoding, image.step, depth.encoding, depth.step) == ("rgb8", 600, "32FC1", 800)
        assert (info.width, info.height, info.distortion_model) == (200, 150, "plumb_bob")
        center = ball_in(by_stamp[stamp(image)], fixed[0], "eye_optical_frame")
        check_ball(pixels(image), pixels(depth), info.k.reshape(3, 3), center)
        places.append(center)
    assert np.ptp(places, axis=0)[0] > 0.2  # the ball and the camera have moved


def test_physics_does_not_wait_for_images(ros, scene):
    require_opengl()
    images, clocks = ros.listen(Image, "cameras/eye/image"), ros.listen(Clock, "/clock")
    node = ros.run(**scene)
    wait_for(lambda: len(images) > 3, "images")
    renderer = camera_process(node)
    os.kill(renderer, signal.SIGSTOP)
    start, before = stamp(clocks[-1]), len(images)
    wait_for(lambda: stamp(clocks[-1]) > start + 1000 * MS, "1 s of simulation time without images")
    assert len(images) <= before + 1  # one may have been on its way
    os.kill(renderer, signal.SIGCONT)
    wait_for(lambda: len(images) > before + 5, "images again")
    assert stamp(images[-1]) > start + 1000 * MS


def test_end_of_the_camera_process_is_logged_and_the_simulation_continues(ros, scene):
    require_opengl()
    images, clocks = ros.listen(Image, "cameras/eye/image"), ros.listen(Clock, "/clock")
    node = ros.run(**scene)
    wait_for(lambda: images, "images")
    os.kill(camera_process(node), signal.SIGKILL)
    start = stamp(clocks[-1])
    # On a busy machine, the last clock that has arrived may be old.
    wait_for(lambda: stamp(clocks[-1]) > start + 3000 * MS, "simulation time")
    assert "the camera process failed" in ros.output(node)


def test_bag_has_every_image_if_time_is_not_paced(ros, scene, tmp_path):
    require_opengl()
    config = ros.config(**scene, real_time_factor=0.0)
    process = ros.start("run", config, "--duration", "1", "--record", tmp_path / "bag")
    text = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, text
    recorded = bag.read(tmp_path / "bag")
    expected = [k * 20 * MS for k in range(50)]
    for topic in ("image", "depth", "camera_info"):
        assert recorded[f"cameras/eye/{topic}"].stamps.tolist() == expected
    image = recorded["cameras/eye/image"]
    assert image.data.shape == (50, 150 * 200 * 3)


def test_missing_opengl_ends_the_node_with_one_error(ros, scene):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        ros.environment.pop(name, None)
    ros.environment["MUJOCO_GL"] = "glfw"
    process = ros.start("run", ros.config(**scene))
    text = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 2
    assert "OpenGL" in text.splitlines()[-1] and "Traceback" not in text
