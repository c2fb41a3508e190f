"""Cameras: geometry of images, waiting and skipping, and errors for invalid input."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation
from support.cameras import RADIUS, SCENE, TURRET, check_ball, red_pixels, require_opengl
from support.errors import raises

from tactile_sim.common.errors import ConfigError
from tactile_sim.config import from_mapping
from tactile_sim.engines.registry import engine_plugin
from tactile_sim.scenes.renderer import Renderer, RenderingError
from tactile_sim.simulation import Simulation
from tactile_sim.trifinger.camera import CALIBRATIONS, load_camera_parameters


@pytest.fixture
def simulate(tmp_path):
    """Return a function that loads the scene with cameras."""
    (tmp_path / "scene.xml").write_text(SCENE)
    return lambda **cameras: Simulation(
        from_mapping({"scene": "scene.xml", "contacts": "all", "cameras": cameras}, tmp_path)
    )


def in_optical_frame(simulation, name, point):
    """Return a point of the world in the optical frame of a camera."""
    camera, engine = simulation.cameras[name], simulation.engine
    turn = Rotation.from_quat(camera.quaternion, scalar_first=True)
    body = Rotation.from_matrix(engine.body_rotations[camera.body])
    return turn.inv().apply(body.inv().apply(point - engine.body_positions[camera.body]) - camera.position)


@pytest.mark.parametrize(
    "keys",
    [
        {"camera": "front", "depth": True},
        {"camera": "shifted", "depth": True},
        {"camera": "front", "size": [64, 50], "depth": True},
        {**TURRET, "depth": True},
        TURRET,
    ],
)
def test_ball_appears_at_its_pixel_and_distance(simulate, keys):
    require_opengl()
    simulation = simulate(one=keys)
    simulation.reset("moving")
    with simulation.open_cameras() as cameras:
        for _ in range(3):
            simulation.step(20)
            simulation.observe()
            image = cameras.request("one", simulation.engine, simulation.stamp).result()
            ball = simulation.engine.body_positions[simulation.names.bodies.index("ball")]
            assert image.stamp == simulation.stamp
            center = in_optical_frame(simulation, "one", ball)
            check_ball(image.color, image.depth, simulation.cameras["one"].matrix, center)


def test_size_and_matrix(simulate):
    cameras = simulate(
        a={"camera": "front"}, b={"camera": "shifted"}, c={"camera": "shifted", "size": [600, 400]}
    ).cameras
    assert [(camera.width, camera.height) for camera in cameras.values()] == [
        (640, 480),
        (300, 200),
        (600, 400),
    ]
    focal = 240 / np.tan(np.radians(20))
    assert cameras["a"].matrix == pytest.approx(np.array([[focal, 0, 319.5], [0, focal, 239.5], [0, 0, 1]]))
    # MuJoCo's principal point is 20 pixels to the left and 10 below the center.
    expected = np.array([[250, 0, 129.5], [0, 260, 109.5], [0, 0, 1]])
    assert cameras["b"].matrix == pytest.approx(expected, rel=1e-6)
    assert cameras["c"].matrix[:2, :2] == pytest.approx(2 * expected[:2, :2], rel=1e-6)


def test_calibrated_camera_shows_points_where_its_lens_projects_them():
    require_opengl()
    place = np.array([0.05, -0.04, 0.03])
    position = " ".join(map(str, place))
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><visual><headlight ambient='1 1 1' diffuse='0 0 0' specular='0 0 0'/></visual><worldbody>"
        f"<geom size='.006' pos='{position}' rgba='1 0 0 1'/></worldbody></mujoco>"
    )
    settings = from_mapping({"engine": "trifinger"})
    own = engine_plugin("trifinger").cameras(settings.engine_settings)
    renderer = Renderer(model)
    renderer.set_state(mujoco.MjData(model))
    calibrations = load_camera_parameters(CALIBRATIONS, "camera{id}_cropped_and_downsampled.yml")
    for calibration in calibrations:
        color, _ = own[calibration.name].image(renderer)
        rows, columns = np.nonzero(red_pixels(color))
        assert color.shape == (270, 270, 3)
        expected = calibration.project(place[None])[0]
        assert (columns.mean(), rows.mean()) == pytest.approx(expected, abs=0.3)


def test_image_of_a_slow_process_is_skipped_or_awaited(simulate):
    require_opengl()
    simulation = simulate(one={"camera": "front"})
    engine = simulation.engine
    with simulation.open_cameras() as cameras:
        os.kill(cameras._process.pid, signal.SIGSTOP)
        first = cameras.request("one", engine, 1)
        assert cameras.request("one", engine, 1) is first  # the same state
        assert cameras.request("one", engine, 2) is None and cameras.skipped == {"one": 1}
        assert not first.done()
        os.kill(cameras._process.pid, signal.SIGCONT)
        assert cameras.request("one", engine, 2, may_skip=False).result().stamp == 2
        assert first.done() and cameras.skipped == {"one": 1}


def test_end_of_the_process_is_reported_and_cancels_images(simulate):
    require_opengl()
    simulation, reasons = simulate(one={"camera": "front"}), []
    with simulation.open_cameras() as cameras:
        cameras.on_lost = reasons.append
        os.kill(cameras._process.pid, signal.SIGSTOP)
        image = cameras.request("one", simulation.engine, 1)
        os.kill(cameras._process.pid, signal.SIGKILL)
        cameras._receiver.join(60)
        assert image.cancelled() and len(reasons) == 1
        cameras.finish()
        assert cameras.request("one", simulation.engine, 2) is None


def test_missing_opengl_is_an_error_at_the_start(simulate, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with raises(RenderingError, "OpenGL", "libegl1"):
        simulate(one={"camera": "front"}).open_cameras()


def test_no_cameras_need_no_process(simulate):
    assert simulate().open_cameras() is None


def test_frames_have_the_names_of_the_cameras(simulate):
    simulation = simulate(ball={"camera": "front"}, two=TURRET)
    assert simulation.camera_frames == {"ball": "ball_optical_frame", "two": "two_optical_frame"}
    assert simulation.sensor_frames.bodies == [0, simulation.names.bodies.index("turret")]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"camera": "frnt"}, ("cameras.one.camera", "'frnt'", "'front'")),
        ({"camera": "follower"}, ("cameras.one.camera", "fixed", "'targetbody'")),
        ({"camera": "flat"}, ("cameras.one.camera", "perspective")),
        ({"body": "bal"}, ("cameras.one.body", "'bal'", "'ball'")),
        ({"depth": True}, ("cameras.one", "camera: front")),
        ({"camera": "front", "body": "ball"}, ("cameras.one", "either")),
        ({"camera": "front", "fovy": 30.0}, ("cameras.one", "fovy")),
        ({"camera": "front", "size": [0, 10]}, ("cameras.one.size", ">= 1", "0")),
        ({"camera": "front", "size": [10]}, ("cameras.one", "size", "[10]")),
        ({"camera": "front", "size": [10, 5000]}, ("cameras.one", "size", "4096")),
        ({"camera": "front", "rate": 0.0}, ("cameras.one.rate", "above 0")),
        ({"camera": "front", "rte": 1.0}, ("cameras.one.rte", "'rate'")),
        ({"body": "ball", "orientation": [0, 0, 0, 0]}, ("cameras.one", "orientation", "zero")),
        ({"body": "ball", "fovy": 180.0}, ("cameras.one.fovy", "179")),
    ],
)
def test_invalid_keys_are_rejected(simulate, keys, words):
    with raises(ConfigError, *words):
        simulate(one=keys)


def test_cameras_with_one_topic_are_rejected(simulate):
    with raises(ConfigError, "'a b'", "'a_b'", "cameras/a_b"):
        simulate(**{"a b": {"camera": "front"}, "a_b": {"camera": "front"}})


def test_size_of_a_calibrated_camera_is_fixed():
    cameras = {"one": {"camera": "camera60", "size": [640, 480]}}
    with raises(ConfigError, "cameras.one.size", "[270, 270]"):
        Simulation(from_mapping({"engine": "trifinger", "cameras": cameras}))


def test_small_camera_of_the_view_shows_the_same(simulate):
    camera = simulate(one={"camera": "shifted"}).cameras["one"]
    small = camera.scaled(150)
    assert (small.width, small.height) == (150, 100)
    assert small.lens.bounds == pytest.approx(camera.lens.bounds)
    assert RADIUS * small.matrix[0, 0] == pytest.approx(RADIUS * camera.matrix[0, 0] / 2)


def test_examples_of_the_page_run():
    require_opengl()
    page = (Path(__file__).parents[2] / "docs" / "cameras.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(compile(code, "docs/cameras.md", "exec"), names)
    assert names["image"].color.shape == (480, 640, 3) and names["image"].depth.shape == (480, 640)
    (keys,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    skin = {"scales": {"cube": 0.02}}
    simulation = Simulation(from_mapping({"scene": "touch_cube", "skin": skin, **yaml.safe_load(keys)}))
    assert list(simulation.cameras) == ["front", "wrist"]
